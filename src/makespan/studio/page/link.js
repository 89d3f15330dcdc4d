// The address says what is on the page: a problem or an exercise, in the fragment, which browsers
// send to nobody. What is too long for an address is kept by the browser, over a reload.

const LONGEST = 8000; // characters of an address
const PAUSE = 200; // milliseconds without a change, in which the address is written
const OLDER = "makespan-older"; // an address that is older than what the browser keeps
const CUT = "This link is cut off or damaged. Ask for it again, and copy all of it.";

export const fragment = () => new URLSearchParams(location.hash.slice(1));

async function through(stream, bytes) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

async function packed(thing) {
  const bytes = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(JSON.stringify(thing)));
  const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(await through(new DecompressionStream("deflate-raw"), bytes)));
}

const address = (part) => `${location.origin}${location.pathname}${part ? `#${part}` : ""}`;

export const linkOf = async (problem) => address(`problem=${await packed(problem)}`);

// What the address asks for: a problem, an exercise (its number, or all of it), or what is wrong with it.
export async function linked() {
  const [problem, exercise] = ["problem", "exercise"].map((name) => fragment().get(name));
  if (problem !== null && sessionStorage.getItem(OLDER) === location.hash) return {};
  try {
    if (exercise !== null) return { exercise: /^\d+$/.test(exercise) ? Number(exercise) : whole(await unpacked(exercise), "title") };
    return problem === null ? {} : { problem: whole(await unpacked(problem), "kind") };
  } catch {
    return { broken: CUT };
  }
}

function whole(thing, name) {
  if (typeof thing?.[name] !== "string") throw new Error(CUT);
  return thing;
}

let [turns, hasNew] = [0, false];

// Write into the address what is on the page now; `isNew` makes a place to come back to.
export async function show(name, thing, isNew = false) {
  const turn = ++turns;
  hasNew ||= isNew;
  if (name === "problem") sessionStorage.setItem(OLDER, location.hash);
  await new Promise((done) => setTimeout(done, PAUSE));
  if (turn !== turns) return;
  const text = typeof thing === "number" ? thing : await packed(thing);
  const next = address(text.length > LONGEST ? "" : `${name}=${text}`);
  if (turn !== turns) return;
  if (next !== location.href) history[hasNew ? "pushState" : "replaceState"](null, "", next);
  hasNew = false;
  sessionStorage.removeItem(OLDER);
}

// What the browser keeps, where it keeps anything.
export function remember(name, thing) {
  try {
    localStorage.setItem(`makespan-${name}`, JSON.stringify(thing));
  } catch {
    // a private window, or more than fits
  }
}

export function remembered(name) {
  try {
    return JSON.parse(localStorage.getItem(`makespan-${name}`));
  } catch {
    return null;
  }
}
