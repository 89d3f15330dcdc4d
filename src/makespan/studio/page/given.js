// What a problem gives, for those who place by hand: its graph as a picture, and its numbers.

import { element } from "../drawing/facts.js";
import { further, row } from "./fields.js";
import { PLACING } from "./placing.js";
import { sketch } from "./sketch.js";

// What is given: a graph as a picture, and all numbers, for those who place by them.
export function given(problem) {
  const lines = [];
  const line = (...cells) => lines.push(cells);
  const parts = [];
  const { kind } = problem;
  if (kind === "taskgraph" || kind === "independent") {
    const [machines, placing] = [PLACING[kind].machines(problem), PLACING[kind]];
    const lasts = placing.items(problem).map((_, item) => machines.map((machine) => placing.length(problem, item, machine)));
    const alike = lasts.every((list) => list.every((value) => value === list[0]));
    if (kind === "taskgraph") {
      const weights = lasts.map((list) => (alike ? `${list[0]} s` : list.join("/")));
      const sheet = element("div", undefined, "sheet sketch");
      sheet.append(sketch(problem, weights));
      parts.push(sheet, element("p", `In a box: the task, and how long it takes${alike ? "" : ` on ${machines.join(", ")}`}. At an arrow: how much data the next task needs.`, "hint"));
    }
    line("task", ...(alike ? ["seconds"] : machines.map((machine) => `s on ${machine}`)));
    placing.items(problem).forEach((name, item) => line(name, ...(alike ? lasts[item].slice(0, 1) : lasts[item])));
    if (problem.edges?.length) parts.push(gridOf([["edge", "data"], ...problem.edges.map(({ from, to, size }) => [`${from} → ${to}`, size])]));
  } else if (kind === "divisible") {
    line("worker", "s to send a unit", "s to compute a unit");
    for (const { name, send, compute } of problem.platform.workers) line(name, ...[send ?? problem.platform.send, compute].map((cell) => (typeof cell === "object" ? JSON.stringify(cell) : cell)));
  } else if (kind === "partition") {
    line("tasks", ...PLACING.partition.machines(problem));
    for (let count = 0; count <= problem.tasks; count++)
      line(count, ...problem.resources.map((one) => (one.counts ? one.time[one.counts.indexOf(count)] : one.costs?.[count - (one.first ?? 0)])));
  } else {
    line("given", "value");
    for (const name of ["collective", "machines", "segments", "latency", "transfer"]) line(name, JSON.stringify(problem[name] ?? 0));
  }
  const tables = [gridOf(lines), ...parts.splice(2)];
  return [...parts, further("The problem in numbers", !parts.length, row(...tables))];
}

function gridOf([head, ...lines]) {
  const table = element("table");
  const names = table.createTHead().insertRow();
  for (const cell of head) names.append(element("th", cell));
  const body = table.createTBody();
  for (const cells of lines) {
    const made = body.insertRow();
    for (const cell of cells) made.append(element("td", String(cell ?? "–")));
  }
  const home = element("div", undefined, "grid");
  home.append(table);
  return home;
}
