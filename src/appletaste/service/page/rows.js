// The rows of the queue as the service orders them, in windows of 200; only what somebody looks at is there.
//
//   const rows = new Rows(context, { order: "worth", code: "" }); await rows.reload()
//   rows.total, rows.at(17)             an item, or undefined while its window is on the way
//   await rows.need(first, last)        loads the windows of these places
//   rows.place(id), rows.remove(id)     -1 if the id is not among what is loaded

import { api } from "./api.js";

const WINDOW = 200;
const KEPT = 25; // windows

export class Rows {
  constructor(context, asked) {
    this.context = context;
    this.asked = asked;
    this.items = [];
    this.total = 0;
    this.told = null; // the last answer, without its items
    this.coming = new Map();
    this.fresh = 0;
  }

  get filtered() {
    return Object.entries(this.asked).some(([name, value]) => name !== "order" && value);
  }

  at(place) {
    return this.items[place];
  }

  place(id) {
    return this.items.findIndex((item) => item?.id === id);
  }

  /** Forget everything, and ask again from a place on. */
  async reload(first = 0) {
    this.fresh += 1;
    this.coming.clear();
    this.items = [];
    await this.#load(Math.floor(first / WINDOW) * WINDOW);
  }

  /** Ask for windows again that are shown, leaving what is there until the answer comes. */
  async refresh(first, last) {
    const from = Math.floor(first / WINDOW) * WINDOW;
    for (let offset = from; offset <= Math.max(last, from); offset += WINDOW) await this.#load(offset);
  }

  async need(first, last) {
    const wanted = new Set();
    for (let place = Math.max(first, 0); place <= Math.min(last, this.total - 1); place += 1) {
      if (!this.items[place]) wanted.add(Math.floor(place / WINDOW) * WINDOW);
    }
    await Promise.all([...wanted].map((offset) => this.#load(offset)));
  }

  remove(id) {
    const place = this.place(id);
    if (place < 0) return false;
    this.items.splice(place, 1);
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
    this.items.forEach((item, place) => {
      const inside = place >= offset && place < offset + WINDOW;
      if (inside || there.has(item?.id)) delete this.items[place];
    });
    items.forEach((item, place) => { this.items[offset + place] = item; });
    this.items.length = Math.min(this.items.length, this.total);
    this.#forget(offset);
    this.context.state?.pending(told.waiting);
  }

  /** Keep the windows around a place, so that a long scroll does not fill the memory. */
  #forget(offset) {
    const reach = (KEPT / 2) * WINDOW;
    this.items.forEach((_, place) => {
      if (Math.abs(place - offset) > reach) delete this.items[place];
    });
  }
}
