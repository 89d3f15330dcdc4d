// The tasks of a task graph: their names, new ones, and what goes with one.

import { fresh } from "./fields.js";

export const names = (problem) => problem.tasks.map((task, index) => task.name ?? `T${index + 1}`);

export function freshTask(problem) {
  const prefix = problem.tasks.length && /^\d+$/.test(problem.tasks[0].name ?? "T1") ? "" : "T";
  return fresh(names(problem), prefix);
}

export function freshWork(problem) {
  const machines = problem.network.machines.length;
  return problem.tasks.length && problem.tasks.every((task) => task.durations) ? { durations: Array(machines).fill(1) } : { work: 1 };
}

export function removeTask(problem, index) {
  const [gone] = problem.tasks.splice(index, 1);
  problem.edges = (problem.edges ?? []).filter((edge) => edge.from !== gone.name && edge.to !== gone.name);
}

export function rename(problem, index, name) {
  const before = problem.tasks[index].name;
  problem.tasks[index].name = name;
  for (const edge of problem.edges ?? []) for (const end of ["from", "to"]) if (edge[end] === before) edge[end] = name;
}
