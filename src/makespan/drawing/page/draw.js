// A plan on a canvas: only the rows and bars that are visible; bars below a pixel merge.

import { barOfItem, edgesOf } from "./diagrams.js";
import { A_SECOND, COMPUTE, UNIT } from "./data.js";
import { activityOf, barsOf, likeOf } from "./facts.js";
import { ticks, view } from "./view.js";

export const AXIS = 26;
export const MARK_TIER = 15;
export const OVERVIEW = 5;
const NARROW = 1.2;
const MOST_LINKS = 80;
const FONT = 'system-ui, "Segoe UI", Helvetica, Arial, "DejaVu Sans", sans-serif';
const widths = new Map();

function textWidth(context, text) {
  const key = context.font + text;
  if (!widths.has(key)) {
    if (widths.size > 20000) widths.clear();
    widths.set(key, context.measureText(text).width);
  }
  return widths.get(key);
}

// As much of both ends of a text as fits, for names often differ at their end.
function elided(context, text, width) {
  if (textWidth(context, text) <= width) return text;
  for (let kept = Math.min(text.length - 1, Math.floor(width / 4)); kept > 0; kept--) {
    const head = Math.ceil(kept / 2);
    const shorter = text.slice(0, head) + "…" + text.slice(text.length - (kept - head));
    if (textWidth(context, shorter) <= width) return shorter;
  }
  return "";
}

export class Panel {
  constructor(plan, canvas, scroll, sizer) {
    Object.assign(this, { plan, canvas, scroll, sizer });
    this.context = canvas.getContext("2d");
  }

  // The places of everything for the present size and filters.
  measure() {
    const { context, plan } = this;
    this.width = this.scroll.clientWidth;
    this.height = this.scroll.clientHeight;
    this.tiers = plan.marks.length ? Math.min(2, plan.marks.length) : 0;
    this.head = AXIS + OVERVIEW + MARK_TIER * this.tiers;
    const natural = (this.wantedHeight - this.head) / Math.max(plan.units, 1);
    this.lane = Math.min(22, Math.max(7, natural)) * view.stretch;
    context.font = `12px ${FONT}`;
    const few = plan.rowsShown.length > 400 ? plan.rowsShown.slice(0, 400) : plan.rowsShown;
    const widest = (texts) => texts.reduce((most, text) => Math.max(most, textWidth(context, text)), 0);
    const names = widest(few.map((row) => plan.rows[row.row]));
    const notes = widest(few.map((row) => plan.notesOfRows[row.row]));
    context.font = `10px ${FONT}`;
    this.lanesNamed = this.lane >= 11;
    const lanes = this.lanesNamed ? widest(plan.laneSets.flat()) + 8 : 0;
    this.nameWidth = Math.min(names, this.width * 0.16, 220);
    this.left = Math.max(78, this.nameWidth + lanes + 18);
    this.names = this.left - lanes - 10;
    this.right = this.width - (this.width < 720 || !notes ? 12 : Math.min(notes, 170) + 22);
    const content = Math.ceil(plan.units * this.lane + this.head + 6);
    this.sizer.style.height = `${Math.max(content, this.height)}px`;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.style.width = `${this.width}px`;
    this.canvas.style.height = `${this.height}px`;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.ratio = ratio;
  }

  widen(left, right) {
    this.names += left - this.left;
    this.left = left;
    this.right = right;
  }

  get scale() {
    return (this.right - this.left) / (view.to - view.from);
  }
  x(time) {
    return this.left + (time - view.from) * this.scale;
  }
  time(x) {
    return view.from + (x - this.left) / this.scale;
  }
  y(units) {
    return this.head + units * this.lane - this.scroll.scrollTop;
  }

  draw() {
    const { context } = this;
    const style = getComputedStyle(document.documentElement);
    this.colour = (name) => style.getPropertyValue(`--${name}`).trim();
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.fillStyle = this.colour("paper");
    context.fillRect(0, 0, this.width, this.height);
    const wanted = (this.right - this.left) / 90;
    this.ticks = ticks(view.from * A_SECOND, view.to * A_SECOND, wanted).map(({ time, label }) => ({ time: time / A_SECOND, label }));
    const visible = this.visibleRows();
    this.drawLanes(visible);
    this.clip(() => {
      this.drawGrid();
      this.drawBars(visible);
      this.drawSlots();
      this.drawHeld();
      this.drawLinks();
      this.drawMarkLines();
    });
    this.drawNames(visible);
    this.drawHead();
  }

  clip(paint) {
    const { context } = this;
    context.save();
    context.beginPath();
    context.rect(this.left, this.head, this.right - this.left, this.height - this.head);
    context.clip();
    paint();
    context.restore();
  }

