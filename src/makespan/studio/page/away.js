// What can be taken away: files, a snippet of Python, a link that carries the problem.

import { element } from "../drawing/facts.js";
import { file } from "./api.js";
import { toggling } from "./beside.js";
import { button, row } from "./fields.js";
import { linkOf } from "./link.js";
import { outcome } from "./solving.js";
import { state } from "./state.js";
import { toml } from "./toml.js";

const part = (name) => document.getElementById(name);

export function save(blob, name) {
  const link = element("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

const text = (content, name, type = "text/plain") => save(new Blob([content], { type }), name);

// The result as files have it, without what only the page is given.
async function saved(format) {
  if (!outcome.result?.schedule) throw new Error("There is no plan to take away.");
  save(await file("/api/save", { result: outcome.result, format }), `plan.${format}`);
}

const WAYS = [
  ["TOML", "The problem as a file", () => text(toml(state.problem), "problem.toml")],
  ["JSON", "The result as a file", () => text(JSON.stringify(outcome.result ?? state.problem), "result.json", "application/json")],
  ["SVG", "The chart as a drawing", () => saved("svg")],
  ["PNG", "The chart as an image", () => saved("png")],
  ["PDF", "The chart to print", () => saved("pdf")],
  ["Page", "A page that needs nothing but a browser", () => saved("html")],
  ["CSV", "The activities as a table", () => saved("csv")],
];

async function python() {
  const thing = outcome.result?.problem ? { result: outcome.result } : { problem: state.problem };
  const lines = await (await file("/api/save", { ...thing, format: "python" })).text();
  await shown(lines, "Python that solves this problem");
}

async function shown(content, note) {
  const box = element("textarea");
  Object.assign(box, { readOnly: true, value: content, rows: Math.min(14, content.split("\n").length + 1) });
  box.setAttribute("aria-label", note);
  const told = element("span", note, "hint");
  part("shown").replaceChildren(told, box);
  box.select();
  try {
    await navigator.clipboard.writeText(content);
    told.textContent = `${note}; copied`;
  } catch {
    // not every page may write to the clipboard; it is selected
  }
}

export function listenToAway() {
  const said = element("p", "", "hint");
  said.setAttribute("role", "status");
  const act = (work) => async () => {
    said.textContent = "";
    try {
      await work();
    } catch (error) {
      said.textContent = error.message;
    }
  };
  const buttons = WAYS.map(([name, title, work]) => button(name, act(work), title));
  buttons.push(
    button("Python", act(python), "Python that solves this problem"),
    button("Link", act(async () => shown(await linkOf(state.problem), "A link that carries the problem; nothing is sent")), "A link that carries the problem"),
  );
  const home = element("div");
  home.id = "shown";
  part("away").append(row(...buttons), said, home);
  toggling("take", "away", () => {});
}
