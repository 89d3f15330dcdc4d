// Tables that are wider than the page take the focus, so that arrow keys scroll them.
const fit = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const isWide = target.scrollWidth > target.clientWidth;
    for (const [name, value] of [["tabindex", "0"], ["role", "region"], ["aria-label", `Table ${target.dataset.number}`]])
      if (isWide) target.setAttribute(name, value);
      else target.removeAttribute(name);
  }
});

document$.subscribe(() =>
  document.querySelectorAll(".md-typeset__scrollwrap").forEach((box, place) => {
    box.dataset.number = place + 1;
    fit.observe(box);
  }),
);
