// The work of one reviewer in one stream: cases that are held for them, what they said, and what comes next.
//
//   const work = new Work(context, rows)
//   await work.case(id, true)     the whole case; claims it, and with `true` the next ones too, 25 at a time
//   work.next(id), work.previous(id), work.label(id, value), work.skip(id), await work.release()
//
// A claim brings whole cases, so that a hundred cases cost about four claims and a hundred labels.

import { api, Problem, session } from "./api.js";
import { outbox } from "./outbox.js";

const AT_ONCE = 25;
const AHEAD = 3; // with so few cases left, the next ones are claimed
const KEPT = 100;

export class Work {
  constructor(context, rows) {
    this.context = context;
    this.rows = rows;
    this.cases = new Map();
    this.held = new Set(); // ids that are claimed here
    this.said = new Map(); // id → { value, entry }: labels that were given here
    this.skipped = new Set();
    this.claiming = null;
  }

  get claims() {
    return this.context.can("review");
  }

  get labels() {
    return this.context.can("label");
  }

  /** Whether a row is there for this reviewer to go on with. */
  free(item) {
    const escalated = item?.escalated && !this.rows.asked.escalated; // for somebody else
    return item && !this.said.has(item.id) && !this.skipped.has(item.id) && !escalated && (!item.by || item.by === this.context.key.name);
  }

  async case(id, ahead = false) {
    if (this.cases.has(id)) {
      if (ahead) void this.#more(id);
      return this.cases.get(id);
    }
    await this.claiming?.catch(() => {});
    if (this.cases.has(id)) return this.cases.get(id);
    const item = this.rows.at(this.rows.place(id));
    if (item && this.free({ ...item, escalated: false }) && await this.#tryClaim(ahead ? this.#following(id) : [id])) return this.cases.get(id);
    const found = await this.look(id);
    if (found.state === "pending" && !found.by && await this.#tryClaim([id])) return this.cases.get(id); // what the list said was old
    return found;
  }

  /** Claim cases; false where the key does not allow it, or where somebody else was faster with the first one. */
  async #tryClaim(ids) {
    if (!this.claims) return false;
    try {
      await this.#claim(ids);
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 409) throw error;
    }
    return this.held.has(ids[0]) && this.cases.has(ids[0]);
  }

  /** Look at a case as it is now, without claiming it. */
  async look(id) {
    const found = await api.get(this.context.path("cases", id), { signal: this.context.signal });
    if (this.held.has(id)) this.#keep(found);
    const item = this.rows.at(this.rows.place(id));
    if (item) Object.assign(item, { by: found.by, until: found.until, escalated: found.escalated });
    return found;
  }

  /** The ids from a case on that are free, as many as are claimed at once. */
  #following(id) {
    const found = [id];
    for (let place = this.rows.place(id) + 1; place < this.rows.total && found.length < AT_ONCE; place += 1) {
      const item = this.rows.at(place);
      if (!item) break;
      if (this.free(item) && !this.held.has(item.id)) found.push(item.id);
    }
    return found;
  }

  async #claim(ids) {
    this.claiming = this.#ask(ids).finally(() => { this.claiming = null; });
    return this.claiming;
  }

  async #ask(ids) {
    const post = (wanted) => api.post(this.context.path("queue:claim"), { ids: wanted }, { signal: this.context.signal });
    let told;
    try {
      told = await post(ids);
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 409 || ids.length === 1) throw error;
      told = await post(ids.slice(0, 1)); // somebody was faster with one of the others
    }
    for (const one of told.items) {
      const item = this.rows.at(this.rows.place(one.id));
      if (item) Object.assign(item, { by: one.by, until: one.until });
      this.held.add(one.id);
      this.#keep(one.case ?? one);
    }
    this.context.state?.pending(told.waiting);
  }

  async #more(id) {
    if (!this.claims || this.claiming) return;
    const place = this.rows.place(id);
    let left = 0;
    let next = null;
    for (let at = place + 1; at < this.rows.total && left <= AHEAD; at += 1) {
      const item = this.rows.at(at);
      if (!item) break;
      if (!this.free(item)) continue;
      if (this.cases.has(item.id)) left += 1;
      else {
        next = item.id;
        break;
      }
    }
    if (next !== null && left <= AHEAD) await this.#claim(this.#following(next)).catch(() => {});
  }

  #keep(found) {
    this.cases.delete(found.id);
    this.cases.set(found.id, found);
    for (const id of this.cases.keys()) {
      if (this.cases.size <= KEPT) break;
      this.cases.delete(id);
    }
  }

  /** The next row; with `free` only one to go on with. Loads its window where it is not there; null: none is left. */
  async next(id, free = false) {
    const place = this.rows.place(id);
    return (await this.#from(place + 1, 1, free)) ?? (free && place > 0 ? this.#from(0, 1, true) : null);
  }

  /** The first row from a place on to go on with; the row itself where none is. */
  async first(place) {
    return (await this.#from(place, 1, true)) ?? this.rows.at(place)?.id ?? null;
  }

  async previous(id) {
    const place = this.rows.place(id);
    return this.#from((place < 0 ? this.rows.total : place) - 1, -1, false);
  }

  async #from(start, step, free) {
    for (let place = start; place >= 0 && place < this.rows.total; place += step) {
      if (!this.rows.at(place)) await this.rows.need(place, place);
      const item = this.rows.at(place);
      if (item && (free ? this.free(item) : !this.said.has(item.id))) return item.id;
    }
    return null;
  }

  label(id, value) {
    const entry = outbox.add({ stream: this.context.stream, id, value });
    this.said.set(id, { value, entry });
    this.held.delete(id);
    return entry;
  }

  /** Take a label back; false if it is on its way already. */
  unlabel(id) {
    const said = this.said.get(id);
    if (!said || !outbox.take(said.entry)) return false;
    this.said.delete(id);
    this.held.add(id);
    return true;
  }

  skip(id) {
    this.skipped.add(id);
  }

  /** Something happened to a case elsewhere: what is kept of it is old. */
  forget(id) {
    this.cases.delete(id);
  }

  /** The label of a case is known: the case leaves the queue. */
  gone(id) {
    this.held.delete(id);
    this.cases.delete(id);
    return this.rows.remove(id);
  }

  /** Give back what is held here, as when the page closes. */
  async release(keepalive = false) {
    const ids = [...this.held];
    if (!ids.length || !this.claims || !session.state) return;
    this.held.clear();
    try {
      await api.post(this.context.path("queue:release"), { ids }, { keepalive });
    } catch (error) {
      if (!(error instanceof Problem)) throw error; // leases are over by themselves
    }
  }
}
