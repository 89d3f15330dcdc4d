// What can be taken back, and made again.

const MOST = 200;
const AT_ONCE = 600; // milliseconds in which changes of one place are one

export class Past {
  #past = [];
  #future = [];
  #last = { place: null, time: 0 };

  // Keep what was there before a change; changes of one place that follow at once are one.
  keep(before, place = null) {
    const now = performance.now();
    const same = place !== null && place === this.#last.place && now - this.#last.time < AT_ONCE;
    this.#last = { place, time: now };
    this.#future = [];
    if (same && this.#past.length) return;
    this.#past.push(before);
    if (this.#past.length > MOST) this.#past.shift();
  }

  #step(from, to, now, act) {
    if (!from.length) return;
    to.push(now);
    this.#last = { place: null, time: 0 };
    act(from.pop());
  }

  undo = (now, act) => this.#step(this.#past, this.#future, now, act);
  redo = (now, act) => this.#step(this.#future, this.#past, now, act);
  get canUndo() {
    return this.#past.length > 0;
  }
  get canRedo() {
    return this.#future.length > 0;
  }
}
