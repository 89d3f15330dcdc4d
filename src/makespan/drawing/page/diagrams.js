// Pictures of the problem beside its plan: what stands for the same lights up in both.

import { CLUSTER_FILLS, COMPUTE } from "./data.js";
import { activityOf, barsOf, element, grouped, showHeld, showTip, speak } from "./facts.js";
import { changed, view, written } from "./view.js";

const itemsOf = (node) => (node.dataset.task ?? "").split(" ").filter(Boolean).map(Number);

const WORDS_OF_STATES = {
  ready: "ready", chosen: "chosen", examined: "examined", placed: "placed",
  dominant: "dominant sequence", zeroed: "zeroed edge", refused: "refused edge",
};

export class Diagrams {
  // `showOther` puts another plan of the page in this one's place.
  constructor(plan, showOther) {
    this.plan = plan;
    this.showOther = showOther;
    this.home = null;
    this.nodes = new Map(); // item -> its boxes
    this.edges = new Map(); // edge -> its lines
    this.lines = new Map(); // activity -> its lines
    if (!plan.diagrams.length) return;
    this.home = element("div", undefined, "diagrams");
    const tabs = element("div", undefined, "tabs");
    tabs.setAttribute("role", "tablist");
    const boxes = plan.diagrams.map(([title, svg], index) => {
      const box = element("div", undefined, "diagram");
      box.append(document.adoptNode(new DOMParser().parseFromString(svg, "image/svg+xml").documentElement));
      box.tabIndex = 0;
      box.setAttribute("role", "tabpanel");
      box.setAttribute("aria-label", title);
      box.hidden = index > 0;
      fit(box.querySelector("svg"));
      const tab = element("button", title.split(":")[0]);
      tab.type = "button";
      tab.title = title;
      tab.setAttribute("role", "tab");
      tab.addEventListener("click", () => {
        boxes.forEach((other, place) => (other.hidden = place !== index));
        [...tabs.children].forEach((other) => other.setAttribute("aria-selected", other === tab));
      });
      tab.setAttribute("aria-selected", index === 0);
      tabs.append(tab);
      return box;
    });
    if (boxes.length > 1) this.home.append(tabs);
    this.home.append(...boxes);
    this.legend = element("div", undefined, "legend");
    this.home.append(this.legend);
    const keep = (known, key, node) => known.set(key, [...(known.get(key) ?? []), node]);
    for (const node of this.home.querySelectorAll("[data-task]"))
      for (const item of itemsOf(node)) keep(this.nodes, item, node);
    for (const line of this.home.querySelectorAll("[data-edge]")) keep(this.edges, Number(line.dataset.edge), line);
    for (const line of this.home.querySelectorAll("[data-activity]")) keep(this.lines, Number(line.dataset.activity), line);
    this.listen();
    this.offerOthers();
  }

  // The points of a front, and a slider along it: each shows its plan on the chart.
  offerOthers() {
    const points = [...this.home.querySelectorAll("[data-point]")];
    if (!this.plan.others.length || !points.length) return;
    points[0].closest(".diagrams").querySelectorAll("[role=tab]")[
      [...this.home.querySelectorAll(".diagram")].indexOf(points[0].closest(".diagram"))
    ]?.click();
    this.chosen = element("p", "Choose a point of the front, or move the slider, to see its plan.", "said");
    const told = this.plan.others.map(pointOf);
    const [one, other] = this.plan.others[0].facts.map(([name]) => name);
    const slider = element("input");
    Object.assign(slider, { type: "range", min: 0, max: this.plan.others.length - 1, value: 0 });
    slider.setAttribute("aria-label", `From least ${one} to least ${other}`);
    slider.setAttribute("aria-valuetext", told[0]);
    const along = element("div", undefined, "player");
    along.append(`least ${one}`, slider, `least ${other}`);
    this.home.append(along, this.chosen);
    const choose = (place) => {
      const other = this.plan.others[place];
      if (!other) return;
      for (const point of points) point.classList.toggle("picked", point === points[place]);
      this.chosen.textContent = told[place];
      slider.value = place;
      slider.setAttribute("aria-valuetext", told[place]);
      this.showOther(this.plan, place);
    };
    slider.addEventListener("input", () => choose(Number(slider.value)));
    points.forEach((point, place) => {
      if (!this.plan.others[place]) return;
      point.closest("svg").setAttribute("role", "group"); // an image holds nothing to press
      point.tabIndex = 0;
      point.setAttribute("role", "button");
      point.setAttribute("aria-label", told[place]);
      point.addEventListener("click", () => (point.focus(), choose(place)));
      point.addEventListener("keydown", (event) => {
        const by = { ArrowRight: 1, ArrowLeft: -1, Enter: 0, " ": 0 }[event.key];
        if (by === undefined) return;
        event.preventDefault();
        event.stopPropagation();
        const next = Math.min(this.plan.others.length - 1, Math.max(0, place + by));
        points[next].focus();
        choose(next);
      });
    });
  }

