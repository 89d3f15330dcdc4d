// The form of independent tasks: durations, on machines that are alike, faster or unrelated.

import { entry, group, row, tick, choice, filled } from "./fields.js";
import { grid } from "./grid.js";
import { edit } from "./state.js";

const wide = (problem) => Array.isArray(problem.durations[0]);
const rounded = (value) => Number(value.toPrecision(4));

function kindOf(problem) {
  return wide(problem) ? "unrelated" : problem.speeds ? "uniform" : "identical";
}

// The same tasks on machines of another kind: the mean of what differs, or copies of what is one.
function become(problem, kind) {
  const machines = problem.machines;
  if (wide(problem) && kind !== "unrelated")
    problem.durations = problem.durations.map((list) => {
      const known = list.filter((value) => value !== null);
      return known.length ? rounded(known.reduce((sum, value) => sum + value, 0) / known.length) : 1;
    });
  if (kind === "unrelated" && !wide(problem))
    problem.durations = problem.durations.map((value) => Array.from({ length: machines }, (_, machine) => rounded(value / (problem.speeds?.[machine] ?? 1))));
  if (kind === "uniform") problem.speeds ??= Array.from({ length: machines }, () => 1);
  else delete problem.speeds;
}

function resize(problem, machines) {
  problem.machines = machines;
  if (!Number.isInteger(machines) || machines < 1 || machines > 1000) return;
  const fitted = (list, value) => Array.from({ length: machines }, (_, machine) => list[machine] ?? value ?? list.at(-1));
  if (problem.speeds) problem.speeds = fitted(problem.speeds);
  if (wide(problem)) problem.durations = problem.durations.map((list) => fitted(list));
}

export function independent(problem) {
  const kind = kindOf(problem);
  const columns = kind === "unrelated"
    ? problem.durations[0].map((_, machine) => ({
        name: `M${machine + 1}, s`, empty: "can't",
        get: (list) => list[machine],
        put: (list, value) => (list[machine] = value === undefined ? null : value),
      }))
    : [{ name: "duration, s", get: (value) => value, put: (_, value, index, one) => (one.durations[index] = filled(value, 0)), slider: { min: 0, max: Math.max(10, ...problem.durations.filter(Number.isFinite)) * 1.5, step: 0.5 } }];
  return [
    group("Machines",
      row(
        entry("Machines", ["machines"], { slider: { min: 1, max: 16 }, put: resized }),
        choice("They are", ["speeds"], [["identical", "alike"], ["uniform", "of several speeds"], ["unrelated", "unrelated"]], { get: kindOf, put: become, shape: true }),
        ...(kind === "unrelated" ? [] : [tick("Tasks may be cut", ["preemptive"])]),
      ),
      ...(kind === "uniform" ? [grid({
        label: "Speeds", path: ["speeds"], rows: (one) => one.speeds,
        columns: [{ name: "machine", get: (_, index) => `M${index + 1}` }, { name: "speed", get: (value) => value, put: (_, value, index, one) => (one.speeds[index] = filled(value, 1)), slider: { min: 0.1, max: 10, log: true } }],
      })] : []),
    ),
    group("Tasks", grid({
      label: "Tasks", path: ["durations"], least: 1,
      rows: (one) => one.durations,
      blank: (one) => structuredClone(one.durations.at(-1)),
      remove: (one, index) => {
        one.durations.splice(index, 1);
        if (Array.isArray(one.release)) one.release.splice(index, 1);
      },
      columns: [{ name: "task", get: (_, index) => `T${index + 1}` }, ...columns],
    })),
  ];
}

// The number of machines changes what else the form has.
let waiting = null;
function resized(problem, machines) {
  resize(problem, machines);
  if (!problem.speeds && !wide(problem)) return;
  clearTimeout(waiting);
  waiting = setTimeout(() => edit(() => {}, { shape: true }), 400);
}

export function grown(problem, index) {
  const machine = index ?? problem.machines - 1;
  if (problem.speeds) problem.speeds.push(problem.speeds[machine]);
  if (wide(problem)) for (const list of problem.durations) list.push(list[machine]);
  problem.machines += 1;
}

export const machinesOf = (problem) =>
  kindOf(problem) === "identical" ? ["the others"] : Array.from({ length: problem.machines }, (_, machine) => `M${machine + 1}`);
