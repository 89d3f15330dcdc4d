// The form of a partition: one table of costs, a row a count and a column a resource.

import { element } from "../drawing/facts.js";
import { choice, entry, fresh, further, group, row } from "./fields.js";
import { grid } from "./grid.js";

const MOST_COUNTS = 1000; // of a list that is written count by count
const isTable = (one) => one.costs !== undefined || one.counts !== undefined;
const isAffine = (one) => one.cost !== undefined;

// The counts of a resource with their times (or energies); undefined for what is forbidden.
function pointsOf(one, what) {
  const found = new Map();
  const list = what === "time" ? one.costs ?? one.time : one.energy;
  (list ?? []).forEach((value, index) => {
    if (value !== null) found.set(one.counts ? one.counts[index] : (one.first ?? 0) + index, value);
  });
  return found;
}

function countsOf(problem) {
  const found = new Set();
  for (const one of problem.resources) if (isTable(one)) for (const what of ["time", "energy"]) for (const count of pointsOf(one, what).keys()) found.add(count);
  return [...found].sort((a, b) => a - b);
}

// As a list from the first count on where it was one, else as counts with their times.
function write(one, time, energy) {
  let counts = [...new Set([...time.keys(), ...energy.keys()])].sort((a, b) => a - b);
  const first = one.first ?? 0;
  const isList = !one.counts && counts.length && counts[0] >= first && counts.at(-1) - first < MOST_COUNTS;
  if (isList) counts = Array.from({ length: counts.at(-1) - first + 1 }, (_, index) => first + index);
  for (const name of ["costs", "time", "energy"]) delete one[name];
  if (!isList) {
    delete one.first;
    one.counts = counts;
  }
  one[isList ? "costs" : "time"] = counts.map((count) => time.get(count) ?? null);
  if (energy.size) one.energy = counts.map((count) => energy.get(count) ?? null);
}

function change(one, what, count, value) {
  const [time, energy] = [pointsOf(one, "time"), pointsOf(one, "energy")];
  const points = what === "time" ? time : energy;
  if (value === undefined || value === null) points.delete(count);
  else points.set(count, value);
  if (what === "time" && !points.has(count)) energy.delete(count);
  write(one, time, energy);
}

// A whole table, its first line the names of resources and its first column the counts.
function replaced(problem, cells) {
  const [head, ...lines] = cells;
  if (head.length < 2 || head.slice(1).every((text) => text !== "" && !Number.isNaN(Number(text)))) return false;
  problem.resources = head.slice(1).map((name, index) => {
    const known = lines.filter((line) => (line[index + 1] ?? "") !== "" && !Number.isNaN(Number(line[index + 1])));
    return { name, counts: known.map((line) => Number(line[0])), time: known.map((line) => Number(line[index + 1])) };
  });
  return true;
}

function costs(problem, what, label) {
  const tabled = problem.resources.map((one, place) => [one, place]).filter(([one]) => isTable(one));
  if (!tabled.length) return null;
  return grid({
    label, rows: (one) => countsOf(one),
    least: 1,
    remove: (one, index) => {
      const count = countsOf(one)[index];
      for (const resource of one.resources) if (isTable(resource)) change(resource, "time", count, null);
    },
    pasted: (one, cells, index, across) => {
      const place = tabled.map(([, position]) => position);
      if (replaced(one, cells)) return true;
      const counts = countsOf(one);
      cells.forEach((line, down) => {
        const count = counts[index + down] ?? counts.at(-1) + 1 + index + down - counts.length;
        line.forEach((text, right) => {
          const resource = one.resources[place[across + right - 1]];
          if (resource) change(resource, what, count, text === "" ? null : Number(text.replace(",", ".")));
        });
      });
      return true;
    },
    columns: [
      { name: "count", get: (count) => count, put: () => {} },
      ...tabled.map(([resource, place]) => ({
        name: resource.name ?? `R${place + 1}`,
        empty: "–",
        get: (count) => pointsOf(resource, what).get(count),
        put: (count, value, index, one) => change(one.resources[place], what, count, value),
      })),
    ],
  });
}

