// What a student has placed → activities, for the referee: what follows from a placement is
// filled in (how long things take, transfers as early as they may be), what is wrong stays wrong.

import { names } from "./tasks.js";

const activity = (kind, machine, peer, item, amount, start, length) => ({ kind, machine, peer, item, amount, start, end: start + length });
const affine = (cost, amount) => (cost === undefined ? 0 : typeof cost === "object" ? (cost.fixed ?? 0) + (cost.per_unit ?? 0) * amount : cost * amount);
const CLOSE = 1e-9;
const isPlaced = ({ machine, start }) => machine !== "" && typeof start === "number";

const taskgraph = {
  machines: (problem) => problem.network.machines.map((one, index) => one.name ?? `M${index + 1}`),
  items: names,
  length(problem, item, machine) {
    const place = this.machines(problem).indexOf(machine);
    const [task, one] = [problem.tasks[item], problem.network.machines[place] ?? {}];
    return (task.durations ? task.durations[place] ?? 0 : task.work / (one.speed ?? 1)) + (one.task_setup ?? 0);
  },
  activities(problem, moves) {
    const found = moves.flatMap((move, item) =>
      isPlaced(move) ? [activity("compute", move.machine, null, item, problem.tasks[item].work ?? 0, move.start, this.length(problem, item, move.machine))] : [],
    );
    const places = new Map(names(problem).map((name, item) => [name, item]));
    const taken = moves.map(({ start }) => start);
    (problem.edges ?? []).forEach((edge, index) => {
      const [from, to] = [places.get(edge.from), places.get(edge.to)];
      const [source, target] = [moves[from], moves[to]];
      if (!isPlaced(source) || !isPlaced(target) || source.machine === target.machine) return;
      const length = this.travel(problem, edge, source.machine);
      const there = source.start + this.length(problem, from, source.machine);
      if (problem.communication === "blocking") taken[to] -= length;
      const start = problem.communication === "blocking" ? Math.max(there, taken[to]) : there;
      found.push(activity("transfer", source.machine, target.machine, index, edge.size, start, length));
    });
    return found;
  },
  travel(problem, edge, machine) {
    const sender = problem.network.machines[this.machines(problem).indexOf(machine)];
    return edge.size / (problem.network.rate ?? 1) + (sender?.message_setup ?? 0);
  },
  // When what a task needs can be there, and how long its machine fetches before.
  needs(problem, moves, item, machine) {
    const places = new Map(names(problem).map((name, task) => [name, task]));
    const blocking = problem.communication === "blocking";
    let [ready, fetching] = [problem.tasks[item].release ?? 0, 0];
    for (const edge of problem.edges ?? []) {
      const from = places.get(edge.from);
      const source = moves[from];
      if (places.get(edge.to) !== item || !isPlaced(source)) continue;
      const travel = source.machine === machine ? 0 : this.travel(problem, edge, source.machine);
      ready = Math.max(ready, source.start + this.length(problem, from, source.machine) + (blocking ? 0 : travel));
      if (blocking) fetching += travel;
    }
    return [ready, fetching];
  },
};

const independent = {
  machines: (problem) => Array.from({ length: problem.machines }, (_, machine) => `M${machine + 1}`),
  items: (problem) => problem.durations.map((_, item) => problem.names?.[item] ?? `T${item + 1}`),
  length(problem, item, machine) {
    const [place, duration] = [this.machines(problem).indexOf(machine), problem.durations[item]];
    return Array.isArray(duration) ? duration[place] ?? 0 : duration / (problem.speeds?.[place] ?? 1);
  },
  activities(problem, moves) {
    return moves.flatMap((move, item) => {
      if (!isPlaced(move)) return [];
      const duration = problem.durations[item];
      const length = this.length(problem, item, move.machine);
      return [activity("compute", move.machine, null, item, Array.isArray(duration) ? 1 : duration, move.start, length)];
    });
  },
};

const divisible = {
  machines: (problem) => problem.platform.workers.map((one) => one.name),
  columns: [["worker", "machine"], ["units", "amount"]],
  activities(problem, moves) {
    const master = problem.platform.master?.name ?? "P0";
    let free = 0;
    return moves.filter(({ machine, amount }) => machine !== "" && typeof amount === "number").flatMap(({ machine, amount }, item) => {
      const worker = problem.platform.workers.find((one) => one.name === machine);
      const sent = affine(worker.send ?? problem.platform.send, amount);
      const start = free;
      free += sent;
      return [activity("send", master, machine, item, amount, start, sent), activity("compute", machine, null, item, amount, free, affine(worker.compute, amount))];
    });
  },
};

