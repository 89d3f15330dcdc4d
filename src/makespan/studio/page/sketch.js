// A task graph as boxes and arrows: where they stand, and how they look.

import { drawn } from "./fields.js";
import { names } from "./tasks.js";

export const [WIDE, HIGH] = [58, 34];
const [ACROSS, DOWN, EDGE] = [100, 58, 26];

export const brief = (value) => (typeof value === "number" ? String(Number(value.toPrecision(3))) : String(value));
const shortened = (name) => (name.length > 9 ? `${name.slice(0, 4)}…${name.slice(-4)}` : name);

// For each task those that it leads to, by their numbers.
function leading(problem) {
  const index = new Map(names(problem).map((name, place) => [name, place]));
  const from = Array.from(index, () => []);
  for (const edge of problem.edges ?? [])
    if (index.has(edge.from) && index.has(edge.to)) from[index.get(edge.from)].push(index.get(edge.to));
  return [index, from];
}

// The way from one task to another, as names; null where there is none.
export function wayOf(problem, one, other) {
  const [index, from] = leading(problem);
  const before = new Map([[index.get(one), null]]);
  for (const task of before.keys()) for (const next of from[task] ?? []) if (!before.has(next)) before.set(next, task);
  if (!before.has(index.get(other))) return null;
  const all = names(problem);
  const way = [];
  for (let task = index.get(other); task !== null; task = before.get(task)) way.unshift(all[task]);
  return way;
}

// Arrows that close a cycle, found by going along arrows as far as it goes, as numbers of tasks.
function closing(from) {
  const found = new Set();
  const done = from.map(() => 0); // 1 while its way is being gone, 2 after
  for (let first = 0; first < from.length; first++) {
    const way = done[first] ? [] : [[first, 0]];
    while (way.length) {
      const step = way.at(-1);
      done[step[0]] = 1;
      const next = from[step[0]][step[1]++];
      if (next === undefined) done[way.pop()[0]] = 2;
      else if (done[next] === 1) found.add(`${step[0]} ${next}`);
      else if (!done[next]) way.push([next, 0]);
    }
  }
  return found;
}

// Columns by the longest way from a task that needs nothing; in each near those that it needs.
// Arrows that close a cycle move nothing; `places` are those that somebody chose.
export function laidOut(problem, places = new Map()) {
  const all = names(problem);
  const [, straight] = leading(problem);
  const back = closing(straight);
  const from = straight.map((list, task) => list.filter((next) => !back.has(`${task} ${next}`)));
  const into = all.map(() => []);
  from.forEach((list, task) => list.forEach((next) => into[next].push(task)));
  const open = into.map((list) => list.length);
  const column = all.map(() => 0);
  const queue = all.map((_, task) => task).filter((task) => !open[task]);
  for (const task of queue)
    for (const next of from[task]) {
      column[next] = Math.max(column[next], column[task] + 1);
      if (--open[next] === 0) queue.push(next);
    }
  const columns = [];
  column.forEach((number, task) => (columns[number] ??= []).push(task));
  const tallest = Math.max(1, ...columns.map((one) => one?.length ?? 0));
  const found = new Map();
  columns.forEach((tasks = [], number) => {
    const wish = (task) => (into[task].length ? into[task].reduce((sum, before) => sum + found.get(all[before]).y, 0) / into[task].length : 0);
    const ordered = number ? [...tasks].sort((a, b) => wish(a) - wish(b) || a - b) : tasks;
    const top = EDGE + ((tallest - tasks.length) * DOWN) / 2;
    ordered.forEach((task, place) => found.set(all[task], { x: EDGE + number * ACROSS, y: top + place * DOWN }));
  });
  for (const [name, place] of places) if (found.has(name)) found.set(name, place);
  return found;
}

// A sheet for so many boxes, with the head of an arrow by its own name.
export function sheetOf(at, label, head, { role = "group", least = 150 } = {}) {
  const right = Math.max(...[...at.values()].map(({ x }) => x)) + WIDE + EDGE;
  const bottom = Math.max(...[...at.values()].map(({ y }) => y)) + HIGH + EDGE;
  const [width, height] = [Math.max(right, 300), Math.max(bottom, least)];
  const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role, "aria-label": label });
  const defs = drawn("defs", {});
  const marker = drawn("marker", { id: head, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto", markerUnits: "userSpaceOnUse" });
  marker.append(drawn("path", { d: "M0 0 8 4 0 8Z" }));
  defs.append(marker);
  svg.append(defs);
  return svg;
}

// An arrow with its number; `place` puts it between its two boxes.
export function arrowOf(edge, at, head, attributes = {}) {
  const made = drawn("g", { class: "arrow", ...attributes });
  const wide = drawn("path", { class: "wide" });
  const path = drawn("path", { "marker-end": `url(#${head})` });
  const text = drawn("text", { "text-anchor": "middle" }, brief(edge.size ?? 0));
  made.append(wide, path, text);
  const place = () => {
    const [a, b] = [at.get(edge.from), at.get(edge.to)];
    const [x, y, goalX, goalY] = [a.x + WIDE, a.y + HIGH / 2, b.x, b.y + HIGH / 2];
    const bend = Math.max(24, Math.abs(goalX - x) / 2);
    const d = `M${x} ${y}C${x + bend} ${y} ${goalX - bend} ${goalY} ${goalX} ${goalY}`;
    path.setAttribute("d", d);
    wide.setAttribute("d", d);
    text.setAttribute("x", (x + goalX) / 2);
    text.setAttribute("y", (y + goalY) / 2 - 4);
  };
  place();
  return { edge, made, place };
}

export function boxOf(name, weight, { x, y }, attributes = {}) {
  const made = drawn("g", { class: "task", transform: `translate(${x} ${y})`, ...attributes });
  made.append(
    drawn("rect", { width: WIDE, height: HIGH, rx: 7 }),
    drawn("text", { x: WIDE / 2, y: 14, "text-anchor": "middle", class: "name" }, shortened(name)),
    drawn("text", { x: WIDE / 2, y: 28, "text-anchor": "middle" }, String(weight).slice(0, 10)),
  );
  return made;
}

// A graph to look at: what each task takes stands in its box.
export function sketch(problem, weights) {
  const at = laidOut(problem);
  const svg = sheetOf(at, `Task graph: ${names(problem).map((name, task) => `${name} takes ${weights[task]}`).join(", ")}`, "sketched", { role: "img", least: 0 });
  svg.removeAttribute("height");
  Object.assign(svg.style, { width: "100%", height: "auto", maxWidth: `${svg.getAttribute("width")}px` });
  for (const edge of problem.edges ?? []) svg.append(arrowOf(edge, at, "sketched").made);
  names(problem).forEach((name, task) => svg.append(boxOf(name, weights[task], at.get(name))));
  return svg;
}
