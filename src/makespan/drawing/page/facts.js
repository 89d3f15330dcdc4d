// What is known of an activity, and the tables of an answer.

import { KINDS, ROLES } from "./data.js";
import { panels, plans, view, written } from "./view.js";

const tip = document.getElementById("tip");
const spoken = document.getElementById("spoken");

export const activityOf = (chosen) => chosen.plan.bars.activity[chosen.bar];

// The numbers of those with each value, in their order: those of `value` from `first[value]` on.
export function grouped(values, count) {
  const first = new Int32Array(count + 1);
  for (const value of values) if (value >= 0) first[value + 1]++;
  for (let value = 0; value < count; value++) first[value + 1] += first[value];
  const next = first.slice();
  const order = new Int32Array(first[count]);
  values.forEach((value, index) => {
    if (value >= 0) order[next[value]++] = index;
  });
  return (value) => order.subarray(first[value], first[value + 1]);
}

export function barsOf(plan, activity) {
  plan.barsByActivity ??= grouped(plan.bars.activity, plan.activities.kind.length);
  return plan.barsByActivity(activity);
}

// The same activity of another plan: of the same kind, machines and item; -1 if there is none.
export function likeOf(chosen, other) {
  const key = (plan, activity) => {
    const { kind, machine, peer, item } = plan.activities;
    const names = [plan.machines[machine[activity]], plan.machines[peer[activity]] ?? ""];
    return JSON.stringify([kind[activity], ...names, item[activity]]);
  };
  if (!other.byKey) {
    other.byKey = new Map();
    for (let activity = other.activities.kind.length - 1; activity >= 0; activity--)
      other.byKey.set(key(other, activity), activity);
  }
  return other.byKey.get(key(chosen.plan, activityOf(chosen))) ?? -1;
}

function factsOf(chosen) {
  const { plan, bar } = chosen;
  const activity = activityOf(chosen);
  const columns = plan.activities;
  const role = ROLES[plan.bars.role[bar]].word;
  const kind = KINDS[columns.kind[activity]];
  const label = plan.label(activity);
  const { amount } = columns;
  const start = columns.start[activity];
  const end = columns.end[activity];
  const facts = [["machine", plan.machines[columns.machine[activity]]]];
  if (columns.peer[activity] >= 0) facts.push(["to", plan.machines[columns.peer[activity]]]);
  if (columns.item[activity] >= 0) facts.push(["item", String(columns.item[activity])]);
  facts.push(
    ["amount", written(amount instanceof Float32Array ? Number(amount[activity].toPrecision(4)) : amount[activity])],
    ["start", `${written(start)} s`],
    ["end", `${written(end)} s`],
    ["duration", `${written(end - start)} s`],
  );
  if (plan.bars.start[bar] !== start || plan.bars.end[bar] !== end)
    facts.push([`${role} busy`, `${written(plan.bars.start[bar])} to ${written(plan.bars.end[bar])} s`]);
  for (const other of plans) {
    const like = other === plan ? -1 : likeOf(chosen, other);
    if (like < 0) continue;
    const { start: starts, end: ends } = other.activities;
    facts.push([`in plan ${other.number + 1}`, `${written(starts[like])} to ${written(ends[like])} s`]);
    const later = ends[like] - end;
    facts.push(["", later === 0 ? "ends at the same time" : `ends ${written(Math.abs(later))} s ${later > 0 ? "later" : "earlier"}`]);
  }
  facts.push(["activity", String(activity)]);
  const words = [role === kind ? kind : `${role} (${kind})`, label];
  return { title: words.filter((word) => word !== "").join(" "), facts };
}

export function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

export function showTip(chosen, x, y) {
  if (!chosen) {
    tip.hidden = true;
    return;
  }
  const { title, facts } = factsOf(chosen);
  const table = element("table");
  for (const [name, value] of facts) {
    const line = table.insertRow();
    line.append(element("th", name), element("td", value));
  }
  tip.replaceChildren(element("strong", title), table);
  if (chosen.near > 1)
    tip.append(element("div", `the nearest of ${written(chosen.near)} here; zoom in to tell them apart`));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const beside = x + 16 + box.width < innerWidth ? x + 16 : Math.max(4, x - 16 - box.width);
  tip.style.left = `${beside}px`;
  tip.style.top = `${Math.max(4, Math.min(y + 14, innerHeight - box.height - 4))}px`;
}

export function showHeld() {
  if (!view.held) return showTip(null);
  const panel = panels.find((one) => one.plan === view.held.plan);
  const place = panel.placeOf(view.held.bar);
  if (!place || place.left > panel.right || place.left + place.width < panel.left) return showTip(null);
  const box = panel.canvas.getBoundingClientRect();
  const x = Math.min(Math.max(place.left + place.width / 2, panel.left), panel.right);
  showTip(view.held, box.left + x, box.top + Math.min(place.top + place.height, panel.height));
}

export function speak(chosen) {
  const { title, facts } = factsOf(chosen);
  spoken.textContent = [title, ...facts.map((fact) => fact.join(" "))].join(", ");
}

// Rows are made as they are asked for: an answer may have a hundred thousand.
const FIRST_ROWS = 100;
export function inParts(count, make, home) {
  let done = 0;
  const button = element("button", "", "more");
  button.type = "button";
  const grow = (number) => {
    for (const until = Math.min(count, done + number); done < until; done++) make(done);
    button.textContent = `Show more (${written(count - done)} left)`;
    button.hidden = done === count;
  };
  button.addEventListener("click", () => grow(1000));
  grow(FIRST_ROWS);
  home.append(button);
}

// Names of values are words; everything else is shown as it is.
function cellText(entry, column, row) {
  const isName = column === entry.columns[0] && entry.names.every((name) => name === "");
  return isName ? column[row].replaceAll("_", " ") : written(column[row]);
}

export function tableOf(entry, captioned) {
  const section = element("section");
  if (captioned) section.append(element(entry.caption ? "h3" : "p", entry.caption || "\u00a0"));
  const home = element("div", undefined, "table");
  home.tabIndex = 0;
  const table = element("table");
  const numeric = entry.columns.map((column) => column.every((cell) => typeof cell === "number"));
  if (entry.names.some((name) => name !== "")) {
    const head = table.createTHead().insertRow();
    entry.names.forEach((name, index) => {
      const cell = element(name ? "th" : "td", name.replaceAll("_", " "), numeric[index] ? "number" : "");
      if (name) cell.scope = "col";
      head.append(cell);
    });
  }
  const body = table.createTBody();
  home.append(table);
  const make = (row) => {
    const line = body.insertRow();
    entry.columns.forEach((column, index) =>
      line.append(element("td", cellText(entry, column, row), numeric[index] ? "number" : "")),
    );
  };
  inParts(entry.columns[0]?.length ?? 0, make, home);
  section.append(home);
  return section;
}
