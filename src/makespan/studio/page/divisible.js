// The form of a divisible load: its limits, and workers with their links and speeds.

import { choice, entry, fresh, further, group, row, tick } from "./fields.js";
import { grid } from "./grid.js";
import { at, set, state } from "./state.js";

// A cost is a number, seconds per unit, or a table of `fixed` and `per_unit`.
const part = (name, what) => (worker) => {
  const cost = worker[name];
  if (cost === undefined || cost === null) return what === "per_unit" ? cost : undefined;
  return typeof cost === "object" ? cost[what] : what === "per_unit" ? cost : undefined;
};
const setPart = (name, what) => (worker, value) => {
  const cost = typeof worker[name] === "object" && worker[name] !== null ? { ...worker[name] } : { per_unit: worker[name] };
  cost[what] = value;
  const used = Object.entries(cost).filter(([, number]) => number !== undefined);
  if (!used.length) delete worker[name];
  else if (used.every(([key, number]) => key === "per_unit" || number === 0)) worker[name] = cost.per_unit ?? 0;
  else worker[name] = Object.fromEntries(used);
};

// Sliders of a column go from a tenth of its least to ten times its largest.
function reach(list, get) {
  const numbers = list.map(get).filter((value) => typeof value === "number" && value > 0);
  const [low, high] = numbers.length ? [Math.min(...numbers), Math.max(...numbers)] : [1, 1];
  return { min: low / 10, max: high * 10, log: true };
}

function costColumn(list, name, key, what, title, { slide = false, empty = "0" } = {}) {
  const get = part(key, what);
  return { name, title, key, get, put: setPart(key, what), empty, ...(slide ? { slider: reach(list, get) } : {}) };
}

// Fields of a cost that stands alone: the one of a unit, and the fixed one where there is any.
function costEntries(problem, label, path, options) {
  const owner = (one) => path.slice(0, -1).reduce((part, name) => (part[name] ??= {}), one);
  const field = (what, name, more) => entry(name, path, {
    ...more,
    get: (one) => part(path.at(-1), what)(at(one, path.slice(0, -1)) ?? {}),
    put: (one, value) => setPart(path.at(-1), what)(owner(one), value),
  });
  const fixed = at(problem, path)?.fixed !== undefined;
  return [field("per_unit", `${label}, s/unit`, options), ...(fixed ? [field("fixed", `${label}, s`, { empty: "0" })] : [])];
}

const plain = (name, key, title, empty = "") => ({
  name, title, key, empty,
  get: (worker) => worker[key],
  put: (worker, value) => (value === undefined || value === "" ? delete worker[key] : (worker[key] = value)),
});

// A name may be empty while it is typed; who names it follows.
const named = { name: "name", key: "name", text: true, get: (one, index) => one.name ?? `P${index + 1}`, put: (one, value) => (one.name = value) };

const freshWorker = (list) => fresh(list.map((one) => one.name), "P");

function home(problem) {
  const { platform } = problem;
  return platform.topology === "tree" ? "nodes" : platform.machines ? "machines" : "workers";
}

