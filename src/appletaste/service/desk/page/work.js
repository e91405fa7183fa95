// The work of one reviewer in one stream: cases that are held for them, what they said, and what comes next.
//
//   const work = new Work(context, rows)
//   await work.case(id, true)     the whole case; claims it, and with `true` the next ones too, 25 at a time
//   work.next(id), work.previous(id), work.label(id, value), work.skip(id), await work.release()
//
// A claim brings whole cases, so that a hundred cases cost about four claims and a hundred labels.

import { api, problemOf, session } from "./api.js";
import { outbox } from "./outbox.js";

const AT_ONCE = 25;
// minutes after which others may take what somebody left behind
const LEASE = 30;
// with so few cases left, the next ones are claimed
const AHEAD = 3;
const KEPT = 100;

export class Work {
  constructor(context, rows) {
    this.context = context;
    this.rows = rows;
    this.cases = new Map();
    // ids that are claimed here
    this.held = new Set();
    // id → { value, entry }: labels that were given here
    this.said = new Map();
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
    // for somebody else
    const escalated = item?.escalated && !this.rows.asked.escalated;
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
    if (item && this.free({ ...item, escalated: false }) && await this.#claim(ahead ? this.#following(id) : [id])) return this.cases.get(id);
    const found = await this.look(id);
    // what the list said was old
    if (found.state === "pending" && !found.by && await this.#claim([id])) return this.cases.get(id);
    return found;
  }

  /** Look at a case as it is now, without claiming it. */
  async look(id) {
    const found = await api.get(this.context.path("cases", id), { signal: this.context.signal });
    if (this.held.has(id)) this.#keep(found);
    const item = this.rows.at(this.rows.place(id));
    if (item) Object.assign(item, { by: found.by, until: found.until, escalated: found.escalated });
    return found;
  }

  /** The next rows behind a case to go on with, as far as they are loaded. */
  #behind(id, most, wanted = () => true) {
    const found = [];
    for (let place = this.rows.place(id) + 1; found.length < most && this.rows.at(place); place += 1) {
      const item = this.rows.at(place);
      if (this.free(item) && wanted(item.id)) found.push(item.id);
    }
    return found;
  }

  #following(id) {
    return [id, ...this.#behind(id, AT_ONCE - 1, (one) => !this.held.has(one))];
  }

  /** Claim the next cases before they are needed. */
  async #more(id) {
    const next = this.#behind(id, AHEAD + 1).find((one) => !this.held.has(one));
    if (next && !this.claiming) await this.#claim(this.#following(next)).catch(() => {});
  }

  /** Claim cases; false where the key does not allow it, or where somebody else was faster with the first one. */
  async #claim(ids) {
    if (!this.claims) return false;
    this.claiming = this.#ask(ids).finally(() => { this.claiming = null; });
    return this.claiming;
  }

  async #ask(ids) {
    try {
      const told = await api.post(this.context.path("queue:claim"), { ids, minutes: LEASE }, { signal: this.context.signal });
      for (const { id, by, until, case: found } of told.items) {
        const item = this.rows.at(this.rows.place(id));
        if (item) Object.assign(item, { by, until });
        this.held.add(id);
        this.#keep(found);
      }
      this.context.state?.pending(told.waiting);
      return this.held.has(ids[0]);
    } catch (error) {
      if (problemOf(error).status !== 409) throw error;
      // somebody was faster with one of them
      return ids.length > 1 && this.#ask(ids.slice(0, 1));
    }
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
      // leases are over by themselves
      problemOf(error);
    }
  }
}
