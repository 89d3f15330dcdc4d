// Pointer, wheel, keys, buttons and filters.

import { ROLES } from "./data.js";
import { element, showHeld, showTip, speak } from "./facts.js";
import { changed, closest, isWhole, move, panels, plans, refilter, setRange, showWhole, view, zoom } from "./view.js";

export function listen(panel) {
  const { canvas, scroll } = panel;
  let drag = null;
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const { x, y } = at(event);
    drag = { x, y, from: view.from, to: view.to, top: scroll.scrollTop, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const { x, y } = at(event);
    if (drag) {
      drag.moved ||= Math.hypot(x - drag.x, y - drag.y) > 3;
      if (!drag.moved) return;
      canvas.style.cursor = "grabbing";
      showTip(null);
      if (event.pointerType !== "touch") scroll.scrollTop = drag.top - (y - drag.y);
      const by = (drag.x - x) / panel.scale;
      setRange(drag.from + by, drag.to + by);
      return;
    }
    const found = panel.barAt(x, y);
    canvas.style.cursor = found ? "pointer" : "default";
    if (found?.bar !== view.over?.bar || found?.plan !== view.over?.plan) {
      view.over = found;
      changed();
    }
    if (found) showTip(found, event.clientX, event.clientY);
    else showHeld();
  });
  canvas.addEventListener("pointerup", (event) => {
    if (drag && !drag.moved) {
      const { x, y } = at(event);
      view.held = panel.barAt(x, y);
      if (view.held) speak(view.held);
      else showTip(null);
      changed();
    }
    drag = null;
    canvas.style.cursor = "default";
  });
  canvas.addEventListener("pointercancel", () => (drag = null));
  canvas.addEventListener("pointerleave", () => {
    view.over = null;
    showHeld();
    changed();
  });
  canvas.addEventListener("dblclick", (event) => {
    const { x, y } = at(event);
    zoomTo(panel.barAt(x, y));
  });
  canvas.addEventListener("wheel", (event) => onWheel(panel, event, at(event)), { passive: false });
  canvas.addEventListener("keydown", (event) => onKey(panel, event));
  canvas.addEventListener("blur", () => showTip(null));
  scroll.addEventListener("scroll", changed, { passive: true });
  new ResizeObserver(() => changed(true)).observe(scroll);
}

// Over the names the rows move, and a plan seen whole lets the page move on.
function onWheel(panel, event, point) {
  const pixels = event.deltaMode === 1 ? 33 : event.deltaMode === 2 ? 400 : 1;
  const across = (event.shiftKey && !event.deltaX ? event.deltaY : event.deltaX) * pixels;
  const down = event.shiftKey ? 0 : event.deltaY * pixels;
  if (point.x < panel.left && !event.ctrlKey) return;
  if (Math.abs(across) > Math.abs(down)) {
    event.preventDefault();
    move(across / (panel.right - panel.left));
  } else if (down < 0 || !isWhole() || event.ctrlKey) {
    event.preventDefault();
    zoom(Math.exp(-Math.max(-300, Math.min(300, down)) / 400), panel.time(Math.max(point.x, panel.left)));
  }
}

function onKey(panel, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const step = steps[event.key];
  if (step && event.shiftKey) walk(panel, ...step);
  else if (step) {
    if (step[0]) move(0.15 * step[0]);
    else panel.scroll.scrollTop += 60 * step[1];
  } else if (event.key === "PageDown" || event.key === "PageUp") {
    panel.scroll.scrollTop += (event.key === "PageDown" ? 0.9 : -0.9) * (panel.height - panel.head);
  } else if (event.key === "+" || event.key === "=") zoom(1.5);
  else if (event.key === "-") zoom(1 / 1.5);
  else if (event.key === "0" || event.key === "Home") showWhole();
  else if (event.key === "[") stretch(1 / 1.3);
  else if (event.key === "]") stretch(1.3);
  else if (event.key === "Enter" && view.held) zoomTo(view.held);
  else if (event.key === "Escape") {
    view.held = null;
    showTip(null);
    changed();
  } else return;
  event.preventDefault();
}

function zoomTo(chosen) {
  if (!chosen) return;
  const { start, end } = chosen.plan.bars;
  const length = Math.max(end[chosen.bar] - start[chosen.bar], closest());
  setRange(start[chosen.bar] - length / 2, end[chosen.bar] + length / 2);
  showHeld();
}

function stretch(factor) {
  view.stretch = Math.min(6, Math.max(0.15, view.stretch * factor));
  changed(true);
}

