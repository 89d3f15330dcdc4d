// The problem that is edited, as a JSON file has it; who changes it and who follows.

export const state = { problem: null };

const followers = [];
const past = [];
const future = [];
const MOST = 200;
const AT_ONCE = 600; // milliseconds in which changes of one field are one

let last = { place: null, time: 0 };

export const follow = (act) => followers.push(act);

// `from` says who changed it: "field" (a value in the form), "shape" (the form is made anew),
// "text" (the file), "new" (another problem).
export function put(problem, from, place = null) {
  const now = performance.now();
  const same = from === "field" && last.place === place && now - last.time < AT_ONCE;
  if (state.problem && !same) {
    past.push(state.problem);
    if (past.length > MOST) past.shift();
  }
  last = { place, time: now };
  future.length = 0;
  tell(problem, from);
}

function tell(problem, from) {
  state.problem = problem;
  for (const act of followers) act(from);
}

export function edit(change, { shape = false, place = null } = {}) {
  const problem = structuredClone(state.problem);
  change(problem);
  put(problem, shape ? "shape" : "field", place);
}

function back(from, to) {
  if (!from.length) return;
  to.push(state.problem);
  last.place = null;
  tell(from.pop(), "new");
}
export const undo = () => back(past, future);
export const redo = () => back(future, past);
export const canUndo = () => past.length > 0;
export const canRedo = () => future.length > 0;

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