  // The bar of what a box or a line at an event stands for, -1 for none.
  barOf(event) {
    const node = event.target.closest("[data-task], [data-activity]");
    if (!node) return -1;
    if (node.dataset.activity === undefined) return barOfItem(this.plan, itemsOf(node)[0]);
    return barsOf(this.plan, Number(node.dataset.activity))[0] ?? -1;
  }

  listen() {
    this.home.addEventListener("pointerover", (event) => {
      const bar = this.barOf(event);
      view.over = bar < 0 ? null : { plan: this.plan, bar, near: 0 };
      if (view.over) showTip(view.over, event.clientX, event.clientY);
      else showHeld();
      changed();
    });
    this.home.addEventListener("pointerleave", () => {
      view.over = null;
      showHeld();
      changed();
    });
    this.home.addEventListener("click", (event) => {
      const bar = this.barOf(event);
      view.held = bar < 0 ? null : { plan: this.plan, bar, near: 0 };
      if (view.held) speak(view.held);
      changed();
    });
  }

  // The boxes and lines of the activity under the pointer or held, and of what it needs and feeds.
  light() {
    if (!this.home) return;
    for (const lit of this.home.querySelectorAll(".lit")) lit.classList.remove("lit");
    for (const chosen of [view.over, view.held]) {
      if (!chosen || chosen.plan !== this.plan) continue;
      const activity = activityOf(chosen);
      const item = this.plan.activities.item[activity];
      for (const line of this.lines.get(activity) ?? []) line.classList.add("lit");
      const isTask = this.plan.activities.kind[activity] === COMPUTE;
      if (isTask) for (const node of this.nodes.get(item) ?? []) node.classList.add("lit");
      const edges = isTask ? edgesOf(this.plan, item) : [item];
      if (this.plan.links)
        for (const edge of edges) for (const line of this.edges.get(edge) ?? []) line.classList.add("lit");
    }
  }

  // Scroll to the box that a step is about, inside its picture only.
  bring() {
    const box = this.home.querySelector('.diagram:not([hidden])');
    const node = box.querySelector('[data-state="chosen"], [data-state="examined"]');
    if (!node) return;
    const [own, frame] = [node.getBoundingClientRect(), box.getBoundingClientRect()];
    if (own.top < frame.top || own.bottom > frame.bottom) box.scrollTop += own.top - frame.top - frame.height / 2;
    if (own.left < frame.left || own.right > frame.right) box.scrollLeft += own.left - frame.left - frame.width / 2;
  }

