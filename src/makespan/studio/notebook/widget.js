// The widget in a notebook: a frame with the page of the board, as dark as what is around it.

// Light or dark, by the first colour behind an element, however that is written.
function themeOf(element) {
  const paint = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  for (let one = element; one; one = one.parentNode ?? one.host) {
    if (!(one instanceof Element)) continue;
    paint.fillStyle = getComputedStyle(one).backgroundColor;
    paint.clearRect(0, 0, 1, 1);
    paint.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = paint.getImageData(0, 0, 1, 1).data;
    if (alpha > 128) return 3 * red + 6 * green + blue < 1280 ? "dark" : "light";
  }
  return "light";
}

function render({ model, el }) {
  const frame = document.createElement("iframe");
  frame.title = "Board";
  Object.assign(frame.style, { width: "100%", height: "420px", border: "0", display: "block" });
  frame.srcdoc = model.get("_page");
  const shine = () => frame.contentWindow?.shine?.(themeOf(el));
  const watch = new MutationObserver(shine);
  frame.addEventListener("load", () => {
    const page = frame.contentWindow;
    const { body } = page.document;
    new page.ResizeObserver(() => (frame.style.height = `${Math.ceil(body.getBoundingClientRect().height) + 12}px`)).observe(body);
    shine();
    for (const each of [document.documentElement, document.body]) watch.observe(each, { attributes: true });
    page.start(model);
  });
  el.append(frame);
  return () => watch.disconnect();
}

export default { render };
