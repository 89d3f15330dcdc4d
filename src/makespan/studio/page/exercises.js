// Exercises: a question, a board, the referee's word at once, and the optimum on request.

import { element } from "../drawing/facts.js";
import { written } from "../drawing/view.js";
import { get, post } from "./api.js";
import { Board } from "./board.js";
import { button, group, row } from "./fields.js";
import { PLACING, placedPart } from "./placing.js";
import { asked, leave, outcome, showView, solve, verdictOf } from "./solving.js";
import { put, state } from "./state.js";

const part = (name) => document.getElementById(name);
const kept = new Map(); // exercise -> what was placed
let known = [];
let current = null;
let board = null;
let turns = 0;

const seconds = (value) => `${written(Number(value.toPrecision(6)))} s`;

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
  board = new Board(exercise.problem, kept.get(exercise), (moves) => {
    kept.set(exercise, moves);
    judge();
  });
  part("exercise").replaceChildren(
    row(chooser, opener()),
    element("h2", exercise.title),
    element("p", exercise.question, "question"),
    row(more, button("Clear", () => board.clear(), "Take everything off the board"), button("Reveal the best plan", reveal), button("Play with the problem", play, "Leave the exercise and change its problem")),
    hints,
    group("Your plan", board.home),
    group("The problem", given(exercise.problem)),
  );
  board.draw();
  judge();
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
      known.push(exercise);
      choose(exercise);
    } catch (error) {
      say([element("strong", "This exercise can't be read. "), ...told(error.mistakes?.length ? error.mistakes : [{ message: error.message }])], "wrong");
    }
  });
  return input;
}

const told = (mistakes) => {
  const list = element("ul", undefined, "violations");
  for (const { place, message } of mistakes) list.append(element("li", place ? `${place}: ${message}` : message));
  return [list];
};

function say(parts, word) {
  part("verdict").replaceChildren(...parts);
  part("verdict").dataset.word = word;
}

// What is given, for those who place by numbers.
function given(problem) {
  const table = element("table");
  const line = (cells, name = "td") => {
    const made = table.insertRow();
    for (const cell of cells) made.append(element(name, String(cell ?? "–")));
  };
  if (problem.kind === "taskgraph") {
    line(["edge", "data"], "th");
    for (const { from, to, size } of problem.edges ?? []) line([`${from} → ${to}`, size]);
  } else if (problem.kind === "divisible") {
    line(["worker", "s to send a unit", "s to compute a unit"], "th");
    for (const { name, send, compute } of problem.platform.workers) line([name, send ?? problem.platform.send, compute].map((cell) => (typeof cell === "object" ? JSON.stringify(cell) : cell)));
  } else if (problem.kind === "partition") {
    line(["tasks", ...PLACING.partition.machines(problem)], "th");
    for (let count = 0; count <= problem.tasks; count++)
      line([count, ...problem.resources.map((one) => (one.counts ? one.time[one.counts.indexOf(count)] : one.costs?.[count - (one.first ?? 0)]))]);
  } else if (problem.kind === "independent") {
    line(["task", "s"], "th");
    problem.durations.forEach((duration, index) => line([`T${index + 1}`, duration]));
  } else for (const name of ["collective", "machines", "segments", "latency", "transfer"]) line([name, JSON.stringify(problem[name] ?? 0)]);
  const home = element("div", undefined, "grid");
  home.append(table);
  return home;
}

// The referee says what is wrong, whenever something moves.
async function judge() {
  const turn = ++turns;
  leave();
  const { problem, moves, left } = placedPart(asked(current.problem).problem, board.moves);
  const activities = PLACING[problem.kind].activities(problem, moves);
  if (!activities.length) {
    await showView(null);
    return say(["Place something: the referee looks at every move."], "");
  }
  try {
    const schedule = { activities, machines: machinesOf(problem) };
    const { view, ok, makespan, violations, omitted } = await post("/api/check", { problem, schedule, view: true });
    if (turn !== turns) return;
    for (const chart of view?.data.charts ?? []) chart.marks = chart.marks.filter(({ limit }) => !limit); // bounds tell
    if (!(await showView(view, () => turn === turns))) return;
    const count = violations.length + (omitted ?? 0);
    if (count) say([element("strong", count === 1 ? "One rule is broken:" : `${count} rules are broken:`), ...told(violations)], "wrong");
    else if (left.length) say([element("strong", "Nothing wrong so far. "), `Still to place: ${left.join(", ")}.`], "");
    else if (ok) say([element("strong", "The referee accepts your plan. "), `It ends at ${seconds(makespan)}.`], "right");
  } catch (error) {
    if (turn === turns && error.name !== "AbortError") say(told(error.mistakes?.length ? error.mistakes : [{ message: error.message }]), "wrong");
  }
}

const machinesOf = (problem) => {
  const all = PLACING[problem.kind].machines(problem);
  return problem.kind === "divisible" ? [problem.platform.master?.name ?? "P0", ...all] : all;
};

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
    if (turn === turns) say(told([{ message: error.message }]), "wrong");
  }
}

function play() {
  put(current.problem, "new");
  mode(false);
}

function mode(exercising) {
  turns++;
  leave();
  for (const [tab, on] of [["play-tab", !exercising], ["exercise-tab", exercising]]) {
    part(tab).setAttribute("aria-selected", String(on));
    part(tab).tabIndex = on ? 0 : -1;
  }
  part("editor").hidden = exercising;
  part("exercise").hidden = !exercising;
  for (const name of ["ask", "methods", "whatif", "away"]) part(name).hidden = exercising || name !== "ask";
  part("verdict").dataset.word = "";
  outcome.methods = [];
  if (exercising) choose(current ?? known[0]);
  else if (state.problem) solve();
}

export async function startExercises() {
  part("play-tab").addEventListener("click", () => mode(false));
  part("exercise-tab").addEventListener("click", async () => {
    if (!known.length) known = await get("/exercises.json");
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
