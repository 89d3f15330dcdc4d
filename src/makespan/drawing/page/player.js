// Steps of a method: what is known after each, the buttons, and what stands beside the chart.

import { COMPUTE } from "./data.js";
import { element } from "./facts.js";
import { changed, view, written } from "./view.js";

const LASTING = new Set(["placed", "zeroed", "refused"]);

// The step from which on each activity is seen: that which places its task, that of its time, or
// the last; none where steps say nothing about activities.
function appearances(plan) {
  const { activities, steps, links } = plan;
  const { kind, item, start } = activities;
  const count = kind.length;
  const placed = new Map();
  steps.forEach((step, index) => {
    for (const one of step.items?.placed ?? []) if (!placed.has(one)) placed.set(one, index + 1);
  });
  const found = new Int32Array(count).fill(steps.length);
  if (placed.size) {
    for (let activity = 0; activity < count; activity++) {
      const own = kind[activity] === COMPUTE || !links;
      const one = own ? item[activity] : links.target[item[activity]];
      found[activity] = placed.get(one) ?? steps.length;
    }
    return found;
  }
  if (!steps.some((step) => step.time !== undefined || step.since !== undefined)) return null;
  // what is decided after each step lasts from `since` on, or until `time`
  const slack = 1e-9 * plan.horizon;
  const reached = new Float64Array(steps.length);
  const forward = steps.some((step) => step.time !== undefined);
  let latest = -Infinity;
  steps.forEach((step, index) => {
    latest = Math.max(latest, forward ? step.time ?? -Infinity : -(step.since ?? Infinity));
    reached[index] = latest;
  });
  for (let activity = 0; activity < count; activity++) {
    const when = (forward ? start[activity] : -start[activity]) - slack;
    let [low, high] = [0, steps.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (reached[middle] >= when) high = middle;
      else low = middle + 1;
    }
    found[activity] = Math.min(low + 1, steps.length);
  }
  return found;
}

export class Player {
  constructor(plan, home, diagrams) {
    this.plan = plan;
    this.count = plan.steps.length;
    this.at = null; // null: the whole plan; 0: before the first step
    this.timer = null;
    plan.appears = appearances(plan);
    const bar = element("div", undefined, "player");
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", `Steps of plan ${plan.number + 1}`);
    const button = (text, title, act, name = "") => {
      const made = element("button", text, name);
      made.type = "button";
      made.title = title;
      made.setAttribute("aria-label", title);
      made.addEventListener("click", act);
      bar.append(made);
      return made;
    };
    button("|◀", "First step (Home)", () => this.go(0));
    this.back = button("◀ Back", "One step back (←)", () => this.move(-1), "wide");
    this.next = button("Next ▶", "Next step (→)", () => this.move(1), "wide");
    button("▶|", "Last step (End)", () => this.go(this.count));
    this.play = button("▶ Play", "Play, or pause (p)", () => this.toggle());
    this.slider = element("input");
    Object.assign(this.slider, { type: "range", min: 0, max: this.count, value: this.count });
    this.slider.setAttribute("aria-label", "Step");
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value)));
    this.number = element("output", "", "number");
    bar.append(this.slider, this.number);
    this.whole = button("All steps", "All steps: the whole plan (Esc)", () => this.go(null));
    this.said = element("p", "", "said");
    this.said.setAttribute("aria-live", "polite");
    this.beside = element("div", undefined, "beside");
    this.tables = element("div", undefined, "choices");
    this.diagrams = diagrams;
    this.beside.append(...(diagrams.home ? [diagrams.home] : []), this.tables);
    home.append(bar, this.said, this.beside);
    this.show();
  }

  get step() {
    return this.at ? this.plan.steps[this.at - 1] : null;
  }

  go(at) {
    this.at = at === null ? null : Math.min(this.count, Math.max(0, at));
    if (this.at === null || this.at === this.count) this.stop();
    view.player = this;
    this.show();
    changed();
  }

  move(by) {
    this.go(this.at === null ? (by > 0 ? 1 : this.count) : this.at + by);
  }

  toggle() {
    if (this.timer) return this.stop();
    if (this.at === null || this.at === this.count) this.go(0);
    this.play.textContent = "❚❚ Pause";
    const pause = Math.min(1500, Math.max(60, 45000 / this.count));
    this.timer = setInterval(() => this.move(1), pause);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.play.textContent = "▶ Play";
  }

  // What holds after the steps so far: states of items and edges, and the group of each item.
  state() {
    const items = new Map();
    const edges = new Map();
    const groups = new Map();
    const note = (known, states, lasting) => {
      for (const [state, list] of Object.entries(states ?? {}))
        if (LASTING.has(state) === lasting)
          for (const one of list) {
            if (!known.has(one)) known.set(one, new Set());
            known.get(one).add(state);
          }
    };
    for (const step of this.plan.steps.slice(0, this.at ?? 0)) {
      note(items, step.items, true);
      note(edges, step.edges, true);
      for (const [item, group] of Object.entries(step.groups ?? {})) groups.set(Number(item), group);
    }
    if (this.step) {
      note(items, this.step.items, false);
      note(edges, this.step.edges, false);
      for (const edge of this.step.edges?.refused ?? []) edges.get(edge).add("now");
      for (const edge of this.step.edges?.zeroed ?? []) edges.get(edge).add("now");
    }
    return { items, edges, clusters: clustersOf(groups) };
  }

  show() {
    const { step, at, count } = this;
    this.back.disabled = at === 0;
    this.next.disabled = at === count;
    this.slider.value = at ?? count;
    this.whole.hidden = at === null;
    this.number.textContent = at === null ? `${written(count)} steps` : `${written(at)} of ${written(count)}`;
    this.said.textContent =
      at === null ? "Press Next, or → on the keyboard, to go through the steps." : step ? step.text : "Before the first step.";
    this.tables.replaceChildren();
    const state = at === null ? null : this.state();
    const values = { ...(step?.time === undefined ? {} : { time: step.time }), ...step?.values };
    const ends = this.plan.steps.slice(0, at ?? 0).flatMap((one) => one.slots ?? []);
    const chosen = ends.filter((slot) => slot[3] === "chosen").map((slot) => slot[2]);
    if (chosen.length && step?.since === undefined) values["makespan so far"] = chosen.reduce((most, end) => Math.max(most, end), 0);
    const strip = element("dl", undefined, "strip");
    for (const [name, value] of Object.entries(values)) {
      const pair = element("div");
      pair.append(element("dt", name), element("dd", short(value)));
      strip.append(pair);
    }
    if (step) this.tables.append(strip);
    for (const table of step?.tables ?? []) this.tables.append(choiceTable(table));
    if (state?.clusters.length) this.tables.append(choiceTable(clusterTable(this.plan, state.clusters)));
    this.tables.hidden = at === null;
    this.diagrams.paint(state);
  }

  sees(activity) {
    return this.at === null || !this.plan.appears || this.plan.appears[activity] <= this.at;
  }
}

