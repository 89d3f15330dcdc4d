// What is seen: the range of time, the height of lanes, the filters, the activity held on to.

const HORIZON = Math.max(...plans.map((plan) => plan.horizon));
const CLOSEST = HORIZON * 1e-9;

const view = {
  from: 0,
  to: HORIZON,
  stretch: 1,
  words: [],
  roles: new Set(rolesPresent),
  player: null, // whose steps the keys go through
  held: null, // { plan, bar }, kept open
  over: null, // { plan, bar, near }, under the pointer
};

function setRange(from, to) {
  const length = Math.min(Math.max(to - from, CLOSEST), HORIZON);
  view.from = Math.min(Math.max(from, 0), HORIZON - length);
  view.to = view.from + length;
  changed();
}

function zoom(factor, at = (view.from + view.to) / 2) {
  setRange(at - (at - view.from) / factor, at + (view.to - at) / factor);
}

function move(share) {
  const length = view.to - view.from;
  setRange(view.from + share * length, view.to + share * length);
}

function showWhole() {
  setRange(0, HORIZON);
}

const isWhole = () => view.from <= 0 && view.to >= HORIZON;

// A number as people read it, and a time with as many digits as the zoom can tell apart.
function written(value) {
  if (typeof value !== "number") return String(value ?? "");
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toLocaleString("en");
  return String(Number(value.toPrecision(8)));
}

function ticks(from, to, wanted) {
  const raw = (to - from) / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((part) => power * part >= raw * (1 - 1e-9));
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const found = [];
  for (let index = Math.ceil(from / step - 1e-9); index * step <= to; index++) {
    const time = index * step;
    const plain = decimals <= 12 && Math.abs(time) < 1e12;
    found.push({ time, label: plain ? time.toFixed(decimals) : time.toPrecision(6) });
  }
  return found;
}
