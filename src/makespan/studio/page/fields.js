// Fields of a form, each at a place of the problem; mistakes appear at theirs.

import { element } from "../drawing/facts.js";
import { at, edit, placeOf, set, state } from "./state.js";

let count = 0;

// What was typed: a number where it is one; else the text, so that the library says what is wrong.
export function read(text) {
  const plain = text.trim();
  if (plain === "") return undefined;
  if (/^\+?inf(inity)?$/i.test(plain)) return null;
  const number = Number(plain.replace(/^(-?\d+),(\d+)$/, "$1.$2"));
  return Number.isNaN(number) ? plain : number;
}

export function drawn(name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

// The first number behind a prefix that none of these names has.
export function fresh(names, prefix) {
  let number = names.length + 1;
  while (names.includes(`${prefix}${number}`)) number++;
  return `${prefix}${number}`;
}

// What stands for a field that is left empty; null is infinity, which somebody typed.
export const filled = (value, empty) => (value === undefined ? empty : value);

export const shown = (value) => (value === null ? "inf" : value === undefined ? "" : String(value));

function labelled(label, control, path, title) {
  const box = element("div", undefined, "field");
  control.id ||= `field-${++count}`;
  const name = element("label", label);
  name.htmlFor = control.id;
  if (title) name.title = control.title = title;
  box.append(name, control);
  if (path) box.dataset.place = placeOf(path);
  return box;
}

// A number or a text. What is left empty has its default, which stands there in grey.
export function entry(label, path, { empty = "", title, get, put, text = false, slider, wide = false } = {}) {
  const input = element("input");
  Object.assign(input, { type: "text", inputMode: text ? "text" : "decimal", autocomplete: "off", spellcheck: false });
  input.placeholder = empty;
  get ??= (problem) => at(problem, path);
  put ??= (problem, value) => set(problem, path, value);
  input.value = shown(get(state.problem));
  const place = path ? placeOf(path) : label;
  const change = (value) => edit((problem) => put(problem, value), { place });
  const box = labelled(label, input, path, title);
  if (wide) box.classList.add("wide");
  let bar = null;
  if (slider) {
    bar = sliderOf(`${label}: slide`, slider, Number(get(state.problem)) || 0, (value) => {
      input.value = shown(value);
      change(value);
    });
    box.append(bar);
  }
  input.addEventListener("input", () => {
    const value = text ? input.value || undefined : read(input.value);
    if (bar && typeof value === "number") bar.show(value);
    change(value);
  });
  return box;
}

// A slider over numbers; over several powers of ten where `log` says so.
export function sliderOf(label, { min, max, step, log = false }, value, act) {
  const bar = element("input");
  bar.type = "range";
  bar.setAttribute("aria-label", label);
  const [low, high] = log ? [Math.log(min), Math.log(max)] : [min, max];
  Object.assign(bar, { min: low, max: high, step: log ? (high - low) / 200 : step ?? 1 });
  bar.show = (number) => {
    bar.value = log ? Math.log(Math.max(number, min)) : number;
    bar.setAttribute("aria-valuetext", shown(number));
  };
  bar.show(value);
  bar.addEventListener("input", () => {
    const number = log ? Number(Math.exp(Number(bar.value)).toPrecision(3)) : Number(bar.value);
    bar.setAttribute("aria-valuetext", shown(number));
    act(number);
  });
  return bar;
}

// One of some values, each with what it is called; `undefined` is the default.
export function choice(label, path, values, { title, get, put, shape = false } = {}) {
  const list = element("select");
  get ??= (problem) => at(problem, path);
  put ??= (problem, value) => set(problem, path, value);
  values.forEach(([, word], index) => {
    const option = element("option", word);
    option.value = index;
    list.append(option);
  });
  const now = get(state.problem);
  const found = values.findIndex(([value]) => value === now);
  if (found < 0) {
    const other = element("option", Array.isArray(now) || typeof now === "object" ? "as in the file" : String(now));
    other.value = -1;
    list.append(other);
  }
  list.value = found;
  list.addEventListener("change", () => {
    if (list.value < 0) return;
    edit((problem) => put(problem, values[list.value][0]), { shape, place: placeOf(path) });
  });
  return labelled(label, list, path, title);
}

export function tick(label, path, { title, usual = false, shape = false } = {}) {
  const box = element("input");
  box.type = "checkbox";
  box.checked = at(state.problem, path) ?? usual;
  box.addEventListener("change", () =>
    edit((problem) => set(problem, path, box.checked === usual ? undefined : box.checked), { shape, place: placeOf(path) }),
  );
  const made = labelled(label, box, path, title);
  made.classList.add("tick");
  made.prepend(box);
  return made;
}

export function button(text, act, title) {
  const made = element("button", text);
  made.type = "button";
  if (title) {
    made.title = title; // and its name, where that has the words that are seen
    const [seen, said] = [text, title].map((words) => words.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, " ").trim());
    if (said.includes(seen)) made.setAttribute("aria-label", title);
  }
  made.addEventListener("click", act);
  return made;
}

export function group(title, ...parts) {
  const made = element("fieldset");
  made.append(element("legend", title), ...parts);
  return made;
}

export function row(...parts) {
  const made = element("div", undefined, "row");
  made.append(...parts);
  return made;
}

// A part that opens on request; open at once where something in it is not as usual.
export function further(title, open, ...parts) {
  const made = element("details");
  made.open = open;
  made.append(element("summary", title), ...parts);
  return made;
}

// Put every mistake at the field of its place, or of the nearest around it; return the others.
export function showMistakes(home, mistakes) {
  for (const told of home.querySelectorAll(".mistake")) told.remove();
  for (const marked of home.querySelectorAll("[aria-invalid]")) {
    marked.removeAttribute("aria-invalid");
    marked.removeAttribute("aria-describedby");
  }
  const boxes = [...home.querySelectorAll("[data-place]")];
  return mistakes.filter(({ place, message }) => {
    const around = boxes
      .filter((box) => isWithin(place, box.dataset.place) || isWithin(box.dataset.place, place))
      .sort((a, b) => closeness(b.dataset.place, place) - closeness(a.dataset.place, place))[0];
    if (!around) return true;
    const control = around.matches("input, select") ? around : around.querySelector("input, select");
    const told = element("span", message, "mistake");
    told.id = `mistake-${++count}`;
    control?.setAttribute("aria-invalid", "true");
    control?.setAttribute("aria-describedby", told.id);
    around.closest("details")?.setAttribute("open", "");
    if (around.tagName === "TD" || !around.matches("input")) around.append(told);
    else around.after(told);
    return false;
  });
}

const isWithin = (place, home) => home !== "" && (place === home || place.startsWith(`${home}.`) || place.startsWith(`${home}[`));

function closeness(one, other) {
  if (one === other) return Infinity;
  return isWithin(other, one) ? one.length : -one.length;
}