// Numbers in steps are short: people compare them, programs have the log.
function short(value) {
  if (typeof value !== "number") return value;
  return Math.abs(value) < 0.1 || Math.abs(value) >= 1e8
    ? String(Number(value.toPrecision(4)))
    : String(Number(value.toFixed(2)));
}

// Clusters of more than one, by their lowest item.
function clustersOf(groups) {
  const members = new Map();
  for (const [item, group] of groups) {
    if (!members.has(group)) members.set(group, []);
    members.get(group).push(item);
  }
  const grown = [...members.values()].filter((items) => items.length > 1);
  for (const items of grown) items.sort((a, b) => a - b);
  return grown.sort((a, b) => a[0] - b[0]);
}

function clusterTable(plan, clusters) {
  const rows = clusters.slice(0, 16).map((items) => [items.map((item) => plan.links?.names[item] ?? item + 1).join(" ")]);
  const left = clusters.length > rows.length ? `, ${clusters.length - rows.length} more` : "";
  return { title: `clusters of several${left}`, names: ["tasks"], rows, chosen: -1 };
}

function choiceTable({ title, names, rows, chosen }) {
  const section = element("section");
  section.append(element("h2", title));
  const table = element("table");
  const head = table.createTHead().insertRow();
  names.forEach((name, column) => {
    const numeric = rows.every((row) => typeof row[column] === "number");
    const cell = element("th", name, numeric ? "number" : "");
    cell.scope = "col";
    head.append(cell);
  });
  const body = table.createTBody();
  rows.forEach((row, index) => {
    const line = body.insertRow();
    if (index === chosen) line.className = "chosen";
    row.forEach((value, column) =>
      line.append(element("td", (index === chosen && column === 0 ? "✓ " : "") + short(value), typeof value === "number" ? "number" : "")),
    );
  });
  section.append(table);
  return section;
}

export function listenToPlayers() {
  document.addEventListener("keydown", (event) => {
    const player = view.player;
    if (!player || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    if (event.target.closest("input, textarea, select, canvas, .table")) {
      if (event.target.type !== "range") return;
    }
    if (event.key === "ArrowRight") player.move(1);
    else if (event.key === "ArrowLeft") player.move(-1);
    else if (event.key === "Home") player.go(0);
    else if (event.key === "End") player.go(player.count);
    else if (event.key === "p") player.toggle();
    else if (event.key === "Escape") player.go(null);
    else return;
    event.preventDefault();
  });
}
