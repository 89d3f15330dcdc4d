// The form of a collective: machines, segments, and what a message and a combination take.

import { element } from "../drawing/facts.js";
import { choice, entry, further, group, row, button, filled } from "./fields.js";
import { grid } from "./grid.js";
import { edit, state } from "./state.js";

const COLLECTIVES = ["reduce", "broadcast", "all-reduce", "all-gather", "reduce-scatter", "gather", "scatter", "all-to-all"];
const number = (problem) => (Array.isArray(problem.machines) ? problem.machines.length : problem.machines);
const nameOf = (problem, machine) => (Array.isArray(problem.machines) ? problem.machines[machine] : `M${machine + 1}`);

// Tables of pairs and lists of machines grow with the machines.
function resize(problem, machines) {
  if (!Number.isInteger(machines) || machines < 1 || machines > 1000) {
    problem.machines = machines;
    return;
  }
  const before = number(problem);
  if (machines === before) return;
  const like = (machine) => Math.min(machine, before - 1);
  const every = Array.from({ length: machines }, (_, machine) => machine);
  if (Array.isArray(problem.machines)) problem.machines = every.map((machine) => problem.machines[machine] ?? `M${machine + 1}`);
  else problem.machines = machines;
  if (Array.isArray(problem.reduce)) problem.reduce = every.map((machine) => problem.reduce[like(machine)]);
  for (const name of ["transfer", "latency"])
    if (Array.isArray(problem[name]))
      problem[name] = every.map((from) => every.map((to) => (from === to ? 0 : problem[name][like(from)][like(to)] || problem[name][0][1])));
  for (const name of ["destinations", "sequences"]) delete problem[name];
}

function pairs(problem, name, label) {
  return grid({
    label, path: [name], rows: (one) => one[name],
    columns: [
      { name: "from ↓ to →", get: (_, index) => nameOf(problem, index) },
      ...problem[name].map((_, to) => ({
        name: nameOf(problem, to), empty: "0",
        get: (list) => list[to],
        put: (list, value) => (list[to] = filled(value, 0)),
      })),
    ],
  });
}

function spread(name) {
  edit((problem) => {
    const machines = number(problem);
    const value = problem[name] ?? 0;
    problem[name] = Array.from({ length: machines }, (_, from) => Array.from({ length: machines }, (_, to) => (from === to ? 0 : value)));
  }, { shape: true });
}

let waiting = null;
function resized(problem, machines) {
  resize(problem, machines);
  clearTimeout(waiting);
  waiting = setTimeout(() => state.problem.kind === "reduction" && edit(() => {}, { shape: true }), 400);
}

export function reduction(problem) {
  if (problem.segments === "auto") return [];
  const scale = { min: 0.01, max: 100, log: true };
  const table = (name) => Array.isArray(problem[name]);
  const combines = ["reduce", "all-reduce", "reduce-scatter"].includes(problem.collective ?? "reduce");
  const times = problem.network
    ? [element("p", "The links of this network are in the file below.", "hint")]
    : [
        row(
          ...(table("transfer") ? [] : [entry("Message of a segment, s", ["transfer"], { slider: scale })]),
          ...(table("latency") ? [] : [entry("Latency, s", ["latency"], { empty: "0", slider: { min: 0.01, max: 100, log: true } })]),
          ...(Array.isArray(problem.reduce) || !combines ? [] : [entry("Combination, s", ["reduce"], { slider: scale })]),
          ...(table("transfer") ? [] : [button("A message time for each pair", () => spread("transfer"))]),
        ),
        ...(table("transfer") ? [pairs(problem, "transfer", "Seconds of messages")] : []),
        ...(table("latency") ? [pairs(problem, "latency", "Latencies")] : []),
      ];
  return [
    group("Collective", row(
      choice("Collective", ["collective"], [...COLLECTIVES.map((name) => [name, name]), ["custom", "custom"]].filter(([name]) => name !== "custom" || problem.collective === "custom"), { shape: true }),
      entry("Machines", ["machines"], { get: number, put: resized, slider: { min: 2, max: 16 } }),
      entry("Segments", ["segments"], { slider: { min: 1, max: 16 } }),
      choice("Order of sends", ["order"], [["free", "free"], ["greedy", "greedy"], ["backfilling", "backfilling"]]),
    )),
    group("Times", ...times),
    ...(Array.isArray(problem.reduce) && combines ? [further("Combinations", true, grid({
      label: "Combinations", path: ["reduce"], rows: (one) => one.reduce,
      columns: [{ name: "machine", get: (_, index) => nameOf(problem, index) }, { name: "s per segment", get: (value) => value, put: (_, value, index, one) => (one.reduce[index] = filled(value, 0)), slider: scale }],
    }))] : []),
  ];
}

export function grown(problem) {
  if (problem.network) return;
  resize(problem, number(problem) + 1);
}

export const machinesOf = (problem) => (problem.network ? [] : ["the last"]);
