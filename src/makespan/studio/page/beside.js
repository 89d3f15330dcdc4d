// Beside the plan: its method, others under it, and what one more machine would bring.

import { element } from "../drawing/facts.js";
import { written } from "../drawing/view.js";
import { post } from "./api.js";
import { button } from "./fields.js";
import { KINDS } from "./kinds.js";
import { asked, outcome, solve } from "./solving.js";
import { edit, put, state } from "./state.js";

const MOST = 4; // plans under each other
const MOST_TRIED = 8; // machines that are doubled
const part = (name) => document.getElementById(name);
let known = [];
let waiting = null;
let turns = 0;

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
  const boxes = known.filter(({ applies }) => applies).map((one) => {
    const box = element("input");
    box.type = "checkbox";
    box.checked = outcome.methods.includes(one.name);
    box.disabled = !box.checked && outcome.methods.length >= MOST;
    box.addEventListener("change", () => {
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

// The same problem with one more of each machine in turn: what the makespan becomes.
async function tryMore() {
  const home = part("whatif");
  const kind = KINDS[state.problem.kind];
  const machines = kind.machinesOf(state.problem).slice(0, MOST_TRIED);
  const before = outcome.result?.makespan;
  if (!machines.length || typeof before !== "number") {
    home.replaceChildren(element("p", "One more machine can be tried where the form lists machines and there is a plan."));
    return;
  }
  const table = element("table");
  const caption = element("caption", `With one more ${kind.one}:`);
  table.append(caption);
  home.replaceChildren(table);
  for (const [index, name] of machines.entries()) {
    const problem = structuredClone(state.problem);
    kind.grown(problem, index);
    const line = table.insertRow();
    line.append(element("th", `like ${name}`));
    try {
      const { makespan } = await post("/api/solve", { ...asked(problem), time_limit: 0.5 }, undefined, "whatif");
      const change = (100 * (makespan - before)) / before;
      line.append(
        element("td", `${written(Number(makespan.toPrecision(6)))} s`, "number"),
        element("td", Math.abs(change) < 0.005 ? "no change" : `${change < 0 ? "−" : "+"}${Math.abs(change).toFixed(2)} %`, "number"),
      );
      const cell = line.insertCell();
      cell.append(button("Keep", () => {
        put(problem, "shape");
        close("whatif", "more");
      }, `Keep one more like ${name}`));
    } catch (error) {
      if (error.status === 409) return;
      line.append(element("td", error.message));
    }
  }
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
    if (open) return showChoice();
    outcome.methods = [];
    solve();
  });
  toggling("more", "whatif", (open) => open && tryMore());
}
