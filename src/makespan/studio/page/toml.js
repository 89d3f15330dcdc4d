// A problem → the text of its file; `null` stands for infinity, as in JSON files.

const bare = /^[A-Za-z0-9_-]+$/;
const key = (name) => (bare.test(name) ? name : quoted(name));
const WIDTH = 88;

function quoted(text) {
  const safe = text.replace(/[\u0000-\u001f\u007f"\\]/g, (character) =>
    character === '"' || character === "\\" ? `\\${character}` : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `"${safe}"`;
}

function inline(value) {
  if (value === null) return "inf";
  if (typeof value === "string") return quoted(value);
  if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
  if (typeof value === "object") {
    const parts = Object.entries(value).map(([name, part]) => `${key(name)} = ${inline(part)}`);
    return parts.length ? `{ ${parts.join(", ")} }` : "{}";
  }
  return String(value);
}

// What does not fit on a line has its parts on lines of their own.
function entry(name, value) {
  const line = `${key(name)} = ${inline(value)}`;
  if (!Array.isArray(value) || (line.length <= WIDTH && !value.some(isTable))) return line;
  if (value.every((part) => typeof part === "number" || part === null)) {
    const lines = [""];
    for (const part of value.map(inline))
      if (lines.at(-1).length + part.length > WIDTH) lines.push(`${part}, `);
      else lines[lines.length - 1] += `${part}, `;
    return `${key(name)} = [\n${lines.map((one) => `  ${one.trimEnd()}\n`).join("")}]`;
  }
  return `${key(name)} = [\n${value.map((part) => `  ${inline(part)},\n`).join("")}]`;
}

const isTable = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

export function toml(problem) {
  const parts = Object.entries(problem).filter(([, value]) => value !== undefined);
  const plain = parts.filter(([, value]) => !isTable(value)).map(([name, value]) => entry(name, value));
  const tables = parts.filter(([, value]) => isTable(value)).map(([name, value]) => {
    const lines = Object.entries(value).filter(([, part]) => part !== undefined).map((pair) => entry(...pair));
    return `\n[${key(name)}]\n${lines.join("\n")}`;
  });
  return `${[...plain, ...tables].join("\n")}\n`;
}
