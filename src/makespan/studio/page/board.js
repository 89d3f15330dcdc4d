// Where a student places: tasks on rows of machines, by dragging or by the keys; a table beside it.

import { element } from "../drawing/facts.js";
import { ticks } from "../drawing/view.js";
import { button, drawn, read, shown } from "./fields.js";
import { Past } from "./past.js";
import { openings, PLACING } from "./placing.js";

const [ROW, TOP, TRAY] = [40, 22, 46];
const LETTER = 7.5; // pixels

export class Board {
  constructor(problem, moves, act) {
    Object.assign(this, { problem, act, placing: PLACING[problem.kind] });
    this.machines = this.placing.machines(problem);
    this.items = this.placing.items?.(problem) ?? null;
    this.columns = this.placing.columns ?? [["machine", "machine"], ["start, s", "start"]];
    this.moves = moves ?? this.empty();
    this.past = new Past();
    this.before = structuredClone(this.moves);
    this.left = Math.min(150, Math.max(56, LETTER * Math.max(...this.machines.map((name) => name.length)) + 16));
    this.home = element("div", undefined, "board");
    this.sheet = this.placing.length ? element("div", undefined, "sheet") : null;
    this.table = element("div", undefined, "grid");
    if (this.sheet) this.home.append(this.sheet, element("p", "A task dropped on a machine starts as early as it can there; with Shift, where you drop it. Keys: a number chooses the machine, ↑ ↓ another, ← → an earlier or later start.", "hint"));
    this.home.append(this.table);
    this.write();
    this.draw();
  }

  // A move for each item, or where the student says which moves there are, one for each machine.
  empty() {
    const blank = () => ({ machine: "", peer: "", start: undefined, amount: undefined, segment: undefined });
    if (this.items) return this.items.map(blank);
    return this.columns[0][1] === "machine" ? this.machines.map((machine) => ({ ...blank(), machine })) : [blank()];
  }

  changed(rewrite = true, place = null) {
    this.past.keep(this.before, place);
    this.follow(rewrite);
  }

  follow(rewrite = true) {
    this.before = structuredClone(this.moves);
    if (rewrite) this.write();
    this.draw();
    this.act(this.moves);
  }

  clear() {
    this.moves = this.empty();
    this.changed();
  }

  // Take the last move back, or make it again.
  back(way) {
    this.past[way](this.before, (moves) => {
      this.moves = moves;
      this.follow();
    });
  }

  write() {
    const table = element("table");
    table.setAttribute("aria-label", "Your plan");
    const head = table.createTHead().insertRow();
    for (const name of [this.items ? "" : "#", ...this.columns.map(([word]) => word)]) head.append(element(name ? "th" : "td", name));
    const body = table.createTBody();
    this.moves.forEach((move, index) => {
      const line = body.insertRow();
      const name = this.items?.[index] ?? String(index + 1);
      line.append(element("th", name));
      for (const [word, key] of this.columns) line.insertCell().append(this.control(move, key, `${word} of ${name}`));
      if (this.items) return;
      const cell = line.insertCell();
      cell.append(
        button("↑", () => this.swap(index, index - 1), `Move ${name} up`),
        button("↓", () => this.swap(index, index + 1), `Move ${name} down`),
        button("✕", () => (this.moves.splice(index, 1), this.changed()), `Remove ${name}`),
      );
    });
    this.table.replaceChildren(table);
    if (!this.items) this.table.append(button("+ line", () => this.grow(), "Add a line to the plan"));
  }

  grow() {
    this.moves.push({ machine: "", peer: "", start: undefined, amount: undefined, segment: undefined });
    this.changed();
    this.table.querySelector("tbody tr:last-child").querySelector("select, input").focus();
  }

  control(move, key, label) {
    let control;
    if (key === "machine" || key === "peer") {
      control = element("select");
      for (const name of ["", ...this.machines]) control.append(element("option", name));
      control.value = move[key];
      control.addEventListener("change", () => {
        move[key] = control.value;
        this.changed(false);
      });
    } else {
      control = element("input");
      Object.assign(control, { type: "text", inputMode: "decimal", autocomplete: "off", value: shown(move[key]) });
      control.addEventListener("input", () => {
        const value = read(control.value);
        move[key] = typeof value === "number" ? value : undefined;
        this.changed(false, label);
      });
    }
    control.setAttribute("aria-label", label);
    return control;
  }

  swap(one, other) {
    if (other < 0 || other >= this.moves.length) return;
    [this.moves[one], this.moves[other]] = [this.moves[other], this.moves[one]];
    this.changed();
  }

  // The longest that all could take is as wide as the sheet.
  get scale() {
    const total = this.items.reduce((sum, _, item) => sum + this.placing.length(this.problem, item, this.machines[0]), 0);
    const latest = this.moves.reduce((most, { start }, item) => Math.max(most, (start ?? 0) + this.placing.length(this.problem, item, this.machines[0])), 0);
    return (this.width - this.left - 12) / Math.max(1.4 * total, latest, 1);
  }

