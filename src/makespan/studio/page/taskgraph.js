// The form of a task graph: the drawing, its tables, and the machines.

import { choice, entry, further, group, row, tick } from "./fields.js";
import { Graph } from "./graph.js";
import { grid } from "./grid.js";
import { freshTask, freshWork, names, removeTask, rename } from "./tasks.js";

const TOPOLOGIES = ["complete", "ring", "bus", "star", "mesh", "hypercube"];
const plain = (name, key, title, empty = "") => ({
  name, title, key, empty,
  get: (one) => one[key],
  put: (one, value) => (value === undefined ? delete one[key] : (one[key] = value)),
});

// Edges that are pasted may name tasks that are new.
function withTasks(problem, cells) {
  const lines = cells.filter((line) => line.length >= 2 && line[0] !== "" && line[1] !== "");
  if (!lines.length) return false;
  const isHead = lines[0].length > 2 && Number.isNaN(Number(lines[0][2])) && !names(problem).includes(lines[0][0]);
  const known = new Set(names(problem));
  for (const [from, to, size] of isHead ? lines.slice(1) : lines) {
    for (const name of [from, to])
      if (!known.has(name)) {
        known.add(name);
        problem.tasks.push({ name, ...freshWork(problem) });
      }
    problem.edges ??= [];
    const before = problem.edges.find((edge) => edge.from === from && edge.to === to);
    const weight = size === undefined || size === "" ? 1 : Number(size.replace(",", "."));
    if (before) before.size = weight;
    else problem.edges.push({ from, to, size: weight });
  }
  return true;
}

// Tasks with their works; names that are there get new works.
function ofTasks(problem, cells) {
  const lines = cells.filter((line) => line[0] !== "");
  if (lines.some((line) => line.length < 2)) return false;
  const isHead = Number.isNaN(Number(lines[0][1]));
  for (const [name, ...works] of isHead ? lines.slice(1) : lines) {
    const own = works.length > 1 ? { durations: works.map((text) => (text === "" ? null : Number(text))) } : { work: Number(works[0].replace(",", ".")) };
    const before = problem.tasks.findIndex((task) => task.name === name);
    if (before < 0) problem.tasks.push({ name, ...own });
    else {
      const { work, durations, ...rest } = problem.tasks[before];
      problem.tasks[before] = { ...rest, ...own };
    }
  }
  return true;
}

export function taskgraph(problem) {
  if (!problem.tasks || !problem.network?.machines) return [];
  problem.edges ??= [];
  const { network } = problem;
  const machines = network.machines;
  const own = problem.tasks.some((task) => task.durations);
  const priced = machines.some((one) => one.price !== undefined || one.price_per_second !== undefined);
  const uniform = typeof network.rate === "number" || network.rate === undefined;
  return [
    group("Graph", new Graph().home, further("Tasks and edges as tables", problem.tasks.length > 60,
      grid({
        label: "Tasks", path: ["tasks"], rows: (one) => one.tasks, least: 1,
        blank: (one) => ({ name: freshTask(one), ...freshWork(one) }),
        remove: removeTask,
        pasted: (one, cells, index, across) => across === 0 && ofTasks(one, cells),
        columns: [
          { name: "task", key: "name", text: true, get: (one, index) => one.name ?? `T${index + 1}`, put: (_, value, index, one) => rename(one, index, value) },
          ...(own ? machines.map((machine, place) => ({
            name: `on ${machine.name ?? `M${place + 1}`}, s`, empty: "can't",
            get: (one) => one.durations?.[place],
            put: (one, value) => {
              if (one.durations) one.durations[place] = value ?? null;
            },
          })) : [{ ...plain("work", "work"), slider: { min: 0, max: 1.5 * Math.max(4, ...problem.tasks.map((task) => task.work ?? 0)), step: 0.5 } }]),
          ...["release", "deadline", "cores"].filter((name) => problem.tasks.some((task) => task[name] !== undefined)).map((name) => plain(name, name)),
        ],
      }),
      grid({
        label: "Edges", path: ["edges"], rows: (one) => (one.edges ??= []),
        blank: (one) => ({ from: one.tasks[0].name, to: one.tasks.at(-1).name, size: 1 }),
        pasted: (one, cells, index, across) => across === 0 && withTasks(one, cells),
        columns: [
          { ...plain("from", "from"), text: true }, { ...plain("to", "to"), text: true },
          { ...plain("data", "size", "Units of data", "0"), slider: { min: 0, max: 1.5 * Math.max(4, ...problem.edges.map((edge) => edge.size ?? 0)), step: 0.5 } },
        ],
      }))),
    group("Machines",
      row(
        choice("Network", ["network", "topology"], TOPOLOGIES.map((name) => [name, name]), {
          get: (one) => one.network.topology ?? "complete",
          put: (one, value) => {
            one.network.topology = value;
            for (const name of ["shape", "links", "delays", "routers"]) delete one.network[name];
            if (value === "mesh") one.network.shape = [1, one.network.machines.length];
          },
        }),
        ...(uniform ? [entry("Rate, units/s", ["network", "rate"], { empty: "1", slider: { min: 0.1, max: 100, log: true } })] : []),
        choice("Transfers", ["contention"], [[undefined, "do not wait for another"], ["links", "wait on links"], ["ports", "wait on ports"]]),
        choice("A machine", ["communication"], [[undefined, "computes meanwhile"], ["blocking", "waits (blocking)"]]),
      ),
      grid({
        label: "Machines", path: ["network", "machines"], rows: (one) => one.network.machines, least: 1,
        blank: (one) => {
          grown(one, one.network.machines.length - 1);
          return one.network.machines.pop();
        },
        remove: (one, index) => {
          one.network.machines.splice(index, 1);
          for (const task of one.tasks) task.durations?.splice(index, 1);
        },
        columns: [
          { name: "name", key: "name", text: true, get: (one, index) => one.name ?? `M${index + 1}`, put: (one, value) => (one.name = value) },
          { ...plain("speed", "speed", "Units of work a second", "1"), get: (one) => one.speed ?? 1, slider: { min: 0.1, max: 10, log: true } },
          plain("message, s", "message_setup", "Seconds that every message takes more", "0"),
          ...["task_setup", "price", "cores"].filter((name) => machines.some((one) => one[name] !== undefined)).map((name) => plain(name.replace("_", " "), name)),
        ],
      }),
      further("Limits and objective", ["objective", "deadline", "budget", "duplication"].some((name) => problem[name] !== undefined), row(
        ...(priced ? [choice("Objective", ["objective"], [[undefined, "makespan"], ["price", "price"], ["pareto", "front of makespan and price"]])] : []),
        entry("Deadline, s", ["deadline"], { empty: "none" }),
        ...(priced ? [entry("Budget", ["budget"], { empty: "none" })] : []),
        tick("Copies of tasks", ["duplication"]),
      )),
    ),
  ];
}

export function grown(problem, index) {
  const { machines } = problem.network;
  const taken = new Set(machines.map((one) => one.name));
  let number = machines.length + 1;
  while (taken.has(`M${number}`)) number++;
  machines.push({ ...structuredClone(machines[index]), name: `M${number}` });
  for (const task of problem.tasks) task.durations?.push(task.durations[index]);
  if (problem.network.topology === "mesh") problem.network.shape = [1, machines.length];
}

export const machinesOf = (problem) =>
  ["links", "hypercube"].includes(problem.network?.topology) || !problem.network?.machines ? [] : problem.network.machines.map((one, index) => one.name ?? `M${index + 1}`);
