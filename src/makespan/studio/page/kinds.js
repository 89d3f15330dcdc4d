// What each kind brings: its form, its machines, and how it gets one more.

import * as divisible from "./divisible.js";
import * as independent from "./independent.js";
import * as partition from "./partition.js";
import * as reduction from "./reduction.js";
import * as taskgraph from "./taskgraph.js";

const EMPTY = {
  divisible: { load: 1, platform: { topology: "star", workers: [{ name: "P1", send: 1, compute: 1 }] } },
  taskgraph: { tasks: [{ name: "1", work: 1 }], edges: [], network: { machines: [{ name: "M1" }] } },
  partition: { tasks: 1, resources: [{ name: "R1", costs: [0, 1] }] },
  independent: { machines: 1, durations: [1], preemptive: false },
  reduction: { machines: 2, segments: 1, latency: 0, transfer: 1, reduce: 1 },
};

// The least problem of a kind, to begin with.
export const empty = (kind) => ({ format: "makespan.problem/1", kind, ...structuredClone(EMPTY[kind]) });

export const KINDS = {
  divisible: { word: "Divisible load", form: divisible.divisible, ...divisible, one: "worker" },
  taskgraph: { word: "Task graph", form: taskgraph.taskgraph, ...taskgraph, one: "machine" },
  partition: { word: "Partition", form: partition.partition, ...partition, one: "resource" },
  independent: { word: "Independent tasks", form: independent.independent, ...independent, one: "machine" },
  reduction: { word: "Collective", form: reduction.reduction, ...reduction, one: "machine" },
};
