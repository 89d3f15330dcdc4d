// What is seen: the range of time, the height of lanes, the filters, the activity held on to.
// Who draws follows it by `onChange`; whoever changes it says so by `changed`.

export const plans = []; // from top to bottom
export const panels = []; // where each is drawn

export const view = {
  from: 0,
  to: 1,
  horizon: 1, // where the latest plan ends
  stretch: 1,
  words: [],
  roles: new Set(),
  player: null, // whose steps the keys go through
  held: null, // { plan, bar }, kept open
  over: null, // { plan, bar, near }, under the pointer
};

const followers = [];
export const onChange = (act) => followers.push(act);

// With `sizes`, what is drawn may need another height or width.
export function changed(sizes = false) {
  for (const act of followers) act(sizes === true);
}

export function refilter() {
  for (const plan of plans) plan.filtered(view.words, view.roles);
  changed(true);
}

export const closest = () => view.horizon * 1e-9;

export function setRange(from, to) {
  const length = Math.min(Math.max(to - from, closest()), view.horizon);
  view.from = Math.min(Math.max(from, 0), view.horizon - length);
  view.to = view.from + length;
  changed();
}

export function zoom(factor, at = (view.from + view.to) / 2) {
  setRange(at - (at - view.from) / factor, at + (view.to - at) / factor);
}

export function move(share) {
  const length = view.to - view.from;
  setRange(view.from + share * length, view.to + share * length);
}

export function showWhole() {
  setRange(0, view.horizon);
}

export const isWhole = () => view.from <= 0 && view.to >= view.horizon;

// A number as people read it, and a time with as many digits as the zoom can tell apart.
export function written(value) {
  if (typeof value !== "number") return String(value ?? "");
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toLocaleString("en");
  return String(Number(value.toPrecision(8)));
}

export function ticks(from, to, wanted) {
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
