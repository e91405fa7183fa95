// The queue as a list that draws only what is on screen: a hundred thousand rows scroll like twenty.
//
//   const list = new QueueList(rows, { choose: (id) => ..., mark: (item) => words or null })
//   list.element, list.draw(), list.show(id) scrolls there, list.current = id
//
// One row has the focus at a time (aria-activedescendant); arrows, Home, End and Page move it, Enter opens it.

import { CODES } from "./codes.js";
import { ago, h, on, price, replace, share } from "./dom.js";

// pixels of a row, as in review.css
const HEIGHT = 84;
// rows that are drawn above and below what is seen
const BEYOND = 6;

export class QueueList {
  constructor(rows, { choose, mark, name }) {
    Object.assign(this, { rows, choose, mark, name, current: null, active: 0, drawn: new Map() });
    this.content = h("div.rows");
    this.element = h("div.queue-list", {
      role: "listbox", tabindex: "0", "aria-label": "Cases that wait for a label", testid: "queue-list",
      onkeydown: (event) => this.#key(event),
      onclick: (event) => {
        const row = event.target.closest("[data-place]");
        if (!row) return;
        this.active = Number(row.dataset.place);
        this.choose(row.dataset.id);
      },
    }, this.content);
    this.stop = on(this.element, "scroll", () => this.#soon(), { passive: true });
    this.observer = new ResizeObserver(() => this.#soon());
    this.observer.observe(this.element);
  }

  close() {
    this.stop();
    this.observer.disconnect();
    cancelAnimationFrame(this.frame);
  }

  get seen() {
    const first = Math.max(0, Math.floor(this.element.scrollTop / HEIGHT) - BEYOND);
    return [first, Math.min(this.rows.total - 1, first + Math.ceil(this.element.clientHeight / HEIGHT) + 2 * BEYOND)];
  }

  #soon() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.draw();
    });
  }

  draw() {
    const [first, last] = this.seen;
    if (this.current !== null && document.activeElement !== this.element && this.rows.at(this.active)?.id !== this.current) {
      // rows above it may have gone
      const place = this.rows.place(this.current);
      if (place >= 0) this.active = place;
    }
    this.active = Math.min(this.active, Math.max(0, this.rows.total - 1));
    this.content.style.height = `${this.rows.total * HEIGHT}px`;
    const drawn = new Map();
    for (let place = first; place <= last; place += 1) drawn.set(place, this.#drawn(place));
    this.drawn = drawn;
    const found = [...drawn.values()].map(([row]) => row);
    const { children } = this.content;
    if (children.length !== found.length || found.some((row, at) => row !== children[at])) replace(this.content, found);
    if (this.rows.at(this.active) && this.active >= first && this.active <= last) {
      this.element.setAttribute("aria-activedescendant", `row-${this.active}`);
    } else this.element.removeAttribute("aria-activedescendant");
    this.rows.need(first, last).then(() => {
      if (found.some((row) => row.dataset.id === undefined) && this.rows.at(first)) this.#soon();
    }, () => {});
  }

  /** Bring a case into view, and let it be the current one. */
  show(id) {
    this.current = id;
    const place = this.rows.place(id);
    if (place >= 0) {
      this.active = place;
      this.#reveal(place);
    }
    this.draw();
  }

  #reveal(place) {
    const { scrollTop, clientHeight } = this.element;
    if (place * HEIGHT < scrollTop) this.element.scrollTop = place * HEIGHT;
    else if ((place + 1) * HEIGHT > scrollTop + clientHeight) this.element.scrollTop = (place + 1) * HEIGHT - clientHeight;
  }

  /** A row and what it says; the row of before, where it says the same. */
  #drawn(place) {
    const item = this.rows.at(place);
    const mark = item && this.mark(item);
    const held = item?.by && item.by !== this.name ? item.by : null;
    const says = item && [item.id, place === this.active, item.id === this.current, mark, held, item.escalated].join();
    const before = this.drawn.get(place);
    const row = before && before[1] === says ? before[0] : this.#row(place, item, mark, held);
    row.ariaSetSize = this.rows.total;
    return [row, says];
  }

  #row(place, item, mark, held) {
    const style = { top: `${place * HEIGHT}px` };
    if (!item) return h("div.queue-row.waiting", { role: "option", "aria-selected": "false", "aria-label": "loading", style });
    return h("div", {
      class: `queue-row${place === this.active ? " active" : ""}${mark ? " done" : ""}`, role: "option", id: `row-${place}`, style,
      "aria-selected": item.id === this.current ? "true" : "false", "aria-posinset": place + 1,
      "data-place": place, "data-id": item.id, testid: "queue-row",
    },
    h("div.row-top", h("span.row-id.mono", item.id),
      mark && h("span.badge.strong#row-mark", mark),
      item.escalated && h("span.badge.warn#row-escalated", "⚑ escalated"),
      held && h("span.badge#row-held", `held by ${held}`),
      share("chance", item.chance, { class: "row-chance", title: "chance of positive" })),
    h("div.row-why", { title: item.why }, item.code && h("span.code", { "data-code": item.code }, item.code), CODES[item.code] ?? item.why),
    h("div.row-end",
      h("span", { title: "what acting is expected to save, plus what the label teaches" }, "worth ", price("worth", item.worth)),
      h("span", { title: "what a look at a positive case saves" }, price("amount", item.amount), " at stake"),
      ago(item.time), item.stratum && h("span.row-stratum", item.stratum)));
  }

  #key(event) {
    const page = Math.max(1, Math.floor(this.element.clientHeight / HEIGHT) - 1);
    const last = this.rows.total - 1;
    const to = { ArrowDown: this.active + 1, ArrowUp: this.active - 1, Home: 0, End: last, PageDown: this.active + page, PageUp: this.active - page }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      this.active = Math.min(Math.max(to, 0), Math.max(last, 0));
      this.#reveal(this.active);
      this.draw();
    } else if ((event.key === "Enter" || event.key === " ") && this.rows.at(this.active)) {
      event.preventDefault();
      this.choose(this.rows.at(this.active).id);
    }
  }
}
