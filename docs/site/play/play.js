// The page to try makespan on: a small graph or star, its plan at once, and a board to do better.

import { listenToTheme } from "../drawing/controls.js";
import { element } from "../drawing/facts.js";
import { ticks } from "../drawing/view.js";
import { Board } from "../studio/board.js";
import { button, drawn, entry, fresh, group, row, showMistakes } from "../studio/fields.js";
import { Graph } from "../studio/graph.js";
import { PLACING } from "../studio/placing.js";
import { canRedo, canUndo, edit, follow, put, redo, state, undo } from "../studio/state.js";
import { bound, broken, brief, closedForm, endOf, heft, mistakes } from "./methods.js";

const part = (name) => document.getElementById(name);
const known = JSON.parse(part("exercises").textContent);
const [MOST, LEAST] = [{ taskgraph: 4, divisible: 8 }, { taskgraph: 2, divisible: 1 }];
const [LEFT, TOP, ROW] = [56, 22, 44];
let board = null;
let example = null;
for (const { problem } of known) {
  for (const one of problem.network?.machines ?? []) one.speed ??= 1;
  if (problem.network) problem.network.rate ??= 1;
  for (const one of problem.platform?.workers ?? []) one.send ??= problem.platform.send; // of a bus
}

const byMethod = (problem) => (problem.kind === "taskgraph" ? heft(problem) : closedForm(problem));
const isAsGiven = ({ problem }) => JSON.stringify(state.problem) === JSON.stringify(problem);

// More or fewer machines, or workers, within what the board has room for.
function count(list, one) {
  const { kind } = state.problem;
  const word = kind === "taskgraph" ? "machine" : "worker";
  const now = list(state.problem);
  const more = button(`+ ${word}`, () => edit((problem) => list(problem).push(one(problem)), { shape: true }), `Add a ${word}`);
  const less = button(`− ${word}`, () => edit((problem) => list(problem).pop(), { shape: true }), `Remove the last ${word}`);
  [more.disabled, less.disabled] = [now.length >= MOST[kind], now.length <= LEAST[kind]];
  return row(more, less);
}

function graphForm({ network }) {
  const speed = (name, place) => entry(`${name}: speed`, ["network", "machines", place, "speed"], { slider: { min: 0.25, max: 4, log: true } });
  return [
    group("Task graph", new Graph().home),
    group("Machines",
      row(...PLACING.taskgraph.machines(state.problem).map(speed), entry("Links: units of data a second", ["network", "rate"], { slider: { min: 0.1, max: 10, log: true } })),
      count((problem) => problem.network.machines, () => ({ name: fresh(PLACING.taskgraph.machines({ network }), "M"), speed: 1 })),
    ),
  ];
}

function starForm({ load, platform: { workers } }) {
  const cost = (place, key, word) => entry(`${workers[place].name}: seconds to ${word} a unit`, ["platform", "workers", place, key], { slider: { min: 0.1, max: 20, log: true } });
  return [
    group("Load", row(entry("Units", ["load"], { slider: { min: 1, max: 10 * Math.max(10, load || 1), log: true } }))),
    group("Workers",
      ...workers.map((_, place) => row(cost(place, "send", "send"), cost(place, "compute", "compute"))),
      count((problem) => problem.platform.workers, () => ({ name: fresh(workers.map(({ name }) => name), "P"), send: 1, compute: 3 })),
    ),
  ];
}

// Machines as rows: what is computed, and above it, thin, what is sent and received.
function gantt(problem, moves) {
  const activities = PLACING[problem.kind].activities(problem, moves);
  const master = problem.kind === "divisible" ? [problem.platform.master?.name ?? "P0"] : [];
  const machines = [...master, ...PLACING[problem.kind].machines(problem)];
  const end = endOf(problem, moves) || 1;
  const width = Math.max(300, Math.min(part("chart").clientWidth || 480, 900));
  const scale = (width - LEFT - 14) / end;
  const bottom = TOP + ROW * machines.length;
  const lines = machines.map((name) => `${name} ${activities.filter(({ kind, machine }) => kind === "compute" && machine === name).map((one) => `from ${brief(one.start)} to ${brief(one.end)}`).join(", ") || "computes nothing"}`);
  const svg = drawn("svg", { width, height: bottom + 4, role: "img", "aria-label": `The plan: ${lines.join("; ")}` });
  for (const { time, label } of ticks(0, end, 8)) {
    const x = LEFT + time * scale;
    svg.append(drawn("line", { x1: x, x2: x, y1: TOP - 4, y2: bottom, class: "grid-line" }), drawn("text", { x, y: 13, "text-anchor": "middle" }, label));
  }
  machines.forEach((name, place) => svg.append(
    drawn("rect", { x: LEFT, y: TOP + place * ROW + 2, width: end * scale, height: ROW - 4, class: "lane" }),
    drawn("text", { x: LEFT - 8, y: TOP + place * ROW + 28, "text-anchor": "end" }, name),
  ));
  const bar = ({ start, end: until }, machine, kind, label) => {
    const [y, height] = kind === "compute" ? [TOP + machines.indexOf(machine) * ROW + 15, 25] : [TOP + machines.indexOf(machine) * ROW + (kind === "send" ? 3 : 9), 6];
    const wide = (until - start) * scale;
    svg.append(drawn("rect", { x: LEFT + start * scale, y, width: Math.max(wide - 0.8, 0.5), height, class: kind }));
    if (kind === "compute" && wide > 8 * label.length) svg.append(drawn("text", { x: LEFT + start * scale + wide / 2, y: y + 17, "text-anchor": "middle", class: "on-bar" }, label));
  };
  for (const one of activities) {
    if (one.kind === "compute") bar(one, one.machine, "compute", problem.kind === "taskgraph" ? PLACING.taskgraph.items(problem)[one.item] : brief(one.amount));
    else [[one.machine, "send"], [one.peer, "receive"]].forEach(([machine, kind]) => bar(one, machine, kind, ""));
  }
  return svg;
}

