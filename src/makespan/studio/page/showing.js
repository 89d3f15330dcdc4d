// A plan and what there is to say of it, on the page.

import { showPlans } from "../drawing/charts.js";
import { plansOf } from "../drawing/data.js";
import { element } from "../drawing/facts.js";
import { written } from "../drawing/view.js";

// Show plans as the server has drawn them, or none; false where they are no longer wanted.
export async function showView(view, isWanted = () => true) {
  const shown = view ? await plansOf(view.data, view.packed) : [];
  if (!isWanted()) return false;
  const charts = document.getElementById("charts");
  charts.classList.toggle("one", shown.length === 1);
  document.getElementById("tools").hidden = !shown.length;
  document.body.classList.remove("waiting");
  if (shown.length) showPlans(shown);
  else charts.replaceChildren();
  return true;
}

// Say something of the plan: "right", "near" or "wrong", or nothing of these.
export function say(parts, word = "") {
  const home = document.getElementById("verdict");
  home.replaceChildren(...parts);
  home.dataset.word = word;
}

// What is known of the plan, in a line.
export function verdictOf(result) {
  const seconds = (value) => `${written(Number(value.toPrecision(8)))} s`;
  const parts = [];
  if (result.rows) {
    const table = element("table");
    const head = table.createTHead().insertRow();
    for (const name of ["", "method", "status", "makespan", "gap"]) head.append(element(name ? "th" : "td", name));
    for (const one of result.rows) {
      const line = table.insertRow();
      const values = [one.best ? "★" : "", one.method, one.status, one.makespan == null ? one.note ?? "" : seconds(one.makespan), one.gap == null ? "" : `${Number((100 * one.gap).toFixed(2))} %`];
      for (const value of values) line.append(element("td", value));
    }
    return [table];
  }
  const status = element("strong", { optimal: "Optimal", feasible: "A plan", infeasible: "There is no plan", limit: "No plan yet" }[result.status] ?? result.status, `status ${result.status}`);
  if (result.makespan != null) parts.push(`makespan ${seconds(result.makespan)}`);
  if (result.objective) parts.push(`${result.objective.name} ${written(Number(result.objective.value.toPrecision(8)))}`);
  if (result.status !== "optimal" && result.lower_bound != null) parts.push(`no plan is below ${seconds(result.lower_bound)}`);
  if (result.gap) parts.push(`gap ${Number((100 * result.gap).toFixed(2))} %`);
  parts.push(`by ${result.method}`);
  if (result.makespan == null) parts.push(...(result.notes ?? []));
  return [status, ` ${parts.join(" · ")}`];
}
