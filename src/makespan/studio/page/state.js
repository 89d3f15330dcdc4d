// The problem that is edited, as a JSON file has it; who changes it and who follows.

import { Past } from "./past.js";

export const state = { problem: null };

const listeners = [];
const past = new Past();

export const follow = (act) => listeners.push(act);

// `from` says who changed it: "field" (a value in the form), "shape" (the form is made anew),
// "text" (the file), "new" (another problem), "back" (a change is taken back, or made again).
export function put(problem, from, place = null) {
  if (state.problem) past.keep(state.problem, from === "field" ? place ?? "" : null);
  tell(problem, from);
}

function tell(problem, from) {
  state.problem = problem;
  for (const act of listeners) act(from);
}

export function edit(change, { shape = false, place = null } = {}) {
  const problem = structuredClone(state.problem);
  change(problem);
  put(problem, shape ? "shape" : "field", place);
}

const back = (problem) => tell(problem, "back");
export const undo = () => past.undo(state.problem, back);
export const redo = () => past.redo(state.problem, back);
export const canUndo = () => past.canUndo;
export const canRedo = () => past.canRedo;

// The value at a path such as ["platform", "workers", 1, "send"]; undefined where nothing is.
export const at = (value, path) => path.reduce((part, name) => part?.[name], value);

export function set(value, path, entry) {
  const home = path.slice(0, -1).reduce((part, name) => (part[name] ??= {}), value);
  const name = path.at(-1);
  if (entry === undefined) delete home[name];
  else home[name] = entry;
}

// As mistakes name it: platform.workers[1].send.
export const placeOf = (path) =>
  path.reduce((text, part) => (typeof part === "number" ? `${text}[${part}]` : text ? `${text}.${part}` : part), "");