  // The states after a step; null for none.
  paint(state) {
    if (!this.home) return;
    this.home.classList.toggle("stepping", state !== null);
    const seen = new Set();
    const colour = new Map();
    state?.clusters.forEach((items, index) => {
      for (const item of items) colour.set(item, CLUSTER_FILLS[index % CLUSTER_FILLS.length]);
    });
    const none = new Set();
    for (const box of this.home.querySelectorAll("[data-task]")) {
      const items = itemsOf(box); // a box of a large graph stands for many tasks
      const states = items.map((item) => state?.items.get(item) ?? none);
      const has = (name) => states.some((one) => one.has(name));
      const all = states.every((one) => one.has("placed"));
      const placed = all ? "placed" : has("placed") ? "some" : "";
      box.dataset.state = ["chosen", "examined", "ready"].find(has) ?? placed;
      box.classList.toggle("dominant", has("dominant"));
      const fill = items.length === 1 ? colour.get(items[0]) : undefined;
      box.classList.toggle("grouped", fill !== undefined);
      box.style.setProperty("--group", fill ?? "");
      for (const one of states) for (const name of one) seen.add(name);
    }
    for (const [edge, lines] of this.edges) {
      const states = state?.edges.get(edge) ?? new Set();
      for (const line of lines) for (const one of ["zeroed", "refused", "now"]) line.classList.toggle(one, states.has(one));
      for (const one of states) seen.add(one);
    }
    this.bring();
    this.legend.replaceChildren();
    for (const [name, word] of Object.entries(WORDS_OF_STATES)) {
      if (!seen.has(name)) continue;
      const entry = element("span");
      entry.append(element("i", undefined, name), word);
      this.legend.append(entry);
    }
  }
}

// What a point of a front reaches, and how much each machine does for it.
const MOST_SHARES = 12;
function pointOf({ facts, machines, activities }) {
  const { kind, machine, amount } = activities;
  const shares = new Map();
  kind.forEach((one, at) => {
    if (one === COMPUTE && amount[at] > 0) shares.set(machine[at], (shares.get(machine[at]) ?? 0) + amount[at]);
  });
  const total = [...shares.values()].reduce((sum, share) => sum + share, 0);
  const parts = [...shares].slice(0, MOST_SHARES).map(([at, share]) => `${machines[at]} ${written(Number(share.toPrecision(6)))} (${Number(((100 * share) / total).toFixed(1))} %)`);
  if (shares.size > MOST_SHARES) parts.push(`${shares.size - MOST_SHARES} more`);
  return `${facts.map((fact) => fact.join(" ")).join(", ")}: ${parts.join(", ")}`;
}

// As much smaller as keeps its text legible; the rest is scrolled to.
const SMALLEST = 0.72;
function fit(drawing) {
  const { width, height } = drawing?.viewBox.baseVal ?? {};
  if (!width) return;
  const across = document.getElementById("charts").clientWidth;
  const room = across * (across > 860 ? 0.6 : 1);
  const tallest = (width > height ? 0.5 : 0.4) * innerHeight;
  const scale = Math.max(SMALLEST, Math.min(1, room / width, tallest / height));
  drawing.setAttribute("width", width * scale);
  drawing.setAttribute("height", height * scale);
}

// The bar of a task: of several copies that which ends first; -1 if it has none.
export function barOfItem(plan, item) {
  const { kind, item: items, end } = plan.activities;
  plan.ofItem ??= grouped(
    Int32Array.from(items, (one, activity) => (kind[activity] === COMPUTE ? one : -1)),
    items.reduce((most, one) => Math.max(most, one), 0) + 1,
  );
  let best = -1;
  for (const activity of plan.ofItem(item) ?? []) if (best < 0 || end[activity] < end[best]) best = activity;
  return best < 0 ? -1 : barsOf(plan, best)[0];
}

// What the first look at an activity needs, made while nobody waits for it.
export function prepare(plan) {
  barsOf(plan, 0);
  if (!plan.links) return;
  barOfItem(plan, 0);
  edgesOf(plan, 0);
}

export function edgesOf(plan, item) {
  const { links } = plan;
  if (!links) return [];
  plan.edgesInto ??= grouped(links.target, links.names.length);
  plan.edgesFrom ??= grouped(links.source, links.names.length);
  return [...plan.edgesInto(item), ...plan.edgesFrom(item)];
}
