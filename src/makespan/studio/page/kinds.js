// What each kind brings: its form, its machines, and how it gets one more.

import * as divisible from "./divisible.js";
import * as independent from "./independent.js";
import * as partition from "./partition.js";
import * as reduction from "./reduction.js";
import * as taskgraph from "./taskgraph.js";

export const KINDS = {
  divisible: { word: "Divisible load", form: divisible.divisible, ...divisible, one: "worker" },
  taskgraph: { word: "Task graph", form: taskgraph.taskgraph, ...taskgraph, one: "machine" },
  partition: { word: "Partition", form: partition.partition, ...partition, one: "resource" },
  independent: { word: "Independent tasks", form: independent.independent, ...independent, one: "machine" },
  reduction: { word: "Collective", form: reduction.reduction, ...reduction, one: "machine" },
};
