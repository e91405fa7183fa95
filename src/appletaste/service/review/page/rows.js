// The rows of the queue as the service orders them, in windows of 200; only what somebody looks at is there.
//
//   const rows = new Rows(context, { order: "worth", code: "" }); await rows.reload()
//   rows.total, rows.at(17)             an item, or undefined while its window is on the way
//   await rows.need(first, last)        loads the windows of these places
//   rows.place(id), rows.remove(id)     -1 if the id is not among what is loaded

import { api } from "./api.js";

const WINDOW = 200;
// windows that are kept around what is seen
const KEPT = 25;

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

  get filtered() {
    return Object.entries(this.asked).some(([name, value]) => name !== "order" && value);
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

  async #ask(offset, turn) {
    const query = new URLSearchParams({ offset, limit: WINDOW });
    for (const [name, value] of Object.entries(this.asked)) if (value) query.set(name, value);
    const { items, ...told } = await api.get(`${this.context.path("queue")}?${query}`, { signal: this.context.signal });
    if (turn !== this.fresh) return;
    this.told = told;
    this.total = told.total;
    const there = new Set(items.map((item) => item.id));
    // so that a long scroll does not fill the memory
    const reach = (KEPT / 2) * WINDOW;
    for (const [place, item] of this.items) {
      const inside = place >= offset && place < offset + WINDOW;
      if (inside || there.has(item.id) || place >= this.total || Math.abs(place - offset) > reach) this.items.delete(place);
    }
    items.forEach((item, place) => this.items.set(offset + place, item));
    this.context.state?.pending(told.waiting);
  }
}
