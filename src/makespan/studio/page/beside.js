// Beside the plan: its method, others under it, and what one more machine would bring.

import { element } from "../drawing/facts.js";
import { written } from "../drawing/view.js";
import { post } from "./api.js";
import { button } from "./fields.js";
import { KINDS } from "./kinds.js";
import { asked, outcome, solve } from "./solving.js";
import { edit, state } from "./state.js";

const MOST = 4; // plans under each other
const MOST_TRIED = 8; // machines that are doubled
const MOST_RATES = 20; // machines whose rates are listed
const WHATIF = 3; // seconds for all of them together
const part = (name) => document.getElementById(name);
let known = [];
let waiting = null;
let turns = 0;
let untouched = true; // the choice of methods, since it was opened

// The methods that apply change with the problem; nobody waits for them.
export function offerMethods() {
  show();
  clearTimeout(waiting);
  waiting = setTimeout(async () => {
    const turn = ++turns;
    try {
      const found = await post("/api/methods", { problem: asked().problem });
      if (turn !== turns) return;
      known = found;
      show();
    } catch {
      // mistakes are told with the plan
    }
  }, known.length ? 250 : 0);
}

function show() {
  const list = part("method");
  const method = state.problem.options?.method ?? "auto";
  const names = ["auto", ...known.map(({ name }) => name)];
  if (!names.includes(method)) names.push(method);
  list.replaceChildren(
    ...names.map((name) => {
      const one = known.find((other) => other.name === name);
      const option = element("option", name);
      option.value = name;
      if (one) option.title = one.applies ? one.summary : `${one.summary} It ${one.reasons?.join("; ") ?? ""}`;
      option.disabled = one ? !one.applies : false;
      return option;
    }),
  );
  list.value = method;
  if (!part("methods").hidden) showChoice();
}

function showChoice() {
  const shown = outcome.result?.method; // one more, and there are two to compare
  if (untouched && known.some(({ name, applies }) => applies && name === shown)) outcome.methods = [shown];
  const boxes = known.filter(({ applies }) => applies).map((one) => {
    const box = element("input");
    box.type = "checkbox";
    box.checked = outcome.methods.includes(one.name);
    box.disabled = !box.checked && outcome.methods.length >= MOST;
    box.addEventListener("change", () => {
      untouched = false;
      outcome.methods = box.checked ? [...outcome.methods, one.name] : outcome.methods.filter((name) => name !== one.name);
      showChoice();
      const again = [...part("methods").querySelectorAll("label")].find((label) => label.textContent === one.name);
      again?.querySelector("input").focus();
      if (outcome.methods.length !== 1) solve();
    });
    const label = element("label");
    label.title = one.summary;
    label.append(box, one.name);
    return label;
  });
  const ways = element("div", undefined, "ways");
  ways.append(...boxes);
  part("methods").replaceChildren(element("p", `Two to ${MOST} methods under each other, on one time axis:`), ways);
}

// What other costs change, and one more of each machine in turn.
async function tryMore() {
  const home = part("whatif");
  const { result } = outcome;
  const kind = KINDS[state.problem.kind];
  const machines = kind.machinesOf(state.problem).slice(0, MOST_TRIED);
  if (!result?.schedule || typeof result.makespan !== "number") {
    home.replaceChildren(element("p", "What if is asked of a plan, and there is none."));
    return;
  }
  const table = element("table");
  table.append(element("caption", `With one more ${kind.one}:`));
  home.replaceChildren(table);
  let known = null;
  try {
    known = await post("/api/sensitivity", { result, time_limit: WHATIF }, undefined, "whatif");
  } catch (error) {
    if (error.status === 409) return;
    if (error.status !== 422) return home.replaceChildren(element("p", error.message));
  }
  if (known?.additions.length) addKnown(table, known, machines);
  else if (machines.length) await tryEach(table, machines, result.makespan);
  else table.replaceChildren(element("caption", "One more machine can be tried where the form lists machines."));
  if (known?.rates.length) home.append(ratesOf(known));
  for (const note of known?.notes ?? []) home.append(element("p", note, "hint"));
}

