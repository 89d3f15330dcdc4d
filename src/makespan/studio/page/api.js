// What the server is asked: JSON both ways, nothing but this server.

import { fragment } from "./link.js";

export class Refused extends Error {
  constructor({ error, mistakes }, status) {
    super(error ?? `The server answered ${status}.`);
    this.mistakes = mistakes ?? [];
    this.status = status;
  }
}

// The token of a server that others reach comes with the address, and stays in this tab only.
function token() {
  const given = fragment().get("token");
  if (given) sessionStorage.setItem("makespan-token", given);
  return given ?? sessionStorage.getItem("makespan-token");
}

// Requests of one lane follow each other: a newer one ends the older.
const self = Math.random().toString(36).slice(2);

async function asked(path, body, { signal, lane, accept } = {}) {
  const headers = { Accept: accept ?? "application/json" };
  if (token()) headers.Authorization = `Bearer ${token()}`;
  if (lane) headers["X-Client"] = `${self}/${lane}`;
  const options = { headers, signal };
  if (body !== undefined) {
    headers["Content-Type"] = "application/json";
    Object.assign(options, { method: "POST", body: JSON.stringify(body) });
  }
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused({ error: "The server does not answer; is makespan serve still running?" }, 0);
  }
  if (!response.ok) throw new Refused(await response.json().catch(() => ({})), response.status);
  return response;
}

export const get = async (path) => (await asked(path)).json();
export const post = async (path, body, signal, lane) => (await asked(path, body, { signal, lane })).json();
export const file = async (path, body) => (await asked(path, body)).blob();
export const stop = async (lane) => (await asked("/api/stop", {}, { lane })).json();

// The same with word of what is reached meanwhile: server-sent events, the last is the answer.
export async function events(path, body, signal, lane, tell) {
  const response = await asked(path, body, { signal, lane, accept: "text/event-stream" });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new Refused({ error: "The server ended without an answer." }, 0);
    text += value;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const event = text.slice(0, end);
      text = text.slice(end + 2);
      const name = /^event: ?(.*)$/m.exec(event)?.[1];
      const data = [...event.matchAll(/^data: ?(.*)$/gm)].map((line) => line[1]).join("\n");
      if (name === "answer") return JSON.parse(data);
      if (name === "error") throw new Refused(JSON.parse(data), 422);
      if (name === "progress") tell(JSON.parse(data).value ?? {});
    }
  }
}
