// The queue as a list that draws only what is on screen: a hundred thousand rows scroll like twenty.
//
//   const list = new QueueList(rows, { choose: (id) => ..., mark: (item) => words or null })
//   list.element, list.draw(), list.show(id) scrolls there, list.current = id
//
// One row has the focus at a time (aria-activedescendant); arrows, Home, End and Page move it, Enter opens it.

import { codeChip, codeWords } from "./codes.js";
import { ago, day, h, instant, number, on, price, replace, share } from "./dom.js";
import { outcomeOf, told } from "./words.js";

// pixels of a row, as in review.css
const HEIGHT = 58;
// rows that are drawn above and below what is seen
const BEYOND = 6;

export class QueueList {
  constructor(rows, { choose, mark, name, picked }) {
    // `picked` has the ids that are chosen for a label together; null: nobody may
    Object.assign(this, { rows, choose, mark, name, picked, current: null, active: 0, from: 0, drawn: new Map(), onpick: () => {} });
    this.content = h("div.rows");
    this.element = h("div.queue-list", {
      role: "listbox", tabindex: "0", "aria-label": "Cases", "aria-multiselectable": picked ? "true" : null, testid: "queue-list",
      onkeydown: (event) => this.#key(event),
      onclick: (event) => {
        const row = event.target.closest("[data-place]");
        if (!row) return;
        this.active = Number(row.dataset.place);
        if (this.picked && (event.target.closest(".tick") || event.ctrlKey || event.metaKey || event.shiftKey)) return this.pick(this.active, event.shiftKey);
        return this.choose(row.dataset.id);
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

  /** Choose a row, or let it go; with `until` all from the last one that was chosen on. */
  pick(place, until = false) {
    const item = this.rows.at(place);
    if (!this.picked || !item) return;
    const wanted = until || !this.picked.has(item.id);
    const [first, last] = until ? [Math.min(this.from, place), Math.max(this.from, place)] : [place, place];
    for (let at = first; at <= last; at += 1) {
      const { id } = this.rows.at(at) ?? {};
      if (id && wanted) this.picked.set(id, this.rows.at(at));
      else this.picked.delete(id);
    }
    this.from = place;
    this.onpick();
    this.draw();
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
    const says = item && [item.id, place === this.active, item.id === this.current, mark, held, item.escalated, item.label, this.picked?.has(item.id), JSON.stringify(item.cells)].join();
    const before = this.drawn.get(place);
    const row = before && before[1] === says ? before[0] : this.#row(place, item, mark, held);
    row.ariaSetSize = this.rows.total;
    return [row, says];
  }

  #row(place, item, mark, held) {
    const style = { top: `${place * HEIGHT}px` };
    if (!item) return h("div.queue-row.waiting", { role: "option", "aria-selected": "false", "aria-label": "loading", style });
    const known = item.label ?? null;
    const picked = this.picked?.has(item.id);
    return h("div", {
      class: `queue-row${place === this.active ? " active" : ""}${mark ? " done" : ""}${picked ? " picked" : ""}`, role: "option", id: `row-${place}`, style,
      "aria-selected": item.id === this.current ? "true" : "false", "aria-posinset": place + 1, "aria-checked": this.picked ? String(Boolean(picked)) : null,
      "data-place": place, "data-id": item.id, testid: "queue-row",
    },
    this.picked && h("span.tick", { "aria-hidden": "true", title: "Choose for a label together (x)" }, picked ? "✓" : ""),
    h("div.row-top", h("span.row-id.mono", item.id), codeChip(item.code),
      mark && h("span.badge.strong#row-mark", mark),
      known !== null && !mark && h("span.badge#row-label", { class: known ? "warm" : "cool", "data-value": known }, outcomeOf(known)),
      item.escalated && h("span.badge.warn#row-escalated", item.escalated_to ? `⚑ ${item.escalated_to}` : "⚑ escalated"),
      held && h("span.badge#row-held", `held by ${held}`),
      h("span.row-numbers", share("chance", item.chance, { class: "row-chance", title: told("chance of a positive") }),
        price("amount", item.amount, { class: "row-amount", title: told("what a look at a positive saves") }))),
    h("div.row-low", { title: codeWords(item.code, item.why) },
      h("span.row-cells", (item.cells ?? []).map(({ column, value }) => h("span.row-cell", { title: `${column}: ${value ?? "missing"}` }, h("span.row-value", cell(value)), h("span.row-column", column)))),
      h("span.row-end", known !== null && item.labelled_by ? `by ${item.labelled_by}` : ago(item.time))));
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

/** A value in few letters. */
function cell(value) {
  if (value === null || value === "") return h("em", "missing");
  if (typeof value === "number") return number(value, 4);
  return instant(value) && /^\d{4}-\d\d-\d\d/.test(value) ? day(value) : String(value);
}
