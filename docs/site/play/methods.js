// What the page computes by itself: HEFT, the closed form of a star, bounds, and what breaks a plan.

import { names } from "../studio/tasks.js";
import { openings, PLACING } from "../studio/placing.js";

const CLOSE = 1e-9;
const graph = PLACING.taskgraph;
const sum = (values) => values.reduce((total, value) => total + value, 0);
const most = (values) => Math.max(0, ...values);
const speeds = (problem) => problem.network.machines.map((one) => one.speed ?? 1);

// Of each task the edges that leave it, and how many come in.
function linked(problem) {
  const index = new Map(names(problem).map((name, item) => [name, item]));
  const [out, into] = [problem.tasks.map(() => []), problem.tasks.map(() => 0)];
  for (const { from, to, size = 0 } of problem.edges ?? []) {
    out[index.get(from)].push({ to: index.get(to), size });
    into[index.get(to)]++;
  }
  return { out, into };
}

// Tasks from those that need nothing on, always the ready one that `before` puts first.
function ordered(problem, before) {
  const { out, into } = linked(problem);
  const ready = problem.tasks.map((_, item) => item).filter((item) => !into[item]);
  const found = [];
  while (ready.length) {
    const [item] = ready.sort((a, b) => before(a, b) || a - b).splice(0, 1);
    found.push(item);
    for (const { to } of out[item]) if (!--into[to]) ready.push(to);
  }
  return found;
}

// The longest way from each task to the end, given what tasks and units of data count.
function levels(problem, seconds, unit) {
  const { out } = linked(problem);
  const found = [];
  for (const item of ordered(problem, () => 0).reverse())
    found[item] = problem.tasks[item].work * seconds + most(out[item].map(({ to, size }) => size * unit + found[to]));
  return found;
}

// Topcuoglu, Hariri and Wu 2002: by falling rank, each task goes where it ends first, into gaps too.
export function heft(problem) {
  const machines = graph.machines(problem);
  const mean = sum(speeds(problem).map((speed) => 1 / speed)) / machines.length;
  const rank = levels(problem, mean, machines.length > 1 ? 1 / (problem.network.rate ?? 1) : 0);
  const moves = problem.tasks.map(() => ({ machine: "", start: undefined }));
  for (const item of ordered(problem, (a, b) => rank[b] - rank[a])) {
    let least = Infinity;
    for (const machine of machines) {
      const start = openings(problem, moves, item, machine)[0][0];
      const end = start + graph.length(problem, item, machine);
      if (end < least) [least, moves[item]] = [end, { machine, start }];
    }
  }
  return moves;
}

export const endOf = (problem, moves) => most(PLACING[problem.kind].activities(problem, moves).map(({ end }) => end));

// No plan ends before the longest way on the fastest machine, and all work on all machines.
export function bound(problem) {
  const fastest = most(speeds(problem));
  return Math.max(most(levels(problem, 1 / fastest, 0)), sum(problem.tasks.map(({ work }) => work)) / sum(speeds(problem)));
}

// One chunk a worker, the fastest link first, all end together: what a worker computes takes as long
// as the next one's receiving and computing.
export function closedForm({ load, platform: { workers } }) {
  const order = [...workers].sort((a, b) => a.send - b.send);
  const shares = order.reduce((list, { send, compute }, place) => [...list, place ? (list.at(-1) * order[place - 1].compute) / (send + compute) : 1], []);
  const unit = load / sum(shares);
  return order.map(({ name }, place) => ({ machine: name, amount: unit * shares[place] }));
}

// What breaks a plan, in sentences; nothing where all is placed well.
export function broken(problem, moves) {
  const say = [];
  const every = graph.items(problem);
  const last = new Map();
  const placed = every.map((_, item) => item).filter((item) => typeof moves[item].start === "number" && moves[item].machine);
  for (const item of placed.sort((a, b) => moves[a].start - moves[b].start)) {
    const { machine, start } = moves[item];
    const [ready] = graph.needs(problem, moves, item, machine);
    if (start < ready - CLOSE) say.push(`${every[item]} starts at ${brief(start)}, before its data are there at ${brief(ready)}.`);
    const end = start + graph.length(problem, item, machine);
    if (end === start) continue; // takes no time, and no machine
    const before = last.get(machine);
    if (before && start < before.end - CLOSE) say.push(`${every[item]} starts on ${machine} before ${every[before.item]} has ended.`);
    if (!before || end > before.end) last.set(machine, { item, end });
  }
  const left = every.filter((_, item) => !placed.includes(item));
  return left.length ? [...say, `Still to place: ${left.join(", ")}.`] : say;
}

// What is wrong with the numbers of a problem, as the fields show it.
export function mistakes(problem) {
  const found = [];
  const number = (place, value, isAllowed, allowed) => {
    if (!Number.isFinite(value) || !isAllowed(value)) found.push({ place, message: `${value ?? "nothing"} is not ${allowed}` });
  };
  const nonNegative = (place, value) => number(place, value, (one) => one >= 0, "a number from 0");
  const positive = (place, value) => number(place, value, (one) => one > 0, "a number above 0");
  if (problem.kind === "divisible") {
    positive("load", problem.load);
    problem.platform.workers.forEach(({ send, compute }, place) => {
      nonNegative(`platform.workers[${place}].send`, send);
      positive(`platform.workers[${place}].compute`, compute);
    });
    return found;
  }
  problem.tasks.forEach(({ work }, place) => nonNegative(`tasks[${place}].work`, work));
  (problem.edges ?? []).forEach(({ size }, place) => nonNegative(`edges[${place}].size`, size));
  problem.network.machines.forEach(({ speed }, place) => positive(`network.machines[${place}].speed`, speed));
  positive("network.rate", problem.network.rate);
  return found;
}

export const brief = (value) => String(Number(value.toPrecision(5)));
