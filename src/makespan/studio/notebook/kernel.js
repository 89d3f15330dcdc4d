// What the kernel is asked, in the place of a server: a message there, one back.

const me = Math.random().toString(36).slice(2); // a board may be shown in several places
const unanswered = new Map();
let messages = 0;
export let model = null;

export function connect(found) {
  model = found;
  model.on("msg:custom", ({ number, status, answer }) => {
    const [done, fail] = unanswered.get(number) ?? [];
    unanswered.delete(number);
    if (status < 400) done?.(answer);
    else fail?.(Object.assign(new Error(answer.error), answer));
  });
}

export const post = (path, body) =>
  new Promise((done, fail) => {
    const number = `${me}/${++messages}`;
    unanswered.set(number, [done, fail]);
    model.send({ number, what: path.replace("/api/", ""), body: JSON.stringify(body) });
  });