// Where the plan ends, and what is known of the best one.
function verdict(moves) {
  const { problem } = state;
  const isGraph = problem.kind === "taskgraph";
  const shared = moves.reduce((total, { amount = 0 }) => total + amount, 0);
  const wrong = isGraph ? broken(problem, moves) : [];
  if (!isGraph && Math.abs(shared - problem.load) > 1e-4 * problem.load) wrong.push(`The shares add up to ${brief(shared)} of ${brief(problem.load)} units.`);
  if (new Set(moves.map(({ machine }) => machine)).size < moves.length && !isGraph) wrong.push("Each line needs a worker of its own.");
  if (!isGraph && moves.some(({ amount = 0 }) => amount < 0)) wrong.push("A share is below 0.");
  if (wrong.length) return { word: wrong.some((said) => !said.startsWith("Still")) ? "wrong" : "", head: "", said: wrong.join(" ") };
  const [end, method] = [endOf(problem, moves), endOf(problem, byMethod(problem))];
  const best = !isGraph ? method : isAsGiven(example) ? example.best : null;
  const least = best ?? bound(problem);
  const head = `${board.past.canUndo ? "Your plan" : isGraph ? "HEFT" : "The closed form"} ends at ${brief(end)} s`;
  const beside = isGraph && board.past.canUndo ? ` HEFT ends at ${brief(method)} s.` : "";
  if (end <= least * (1 + 1e-4)) return { word: "right", head, said: `: no plan ${isGraph ? "" : "of one chunk a worker "}ends earlier.${beside}` };
  return { word: "near", head, said: `; ${best === null ? `no plan ends before ${brief(least)} s` : `best is ${brief(best)} s`}.${beside}` };
}

function judge(moves) {
  const { word, head, said } = verdict(moves);
  part("verdict").replaceChildren(element("strong", head), said);
  part("verdict").dataset.word = word;
  part("chart").replaceChildren(gantt(state.problem, moves));
  for (const [name, can] of [["back", board.past.canUndo], ["again", board.past.canRedo]]) part(name).disabled = !can;
}

function plan() {
  const { problem } = state;
  const wrong = mistakes(problem);
  const rest = showMistakes(part("form"), wrong);
  part("mistakes").replaceChildren(...rest.map(({ place, message }) => element("li", `${place}: ${message}`)));
  document.body.classList.toggle("mistaken", wrong.length > 0);
  if (wrong.length) return;
  const shorter = byMethod(problem).map((move) => ({ ...move, ...(move.amount === undefined ? {} : { amount: Number(move.amount.toPrecision(6)) }) }));
  board = new Board(problem, shorter, judge);
  part("board").replaceChildren(board.home);
  board.draw();
  judge(board.moves);
}

function choose(title) {
  example = known.find((one) => one.title === title);
  put(structuredClone(example.problem), "new");
}

follow((from) => {
  const { problem } = state;
  if (from === "back") example = known.find(isAsGiven) ?? example;
  part("example").value = example.title;
  part("question").textContent = isAsGiven(example) ? example.question : "";
  if (from !== "field") part("form").replaceChildren(...(problem.kind === "taskgraph" ? graphForm(problem) : starForm(problem)));
  [part("undo").disabled, part("redo").disabled] = [!canUndo(), !canRedo()];
  plan();
});

for (const { title } of known) part("example").append(element("option", title));
part("example").addEventListener("change", () => choose(part("example").value));
part("undo").addEventListener("click", undo);
part("redo").addEventListener("click", redo);
part("back").addEventListener("click", () => board.back("undo"));
part("again").addEventListener("click", () => board.back("redo"));
part("clear").addEventListener("click", () => board.clear());
part("method").addEventListener("click", plan);
addEventListener("resize", () => (board.draw(), judge(board.moves)));
listenToTheme();
choose(known[0].title);
globalThis.makespan = { state, heft, closedForm, broken, endOf }; // for scripts beside the page
