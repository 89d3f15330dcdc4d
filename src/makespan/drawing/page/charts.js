// Plans on a page: a panel for each, its facts, and its tables below.

import { listen, offerRoles } from "./controls.js";
import { A_SECOND, Plan, ROLES, UNIT } from "./data.js";
import { Diagrams, prepare } from "./diagrams.js";
import { AXIS, MARK_TIER, OVERVIEW, Panel } from "./draw.js";
import { element, inParts, showHeld, showTip, tableOf } from "./facts.js";
import { Player } from "./player.js";
import { changed, isWhole, onChange, panels, plans, setRange, showWhole, view, written } from "./view.js";

let pending = false;
let resized = false;

// Draw in the next frame, however often something changes until then.
onChange((sizes) => {
  resized ||= sizes;
  if (pending) return;
  pending = true;
  requestAnimationFrame(() => {
    pending = false;
    if (resized) measureAll();
    resized = false;
    for (const panel of panels) panel.draw();
    for (const plan of plans) plan.pictures.light();
    if (view.held && !view.over) showHeld();
    const range = document.getElementById("range");
    const [from, to] = [view.from, view.to].map((time) => written(Number((time * A_SECOND).toPrecision(6))));
    range.textContent = `${from} – ${to} ${UNIT}`;
  });
});

// Panels share one time axis: their plots begin and end at the same places.
function measureAll() {
  for (const panel of panels) panel.measure();
  const left = Math.max(...panels.map((panel) => panel.left));
  const right = Math.min(...panels.map((panel) => panel.right));
  for (const panel of panels) panel.widen(left, right);
}

function addChart(plan) {
  const section = element("section", undefined, "chart");
  if (plans.length > 1) section.append(element("h2", `${plan.number + 1}. ${plan.title}`));
  const strip = element("dl", undefined, "strip");
  for (const [name, value] of plan.facts) {
    const pair = element("div");
    pair.append(element("dt", name), element("dd", value));
    strip.append(pair);
  }
  const scroll = element("div", undefined, "scroll");
  const sizer = element("div");
  const canvas = element("canvas");
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "application");
  canvas.setAttribute(
    "aria-label",
    `${plan.title}. Shift with an arrow key goes from activity to activity; the answer stands below.`,
  );
  sizer.append(canvas);
  scroll.append(sizer);
  section.append(strip);
  plan.pictures = new Diagrams(plan, showOther);
  if (plan.steps.length) {
    plan.player = new Player(plan, section, plan.pictures);
    view.player ??= plan.player;
  } else if (plan.pictures.home) section.append(plan.pictures.home);
  section.append(scroll);
  if (plan.hidden)
    section.append(element("p", `and ${written(plan.hidden)} more machines, all idle`, "hidden"));
  document.getElementById("charts").append(section);
  const panel = new Panel(plan, canvas, scroll, sizer);
  const share = plans.length > 1 || plan.pictures.home ? 0.42 : 0.66;
  panel.wantedHeight = Math.max(220, innerHeight * share);
  scroll.style.height = `${Math.min(panel.wantedHeight, naturalHeight(plan))}px`;
  panels.push(panel);
  panel.measure();
  listen(panel);
}

// Put another plan that the page holds in the place of one on its chart.
function showOther(plan, place) {
  const shown = new Plan(plan.others[place], plan.number);
  shown.pictures = plan.pictures;
  shown.horizon = plan.horizon;
  shown.filtered(view.words, view.roles);
  plans[plan.number] = panels[plan.number].plan = shown;
  view.held = view.over = null;
  const { scroll, wantedHeight } = panels[plan.number];
  scroll.style.height = `${Math.min(wantedHeight, naturalHeight(shown))}px`;
  changed(true);
}

function naturalHeight(plan) {
  return Math.ceil(plan.units * 22 + AXIS + OVERVIEW + MARK_TIER * Math.min(2, plan.marks.length) + 10);
}

function addDetails(plan) {
  const home = element("section");
  const name = plans.length > 1 ? ` of plan ${plan.number + 1}` : "";
  if (plan.notes.length) {
    const list = element("ul", undefined, "notes");
    for (const note of plan.notes) list.append(element("li", note));
    home.append(element("h2", `Notes${name}`), list);
  }
  if (plan.tables.length) {
    const tables = element("div", undefined, "details");
    const captioned = plan.tables.some((table) => table.caption);
    for (const table of plan.tables) tables.append(tableOf(table, captioned));
    home.append(element("h2", `Answer${name}`), tables);
  }
  if (plan.log.length) {
    const box = element("div", undefined, "table");
    const list = element("ol", undefined, "log");
    box.tabIndex = 0;
    box.append(list);
    inParts(plan.log.length, (line) => list.append(element("li", plan.log[line])), box);
    home.append(element("h2", `Steps${name}`), box);
  }
  document.getElementById("charts").append(home);
}

// Put plans on the page in the place of those there; what was seen of these stays, where it can.
export function showPlans(shown) {
  const whole = isWhole() || !plans.length;
  plans.splice(0, plans.length, ...shown);
  panels.length = 0;
  const present = ROLES.map((_, role) => role).filter((role) => plans.some((plan) => plan.roles.includes(role)));
  view.roles = new Set(present);
  view.player = view.held = view.over = null;
  view.horizon = Math.max(...plans.map((plan) => plan.horizon));
  showTip(null);
  document.getElementById("charts").replaceChildren();
  for (const plan of plans) plan.filtered(view.words, view.roles);
  for (const plan of plans) addChart(plan);
  for (const plan of plans) addDetails(plan);
  offerRoles(present);
  if (whole) showWhole();
  else setRange(view.from, view.to);
  changed(true);
  setTimeout(() => shown.forEach(prepare), 100);
}
