// The rows of the queue as the service orders them, in windows of 200; only what somebody looks at is there.
//
//   const rows = new Rows(context, { of: "waiting", order: "worth", code: "" }); await rows.reload()
//   rows.total, rows.at(17)             an item, or undefined while its window is on the way
//   await rows.need(first, last)        loads the windows of these places
//   rows.place(id), rows.remove(id)     -1 if the id is not among what is loaded
//
// `of` says which list: what waits (or of that what is escalated, or was skipped here), or the labels that were given.
// With a `text` all cases are looked through.

import { api } from "./api.js";

const WINDOW = 200;
// windows that are kept around what is seen
const KEPT = 25;
// what an answer has where cases are found, not queued
const NONE = { codes: {}, strata: [], queues: {} };
// what changes the look of rows, and not which are there
const LOOKS = new Set(["order", "columns"]);

export class Rows {
  constructor(context, asked) {
    this.context = context;
    this.asked = asked;
    // by place; what is not looked at is not there
    this.items = new Map();
    this.total = 0;
    // the last answer, without its items
    this.told = null;
    this.coming = new Map();
    this.fresh = 0;
  }

  /** Whether something narrows what waits. */
  get filtered() {
    return Object.entries(this.asked).some(([name, value]) => !LOOKS.has(name) && value && value !== "waiting");
  }

  /** Whether the rows are cases that were found, labelled ones too. */
  get finds() {
    return Boolean(this.asked.text) || this.asked.of === "mine" || this.asked.of === "labelled";
  }

  /** Whether other questions have other rows, and not the same in another order. */
  narrows(asked) {
    const said = ({ order, columns, ...rest }) => JSON.stringify(Object.entries(rest).filter(([, value]) => value).sort());
    return said(asked) !== said(this.asked);
  }

  at(place) {
    return this.items.get(place);
  }

  place(id) {
    for (const [place, item] of this.items) if (item.id === id) return place;
    return -1;
  }

  /** Forget everything, and ask again from the first row on. */
  async reload() {
    this.fresh += 1;
    this.coming.clear();
    this.items = new Map();
    await this.#load(0);
  }

  /** Load the windows of these places that are not there; all of them `again`, keeping what is there until the answer. */
  async need(first, last, again = false) {
    const wanted = new Set();
    for (let place = first; place <= Math.min(last, this.total - 1); place += 1) {
      if (again || !this.items.has(place)) wanted.add(Math.floor(place / WINDOW) * WINDOW);
    }
    await Promise.all([...wanted].map((offset) => this.#load(offset)));
  }

  remove(id) {
    const place = this.place(id);
    if (place < 0) return false;
    this.items.delete(place);
    this.items = new Map([...this.items].map(([at, item]) => [at > place ? at - 1 : at, item]));
    this.total -= 1;
    return true;
  }

  #load(offset) {
    if (!this.coming.has(offset)) {
      const turn = this.fresh;
      this.coming.set(offset, this.#ask(offset, turn).finally(() => turn === this.fresh && this.coming.delete(offset)));
    }
    return this.coming.get(offset);
  }

  /** The address of a window. */
  #address(offset) {
    const { of, text, columns, ...rest } = this.asked;
    const query = new URLSearchParams({ offset, limit: WINDOW });
    if (columns?.length) query.set("columns", JSON.stringify(columns));
    if (this.finds) {
      if (text) query.set("text", text);
      query.set("of", of === "mine" || of === "labelled" ? of : "all");
      return `${this.context.path("cases")}?${query}`;
    }
    if (of === "escalated" || of === "skipped") query.set(of, "true");
    for (const [name, value] of Object.entries(rest)) if (value) query.set(name, value);
    return `${this.context.path("queue")}?${query}`;
  }

  async #ask(offset, turn) {
    const { finds } = this;
    const { items, ...told } = await api.get(this.#address(offset), { signal: this.context.signal });
    if (turn !== this.fresh) return;
    this.told = finds ? { ...NONE, ...this.told, ...told } : told;
    this.total = told.total;
    const there = new Set(items.map((item) => item.id));
    // so that a long scroll does not fill the memory
    const reach = (KEPT / 2) * WINDOW;
    for (const [place, item] of this.items) {
      const inside = place >= offset && place < offset + WINDOW;
      if (inside || there.has(item.id) || place >= this.total || Math.abs(place - offset) > reach) this.items.delete(place);
    }
    items.forEach((item, place) => this.items.set(offset + place, item));
    if (!finds) this.context.state?.pending(told.waiting);
  }
}
