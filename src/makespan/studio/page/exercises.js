// Exercises: a question, a board, the referee's word at once, and the optimum on request.

import { element } from "../drawing/facts.js";
import { get, post } from "./api.js";
import { save } from "./away.js";
import { Board } from "./board.js";
import { button, group, row } from "./fields.js";
import { given } from "./given.js";
import { remember, remembered, show } from "./link.js";
import { PLACING } from "./placing.js";
import { refereed, refusal, remarks, seconds } from "./referee.js";
import { say, showView, verdictOf } from "./showing.js";
import { asked, leave, outcome, solve } from "./solving.js";
import { put, state } from "./state.js";
import { toml } from "./toml.js";

const part = (name) => document.getElementById(name);
const kept = remembered("moves") ?? {}; // title of an exercise -> what was placed
const bests = new Map(); // exercise -> the best plan, asked for once
let known = [];
let current = null;
let board = null;
let turns = 0;
let accepted = null; // the plan that the referee has accepted last, to hand in
export const exercising = () => (part("exercise").hidden ? null : board);

const LIMIT = 10; // seconds for the best plan

function choose(exercise) {
  current = exercise;
  const list = element("select");
  list.id = "exercises";
  known.forEach((one, index) => {
    const option = element("option", one.title);
    option.value = index;
    list.append(option);
  });
  list.value = known.indexOf(exercise);
  list.addEventListener("change", () => choose(known[list.value]));
  const label = element("label", "Exercise");
  label.htmlFor = list.id;
  const chooser = element("div", undefined, "field wide");
  chooser.append(label, list);
  const hints = element("ol", undefined, "hints");
  const more = button("A hint", () => {
    hints.append(element("li", exercise.hints[hints.children.length]));
    more.hidden = hints.children.length === exercise.hints.length;
  });
  more.hidden = !exercise.hints.length;
  const [undo, redo] = [button("↶", () => board.back("undo"), "Undo (Ctrl+Z)"), button("↷", () => board.back("redo"), "Redo (Ctrl+Y)")];
  const clear = button("Clear", () => board.clear(), "Take everything off the board");
  const follow = () => {
    undo.disabled = !board.past.canUndo;
    redo.disabled = !board.past.canRedo;
    clear.disabled = !PLACING[exercise.problem.kind].activities(exercise.problem, board.moves).length;
  };
  board = new Board(exercise.problem, fitting(exercise), (moves) => {
    kept[exercise.title] = { problem: exercise.problem, moves };
    remember("moves", kept);
    follow();
    judge();
  });
  follow();
  part("exercise").replaceChildren(
    row(chooser, opener()),
    element("h2", exercise.title),
    element("p", exercise.question, "question"),
    row(more, undo, redo, clear, button("Reveal the best plan", reveal), button("Play with the problem", play, "Leave the exercise and change its problem")),
    hints,
    group("Your plan", board.home, handingIn()),
  );
  part("given").replaceChildren(...given(exercise.problem));
  board.draw();
  judge();
  const { own, ...whole } = exercise;
  show("exercise", own ? whole : known.indexOf(exercise) + 1, true);
}

// What was placed before, if it was in the same problem.
function fitting({ title, problem }) {
  const before = kept[title];
  return before && JSON.stringify(before.problem) === JSON.stringify(problem) ? before.moves : undefined;
}

// The accepted plan as a file of a result, which 'makespan check' reads.
function handingIn() {
  const name = element("input");
  Object.assign(name, { type: "text", autocomplete: "name", placeholder: "your name", value: remembered("name") ?? "" });
  name.setAttribute("aria-label", "Your name, for the file to hand in");
  name.addEventListener("input", () => remember("name", name.value));
  const hand = button("Hand in", async () => {
    const { schedule, makespan, problem, exercise } = accepted;
    const { points, best, words } = await score(exercise, makespan);
    const by = name.value.trim();
    const result = { format: "makespan.result/1", kind: problem.kind, method: "by hand", notes: [`${exercise.title}${by ? `, by ${by}` : ""}: ${words}`], schedule, problem };
    result.details = { exercise: exercise.title, name: by, makespan, best, points, at: new Date().toISOString() };
    const file = `${exercise.title} ${by}`.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "");
    save(new Blob([JSON.stringify(result, null, 1)], { type: "application/json" }), `${file}.json`);
  }, "Download your accepted plan as a file; 'makespan check' puts it before the referee");
  hand.id = "hand-in";
  hand.disabled = true;
  return row(name, hand);
}

