// What the referee says of what is placed, whenever something moves.

import { element } from "../drawing/facts.js";
import { written } from "../drawing/view.js";
import { post } from "./api.js";
import { PLACING, placedPart } from "./placing.js";

const LATE = ["precedence", "arrival", "blocking"]; // rules of one fact: too early
export const seconds = (value) => `${written(Number(value.toPrecision(6)))} s`;

// Put what is placed before the referee; null where nothing is.
export async function refereed(problem, placed) {
  const { problem: asked, moves, left } = placedPart(problem, placed);
  const activities = PLACING[asked.kind].activities(asked, moves);
  if (!activities.length) return null;
  const schedule = { activities, machines: machinesOf(asked) };
  const report = await post("/api/check", { problem: asked, schedule, view: true });
  for (const chart of report.view?.data.charts ?? []) {
    chart.marks = chart.marks.filter(({ limit }) => !limit); // bounds tell
    for (const mark of chart.marks) mark.label = mark.label.replace(/ = \D+/, " ");
  }
  return { ...report, schedule, problem: asked, left };
}

// What there is to say before a plan is whole and right; null where it is.
export function remarks(found) {
  if (!found) return [["Place something: the referee looks at every move."], ""];
  const facts = once(found.violations);
  const count = facts.length + (found.omitted ?? 0);
  if (count) return [[element("strong", count === 1 ? "One rule is broken:" : `${count} rules are broken:`), ...told(facts)], "wrong"];
  if (found.left.length) return [[element("strong", "Nothing wrong so far. "), `Still to place: ${found.left.join(", ")}.`], ""];
  return null;
}

// What is wrong with a request, as what is said of a plan.
export const refusal = (error) => [told(error.mistakes?.length ? error.mistakes : [{ message: error.message }]), "wrong"];

// A fact once: of what is said about the same two activities, the first.
function once(violations) {
  const said = new Set();
  return violations.filter(({ rule, activities }) => {
    const key = LATE.includes(rule) && activities?.length === 2 ? activities.join() : said.size;
    return !said.has(key) && said.add(key);
  });
}

const told = (mistakes) => {
  const list = element("ul", undefined, "violations");
  for (const { place, message } of mistakes) list.append(element("li", place ? `${place}: ${message}` : message));
  return [list];
};

export const machinesOf = (problem) => {
  const all = PLACING[problem.kind].machines(problem);
  return problem.kind === "divisible" ? [problem.platform.master?.name ?? "P0", ...all] : all;
};
