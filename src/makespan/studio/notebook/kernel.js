// What the kernel is asked, in the place of a server: a message there, one back.

const me = Math.random().toString(36).slice(2); // one board may be shown in several places
let messages = 0;
export let model = null;
const open = new Map();

export function connect(found) {
  model = found;
  model.on("msg:custom", ({ number, answer, error, mistakes }) => {
    const [done, fail] = open.get(number) ?? [];
    open.delete(number);
    if (answer) done?.(answer);
    else fail?.(Object.assign(new Error(error), { mistakes }));
  });
}

export const post = (path, body) =>
  new Promise((done, fail) => {
    const number = `${me}/${++messages}`;
    open.set(number, [done, fail]);
    model.send({ number, what: path.replace("/api/", ""), body });
  });
