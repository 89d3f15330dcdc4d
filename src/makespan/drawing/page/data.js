// Columns → plans that can be searched by row and time.

// What `packing.py` put away: byte planes of differences, of single and of double precision.
async function packedBytes(text) {
  if (!text) return new Uint8Array();
  if (typeof DecompressionStream === "undefined") {
    const old = "This browser is too old to unpack the plan; Chromium 80, Firefox 113 and Safari 16.4 can.";
    document.getElementById("charts").textContent = old;
    throw new Error(old);
  }
  const packed = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function joined(bytes, at, count, width) {
  const found = new Uint8Array(count * width);
  for (let plane = 0; plane < width; plane++)
    for (let index = 0; index < count; index++)
      found[index * width + plane] = bytes[at + plane * count + index];
  return found.buffer;
}

function unpacked(value, bytes) {
  if (Array.isArray(value)) return value.map((part) => unpacked(part, bytes));
  if (value === null || typeof value !== "object") return value;
  const { packed, at, count } = value;
  if (packed === "whole") {
    const found = new Int32Array(joined(bytes, at, count, 4));
    for (let index = 1; index < count; index++) found[index] += found[index - 1];
    return found;
  }
  if (packed === "single") return new Float32Array(joined(bytes, at, count, 4));
  if (packed === "real") return new Float64Array(joined(bytes, at, count, 8));
  if (packed === "of") {
    const values = unpacked(value.values, bytes);
    return Float64Array.from(unpacked(value.index, bytes), (index) => values[index]);
  }
  if (packed === "json")
    return JSON.parse(new TextDecoder().decode(bytes.subarray(at, at + value.bytes)));
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, unpacked(part, bytes)]));
}

// Words and colours that all plans share, as Python writes them.
export let KINDS = [];
export let [UNIT, A_SECOND] = ["s", 1]; // of the axis of time, and how many are a second
export let ROLES = [];
export let CLUSTER_FILLS = [];
export let COMPUTE = -1;

// The plans of a page: what `html.py` wrote, and the columns it packed.
export async function plansOf(written, packed) {
  const data = unpacked(written, await packedBytes(packed));
  [UNIT, A_SECOND] = data.unit;
  [KINDS, ROLES, CLUSTER_FILLS] = [data.kinds, data.roles, data.clusters];
  COMPUTE = KINDS.indexOf("compute");
  return data.charts.map((columns, number) => new Plan(columns, number));
}

// Large columns of times are in ticks, and hold how long things take in the place of their ends.
function timed(columns) {
  const { tick, start, length } = columns;
  if (tick === undefined) return columns;
  columns.start = Float64Array.from(start, (ticks) => ticks * tick);
  columns.end = Float64Array.from(start, (ticks, index) => (ticks + length[index]) * tick);
  return columns;
}

// The positions of bars in the order of row, lane, track and start.
function barOrder(bars, start, end) {
  const count = bars.row.length;
  const most = (column) => column.reduce((largest, value) => Math.max(largest, value), 0) + 1;
  const [lanes, tracks] = [most(bars.lane), most(bars.track)];
  const line = Float64Array.from(bars.row, (row, bar) => (row * lanes + bars.lane[bar]) * tracks + bars.track[bar]);
  return Uint32Array.from({ length: count }, (_, bar) => bar).sort(
    (a, b) => line[a] - line[b] || start[a] - start[b] || end[a] - end[b] || a - b,
  );
}

export class Plan {
  constructor(columns, number) {
    Object.assign(this, columns);
    this.horizon = this.others.reduce((most, other) => Math.max(most, other.horizon), this.horizon);
    this.number = number;
    const { bars, activities } = columns;
    timed(activities);
    timed(bars);
    const own = (name) =>
      bars[name] ?? Float64Array.from(bars.activity, (activity) => activities[name][activity]);
    const [start, end] = [own("start"), own("end")];
    const order = barOrder(bars, start, end);
    const sorted = (type, column) => type.from(order, (bar) => column[bar]);
    this.bars = {
      row: sorted(Int32Array, bars.row),
      lane: sorted(Int32Array, bars.lane),
      track: sorted(Int32Array, bars.track),
      role: sorted(Uint8Array, bars.role),
      activity: sorted(Int32Array, bars.activity),
      start: sorted(Float64Array, start),
      end: sorted(Float64Array, end),
    };
    this.count = order.length;
    this.everyRow = columns.rows.map((name) => name.toLowerCase());
    this.roles = [...new Set(bars.role)].sort((a, b) => a - b);
  }

