// A task graph as a drawing: tasks to drag, arrows to draw, both to weigh, by mouse and by keyboard.

import { element } from "../drawing/facts.js";
import { button, drawn, entry, filled, row } from "./fields.js";
import { edit, state } from "./state.js";
import { arrowOf, boxOf, brief, HIGH, laidOut, sheetOf, WIDE, wayOf } from "./sketch.js";
import { freshTask, freshWork, names, removeTask, rename } from "./tasks.js";

const MOST = 150; // tasks that are drawn
const DENSE = 30; // arrows of which each has its number; of more, the one that is chosen
const places = new Map(); // name -> where somebody has dragged it
let chosen = null; // { task: name } or { edge: [from, to] }

export class Graph {
  constructor() {
    this.home = element("div", undefined, "graph");
    this.sheet = element("div", undefined, "sheet");
    this.beside = element("div", undefined, "chosen");
    this.home.append(this.sheet, this.beside);
    if (state.problem.tasks.length > MOST) {
      this.sheet.textContent = `${state.problem.tasks.length} tasks are too many to draw by hand; edit the tables or the file.`;
      return;
    }
    this.draw();
    this.offer();
  }

  draw() {
    const { problem } = state;
    this.at = laidOut(problem, places);
    this.svg = sheetOf(this.at, "Task graph. Tab goes to tasks and arrows; Delete removes; the fields below weigh.", "arrow");
    this.lines = (problem.edges ?? []).filter((edge) => this.at.has(edge.from) && this.at.has(edge.to)).map((edge) => this.line(edge));
    names(problem).forEach((name, index) => this.box(name, index));
    this.svg.addEventListener("dblclick", (event) => {
      if (event.target === this.svg) this.add(this.point(event));
    });
    this.svg.addEventListener("pointerdown", (event) => event.target === this.svg && this.choose(null));
    this.svg.classList.toggle("dense", this.lines.length > DENSE);
    this.sheet.replaceChildren(this.svg);
    this.mark();
  }

  line(edge) {
    const one = arrowOf(edge, this.at, "arrow", { tabindex: 0, role: "group", "aria-roledescription": "arrow", "aria-label": `Arrow from ${edge.from} to ${edge.to}, data ${edge.size ?? 0}` });
    const { made } = one;
    const act = () => this.choose({ edge: [edge.from, edge.to] });
    made.addEventListener("pointerdown", act);
    made.addEventListener("focus", act);
    made.addEventListener("keydown", (event) => this.onKey(event));
    this.svg.append(made);
    return one;
  }

  box(name, index) {
    const task = state.problem.tasks[index];
    const weight = task.durations ? task.durations.map((value) => (value === null ? "∞" : brief(value))).join("/") : brief(task.work ?? 0);
    const made = boxOf(name, weight, this.at.get(name), { tabindex: 0, role: "group", "aria-roledescription": "task", "data-name": name, "aria-label": `Task ${name}, work ${weight}` });
    made.append(drawn("circle", { cx: WIDE, cy: HIGH / 2, r: 7, class: "out" }));
    made.addEventListener("pointerdown", (event) => this.onDown(event, name, made));
    made.addEventListener("focus", () => this.choose({ task: name }));
    made.addEventListener("keydown", (event) => this.onKey(event));
    this.svg.append(made);
  }

