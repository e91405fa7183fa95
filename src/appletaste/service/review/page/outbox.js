// Labels on their way: each is written down in this browser first, and crossed out only when the service has answered.
//
//   outbox.add({ stream, id, value })   held for five seconds, in which outbox.take(entry) takes it back
//   outbox.flush()                      sends what is held, now
//   outbox.watch(({ waiting, refused, others }) => ...)     how many labels wait here, for the banner
//   outbox.answers.add((entry, problem or null) => ...)     hears what the service said of each label
//
// A label may be sent twice (after a cut, by the page that closes, by another tab): the service applies it once. Every
// label has an entry of its own, so that tabs do not write over each other's. Labels of other keys are left alone.

import { api, backoff, connection, problemOf, streamPath, Watched } from "./api.js";
import { remembered } from "./places.js";

// milliseconds in which a label can be taken back
export const HOLD = 5000;
const PREFIX = "appletaste.outbox.";

function stored() {
  try {
    return Object.keys(localStorage).filter((name) => name.startsWith(PREFIX)).map((name) => JSON.parse(localStorage.getItem(name)));
  } catch {
    // no storage: what is held in memory goes on
    return [];
  }
}

class Outbox extends Watched {
  constructor() {
    super({ waiting: 0, refused: [], others: null });
    this.by = null;
    this.entries = new Map();
    // names of the labels that were given in this tab
    this.own = new Set();
    this.answers = new Set();
    this.timer = null;
    this.turn = 0;
    this.sending = null;
  }

  /** Somebody has signed in: what this key left here goes on. */
  begin(by) {
    if (by !== this.by) this.entries = new Map([...this.entries].filter(([, one]) => one.by === by));
    this.by = by;
    for (const one of stored()) if (one.by === by && !this.entries.has(one.name)) this.entries.set(one.name, one);
    this.#changed();
    void this.#run();
  }

  /** Nobody is signed in: everything stays where it is. */
  pause() {
    this.by = null;
    clearTimeout(this.timer);
    this.#changed();
  }

  add({ stream, id, value }) {
    // whoever goes on has not changed their mind
    void this.flush();
    const now = Date.now();
    const name = `${now}-${Math.random().toString(36).slice(2)}`;
    const entry = { name, stream, id, value, by: this.by, at: now, due: now + HOLD };
    this.entries.set(name, entry);
    this.own.add(name);
    this.#keep(entry);
    this.#changed();
    this.#later();
    return entry;
  }

  /** Take a label back that has not been sent; false if it is too late. */
  take(entry) {
    const found = this.entries.get(entry.name);
    if (!found || found.sent) return false;
    this.#drop(found);
    this.#changed();
    return true;
  }

  /** Send what is held, without waiting any longer. */
  async flush() {
    for (const entry of this.entries.values()) entry.due = 0;
    await this.#run();
  }

  /** Forget a label that the service refused. */
  dismiss(entry) {
    this.#drop(entry);
    this.#changed();
  }

  /** The page goes away: send everything in requests that outlive it; each entry stays until an answer is known. */
  depart() {
    if (this.by === null) return;
    for (const entry of this.entries.values()) {
      if (entry.refused) continue;
      entry.due = 0;
      entry.sent = true;
      this.#keep(entry);
      this.#put(entry, { keepalive: true }).catch(() => {});
    }
  }

  /** The page is there again. */
  resume() {
    if (this.by !== null) this.begin(this.by);
  }

  /** Another tab wrote: its labels are sent from here only if it does not send them itself, as when it crashed. */
  adopt() {
    if (this.by === null) return;
    const all = new Map(stored().filter((one) => one.by === this.by).map((one) => [one.name, one]));
    for (const [name, one] of all) {
      if (!this.entries.has(name)) this.entries.set(name, { ...one, due: Math.max(one.due, Date.now()) + 2 * HOLD });
    }
    for (const [name] of this.entries) if (!all.has(name) && !this.own.has(name)) this.entries.delete(name);
    this.#changed();
    this.#later();
  }

  #put(entry, options) {
    return api.put(streamPath(entry.stream, "decisions", entry.id, "label"), { value: entry.value }, options);
  }

  #keep(entry) {
    remembered(PREFIX + entry.name, JSON.stringify(entry));
  }

  #drop(entry) {
    this.entries.delete(entry.name);
    this.own.delete(entry.name);
    remembered(PREFIX + entry.name, null);
  }

  #later(least = 0) {
    clearTimeout(this.timer);
    if (this.by === null) return;
    const next = Math.min(...[...this.entries.values()].filter((one) => !one.refused).map((one) => one.due));
    if (next < Infinity) this.timer = setTimeout(() => void this.#run(), Math.max(least, next - Date.now(), 0));
  }

  /** Send what is due, oldest first, one at a time; whoever asks meanwhile waits for the same run. */
  #run() {
    this.sending ??= this.#sendDue().finally(() => {
      this.sending = null;
    });
    return this.sending;
  }

  async #sendDue() {
    for (;;) {
      const now = Date.now();
      const due = [...this.entries.values()].filter((one) => !one.refused && one.due <= now).sort((a, b) => a.at - b.at)[0];
      if (!due || this.by === null) break;
      due.sent = true;
      try {
        await this.#put(due);
        this.turn = 0;
        this.#drop(due);
        this.#tell(due, null);
      } catch (error) {
        // signed out: kept for the same key
        if (problemOf(error).status === 401) break;
        if (error.passing) {
          this.turn += 1;
          this.#changed();
          return this.#later(backoff(this.turn - 1));
        }
        due.refused = error.title;
        this.#keep(due);
        this.#tell(due, error);
      }
      this.#changed();
    }
    this.#later();
  }

  #tell(entry, problem) {
    for (const listener of [...this.answers]) listener(entry, problem);
  }

  #changed() {
    const mine = [...this.entries.values()];
    const refused = mine.filter((one) => one.refused);
    const strangers = stored().filter((one) => one.by !== this.by && !one.refused);
    const by = strangers[0]?.by;
    this.set({ waiting: mine.length - refused.length, refused, others: by ? { by, labels: strangers.filter((one) => one.by === by).length } : null });
  }
}

export const outbox = new Outbox();
addEventListener("pagehide", () => outbox.depart());
addEventListener("storage", (event) => event.key?.startsWith(PREFIX) && outbox.adopt());
addEventListener("pageshow", (event) => event.persisted && outbox.resume());
connection.watch(({ online }) => online && outbox.state.waiting && outbox.resume());
