// The studio: choose, edit, and see the plan.

import { listenToTheme, listenToTools } from "../drawing/controls.js";
import { element } from "../drawing/facts.js";
import { listenToPlayers } from "../drawing/player.js";
import { changed, panels, plans, view } from "../drawing/view.js";
import { get, post } from "./api.js";
import { listenToAway } from "./away.js";
import { listenToBeside, offerMethods } from "./beside.js";
import { everyExercise, exercising, mode, openExercise, startExercises } from "./exercises.js";
import { showMistakes } from "./fields.js";
import { empty, KINDS } from "./kinds.js";
import { linked, remember, remembered, show } from "./link.js";
import { verdictOf } from "./showing.js";
import { followPlan, outcome, solve, stopSearch } from "./solving.js";
import { canRedo, canUndo, follow, put, redo, state, undo } from "./state.js";
import { toml } from "./toml.js";

const part = (name) => document.getElementById(name);
let examples = [];
let typing = null; // a timer, while the file is typed
let readings = 0;
let last = "new"; // who has changed the problem last

function offerExamples(kind) {
  part("kind").value = kind;
  const list = part("example");
  list.replaceChildren(element("option", "choose…"));
  list.options[0].value = "";
  const least = element("option", "an empty one, to begin with");
  least.value = "empty";
  list.append(least);
  examples.forEach(({ title, problem, kind: of = problem.kind }, index) => {
    if (of !== kind) return;
    const option = element("option", title);
    option.value = index;
    list.append(option);
  });
}

function showForm() {
  const { problem } = state;
  const [kept, focused] = [scrollY, part("form").contains(document.activeElement) ? nameOf(document.activeElement) : null];
  const parts = KINDS[problem.kind]?.form(problem) ?? [];
  part("form").replaceChildren(...(parts.length ? parts : [element("p", "This problem is edited as a file, below.", "hint")]));
  if (part("kind").value !== problem.kind) offerExamples(problem.kind);
  if (focused) [...part("form").querySelectorAll("input, select")].find((one) => nameOf(one) === focused)?.focus({ preventScroll: true });
  scrollTo(scrollX, kept);
}

const nameOf = (control) => control.getAttribute("aria-label") ?? control.labels?.[0]?.textContent;

// Mistakes stand where they were made: at the fields, or under the file that was typed.
function told(error, typed = false) {
  const mistakes = error ? (error.mistakes?.length ? error.mistakes : [{ place: "", message: error.message }]) : [];
  const rest = showMistakes(part("form"), typed ? [] : mistakes);
  const lines = (list) => list.map(({ place, message }) => element("li", place ? `${place}: ${message}` : message));
  part("mistakes").replaceChildren(...(typed ? [] : lines(rest)));
  part("typed").replaceChildren(...(typed ? lines(mistakes) : []));
  part("toml").toggleAttribute("aria-invalid", typed && mistakes.length > 0);
  document.body.classList.toggle("mistaken", mistakes.length > 0);
}

// The file that is typed or pasted becomes the problem, when it can be read.
async function read(text) {
  const turn = ++readings;
  try {
    const { problem } = await post("/api/problem", { problem: text });
    if (turn === readings) put(problem, "text");
  } catch (error) {
    if (turn === readings) told(error, true);
  }
}

function firstOf(kind) {
  offerExamples(kind);
  const first = examples.findIndex((one) => one.kind === kind);
  part("example").value = first;
  choose(examples[first]);
}

// An example, unless something else is chosen or edited before it is there.
async function choose({ toml: text, problem }) {
  const turn = ++readings;
  const found = problem ?? (await post("/api/problem", { problem: text })).problem;
  if (turn === readings) put(found, "new");
}

// What the address says; at the start, without a word there, what was on the page before.
async function arrive() {
  const { problem, exercise, broken } = await linked();
  let wrong = broken ?? "";
  if (problem && KINDS[problem.kind]) {
    if (exercising()) mode(false);
    return put(problem, "new");
  }
  if (problem) wrong = `This link holds a problem of a kind that is not known: ${problem.kind}.`;
  if (exercise !== undefined) wrong = await openExercise(exercise).catch((error) => `The exercise of this link can't be read: ${error.message}`);
  part("notice").textContent = wrong;
  if (!state.problem && (wrong || exercise === undefined)) first();
}

// The problem that was on the page before, or the first example.
function first() {
  const before = remembered("problem");
  if (before && KINDS[before.kind]) put(before, "new");
  else firstOf(Object.keys(KINDS)[0]);
}

follow((from) => {
  last = from;
  clearTimeout(typing);
  if (from !== "new") part("notice").textContent = "";
  remember("problem", state.problem);
  show("problem", state.problem, from === "new");
  readings++; // what is still being read is older
  if (from !== "field") showForm();
  if (from !== "text") part("toml").value = toml(state.problem);
  part("undo").disabled = !canUndo();
  part("redo").disabled = !canRedo();
  if (from !== "field" && from !== "shape") outcome.methods = [];
  offerMethods();
  solve();
});

followPlan((error) => {
  told(error, last === "text");
  part("verdict").classList.toggle("stale", Boolean(error));
  if (!error) part("verdict").replaceChildren(...verdictOf(outcome.result));
});

for (const [kind, { word }] of Object.entries(KINDS)) {
  const option = element("option", word);
  option.value = kind;
  part("kind").append(option);
}
part("kind").addEventListener("change", () => firstOf(part("kind").value));
part("example").addEventListener("change", () => {
  const { value } = part("example");
  if (value === "empty") put(empty(part("kind").value), "new");
  else if (value !== "") choose(examples[value]);
});
part("open").addEventListener("change", async () => {
  const [file] = part("open").files;
  if (!file) return;
  part("toml").value = await file.text();
  part("open").value = ""; // the same file can be opened again
  read(part("toml").value);
});
part("toml").addEventListener("input", (event) => {
  clearTimeout(typing);
  const text = part("toml").value;
  typing = setTimeout(() => read(text), event.inputType === "insertFromPaste" ? 0 : 150);
});
part("undo").addEventListener("click", undo);
part("redo").addEventListener("click", redo);
part("stop").addEventListener("click", stopSearch);
addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.target.closest("textarea, #exercise input")) return;
  const way = event.key === "z" ? "undo" : event.key === "y" || event.key === "Z" ? "redo" : null;
  if (!way) return;
  event.preventDefault();
  if (exercising()) exercising().back(way);
  else (way === "undo" ? undo : redo)();
});
new ResizeObserver(() => changed(true)).observe(part("charts"));
addEventListener("hashchange", arrive);

listenToTools();
listenToPlayers();
listenToTheme();
listenToBeside();
listenToAway();
startExercises(first);
examples = (await Promise.all([get("/api/examples"), everyExercise()])).flat();
await arrive();

// For scripts beside the page: what is seen, and what is asked.
globalThis.makespan = { view, panels, plans, state, outcome };
