// The work of one reviewer in one stream: cases that are held for them, what they said, and what comes next.
//
//   const work = new Work(context, rows)
//   await work.case(id, true)     the whole case; claims it, and with `true` the next two as well
//   work.next(id), work.previous(id), work.label(id, value), work.skip(id), await work.release()
//
// A claim brings whole cases, so that the next case is there before it is needed. What is held is the open case and what
// comes next, never what was walked past: the rest of the queue is for others.

import { api, problemOf, session } from "./api.js";
import { outbox } from "./outbox.js";

// cases that are held beside the open one, at most
const AHEAD = 2;
// free cases behind the open one for each that is held ahead: a short queue is shared
const SHARE = 4;
// minutes after which others may take what somebody left behind
const LEASE = 30;
// times that a claim is tried while others are faster
const TRIES = 3;

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
    // the case that was asked for last, and the claims and releases under way, one after the other
    this.wanted = null;
    this.turn = Promise.resolve();
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
    const { of } = this.rows.asked;
    const escalated = item?.escalated && of !== "escalated";
    const waits = item && (item.state === undefined || item.state === "pending");
    return waits && !this.said.has(item.id) && (of === "skipped" || !this.skipped.has(item.id)) && !escalated && (!item.by || item.by === this.context.key.name);
  }

  async case(id, ahead = false) {
    this.wanted = id;
    if (this.cases.has(id) && (this.held.has(id) || this.said.has(id))) {
      void this.#hold(id, ahead).catch(() => {});
      return this.cases.get(id);
    }
    const item = this.rows.at(this.rows.place(id));
    // a service that is away is waited for below
    const away = (error) => { if (!problemOf(error).passing) throw error; };
    if (item && this.free({ ...item, escalated: false }) && await this.#hold(id, ahead).catch(away)) return this.cases.get(id);
    const found = await this.look(id);
    // what the list said was old
    if (found.state === "pending" && !found.by && await this.#hold(id, ahead)) return this.cases.get(id);
    return found;
  }

  /** Look at a case as it is now, without claiming it. */
  async look(id) {
    const found = await api.get(this.context.path("cases", id), { signal: this.context.signal });
    if (this.held.has(id)) this.cases.set(id, found);
    this.mark(id, { by: found.by, until: found.until, escalated: found.escalated });
    return found;
  }

  /** The next rows behind a case to go on with, as far as they are loaded. */
  #behind(id, most) {
    const found = [];
    for (let place = this.rows.place(id) + 1; found.length < most && this.rows.at(place); place += 1) {
      const item = this.rows.at(place);
      if (this.free(item)) found.push(item.id);
    }
    return found;
  }

  /** A case and what comes next: two cases, or fewer where few are free. */
  #following(id) {
    const behind = this.#behind(id, AHEAD * SHARE);
    return [id, ...behind.slice(0, Math.floor(behind.length / SHARE))];
  }

  /** Hold a case, with `ahead` what comes next too, and nothing else; false where the case is not to be had. */
  #hold(id, ahead) {
    return this.#inTurn(() => this.#take(id, ahead));
  }

  #inTurn(work) {
    const done = this.turn.then(work);
    this.turn = done.catch(() => {});
    return done;
  }

  async #take(id, ahead) {
    for (let turn = 1; this.claims && id === this.wanted; turn += 1) {
      const wanted = ahead && turn < TRIES ? this.#following(id) : [id];
      try {
        await this.#claim(wanted.filter((one) => !this.held.has(one) && !this.said.has(one)));
        await this.#giveBack([...this.held].filter((one) => !wanted.includes(one)));
        break;
      } catch (error) {
        if (problemOf(error).status !== 409) throw error;
        if (turn === TRIES) break;
        // somebody was faster with one of them: see who holds what by now
        const place = Math.max(0, this.rows.place(id));
        await this.rows.need(place, place + AHEAD * SHARE, true);
      }
    }
    return this.held.has(id);
  }

  async #claim(ids) {
    if (!ids.length) return;
    const told = await api.post(this.context.path("queue:claim"), { ids, minutes: LEASE }, { signal: this.context.signal });
    for (const { id, by, until, case: found } of told.items) {
      this.mark(id, { by, until });
      this.held.add(id);
      this.cases.set(id, found);
    }
    this.context.state?.pending(told.waiting);
  }

  async #giveBack(ids, options = {}) {
    if (!ids.length || !this.claims || !session.state) return;
    for (const id of ids) {
      this.held.delete(id);
      this.cases.delete(id);
      this.mark(id, { by: null });
    }
    // where that fails, leases are over by themselves
    await api.post(this.context.path("queue:release"), { ids }, options).catch(problemOf);
  }

  /** Note in the row of a case who holds the case, or that it was escalated. */
  mark(id, told) {
    Object.assign(this.rows.at(this.rows.place(id)) ?? {}, told);
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

  /** Leave a case to later; the service knows as well, so that the case is found again. */
  skip(id) {
    this.skipped.add(id);
    if (this.claims) void api.post(this.context.path("queue:skip"), { ids: [id] }).catch(problemOf);
  }

  /** Give many cases the same label, at once; returns what the service said of each. */
  async labelAll(ids, value) {
    const { results } = await api.post(this.context.path("labels:batch"), { labels: ids.map((id) => ({ id, value })) });
    return ids.map((id, place) => ({ id, problem: results[place].problem ?? null }));
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

  /** Free a case that somebody else holds; for a key with `admin`. */
  takeOver(id) {
    return api.post(this.context.path("queue:release"), { ids: [id], force: true });
  }

  /** Give back what is held here; at once where the page closes. */
  async release(keepalive = false) {
    this.wanted = null;
    if (keepalive) return this.#giveBack([...this.held], { keepalive });
    return this.#inTurn(() => this.#giveBack([...this.held]));
  }
}
