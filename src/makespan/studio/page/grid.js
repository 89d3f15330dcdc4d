// A table to edit: arrow keys go through its cells, and what a spreadsheet copies can be pasted.

import { element } from "../drawing/facts.js";
import { button, read, shown, sliderOf } from "./fields.js";
import { edit, placeOf, state } from "./state.js";

const MOST_ROWS = 200; // more are edited in the file

// `columns`: { name, title?, get(row, index), put(row, value, index), text?, empty?, slider?, key? };
// `rows(problem)` gives the list; `blank(problem, index)` what a new row is. Places are those of `path` and `key`.
export function grid({ label, path, columns, rows, blank, remove, least = 0, pasted, onFocus }) {
  const home = element("div", undefined, "grid");
  const table = element("table");
  table.setAttribute("aria-label", label);
  const head = table.createTHead().insertRow();
  for (const column of columns) {
    const cell = element("th", column.name);
    cell.scope = "col";
    if (column.title) cell.title = column.title;
    head.append(cell);
  }
  if (blank) head.append(element("td"));
  const body = table.createTBody();
  const list = rows(state.problem);
  list.slice(0, MOST_ROWS).forEach((one, index) => {
    const line = body.insertRow();
    columns.forEach((column, across) => line.append(cellOf(column, one, index, across)));
    if (blank) {
      const cell = line.insertCell();
      const name = columns[0].get?.(one, index) ?? index + 1;
      const away = button("✕", () => drop(index), `Remove ${shown(name)}`);
      away.className = "away";
      away.disabled = list.length <= least;
      cell.append(away);
    }
  });
  home.append(table);
  if (list.length > MOST_ROWS) home.append(element("p", `and ${list.length - MOST_ROWS} more, in the file`, "hidden"));
  if (blank) home.append(button("Add one", () => grow(1), `Add one to: ${label}`));
  return home;

  function cellOf(column, one, index, across) {
    const cell = element("td");
    if (path) cell.dataset.place = placeOf([...path, index, ...(column.key ? [column.key] : [])]);
    if (!column.put) {
      cell.textContent = shown(column.get(one, index));
      return cell;
    }
    const input = element("input");
    Object.assign(input, { type: "text", inputMode: column.text ? "text" : "decimal", autocomplete: "off", spellcheck: false });
    input.value = shown(column.get(one, index));
    input.placeholder = column.empty ?? "";
    input.setAttribute("aria-label", `${column.name}, ${label.toLowerCase()} ${index + 1}`);
    const change = (value) => edit((problem) => column.put(rows(problem)[index], value, index, problem), { place: `${label} ${index} ${across}` });
    let bar = null;
    input.addEventListener("input", () => {
      const value = column.text ? input.value : read(input.value);
      if (bar && typeof value === "number") bar.show(value);
      change(value);
    });
    input.addEventListener("keydown", (event) => onKey(event, index, across));
    input.addEventListener("paste", (event) => onPaste(event, index, across));
    if (onFocus) input.addEventListener("focus", () => onFocus(index));
    cell.append(input);
    if (column.slider) {
      bar = sliderOf(`${column.name} of ${shown(columns[0].get(one, index))}`, column.slider, Number(column.get(one, index)) || 0, (value) => {
        input.value = shown(value);
        change(value);
      });
      cell.append(bar);
    }
    return cell;
  }

  function focus(index, across) {
    table.tBodies[0].rows[index]?.cells[across]?.querySelector("input")?.focus();
  }

  function onKey(event, index, across) {
    const by = { ArrowUp: -1, ArrowDown: 1, Enter: 1 }[event.key];
    if (!by || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    if (event.key === "Enter" && index === rows(state.problem).length - 1 && blank) grow(1, 0);
    else focus(index + by, across);
  }

  function grow(number, across = 0) {
    const first = rows(state.problem).length;
    edit((problem) => {
      for (let added = 0; added < number; added++) rows(problem).push(blank(problem, rows(problem).length));
    }, { shape: true });
    refocus(first + number - 1, across);
  }

  function drop(index) {
    edit((problem) => {
      if (remove) remove(problem, index);
      else rows(problem).splice(index, 1);
    }, { shape: true });
    refocus(Math.max(0, Math.min(index, rows(state.problem).length - 1)), 0);
  }

  // The form has been made anew: its table of the same name has the focus again.
  function refocus(index, across) {
    const again = [...document.querySelectorAll(".grid > table")].find((one) => one.getAttribute("aria-label") === label);
    again?.tBodies[0].rows[index]?.cells[across]?.querySelector("input")?.focus();
  }

  // Cells with tabs between them and lines below each other, as spreadsheets copy them.
  function onPaste(event, index, across) {
    const text = event.clipboardData.getData("text/plain").replace(/\r/g, "").replace(/\n$/, "");
    if (!/[\t\n]/.test(text)) return;
    event.preventDefault();
    const cells = text.split("\n").map((line) => line.split("\t").map((cell) => cell.trim()));
    edit((problem) => {
      if (pasted?.(problem, cells, index, across)) return;
      cells.forEach((line, down) => {
        const list = rows(problem);
        if (index + down >= list.length) {
          if (!blank) return;
          list.push(blank(problem, list.length));
        }
        line.forEach((value, right) => {
          const column = columns[across + right];
          column?.put?.(list[index + down], column.text ? value : read(value), index + down, problem);
        });
      });
    }, { shape: true });
    refocus(index, across);
  }
}