  // The colours of a bar: those of its group, or else of its role.
  paint(bar) {
    const group = this.groups?.of[this.bars.activity[bar]] ?? -1;
    if (group < 0) return ROLES[this.bars.role[bar]];
    return { fill: this.groups.fills[group], ink: this.groups.inks[group] };
  }

  // What stands on an activity.
  label(activity) {
    const text = this.activities.label[activity] ?? -1;
    if (text >= 0) return this.texts[text];
    const item = this.activities.item[activity];
    if (!this.links || item < 0) return "";
    const { names, source, target } = this.links;
    if (this.activities.kind[activity] === COMPUTE) return names[item];
    return `${names[source[item]]}→${names[target[item]]}`;
  }

  // Bars of one row, lane and track lie beside each other; a line is such a stretch of `shown`.
  // `reach` is the latest end so far, which grows along a line even where bars overlap.
  filtered(words, roles) {
    const { row, lane, track, role, end } = this.bars;
    const wanted = this.everyRow.map(
      (name) => words.length === 0 || words.some((word) => name.includes(word)),
    );
    const shown = new Int32Array(this.count);
    const reach = new Float64Array(this.count);
    const lines = [];
    let length = 0;
    for (let bar = 0; bar < this.count; bar++) {
      if (!wanted[row[bar]] || !roles.has(role[bar])) continue;
      let line = lines[lines.length - 1];
      if (!line || line.row !== row[bar] || line.lane !== lane[bar] || line.track !== track[bar]) {
        line = { row: row[bar], lane: lane[bar], track: track[bar], first: length, last: length };
        lines.push(line);
      }
      reach[length] = length > line.first ? Math.max(reach[length - 1], end[bar]) : end[bar];
      shown[length++] = bar;
      line.last = length;
    }
    this.shown = shown.subarray(0, length);
    this.reach = reach;
    this.rowsShown = placedRows(this, wanted, lines);
  }

  // The first position of a line whose bar, or one before it, ends after `time`.
  firstAfter(line, time) {
    let low = line.first;
    let high = line.last;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.reach[middle] > time) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

// Rows from top to bottom in units of a lane: lanes without a bar go where a filter hides them,
// but a row keeps at least one.
const BETWEEN_ROWS = 0.4;
function placedRows(plan, wanted, lines) {
  const linesOf = new Map();
  for (const line of lines) {
    if (!linesOf.has(line.row)) linesOf.set(line.row, []);
    linesOf.get(line.row).push(line);
  }
  const rows = [];
  let top = 0;
  for (let row = 0; row < plan.rows.length; row++) {
    if (!wanted[row]) continue;
    const own = linesOf.get(row) ?? [];
    const names = plan.laneSets[plan.lanesOf[row]];
    let used = [...new Set(own.map((line) => line.lane))];
    if (used.length === 0) used = [0];
    const lanes = [];
    const begin = top;
    top += BETWEEN_ROWS / 2;
    for (const lane of used) {
      const inLane = own.filter((line) => line.lane === lane);
      const tracks = 1 + inLane.reduce((most, line) => Math.max(most, line.track), 0);
      const height = 1 + 0.6 * (tracks - 1);
      lanes.push({ lane, name: own.length ? names[lane] : "", top, height, tracks, lines: inLane });
      top += height;
    }
    top += BETWEEN_ROWS / 2;
    rows.push({ row, top: begin, height: top - begin, lanes });
  }
  plan.units = top;
  return rows;
}
