// A board in a notebook: what is placed becomes a result there.

import { listenToTools } from "../drawing/controls.js";
import { element } from "../drawing/facts.js";
import { listenToPlayers } from "../drawing/player.js";
import { changed, panels, plans, view } from "../drawing/view.js";
import { Board } from "../page/board.js";
import { button, row } from "../page/fields.js";
import { given } from "../page/given.js";
import { movesOf, PLACING } from "../page/placing.js";
import { machinesOf, refereed, refusal, remarks, seconds } from "../page/referee.js";
import { say, showView, verdictOf } from "../page/showing.js";
import { connect, model, post } from "./kernel.js";

const LONGEST = 10; // seconds for the best plan
const home = (name) => document.getElementById(name);
let asking = 0;

// Follow the light of the notebook.
globalThis.shine = (theme) => {
  document.documentElement.dataset.theme = theme;
  changed();
};

globalThis.start = async (found) => {
  connect(found);
  listenToTools();
  listenToPlayers();
  new ResizeObserver(() => changed(true)).observe(home("charts"));
  const { placeable, options, ...problem } = model.get("_stated");
  const shown = model.get("_shown");
  await showView(shown);
  if (placeable) place(problem, options ?? {}, shown);
  else home("verdict").hidden = true;
  globalThis.makespan = { view, panels, plans };
};

function place(problem, { method = "auto", ...options }, shown) {
  const { moves, activities } = model.get("_placed");
  const before = moves ?? (activities && movesOf(problem, activities)) ?? undefined;
  const [undo, redo] = [button("↶", () => board.back("undo"), "Undo"), button("↷", () => board.back("redo"), "Redo")];
  const clear = button("Clear", () => board.clear(), "Take everything off the board");
  const best = button("Best plan", () => reveal({ problem, method, options }), "Solve the problem, and show the plan with its steps");
  const follow = () => {
    undo.disabled = !board.past.canUndo;
    redo.disabled = !board.past.canRedo;
  };
  const board = new Board(problem, before, (now) => {
    follow();
    const placed = PLACING[problem.kind].activities(problem, now);
    model.set("_placed", { moves: structuredClone(now), activities: placed, machines: machinesOf(problem) });
    model.save_changes();
    judge(problem, now);
  });
  follow();
  home("given").replaceChildren(...given(problem));
  home("ways").replaceChildren(row(undo, redo, clear, best));
  home("place").replaceChildren(board.home);
  board.draw();
  if (shown && !moves) say(["The plan that was given. Move something: the referee looks at every move."]);
  else judge(problem, board.moves);
}

async function judge(problem, moves) {
  const turn = ++asking;
  try {
    const found = await refereed(problem, moves);
    if (turn !== asking || !(await showView(found?.view, () => turn === asking))) return;
    const words = remarks(found);
    if (words) return say(...words);
    if (found.ok) say([element("strong", "The referee accepts your plan. "), `It ends at ${seconds(found.makespan)}.`], "right");
  } catch (error) {
    if (turn === asking) say(...refusal(error));
  }
}

async function reveal(order) {
  const turn = ++asking;
  say(["Solving…"]);
  try {
    const answer = await post("/api/solve", { ...order, steps: true, time_limit: LONGEST, view: true });
    if (turn === asking && (await showView(answer.view, () => turn === asking))) say(verdictOf(answer));
  } catch (error) {
    if (turn === asking) say(...refusal(error));
  }
}