export function divisible(problem) {
  const { platform } = problem;
  if (platform.columns || platform.topology === "sources") return []; // as text only
  const place = home(problem);
  const list = platform[place];
  const isTree = place === "nodes";
  const workers = grid({
    label: isTree ? "Nodes" : "Workers",
    path: ["platform", place],
    rows: (one) => one.platform[place],
    least: 1,
    blank: (one) => {
      const others = one.platform[place];
      const last = { ...others.at(-1), name: freshWorker(others) };
      if (isTree) last.parent ??= others[0].name;
      return last;
    },
    columns: [
      named,
      ...(isTree ? [{ ...plain("parent", "parent"), text: true }] : []),
      ...(platform.topology === "bus" ? [] : [costColumn(list, "link, s/unit", "send", "per_unit", "Seconds to send a unit: smaller is faster", { slide: true })]),
      costColumn(list, "computing, s/unit", "compute", "per_unit", "Seconds to compute a unit: smaller is faster", { slide: true, empty: isTree ? "none" : "0" }),
    ],
  });
  const more = [
    costColumn(list, "link, s", "send", "fixed", "Seconds of every message"),
    costColumn(list, "start-up, s", "compute", "fixed", "Seconds of every computation"),
    costColumn(list, "return, s/unit", "return", "per_unit", "Seconds to send back the results of a unit", { empty: "nothing" }),
    plain("memory", "memory", "Largest chunk, units", "inf"),
    plain("release", "release", "Earliest computation, s", "0"),
    costColumn(list, "price, per unit", "price", "per_unit", "Price of a unit"),
    costColumn(list, "price, once", "price", "fixed", "Price of taking part"),
    costColumn(list, "price, per s", "price", "per_second", "Price of a second of the whole plan"),
  ];
  const isUsed = list.some((worker) => more.some((column) => column.get(worker) !== undefined));
  const details = grid({
    label: "Costs",
    path: ["platform", place],
    rows: (one) => one.platform[place],
    columns: [{ name: "name", get: named.get }, ...more.slice(0, isTree ? 2 : more.length)],
  });
  const root = platform.master;
  return [
    group("Load",
      row(
        entry("Load, units", ["load"], { empty: "most", slider: { min: 1, max: Math.max(10, 10 * (problem.load ?? 100)), log: true } }),
        entry("Rounds", ["rounds"], { empty: "1", get: (one) => (one.rounds === undefined ? 1 : one.rounds), put: (one, value) => set(one, ["rounds"], value === 1 ? undefined : value), slider: { min: 1, max: 12 }, title: "How many chunks each worker may get; auto: as many as pay" }),
        choice("Ports of the master", ["ports"], [[undefined, "one"], [2, "one to send, one to receive"], ["many", "one for each worker"]]),
      ),
      further("Limits and rules", ["deadline", "budget", "objective", "integral", "front_end", "discipline", "use"].some((name) => problem[name] !== undefined),
        row(
          entry("Deadline, s", ["deadline"], { empty: "none" }),
          entry("Budget", ["budget"], { empty: "none" }),
          choice("Objective", ["objective"], [[undefined, "makespan"], ["price", "price"], ["pareto", "front of makespan and price"]]),
          choice("Returns", ["discipline"], [[undefined, "in any order"], ["fifo", "first in, first out"], ["lifo", "last in, first out"]]),
          choice("Workers", ["use"], [[undefined, "those that pay"], ["all", "all take part"]]),
          tick("Whole units", ["integral"]),
          tick("Computes while it receives", ["front_end"], { usual: true }),
        )),
    ),
    group(isTree ? "Tree" : platform.topology === "bus" ? "Bus" : "Star",
      row(
        choice("Topology", ["platform", "topology"], [["star", "star"], ["bus", "bus"], ["tree", "tree"]], { shape: true, put: reshape }),
        ...(platform.topology === "bus" ? costEntries(problem, "Bus", ["platform", "send"], { slider: reach([platform], part("send", "per_unit")) }) : []),
        ...(isTree || typeof root === "string" ? [] : costEntries(problem, "Master computes", ["platform", "master", "compute"], { empty: "not at all" })),
      ),
      workers,
      further("Fixed costs, memory, returns, prices", isUsed, details),
    ),
  ];
}

// The same machines, joined otherwise.
function reshape(problem, topology) {
  const { platform } = problem;
  const list = platform[home(problem)];
  const sends = list.map(part("send", "per_unit")).filter((value) => typeof value === "number");
  const master = at(platform, ["master", "name"]) ?? "P0";
  const root = platform.topology === "tree" ? list.find((node) => node.parent === undefined) : null;
  const others = list.filter((node) => node !== root);
  if (topology === "tree") {
    const nodes = others.map((worker) => ({ name: worker.name, parent: master, send: worker.send ?? part("send", "per_unit")(platform) ?? 1, compute: worker.compute }));
    problem.platform = { topology, nodes: [{ name: master, ...(at(platform, ["master", "compute"]) === undefined ? {} : { compute: platform.master.compute }) }, ...nodes] };
  } else {
    const workers = others.map(({ parent, ...worker }) => ({ ...worker, send: worker.send ?? platform.send ?? 1 }));
    problem.platform = { topology, master: root ? { name: root.name, ...(root.compute === undefined ? {} : { compute: root.compute }) } : platform.master ?? { name: "P0" }, workers };
    if (typeof problem.platform.master === "string") problem.platform.master = { name: "P0" };
    if (topology === "bus") {
      problem.platform.send = sends.length ? Number((sends.reduce((sum, value) => sum + value, 0) / sends.length).toPrecision(3)) : 1;
      for (const worker of workers) delete worker.send;
    }
  }
  for (const name of ["order", "activation", "return_order", "transfers", "loads", "rounds"]) delete problem[name];
}

// One more machine like that at `index`, for "what if".
export function grown(problem, index) {
  const place = home(problem);
  const list = problem.platform[place];
  list.push({ ...structuredClone(list[index]), name: freshWorker(list) });
}

export const machinesOf = (problem) => (problem.platform.columns ? [] : problem.platform[home(problem)].map(named.get));
