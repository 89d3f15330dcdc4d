// The plan follows the problem: a quick answer first, then the search goes on where it was cut.

import { written } from "../drawing/view.js";
import { events, post, stop } from "./api.js";
import { showView } from "./showing.js";
import { state } from "./state.js";

const QUICK = 0.05; // seconds: the best of the methods that always finish, and a little search
const LONGER = 20;
const LARGE = 40; // tasks, workers: of more, pictures and steps come once nothing changes any more
const STEPS_UP_TO = 200; // steps of more are not for looking at
const AGAIN = 50; // milliseconds until who is not there yet is told again
const PAUSE = 250; // milliseconds without a change, in which the plan is drawn

export const outcome = { result: null, methods: [], busy: false };
const followers = [];
export const followPlan = (act) => followers.push(act);

let current = 0;
let abort = null;

// What of the problem is asked beside it: the method, and its options.
export function asked(problem = state.problem) {
  const { options, ...stated } = problem;
  const { method = "auto", ...rest } = options ?? {};
  return { problem: stated, method, options: rest };
}

export async function solve() {
  const turn = ++current;
  abort?.abort();
  progress(null); // a search that is left tells nothing any more
  abort = new AbortController();
  const { signal } = abort;
  outcome.busy = true;
  const isNow = () => turn === current;
  const slow = setTimeout(() => document.body.classList.add("waiting"), 300);
  try {
    if (outcome.methods.length > 1) {
      const { problem } = asked();
      const answer = await post("/api/compare", { problem, methods: outcome.methods, time_limit: 2, view: true }, signal, "compare");
      if (isNow()) await show(answer, isNow);
    } else {
      const [order, count] = [{ ...asked(), view: true }, size(state.problem)];
      const whole = { ...order, steps: count <= STEPS_UP_TO };
      const answer = await quickly(count > LARGE ? { ...order, diagrams: false } : whole, signal);
      if (isNow() && answer) await show(answer, isNow);
      const cut = wasCut(answer);
      if (cut || count > LARGE) await new Promise((done) => setTimeout(done, PAUSE));
      if (isNow() && cut) await searchOn(whole, answer, signal, isNow);
      else if (isNow() && count > LARGE) await complete(whole, signal, isNow);
    }
  } catch (error) {
    if (error.name === "AbortError" || error.status === 409 || !isNow()) return;
    outcome.result = null;
    document.body.classList.remove("waiting");
    for (const act of followers) act(error);
  } finally {
    clearTimeout(slow);
    if (isNow()) outcome.busy = false;
  }
}

// The same plan with its pictures and steps.
async function complete(order, signal, isNow) {
  const answer = await post("/api/solve", { ...order, time_limit: LONGER }, signal, "solve");
  if (isNow()) await show(answer, isNow);
}

// The plan that is found at once; null on a machine that is too busy for any.
async function quickly(order, signal) {
  try {
    return await post("/api/solve", { ...order, time_limit: QUICK }, signal, "solve");
  } catch (error) {
    if (error.status !== 504) throw error;
    return null;
  }
}

// A search that the limit ended may find more; one that had ended by itself won't.
const wasCut = (result) => !result || result.status === "limit" || (result.status === "feasible" && result.runtime >= 0.6 * QUICK);

async function searchOn(order, before, signal, isNow) {
  const began = performance.now();
  const tell = (value) => isNow() && progress({ ...value, seconds: (performance.now() - began) / 1000 }, before);
  tell({});
  const timer = setInterval(() => tell({}), 500);
  try {
    const answer = await events("/api/solve", { ...order, time_limit: LONGER }, signal, "solve", tell);
    if (isNow()) await show(answer, isNow);
  } finally {
    clearInterval(timer);
    if (isNow()) progress(null);
  }
}

function progress(value, before) {
  const home = document.getElementById("progress");
  home.hidden = value === null;
  if (value === null) return;
  const [bar, words] = [home.querySelector("progress"), home.querySelector("span")];
  bar.max = LONGER;
  bar.value = value.seconds;
  const best = value.value ?? before?.objective?.value ?? before?.makespan;
  const bound = value.bound ?? before?.lower_bound;
  words.textContent = [
    `searching on, ${Math.round(value.seconds)} of ${LONGER} s`,
    ...(typeof best === "number" ? [`best ${written(Number(best.toPrecision(6)))}`] : []),
    ...(typeof bound === "number" ? [`bound ${written(Number(bound.toPrecision(6)))}`] : []),
  ].join(", ");
}

// End the search with the best so far, also where its request is still on its way.
export async function stopSearch() {
  const turn = current;
  while (turn === current && outcome.busy && !(await stop("solve")).stopped) {
    await new Promise((done) => setTimeout(done, AGAIN));
  }
}

function size(problem) {
  const { platform, tasks, durations, machines } = problem;
  const many = platform?.workers ?? platform?.nodes ?? platform?.machines ?? tasks ?? durations ?? machines;
  return Array.isArray(many) ? many.length : typeof many === "number" ? many : LARGE + 1;
}

async function show(answer, isNow) {
  const { view, ...result } = answer;
  if (await showView(view, isNow)) outcome.result = result;
  else return;
  for (const act of followers) act(null);
}

// Nobody waits for a plan any more.
export function leave() {
  current++;
  abort?.abort();
  progress(null);
}