// Hold on to the next activity of the row, or to the one at this time in the next row.
function walk(panel, along, across) {
  const { plan } = panel;
  const rows = plan.rowsShown.filter((row) => row.lanes.some((lane) => lane.lines.length));
  if (!rows.length) return;
  const { row, start } = plan.bars;
  const inRow = (one) =>
    one.lanes
      .flatMap((lane) => lane.lines)
      .flatMap((line) => Array.from(plan.shown.subarray(line.first, line.last)))
      .sort((a, b) => start[a] - start[b] || a - b);
  const held = view.held?.plan === plan && panel.placeOf(view.held.bar) ? view.held.bar : -1;
  let next;
  if (held < 0) next = inRow(rows[0])[0];
  else {
    const position = rows.findIndex((one) => one.row === row[held]);
    if (along) {
      const bars = inRow(rows[position]);
      next = bars[Math.min(bars.length - 1, Math.max(0, bars.indexOf(held) + along))];
    } else {
      const bars = inRow(rows[Math.min(rows.length - 1, Math.max(0, position + across))]);
      next = bars.findLast((bar) => start[bar] <= start[held]) ?? bars[0];
    }
  }
  view.held = { plan, bar: next, near: 0 };
  bringIntoView(panel, next);
  speak(view.held);
  changed();
}

function bringIntoView(panel, bar) {
  const { start, end } = panel.plan.bars;
  const length = view.to - view.from;
  if (start[bar] < view.from || end[bar] > view.to) {
    const from = end[bar] - start[bar] > length ? start[bar] : (start[bar] + end[bar] - length) / 2;
    setRange(from, from + length);
  }
  const place = panel.placeOf(bar);
  if (place.top < panel.head + 4) panel.scroll.scrollTop -= panel.head + 24 - place.top;
  else if (place.top + place.height > panel.height - 4)
    panel.scroll.scrollTop += place.top + place.height + 24 - panel.height;
}

export function listenToTools() {
  const on = (name, act) => document.getElementById(name).addEventListener("click", act);
  on("in", () => zoom(1.5));
  on("out", () => zoom(1 / 1.5));
  on("whole", showWhole);
  on("lower", () => stretch(1 / 1.3));
  on("taller", () => stretch(1.3));
  const filter = document.getElementById("filter");
  filter.addEventListener("input", () => {
    view.words = filter.value.toLowerCase().split(",").map((word) => word.trim()).filter(Boolean);
    refilter();
  });
  filter.value = "";
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.closest("input, textarea, select")) return;
    event.preventDefault();
    filter.focus();
  });
}

// The kinds of activities to show or hide, and what the colours of the plans mean.
export function offerRoles(present) {
  const kinds = document.getElementById("kinds");
  kinds.replaceChildren();
  for (const role of present) {
    const box = element("input");
    box.type = "checkbox";
    box.checked = view.roles.has(role);
    box.addEventListener("change", () => {
      if (box.checked) view.roles.add(role);
      else view.roles.delete(role);
      refilter();
    });
    const swatch = element("span", undefined, "swatch");
    swatch.style.background = ROLES[role].fill;
    const label = element("label");
    label.append(box, swatch, ROLES[role].word);
    kinds.append(label);
  }
  const { legend = [], ordered } = plans[0].groups ?? {};
  const swatchOf = ([word, fill]) => {
    const swatch = element("span", undefined, "swatch");
    swatch.style.background = fill;
    swatch.title = word;
    return swatch;
  };
  if (ordered && legend.length > 4) {
    const entry = element("span", undefined, "group scale");
    entry.append(legend[0][0], ...legend.map(swatchOf), legend.at(-1)[0]);
    kinds.append(entry);
  } else
    for (const part of legend) {
      const entry = element("span", undefined, "group");
      entry.append(swatchOf(part), part[0]);
      kinds.append(entry);
    }
}

// The browser's choice, then the other, then back: kept where the browser allows it.
export function listenToTheme() {
  const button = document.getElementById("theme");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  const named = () => {
    button.textContent = isDark() ? "☀ Light" : "☾ Dark";
    changed();
  };
  try {
    const kept = localStorage.getItem("makespan-theme");
    if (kept) root.dataset.theme = kept;
  } catch {
    // pages opened from a file may not keep anything
  }
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try {
      localStorage.setItem("makespan-theme", root.dataset.theme);
    } catch {
      // as above
    }
    named();
  });
  dark.addEventListener("change", named);
  named();
}
