// Columns → plans that can be searched by row and time.

const data = JSON.parse(document.getElementById("data").textContent);
const KINDS = data.kinds;
const ROLES = data.roles;

class Plan {
  constructor(columns, number) {
    Object.assign(this, columns);
    this.number = number;
    const bars = columns.bars;
    const count = bars.row.length;
    const own = (name) =>
      Float64Array.from(
        bars[name] ?? bars.activity.map((activity) => columns.activities[name][activity]),
      );
    this.bars = {
      row: Int32Array.from(bars.row),
      lane: Int32Array.from(bars.lane),
      track: Int32Array.from(bars.track),
      role: Uint8Array.from(bars.role),
      activity: Int32Array.from(bars.activity),
      start: own("start"),
      end: own("end"),
    };
    this.everyRow = columns.rows.map((name) => name.toLowerCase());
    this.roles = [...new Set(bars.role)].sort((a, b) => a - b);
    this.count = count;
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

const plans = data.charts.map((columns, number) => new Plan(columns, number));
const rolesPresent = ROLES.map((_, role) => role).filter((role) =>
  plans.some((plan) => plan.roles.includes(role)),
);