  point(event) {
    const box = this.svg.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  // From the dot an arrow is drawn, from elsewhere the task is moved.
  onDown(event, name, made) {
    if (event.button !== 0) return;
    event.preventDefault();
    made.focus({ preventScroll: true });
    const draws = event.target.classList.contains("out");
    const [from, start] = [this.point(event), this.at.get(name)];
    const rubber = draws ? drawn("path", { class: "rubber", "marker-end": "url(#arrow)" }) : null;
    if (rubber) this.svg.append(rubber);
    const move = (moved) => {
      const to = this.point(moved);
      if (draws) return rubber.setAttribute("d", `M${start.x + WIDE} ${start.y + HIGH / 2}L${to.x} ${to.y}`);
      if (Math.hypot(to.x - from.x, to.y - from.y) < 3 && !places.has(name)) return;
      const place = { x: Math.max(0, start.x + to.x - from.x), y: Math.max(0, start.y + to.y - from.y) };
      places.set(name, place);
      this.at.set(name, place);
      made.setAttribute("transform", `translate(${place.x} ${place.y})`);
      for (const line of this.lines) line.place();
    };
    const up = (ended) => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", up);
      if (!draws) return this.draw();
      rubber.remove();
      const goal = document.elementFromPoint(ended.clientX, ended.clientY)?.closest(".task")?.dataset.name;
      if (goal !== undefined && goal !== name) this.join(name, goal);
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", up);
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (event.key === "Delete" || event.key === "Backspace") this.remove();
    else if (event.key === "+" || event.key === "Insert") this.add();
    else if (event.key === "Enter" || event.key === " ") this.beside.querySelector("input")?.select();
    else if (by && chosen?.task !== undefined) {
      const { x, y } = this.at.get(chosen.task);
      const place = { x: Math.max(0, x + 12 * by[0]), y: Math.max(0, y + 12 * by[1]) };
      places.set(chosen.task, place);
      this.draw();
      this.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  focus() {
    this.svg.querySelector(".picked")?.focus();
  }

  choose(what) {
    if (JSON.stringify(what) === JSON.stringify(chosen)) return;
    chosen = what;
    this.mark();
    this.offer();
  }

  mark() {
    for (const box of this.svg.querySelectorAll(".task")) box.classList.toggle("picked", box.dataset.name === chosen?.task);
    for (const { edge, made } of this.lines) made.classList.toggle("picked", edge.from === chosen?.edge?.[0] && edge.to === chosen?.edge?.[1]);
  }

  // The fields of what is chosen.
  offer() {
    const all = names(state.problem);
    const index = chosen?.task === undefined ? -1 : all.indexOf(chosen.task);
    const edge = chosen?.edge ? (state.problem.edges ?? []).findIndex((one) => one.from === chosen.edge[0] && one.to === chosen.edge[1]) : -1;
    const add = button("Add a task", () => this.add(), "Add a task (double click on the sheet)");
    if (index >= 0) {
      const list = element("select");
      list.setAttribute("aria-label", `Arrow from ${chosen.task} to`);
      for (const name of all) if (name !== chosen.task) list.append(element("option", name));
      const task = state.problem.tasks[index];
      this.beside.replaceChildren(row(
        entry("Task", null, {
          text: true, get: (one) => names(one)[index],
          put: (one, value) => {
            if (places.has(chosen.task)) places.set(value ?? "", places.get(chosen.task));
            rename(one, index, value ?? "");
            chosen = { task: value ?? "" };
            queueMicrotask(() => this.draw());
          },
        }),
        ...(task.durations ? [] : [entry("Work", ["tasks", index, "work"], {
          slider: { min: 0, max: Math.max(10, 3 * (task.work ?? 1)), step: 0.5 },
          put: (one, value) => {
            one.tasks[index].work = filled(value, 0);
            queueMicrotask(() => this.draw());
          },
        })]),
        list,
        button("→ Arrow", () => this.join(chosen.task, list.value), `Add an arrow from ${chosen.task} to the task in the list`),
        button("✕", () => this.remove(), `Remove task ${chosen.task} (Delete)`),
        add,
      ));
    } else if (edge >= 0)
      this.beside.replaceChildren(row(
        element("strong", `${chosen.edge[0]} → ${chosen.edge[1]}`),
        entry("Data", ["edges", edge, "size"], {
          slider: { min: 0, max: Math.max(10, 3 * (state.problem.edges[edge].size ?? 1)), step: 0.5 },
          put: (one, value) => {
            one.edges[edge].size = filled(value, 0);
            queueMicrotask(() => this.draw());
          },
        }),
        button("✕", () => this.remove(), `Remove the arrow from ${chosen.edge[0]} to ${chosen.edge[1]} (Delete)`),
        add,
      ));
    else this.beside.replaceChildren(row(add, element("span", "Drag from a dot to draw an arrow; choose a task or an arrow to weigh it.", "hint")));
  }

  add(point) {
    const name = freshTask(state.problem);
    if (point) places.set(name, { x: Math.max(0, point.x - WIDE / 2), y: Math.max(0, point.y - HIGH / 2) });
    chosen = { task: name };
    edit((problem) => problem.tasks.push({ name, ...freshWork(problem) }), { shape: true });
    refocus();
  }

  // An arrow that would close a cycle is not drawn; those that it would close it with are shown.
  join(from, to) {
    const way = from === to ? [from] : wayOf(state.problem, to, from);
    if (way) {
      const steps = way.map((name, place) => `${name} ${way[place + 1] ?? to}`);
      for (const { edge, made } of this.lines) made.classList.toggle("refused", steps.includes(`${edge.from} ${edge.to}`));
      const said = element("p", `No arrow from ${from} to ${to}: it would close a cycle, ${[from, ...way].join(" → ")}, and no task could begin.`, "mistake");
      said.setAttribute("role", "alert");
      this.beside.querySelector(".mistake")?.remove();
      return this.beside.prepend(said);
    }
    chosen = { edge: [from, to] };
    edit((problem) => {
      problem.edges ??= [];
      if (!problem.edges.some((edge) => edge.from === from && edge.to === to)) problem.edges.push({ from, to, size: 1 });
    }, { shape: true });
    refocus();
  }

  remove() {
    if (!chosen) return;
    const what = chosen;
    const index = names(state.problem).indexOf(what.task);
    if (what.task !== undefined && (index < 0 || state.problem.tasks.length === 1)) return;
    chosen = null;
    edit((problem) => {
      if (what.edge) problem.edges = problem.edges.filter((edge) => edge.from !== what.edge[0] || edge.to !== what.edge[1]);
      else removeTask(problem, index);
    }, { shape: true });
    document.querySelector(".graph .task")?.focus();
  }
}

// The form has been made anew: what is chosen has the focus again.
const refocus = () => document.querySelector(".graph .picked")?.focus();