  draw() {
    if (!this.sheet) return;
    this.width = Math.max(300, Math.min(this.sheet.clientWidth || 480, 900));
    const { scale } = this;
    const height = TOP + ROW * this.machines.length + TRAY;
    const svg = drawn("svg", { width: this.width, height, role: "group", "aria-label": "Place the tasks: drag them, or choose one and press arrow keys" });
    const end = (this.width - this.left - 12) / scale;
    for (const { time, label } of ticks(0, end, 8)) {
      const x = this.left + time * scale;
      svg.append(drawn("line", { x1: x, x2: x, y1: TOP - 4, y2: TOP + ROW * this.machines.length, class: "grid-line" }));
      svg.append(drawn("text", { x, y: 13, "text-anchor": "middle" }, label));
    }
    this.machines.forEach((name, row) => {
      const y = TOP + row * ROW;
      svg.append(drawn("rect", { x: this.left, y: y + 3, width: this.width - this.left - 12, height: ROW - 6, class: "lane" }));
      svg.append(drawn("text", { x: this.left - 8, y: y + ROW / 2 + 4, "text-anchor": "end" }, name));
    });
    let tray = this.left;
    this.items.forEach((name, item) => {
      const move = this.moves[item];
      const row = this.machines.indexOf(move.machine);
      const isOn = row >= 0 && typeof move.start === "number";
      const length = this.placing.length(this.problem, item, isOn ? move.machine : this.machines[0]);
      const width = Math.max(18, length * scale - 1);
      const x = isOn ? this.left + move.start * scale : tray;
      const y = isOn ? TOP + row * ROW + 5 : TOP + ROW * this.machines.length + 10;
      if (!isOn) tray += width + 6;
      const box = drawn("g", { class: "task", tabindex: 0, role: "button", transform: `translate(${x} ${y})`, "data-item": item });
      box.setAttribute("aria-label", isOn ? `Task ${name} on ${move.machine} at ${move.start}` : `Task ${name}, not placed; press an arrow key`);
      box.append(drawn("rect", { width, height: ROW - 10, rx: 5 }), drawn("text", { x: width / 2, y: 20, "text-anchor": "middle", class: "name" }, name));
      box.addEventListener("pointerdown", (event) => this.drag(event, item, box, x, y));
      box.addEventListener("keydown", (event) => this.key(event, item));
      svg.append(box);
    });
    this.sheet.replaceChildren(svg);
  }

  drag(event, item, box, x, y) {
    if (event.button !== 0) return;
    event.preventDefault();
    box.focus();
    box.parentNode.append(box);
    const { scale } = this;
    const [fromX, fromY] = [event.clientX, event.clientY];
    const at = (moved) => [x + moved.clientX - fromX, y + moved.clientY - fromY];
    const move = (moved) => box.setAttribute("transform", `translate(${at(moved).join(" ")})`);
    const up = (ended) => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", up);
      const [left, top] = at(ended);
      const row = Math.round((top - 5 - TOP) / ROW);
      if (row < 0 || row >= this.machines.length) this.place(item, -1, undefined);
      else this.place(item, row, this.snapped(item, row, (left - this.left) / scale, ended.shiftKey));
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", up);
  }

  // The earliest start in the opening nearest to a time; `exact`, the time itself, on the grid.
  snapped(item, row, time, exact) {
    if (exact) return Math.max(0, Math.round(time / this.grid) * this.grid);
    const away = ([from, to]) => Math.max(from - time, time - to, 0);
    return this.openings(item, row).reduce((best, one) => (away(one) < away(best) ? one : best))[0];
  }

  openings(item, row) {
    return openings(this.problem, this.moves, item, this.machines[row]);
  }

  // Whole seconds, where everything takes whole seconds.
  get grid() {
    const lengths = this.items.flatMap((_, item) => this.machines.map((machine) => this.placing.length(this.problem, item, machine)));
    return lengths.every(Number.isInteger) ? 1 : 0.5;
  }

  place(item, row, start) {
    this.moves[item].machine = this.machines[row] ?? "";
    this.moves[item].start = start;
    this.changed();
    this.sheet.querySelector(`[data-item="${item}"]`)?.focus();
  }

  // A number is a machine; up and down go to others, left and right to starts before and after.
  key(event, item) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    const chosen = Number(event.key) - 1;
    if (!by && event.key !== "Delete" && !(chosen >= 0 && chosen < this.machines.length)) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "Delete") return this.place(item, -1, undefined);
    const { machine, start } = this.moves[item];
    const row = this.machines.indexOf(machine);
    const goal = by ? Math.min(this.machines.length - 1, Math.max(0, row + by[1])) : chosen;
    const open = this.openings(item, goal);
    if (row < 0 || !by?.[0]) return goal === row && by ? undefined : this.place(item, goal, open[0][0]);
    const wish = start + this.grid * by[0];
    if (event.shiftKey) return this.place(item, row, Math.max(0, wish));
    const within = open.some(([from, to]) => from <= wish && wish <= to);
    const next = by[0] > 0 ? open.find(([from]) => from > wish)?.[0] : open.findLast(([, to]) => to < wish)?.[1] ?? open[0][0];
    this.place(item, row, within ? wish : next ?? start);
  }
}