const brief = (value) => written(Number(value.toPrecision(6)));

// A machine, what is reached with one more like it, and a way to keep that.
function addLine(table, index, name, value, before) {
  const line = table.insertRow();
  const change = (100 * (value - before)) / Math.abs(before);
  line.append(
    element("th", `like ${name}`),
    element("td", brief(value), "number"),
    element("td", !(Math.abs(change) >= 0.005) ? "no change" : `${change < 0 ? "−" : "+"}${Math.abs(change).toFixed(2)} %`, "number"),
  );
  line.insertCell().append(button("Keep", () => {
    edit((problem) => KINDS[problem.kind].grown(problem, index), { shape: true });
    close("whatif", "more");
  }, `Keep one more like ${name}`));
}

function addKnown(table, { additions, value }, machines) {
  for (const addition of additions.slice(0, MOST_TRIED)) {
    const index = Math.max(0, machines.indexOf(addition.machine));
    if (addition.value !== null) addLine(table, index, machines[index] ?? addition.machine, addition.value, value);
  }
}

// The same of a kind that is solved anew here, machine by machine.
async function tryEach(table, machines, before) {
  for (const [index, name] of machines.entries()) {
    const problem = structuredClone(state.problem);
    KINDS[problem.kind].grown(problem, index);
    try {
      const { makespan } = await post("/api/solve", { ...asked(problem), time_limit: 0.5 }, undefined, "whatif");
      addLine(table, index, name, makespan, before);
    } catch (error) {
      if (error.status === 409) return;
      const line = table.insertRow();
      line.append(element("th", `like ${name}`), element("td", error.message));
    }
  }
}

// A row for each machine, a column for each of its costs: by how much the plan changes per unit more.
function ratesOf({ rates, objective }) {
  const costs = [...new Set(rates.map(({ cost }) => cost))];
  const table = element("table");
  table.append(element("caption", `Change of the ${objective} for one unit more of:`));
  const head = table.createTHead().insertRow();
  for (const word of ["", ...costs]) head.append(element(word ? "th" : "td", word));
  const body = table.createTBody();
  for (const machine of [...new Set(rates.map((rate) => rate.machine))].slice(0, MOST_RATES)) {
    const line = body.insertRow();
    line.append(element("th", machine ?? "the problem"));
    for (const cost of costs) {
      const rate = rates.find((one) => one.machine === machine && one.cost === cost);
      line.append(element("td", rate ? `${rate.change < 0 ? "−" : "+"}${brief(Math.abs(rate.change))}` : "", "number"));
    }
  }
  const box = element("div", undefined, "table");
  box.append(table);
  return box;
}

export function close(drawer, opener) {
  part(drawer).hidden = true;
  part(opener).setAttribute("aria-expanded", "false");
  part(opener).focus();
}

export function toggling(opener, drawer, opened) {
  part(opener).addEventListener("click", () => {
    const open = part(drawer).hidden;
    for (const [other, button] of [["methods", "beside"], ["whatif", "more"], ["away", "take"]])
      if (other !== drawer && part(other)) {
        part(other).hidden = true;
        part(button).setAttribute("aria-expanded", "false");
      }
    part(drawer).hidden = !open;
    part(opener).setAttribute("aria-expanded", String(open));
    opened(open);
  });
}

export function listenToBeside() {
  part("method").addEventListener("change", () => {
    outcome.methods = [];
    const method = part("method").value;
    edit((problem) => {
      if (method === "auto") delete problem.options;
      else problem.options = { method };
    });
  });
  toggling("beside", "methods", (open) => {
    untouched = open;
    if (open) return showChoice();
    outcome.methods = [];
    solve();
  });
  toggling("more", "whatif", (open) => open && tryMore());
}