// The best plan that is known, and how near to it a plan comes: 100 points for the best.
async function score(exercise, makespan) {
  const { problem } = asked(exercise.problem);
  const stored = exercise.best === undefined ? undefined : { makespan: exercise.best, status: "optimal" };
  if (stored) bests.set(exercise, stored);
  else if (!bests.has(exercise)) bests.set(exercise, post("/api/solve", { problem, time_limit: LIMIT }));
  let found;
  try {
    found = await bests.get(exercise);
  } catch {
    bests.delete(exercise);
    return { words: `It ends at ${seconds(makespan)}.` };
  }
  const best = Math.min(found.makespan ?? makespan, makespan);
  const points = Math.round(100 * (makespan ? best / makespan : 1));
  const isBest = makespan <= best * (1 + 1e-9);
  const proved = found.status === "optimal";
  const known = isBest ? (proved ? "no plan ends earlier" : "no better plan is known") : `the best ${proved ? "" : "known "}ends at ${seconds(best)}`;
  return { points, best, isBest, words: `It ends at ${seconds(makespan)}; ${known}. ${points} of 100 points.` };
}

// A lecturer's own file.
function opener() {
  const input = element("input");
  input.type = "file";
  input.accept = ".toml";
  input.setAttribute("aria-label", "Open an exercise of your own (TOML)");
  input.addEventListener("change", async () => {
    try {
      const exercise = await post("/api/exercise", { toml: await input.files[0].text() });
      choose(opened(exercise));
    } catch (error) {
      const [list, word] = refusal(error);
      say([element("strong", "This exercise can't be read. "), ...list], word);
    }
  });
  return input;
}

// A lecturer's exercise, once in the list.
function opened(exercise) {
  const same = known.find(({ title, problem }) => title === exercise.title && JSON.stringify(problem) === JSON.stringify(exercise.problem));
  if (!same) known.push({ ...exercise, own: true });
  return same ?? known.at(-1);
}

// The referee says what is wrong, whenever something moves.
async function judge() {
  const turn = ++turns;
  leave();
  part("hand-in").disabled = true;
  try {
    const found = await refereed(asked(current.problem).problem, board.moves);
    if (turn !== turns || !(await showView(found?.view, () => turn === turns))) return;
    const remark = remarks(found);
    if (remark) return say(...remark);
    const { schedule, makespan, problem, ok } = found;
    if (!ok) return;
    const exercise = current;
    say([element("strong", "The referee accepts your plan. "), `It ends at ${seconds(makespan)}. Looking for the best…`], "near");
    accepted = { exercise, schedule, makespan, problem };
    part("hand-in").disabled = false;
    const { words, isBest } = await score(exercise, makespan);
    if (turn === turns) say([element("strong", "The referee accepts your plan. "), words], isBest ? "right" : "near");
  } catch (error) {
    if (turn === turns && error.name !== "AbortError") say(...refusal(error));
  }
}

async function reveal() {
  const turn = ++turns;
  const { problem, method } = current;
  const { options } = asked(problem);
  say(["Solving…"], "");
  try {
    const answer = await post("/api/solve", { problem: asked(problem).problem, method, options, steps: true, time_limit: 10, view: true });
    if (turn !== turns) return;
    await showView(answer.view, () => turn === turns);
    if (turn === turns) say(verdictOf(answer), "");
  } catch (error) {
    if (turn === turns) say(...refusal(error));
  }
}

function play() {
  put(current.problem, "new");
  mode(false);
}

// All exercises, asked for once.
export async function everyExercise() {
  if (!known.length) known = await get("/exercises.json");
  return known;
}

// Open the exercise of a link, which has its number or all of it; return what is wrong with it.
export async function openExercise(asked) {
  await everyExercise();
  const found = typeof asked === "number" ? known[asked - 1] : opened(await post("/api/exercise", { toml: toml(asked) }));
  if (!found) return `There is no exercise ${asked}; there are 1 to ${known.length}.`;
  mode(true, found);
  return "";
}

export function mode(exercising, exercise = current ?? known[0]) {
  turns++;
  leave();
  for (const [tab, on] of [["play-tab", !exercising], ["exercise-tab", exercising]]) {
    part(tab).setAttribute("aria-selected", String(on));
    part(tab).tabIndex = on ? 0 : -1;
  }
  part("editor").hidden = exercising;
  part("exercise").hidden = part("given").hidden = !exercising;
  for (const name of ["ask", "methods", "whatif", "away"]) part(name).hidden = exercising || name !== "ask";
  part("verdict").dataset.word = "";
  outcome.methods = [];
  if (exercising) return choose(exercise);
  if (!state.problem) return begin();
  show("problem", state.problem, true);
  solve();
}

let begin = null;

// `first` puts a problem on the page, where an exercise was the first thing there.
export function startExercises(first) {
  begin = first;
  part("play-tab").addEventListener("click", () => mode(false));
  part("exercise-tab").addEventListener("click", async () => {
    await everyExercise();
    mode(true);
  });
  part("modes").addEventListener("keydown", (event) => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    event.preventDefault();
    event.stopPropagation();
    const other = part("editor").hidden ? "play-tab" : "exercise-tab";
    part(other).click();
    part(other).focus();
  });
}