const partition = {
  machines: (problem) => problem.resources.map((one, index) => one.name ?? `R${index + 1}`),
  items: (problem) => problem.resources.map((one, index) => one.name ?? `R${index + 1}`),
  columns: [["tasks", "amount"]],
  activities(problem, moves) {
    return moves.flatMap(({ amount }, place) => {
      if (typeof amount !== "number" || amount === 0) return [];
      const one = problem.resources[place];
      const index = one.counts ? one.counts.indexOf(amount) : amount - (one.first ?? 0);
      const cost = one.cost !== undefined ? affine(one.cost, amount) : (one.costs ?? one.time)[index] ?? 0;
      return [activity("compute", this.machines(problem)[place], null, 0, amount, 0, cost)];
    });
  },
};

// What arrives is combined at once, where the collective combines; else it is there.
const combination = ({ collective = "reduce", reduce = 0 }, machine) =>
  ["reduce", "all-reduce", "reduce-scatter"].includes(collective) ? (Array.isArray(reduce) ? reduce[machine] : reduce) : 0;

const reduction = {
  machines: (problem) => (Array.isArray(problem.machines) ? problem.machines : Array.from({ length: problem.machines }, (_, machine) => `M${machine + 1}`)),
  columns: [["segment", "segment"], ["from", "machine"], ["to", "peer"], ["at, s", "start"]],
  activities(problem, moves) {
    const all = this.machines(problem);
    return moves.flatMap(({ segment, machine, peer, start }) => {
      if (!machine || !peer || typeof segment !== "number" || typeof start !== "number") return [];
      const { transfer } = problem;
      const length = Array.isArray(transfer) ? transfer[all.indexOf(machine)][all.indexOf(peer)] : transfer;
      const latency = Array.isArray(problem.latency) ? problem.latency[all.indexOf(machine)][all.indexOf(peer)] : problem.latency ?? 0;
      const send = activity("send", machine, peer, segment - 1, 1, start, length);
      return [send, activity("reduce", peer, machine, segment - 1, 1, send.end + latency, combination(problem, all.indexOf(peer)))];
    });
  },
};

// When an item may start on a machine beside what is placed: ranges of times, the earliest first.
export function openings(problem, moves, item, machine) {
  const placing = PLACING[problem.kind];
  const needs = (one) => placing.needs?.(problem, moves, one, machine) ?? [0, 0];
  const [ready, fetching] = needs(item);
  const whole = fetching + placing.length(problem, item, machine);
  const taken = moves.flatMap((move, one) =>
    one !== item && isPlaced(move) && move.machine === machine ? [[move.start - needs(one)[1], move.start + placing.length(problem, one, machine)]] : [],
  );
  const found = [];
  let free = ready;
  for (const [from, to] of taken.sort((a, b) => a[0] - b[0])) {
    if (free + whole <= from + CLOSE) found.push([free + fetching, from - whole + fetching]);
    free = Math.max(free, to);
  }
  return [...found, [free + fetching, Infinity]];
}

// The part of a problem that is placed, so that the referee speaks of that alone; what is left.
export function placedPart(problem, moves) {
  const { items } = PLACING[problem.kind];
  const every = items?.(problem) ?? [];
  if (!["taskgraph", "independent"].includes(problem.kind)) return { problem, moves, left: [] };
  const left = every.filter((_, item) => !isPlaced(moves[item]));
  const on = (_, item) => isPlaced(moves[item]);
  if (problem.kind === "independent") {
    const part = { ...problem };
    for (const name of ["durations", "names", "release"]) if (Array.isArray(part[name])) part[name] = part[name].filter(on);
    return { problem: part, moves: moves.filter(isPlaced), left };
  }
  const missing = new Set(left);
  const edges = (problem.edges ?? []).filter(({ from, to }) => !missing.has(from) && !missing.has(to));
  const tasks = problem.tasks.map((task, item) => ({ name: every[item], ...task })).filter(on);
  return { problem: { ...problem, tasks, edges }, moves: moves.filter(isPlaced), left };
}

// What a plan places, as moves; null where a board can't hold it, such as a task in two places.
export function movesOf(problem, activities) {
  const placing = PLACING[problem.kind];
  const computed = activities.filter(({ kind }) => kind === "compute");
  const sent = activities.filter(({ kind }) => kind === "send").sort((one, other) => one.start - other.start);
  if (problem.kind === "divisible") return sent.map(({ peer, amount }) => ({ machine: peer, amount }));
  if (problem.kind === "reduction") return sent.map(({ machine, peer, item, start }) => ({ segment: item + 1, machine, peer, start }));
  if (problem.kind === "partition") return placing.machines(problem).map((name) => ({ machine: name, amount: computed.find(({ machine }) => machine === name)?.amount ?? 0 }));
  if (new Set(computed.map(({ item }) => item)).size < computed.length) return null;
  return placing.items(problem).map((_, place) => {
    const { machine = "", start } = computed.find(({ item }) => item === place) ?? {};
    return { machine, start };
  });
}

export const PLACING = { taskgraph, independent, divisible, partition, reduction };