// Counts are places of the table: a new one follows the last.
function addCount(problem) {
  const next = (countsOf(problem).at(-1) ?? -1) + 1;
  for (const one of problem.resources) {
    if (!isTable(one)) continue;
    const last = [...pointsOf(one, "time").values()].at(-1) ?? 1;
    change(one, "time", next, last);
    if (one.energy) change(one, "energy", next, [...pointsOf(one, "energy").values()].at(-1) ?? 1);
  }
}

// A cost is a number, seconds per task, or a table of `fixed` and `per_unit`; with one, a resource has no table.
const affine = (what) => ({
  get: ({ cost }) => (typeof cost === "object" ? cost[what] : what === "per_unit" ? cost : undefined),
  put: (one, value) => {
    if (value === undefined && !isAffine(one)) return;
    const cost = typeof one.cost === "object" ? { ...one.cost } : { per_unit: one.cost };
    if (value === undefined) delete cost[what];
    else cost[what] = value;
    for (const name of ["costs", "counts", "first", "time", "energy"]) delete one[name];
    one.cost = cost;
  },
});

export function partition(problem) {
  const limits = (name) => ({ get: (one) => one[name], put: (one, value) => (value === undefined ? delete one[name] : (one[name] = value)) });
  const names = grid({
    label: "Resources", path: ["resources"], rows: (one) => one.resources, least: 1,
    blank: (one) => ({ ...structuredClone(one.resources.at(-1)), name: freshResource(one) }),
    columns: [
      { name: "name", key: "name", text: true, get: (one, index) => one.name ?? `R${index + 1}`, put: (one, value) => (one.name = value) },
      ...(problem.resources.some(isAffine) ? [
        { name: "s per task", key: "cost", empty: "table", ...affine("per_unit"), slider: { min: 0.001, max: 100, log: true } },
        { name: "s once", key: "cost", empty: "0", ...affine("fixed") },
      ] : []),
      { name: "least", key: "lower", empty: "0", ...limits("lower") },
      { name: "most", key: "upper", empty: "all", ...limits("upper") },
    ],
  });
  const time = costs(problem, "time", "Seconds of counts");
  const energy = costs(problem, "energy", "Energy of counts");
  const hasEnergy = problem.resources.some((one) => one.energy || one.energy_cost);
  const all = problem.tasks;
  return [
    group("Tasks",
      row(
        entry("Tasks", ["tasks"], { slider: { min: 0, max: Math.max(20, 2 * all) } }),
        choice("Objective", ["objective"], [
          [undefined, "makespan"], ["total", "sum of times"],
          ...(hasEnergy ? [["energy", "energy"], ["time-then-energy", "makespan, then energy"], ["energy-then-time", "energy, then makespan"], ["pareto", "front of makespan and energy"]] : []),
        ]),
      ),
      further("Limits and rules", problem.require !== undefined || problem.prefer !== undefined || problem.deadline !== undefined, row(
        choice("Tasks to do", ["require"], [[undefined, "all"], ["most", "as many as possible"]]),
        choice("Among equals", ["prefer"], [[undefined, "first in order"], ["fewest-resources", "fewest resources"], ["least-total", "least sum of times"]]),
        entry("Deadline, s", ["deadline"], { empty: "none" }),
      )),
    ),
    group("Resources", names),
    ...(time ? [group("Cost tables", element("p", "Copy a table from a spreadsheet and paste it into a cell: with its first line of names and its first column of counts, it takes the place of all.", "hint"), time)] : []),
    ...(energy && hasEnergy ? [further("Energies", true, energy)] : []),
  ];
}

const freshResource = ({ resources }) => fresh(resources.map((one) => one.name), "R");

export { addCount };

export function grown(problem, index) {
  problem.resources.push({ ...structuredClone(problem.resources[index]), name: freshResource(problem) });
}

export const machinesOf = (problem) => problem.resources.map((one, index) => one.name ?? `R${index + 1}`);