  visibleRows() {
    const rows = this.plan.rowsShown;
    const first = this.rowAt(this.head);
    const found = [];
    for (let index = first; index < rows.length && this.y(rows[index].top) < this.height; index++)
      found.push(rows[index]);
    return found;
  }

  // The index of the row shown at a height of the canvas; the nearest where there is none.
  rowAt(y) {
    const rows = this.plan.rowsShown;
    const units = (y - this.head + this.scroll.scrollTop) / this.lane;
    let low = 0;
    let high = rows.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (rows[middle].top <= units) low = middle;
      else high = middle - 1;
    }
    return Math.max(0, low);
  }

  drawLanes(rows) {
    const { context } = this;
    const until = Math.min(this.x(this.plan.busy), this.right);
    const from = Math.max(this.x(0), this.left);
    context.fillStyle = this.colour("idle");
    for (const row of rows)
      for (const lane of row.lanes)
        if (until > from)
          context.fillRect(from, this.y(lane.top), until - from, lane.height * this.lane * 0.92);
  }

  drawGrid() {
    const { context } = this;
    context.fillStyle = this.colour("grid");
    for (const tick of this.ticks)
      context.fillRect(Math.round(this.x(tick.time)) - 0.25, this.head, 0.5, this.height);
  }

  box(lane, track) {
    const height = (lane.height * this.lane * 0.92) / lane.tracks;
    return { top: this.y(lane.top) + track * height, height };
  }

  drawBars(rows) {
    for (const row of rows)
      for (const lane of row.lanes)
        for (const line of lane.lines) this.drawLine(row, lane, line);
    this.context.globalAlpha = 1;
  }

  drawLine(row, lane, line) {
    const { context, plan } = this;
    const { start, end, role, activity } = plan.bars;
    const { top, height } = this.box(lane, line.track);
    const name = plan.rows[row.row];
    let run = null;
    const flush = () => {
      if (!run) return;
      const width = Math.max(1, run.to - run.from);
      context.globalAlpha = Math.max(0.3, Math.min(1, run.busy / width));
      context.fillStyle = run.fill;
      context.fillRect(run.from, top, width, height);
      context.globalAlpha = 1;
      run = null;
    };
    const { player } = plan;
    const hidden = player?.at != null && plan.appears;
    for (let at = plan.firstAfter(line, view.from); at < line.last; at++) {
      const bar = plan.shown[at];
      if (start[bar] > view.to) break;
      if (hidden && !player.sees(activity[bar])) continue;
      const from = this.x(start[bar]);
      const to = this.x(end[bar]);
      if (to - from < NARROW) {
        if (run && (role[bar] !== run.role || from - run.to > 1)) flush();
        if (!run) run = { from, to, role: role[bar], fill: plan.paint(bar).fill, busy: 0 };
        run.to = Math.max(run.to, to);
        run.busy += to - from;
        continue;
      }
      flush();
      const left = Math.max(from, this.left - 4);
      const width = Math.min(to, this.right + 4) - left;
      context.fillStyle = plan.paint(bar).fill;
      context.fillRect(left, top, to - from > 4 ? Math.max(width - 0.8, 1) : width, height);
      if (width > 14 && height >= 10) this.drawLabel(bar, activity[bar], name, left, width, top + height / 2);
    }
    flush();
  }

  drawLabel(bar, activity, name, left, width, middle) {
    const { context, plan } = this;
    const whole = plan.label(activity);
    if (!whole || whole === name) return;
    const label = whole.split("→").map((part) => plan.shorter[part] ?? part).join("→");
    context.font = `11px ${FONT}`;
    const from = Math.max(left, this.left);
    const room = Math.min(left + width, this.right) - from;
    const wide = textWidth(context, label) + 6;
    if (wide > room) return;
    // Where a line of a mark passes, the label stands in the widest part beside it.
    let at = from + room / 2;
    const lines = plan.marks.filter((mark) => !mark.beyond).map((mark) => this.x(mark.time)).sort((a, b) => a - b);
    if (lines.some((x) => Math.abs(x - at) < wide / 2)) {
      const cuts = [from, ...lines.filter((x) => x > from && x < from + room), from + room];
      const widest = cuts.slice(1).reduce((best, x, part) => (x - cuts[part] > best[1] - best[0] ? [cuts[part], x] : best), [0, 0]);
      if (widest[1] - widest[0] >= wide) at = (widest[0] + widest[1]) / 2;
    }
    context.fillStyle = plan.paint(bar).ink;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(label, at, middle + 0.5);
  }

  // A frame around the activity held and the one under the pointer, and around their likes.
  drawHeld() {
    const { context } = this;
    for (const chosen of [view.over, view.held]) {
      if (!chosen) continue;
      const activity = chosen.plan === this.plan ? activityOf(chosen) : likeOf(chosen, this.plan);
      if (activity < 0) continue;
      context.strokeStyle = this.colour(chosen === view.held ? "accent" : "ink");
      context.lineWidth = 2;
      for (const bar of barsOf(this.plan, activity)) {
        const place = this.placeOf(bar);
        if (place) context.strokeRect(place.left, place.top, Math.max(place.width, 2), place.height);
      }
    }
  }

  // The times on machines of the present step: tried, chosen, and the gap that is filled.
  drawSlots() {
    const { context, plan } = this;
    for (const [machine, start, end, state] of plan.player?.step?.slots ?? []) {
      const row = plan.rowsShown.find((one) => plan.rows[one.row] === machine);
      if (!row) continue;
      const names = plan.laneSets[plan.lanesOf[row.row]];
      const lane = row.lanes.find((one) => names[one.lane].startsWith("compute")) ?? row.lanes[0];
      const { top } = this.box(lane, 0);
      const height = lane.height * this.lane * 0.92;
      const [left, width] = [this.x(start), Math.max(this.x(end) - this.x(start), 2)];
      context.save();
      context.lineWidth = state === "chosen" ? 3 : 1.5;
      context.strokeStyle = this.colour(state === "tried" ? "faint" : state === "gap" ? "limit" : "accent");
      context.setLineDash(state === "chosen" ? [] : [5, 4]);
      if (state === "gap") {
        context.fillStyle = this.colour("limit");
        context.globalAlpha = 0.12;
        context.fillRect(left, top - 3, width, height + 6);
        context.globalAlpha = 1;
      }
      const around = state === "gap" ? 3 : 0;
      context.strokeRect(left, top - around, width, height + 2 * around);
      context.restore();
    }
  }

  // Arrows from what the activity under the pointer, held or chosen needs, and to what needs it.
  drawLinks() {
    const { plan } = this;
    if (!plan.links) return;
    const tasks = new Set();
    for (const chosen of [view.over, view.held]) {
      if (chosen?.plan !== plan) continue;
      const activity = activityOf(chosen);
      const item = plan.activities.item[activity];
      if (plan.activities.kind[activity] === COMPUTE) tasks.add(item);
      else this.drawLink(item);
    }
    for (const item of plan.player?.step?.items?.chosen ?? []) if (plan.player.step.slots) tasks.add(item);
    for (const item of tasks) for (const edge of edgesOf(plan, item).slice(0, MOST_LINKS)) this.drawLink(edge);
  }

  drawLink(edge) {
    const { context, plan } = this;
    const ends = [plan.links.source[edge], plan.links.target[edge]].map((item) => barOfItem(plan, item));
    if (ends.some((bar) => bar < 0 || !(plan.player?.sees(plan.bars.activity[bar]) ?? true))) return;
    const [from, to] = ends.map((bar) => this.placeOf(bar));
    if (!from || !to) return;
    const [x, y] = [from.left + from.width, from.top + from.height / 2];
    const [goalX, goalY] = [to.left, to.top + to.height / 2];
    const bend = Math.max(18, Math.abs(goalX - x) / 2);
    context.strokeStyle = context.fillStyle = this.colour("ink");
    context.globalAlpha = 0.8;
    context.lineWidth = 1.4;
    context.beginPath();
    context.moveTo(x, y);
    context.bezierCurveTo(x + bend, y, goalX - bend, goalY, goalX - 5, goalY);
    context.stroke();
    context.beginPath();
    context.moveTo(goalX, goalY);
    context.lineTo(goalX - 8, goalY - 4);
    context.lineTo(goalX - 8, goalY + 4);
    context.fill();
    context.globalAlpha = 1;
  }

  // Where a bar is on the canvas, also outside of what is visible; null if it is filtered away.
  placeOf(bar) {
    const { row, lane, track, start, end } = this.plan.bars;
    const shown = this.plan.rowsShown.find((one) => one.row === row[bar]);
    const inLane = shown?.lanes.find((one) => one.lane === lane[bar] && one.lines.length);
    if (!inLane || !view.roles.has(this.plan.bars.role[bar])) return null;
    const left = this.x(start[bar]);
    return { left, width: this.x(end[bar]) - left, ...this.box(inLane, track[bar]) };
  }

  drawMarkLines() {
    const { context } = this;
    for (const mark of this.plan.marks) {
      if (mark.beyond) continue;
      context.strokeStyle = this.colour(mark.limit ? "limit" : "ink");
      context.lineWidth = 1.5;
      context.setLineDash(mark.limit ? [5, 3] : []);
      context.beginPath();
      context.moveTo(this.x(mark.time), this.head);
      context.lineTo(this.x(mark.time), this.height);
      context.stroke();
    }
    context.setLineDash([]);
  }

  drawNames(rows) {
    const { context, plan } = this;
    context.fillStyle = this.colour("paper");
    context.fillRect(0, this.head, this.left, this.height);
    context.fillRect(this.right, this.head, this.width, this.height);
    context.textBaseline = "middle";
    for (const row of rows) {
      const middle = this.y(row.top + row.height / 2);
      const room = row.height * this.lane;
      if (room >= 6) {
        context.font = `${Math.min(12, Math.max(9, room * 0.85))}px ${FONT}`;
        context.textAlign = "right";
        context.fillStyle = this.colour("ink");
        context.fillText(elided(context, plan.rows[row.row], this.nameWidth + 2), this.names, middle);
        if (this.width >= 720) {
          context.textAlign = "left";
          context.fillStyle = this.colour("faint");
          const note = elided(context, plan.notesOfRows[row.row], this.width - this.right - 16);
          context.fillText(note, this.right + 8, middle);
        }
      }
      if (!this.lanesNamed) continue;
      context.font = `10px ${FONT}`;
      context.textAlign = "right";
      context.fillStyle = this.colour("faint");
      for (const lane of row.lanes)
        context.fillText(lane.name, this.left - 5, this.y(lane.top + lane.height * 0.46));
    }
  }

  // The axis, the marks' labels and how much of the whole is seen; they stay when rows move.
  drawHead() {
    const { context } = this;
    context.fillStyle = this.colour("paper");
    context.fillRect(0, 0, this.width, this.head);
    const width = this.right - this.left;
    context.fillStyle = this.colour("idle");
    context.fillRect(this.left, 0, width, OVERVIEW);
    context.fillStyle = this.colour("accent");
    const seen = Math.max(3, (width * (view.to - view.from)) / view.horizon);
    const at = Math.min(this.left + (width * view.from) / view.horizon, this.right - seen);
    context.fillRect(at, 0, seen, OVERVIEW);
    context.font = `11px ${FONT}`;
    context.textBaseline = "middle";
    context.textAlign = "center";
    context.fillStyle = this.colour("faint");
    const bottom = OVERVIEW + AXIS;
    for (const tick of this.ticks) {
      const x = this.x(tick.time);
      context.fillText(tick.label, Math.max(x, 14), OVERVIEW + 12);
      context.fillRect(x - 0.5, bottom - 5, 1, 5);
    }
    context.textAlign = "right";
    context.fillText(`time (${UNIT})`, this.left - 16, OVERVIEW + 12);
    this.drawMarkLabels(bottom);
    context.fillStyle = this.colour("faint");
    context.fillRect(this.left, this.head - 1, width, 1);
  }

  drawMarkLabels(bottom) {
    const { context } = this;
    context.font = `600 11px ${FONT}`;
    const taken = Array.from({ length: this.tiers }, () => -Infinity);
    const marks = [...this.plan.marks].sort((a, b) => a.time - b.time);
    for (const mark of marks) {
      const x = this.x(mark.time);
      if (!mark.beyond && (x < this.left - 1 || x > this.right + 1)) continue;
      const width = textWidth(context, mark.label);
      const left = Math.max(this.left, Math.min(x - width / 2, this.width - width - 4));
      const tier = Math.max(0, taken.findIndex((until) => until + 8 < left));
      taken[tier] = left + width;
      context.textAlign = "left";
      context.fillStyle = this.colour(mark.limit ? "limit" : "ink");
      context.fillText(mark.label, left, bottom + MARK_TIER * (tier + 0.5));
    }
  }

  // The bar at a point of the canvas, and how many narrow ones share the pixel with it.
  barAt(x, y) {
    if (x < this.left || x > this.right || y < this.head) return null;
    const row = this.plan.rowsShown[this.rowAt(y)];
    if (!row) return null;
    const lane = row.lanes.find((one) => y >= this.y(one.top) && y <= this.y(one.top + one.height));
    if (!lane) return null;
    const within = this.box(lane, 0);
    const track = Math.min(lane.tracks - 1, Math.floor((y - within.top) / within.height));
    const { start, end } = this.plan.bars;
    const slack = 3 / this.scale;
    const time = this.time(x);
    let best = null;
    let least = Infinity;
    let near = 0;
    for (const line of lane.lines) {
      if (line.track !== track) continue;
      for (let at = this.plan.firstAfter(line, time - slack); at < line.last; at++) {
        const bar = this.plan.shown[at];
        if (start[bar] > time + slack) break;
        if (end[bar] < time - slack) continue;
        if (this.plan.player && !this.plan.player.sees(this.plan.bars.activity[bar])) continue;
        const off = Math.max(start[bar] - time, time - end[bar], 0);
        if ((end[bar] - start[bar]) * this.scale < NARROW) near++;
        if (off <= least) [best, least] = [bar, off];
      }
    }
    return best === null ? null : { plan: this.plan, bar: best, near };
  }
}
