// The queue and the case beside each other: choose, look, say, and the next case opens.

import { api, connection, problemOf, session } from "./api.js";
import { drawCase } from "./case.js";
import { codeChip, codeWords } from "./codes.js";
import { correctLabel, escalate } from "./correction.js";
import { announce, count, emptyState, figure, h, notify, on, part, replace, template, trouble } from "./dom.js";
import { queueTools } from "./filters.js";
import { useKeys } from "./keyboard.js";
import { outbox } from "./outbox.js";
import { address } from "./places.js";
import { QueueList } from "./queue_list.js";
import { Rows } from "./rows.js";
import { togetherBar } from "./together.js";
import { undoBar } from "./undo.js";
import { outcomeOf, told as inWords, words } from "./words.js";
import { Work } from "./work.js";

// milliseconds after which somebody who does nothing sees who holds what by now
const AGAIN = 15_000;
const LEAVES = new Set(["labelled", "expired", "recorded"]);

export async function show(root, context) {
  const [{ layout, columns, learnt }, { views }] = await Promise.all(["layout", "views"].map((name) => api.get(context.path(name), { signal: context.signal })));
  const desk = new DeskView(root, context, { ...layout, columns, learnt }, views);
  await desk.begin();
  const teardown = () => desk.end();
  teardown.update = (view, params) => desk.update(view, params);
  return teardown;
}

class DeskView {
  constructor(root, context, layout, views) {
    Object.assign(this, { root, context, layout, id: null, found: null, last: null, arrived: 0, touched: Date.now(), stops: [] });
    this.rows = new Rows(context, { of: "waiting", order: "worth", columns: layout.rows ?? [] });
    this.work = new Work(context, this.rows);
    this.list = new QueueList(this.rows, {
      name: context.key.name, choose: (id) => this.go(id), picked: this.work.labels ? new Map() : null,
      mark: (item) => (this.work.said.has(item.id) ? `✓ ${outcomeOf(this.work.said.get(item.id).value)}` : this.work.skipped.has(item.id) && this.rows.asked.of !== "skipped" ? "skipped" : null),
    });
    this.together = togetherBar(this.list, this.work, () => this.ask(this.rows.asked));
    this.tools = queueTools(this.rows, { changed: (asked) => this.ask(asked), open: () => this.openFound(), layout, views });
    this.news = h("button.queue-news#queue-news", { hidden: true, onclick: () => this.ask(this.rows.asked) });
    this.nothing = h("div.queue-nothing#queue-empty");
    this.pane = h("section.case-pane#case-pane", { "aria-label": "Case", tabindex: "-1" });
  }

  async begin() {
    const { context } = this;
    replace(this.root, h("section.queue-pane", { "aria-label": "Queue" }, this.tools.element, this.news, this.nothing, this.list.element, this.together.element), this.pane);
    this.root.classList.add("desk");
    const answered = (entry, problem) => this.answered(entry, problem);
    outbox.answers.add(answered);
    const timer = setInterval(() => this.lookAgain(), AGAIN / 3);
    this.stops.push(() => outbox.answers.delete(answered), () => clearInterval(timer), useKeys("Queue and case", this.keys()),
      on(window, "pagehide", () => this.work.release(true)));
    if (context.live) this.stops.push(context.live.watch((events) => this.happened(events)));
    this.loading = this.rows.reload();
    await this.loading;
    this.drawList();
    await this.update(context.view, context.params);
  }

  async end() {
    this.stops.forEach((stop) => stop());
    this.list.close();
    undoBar.hide();
    if (!session.state) return;
    void outbox.flush();
    await this.work.release();
  }

  keys() {
    const { work, context } = this;
    return {
      "/": ["find a case: by id, or by what stands in a column", () => this.tools.search()],
      j: ["next case", () => this.step("next")],
      k: ["previous case", () => this.step("previous")],
      ...(work.labels && {
        1: [`the case is ${words.positive}`, () => this.say(1)], 0: [`the case is ${words.negative}`, () => this.say(0)],
        x: ["choose the case, to label many together", () => this.list.pick(this.list.active)],
        u: ["undo the last label; after five seconds: correct it", () => this.undo()],
      }),
      s: ["skip: the case stays in the queue", () => this.skip()],
      ...(context.can("review") && { e: ["escalate to somebody else", () => this.escalate()] }),
    };
  }

  // ---- the list

  async ask(asked) {
    this.arrived = 0;
    const others = this.rows.narrows(asked);
    this.rows.asked = asked;
    if (others) this.together.clear();
    try {
      this.loading = this.rows.reload();
      await this.loading;
    } catch (error) {
      if (error.name === "AbortError") return;
      problemOf(error);
      notify(`${error.title}. ${error.words}`, { bad: true });
    }
    this.list.element.scrollTop = 0;
    this.list.active = 0;
    this.drawList();
    if (this.id === null) return this.drawWelcome();
    // what the list does not show is not labelled by a key that is pressed
    if (others && this.rows.place(this.id) < 0) this.context.go("queue");
    return undefined;
  }

  /** Open the first case that was found. */
  async openFound() {
    await this.loading;
    const first = this.rows.at(0);
    if (!first || !this.rows.asked.text) return;
    document.activeElement?.blur();
    await this.go(first.id);
  }

  drawList() {
    this.tools.draw();
    this.list.element.hidden = this.rows.total === 0;
    replace(this.nothing, this.rows.total === 0 && this.rows.told && this.emptyWords());
    this.news.hidden = this.arrived === 0;
    replace(this.news, `${this.arrived === 1 ? "1 new case" : `${count(this.arrived)} new cases`}: show`);
    this.list.draw();
    this.together.draw();
  }

  emptyWords() {
    const { of, text } = this.rows.asked;
    const all = h("button.button.small", { onclick: () => this.tools.reset() }, "Show all");
    if (text) return [h("p", `No ${words.item} has an id that begins with “${text}”, or these words in a column.`), all];
    if (this.rows.filtered) return [h("p", { mine: "You have given no label yet.", labelled: "There is no label yet.", skipped: "You have skipped nothing.", escalated: "Nothing is escalated." }[of] ?? "No case fits the filter."), all];
    const { events, labels } = this.context.state?.state ?? {};
    if (events <= 1) return h("p#empty-stream", "Nothing has arrived in this stream yet.");
    return h("p", labels === 0 ? inWords("Nothing to look at yet: no item was acted on that waits for a label.") : "All done: no case waits for a label.");
  }

  happened(events) {
    for (const event of events) {
      if (event.kind === "decided" && event.act && !this.rows.finds) this.arrived += 1;
      if (LEAVES.has(event.kind) && !this.rows.finds) this.work.gone(event.id);
      if (LEAVES.has(event.kind)) this.list.picked?.delete(event.id);
    }
    const touched = events.filter((event) => event.id === this.id && event.kind !== "decided" && event.by !== this.context.key.name);
    if (touched.length && !this.work.said.has(this.id)) {
      this.work.forget(this.id);
      void this.open(this.id, { again: true });
    }
    if (this.rows.total === 0 && this.arrived) void this.ask(this.rows.asked);
    else this.drawList();
  }

  /** Who does nothing for a while sees who holds what by now. */
  async lookAgain() {
    if (document.hidden || !connection.state.online || Date.now() - this.touched < AGAIN) return;
    this.touched = Date.now();
    await this.refresh();
  }

  async refresh() {
    const [first, last] = this.list.seen;
    await this.rows.need(first, Math.max(first, last), true).catch(() => {});
    this.drawList();
  }

  // ---- the case

  async update(view, params) {
    const id = view === "case" && params[0] ? params[0] : null;
    this.root.classList.toggle("with-case", id !== null);
    if (id === null) {
      // others went on meanwhile
      if (this.id !== null) this.loading = this.work.release().then(() => this.refresh());
      this.id = this.found = null;
      this.list.current = null;
      this.list.draw();
      return this.drawWelcome();
    }
    return id === this.id ? undefined : this.open(id);
  }

  /** Go to a case; from one case to another the way back still leads to the queue. */
  go(id, ahead = false) {
    this.touched = Date.now();
    this.ahead = ahead;
    const there = address(this.context.stream, "case", id);
    if (this.id === null) {
      location.hash = there;
      return undefined;
    }
    history.replaceState(null, "", there);
    return this.update("case", [id]);
  }

  async open(id, { again = false } = {}) {
    this.id = id;
    this.list.show(id);
    if (!this.work.cases.has(id) && !again) this.pane.setAttribute("aria-busy", "true");
    try {
      const found = again ? await this.work.look(id) : await this.work.case(id, this.ahead);
      if (this.id !== id) return;
      this.found = found;
      this.drawCase(again);
    } catch (error) {
      if (error.name === "AbortError" || this.id !== id) return;
      problemOf(error);
      replace(this.pane, error.name === "unknown-decision" ? emptyState("There is no such case", "The queue has the cases that wait for a label.") : trouble(error));
    } finally {
      if (this.id === id) this.pane.removeAttribute("aria-busy");
    }
  }

  /** The label of the case that is open, or null. */
  get label() {
    return this.found?.label ?? this.found?.outcome ?? null;
  }

  /** Whether somebody else holds the case that is open. */
  get taken() {
    return Boolean(this.found?.by) && this.found.by !== this.context.key.name && !this.work.held.has(this.id);
  }

  drawCase(again = false) {
    const { id, found, work, context } = this;
    const mayLabel = work.labels && !this.taken;
    const written = again && this.pane.querySelector("#note-text")?.value;
    drawCase(this.pane, found, {
      context, layout: this.layout, held: work.held.has(id), said: work.said.get(id), onchange: () => this.open(id, { again: true }),
      actions: {
        back: () => context.go("queue"), label: mayLabel && ((value) => this.say(value)), skip: mayLabel && (() => this.skip()),
        escalate: context.can("review") && !this.taken && (() => this.escalate()), next: () => this.advance(),
        takeOver: work.claims && (context.can("lead") || context.can("admin")) && (() => this.takeOver()), correct: () => this.correct(id, this.label),
      },
    });
    if (written) this.pane.querySelector("#note-text").value = written;
    if (!again) announce(`Case ${id}`);
    this.list.draw();
  }

  drawWelcome() {
    const { told, total } = this.rows;
    if (!told) return;
    if (total === 0 || this.rows.finds) return replace(this.pane, emptyState(total ? "Choose a case" : "Nothing here", total ? "Open one from the list, or press j for the first." : "New cases appear here by themselves."));
    const welcome = template("welcome");
    part(welcome, "start").onclick = () => this.step("next");
    replace(part(welcome, "welcome-total"), figure("waiting_now", total, count(total)), total === 1 ? " case waits for a label" : " cases wait for a label");
    replace(part(welcome, "codes"), Object.entries(told.codes).map(([code, one]) => h("div",
      h("dt", codeChip(code), figure(`code_${code}`, one.count, count(one.count))), h("dd", codeWords(code, one.why)))));
    part(welcome, "arrange").hidden = !this.context.can("lead");
    part(welcome, "arrange").href = address(this.context.stream, "layout");
    replace(this.pane, welcome);
  }

  // ---- what a reviewer does

  async step(way) {
    this.touched = Date.now();
    // a key may come before the first row
    await this.loading;
    // who begins sees first who holds what by now
    if (this.id === null) await this.refresh();
    const id = this.id === null ? await this.work.first(this.list.active) : await this.work[way](this.id);
    return id === null ? announce("There is no other case.") : this.go(id, way === "next");
  }

  async advance() {
    const id = await this.work.next(this.id, true);
    return id === null || id === this.id ? this.context.go("queue") : this.go(id, true);
  }

  async say(value) {
    const { id, found, work } = this;
    if (id === null || found?.id !== id || this.taken || work.said.has(id) || this.label !== null) return;
    this.touched = Date.now();
    const entry = work.label(id, value);
    this.last = { id, value };
    undoBar.offer({ id, value, until: entry.due }, () => this.undo());
    announce(`${id} is ${outcomeOf(value)}. Press u to undo.`);
    await this.advance();
  }

  async skip() {
    if (this.id === null) return;
    this.work.skip(this.id);
    await this.advance();
  }

  /** Take a case from whoever holds it, and hold it here. */
  async takeOver() {
    const { id } = this;
    await this.work.takeOver(id).catch((error) => notify(problemOf(error).words, { bad: true }));
    await this.open(id);
  }

  escalate() {
    const { id } = this;
    if (id === null || this.taken) return;
    escalate(this.context, id, () => {
      this.work.mark(id, { escalated: true, by: null });
      this.work.held.delete(id);
      this.work.forget(id);
      notify(`${id} is escalated.`);
      if (this.id === id) void this.advance();
    });
  }

  /** Take the last label back; where it was sent, correct the case that is open, or else the last one. */
  undo() {
    const { last } = this;
    if (last && this.work.unlabel(last.id)) {
      this.last = null;
      undoBar.hide();
      announce(`The label of ${last.id} is taken back.`);
      return this.id === last.id ? this.drawCase(true) : this.go(last.id, true);
    }
    if (this.label !== null) return this.correct(this.id, this.label);
    return last && this.correct(last.id, last.value);
  }

  correct(id, value) {
    if (!this.context.can("correct")) return notify("The label was sent. A key with the scope “correct” can correct it.");
    return correctLabel(this.context, id, value, () => {
      if (this.last?.id === id) this.last = null;
      this.work.said.delete(id);
      this.work.forget(id);
      notify(`The label of ${id} is corrected.`);
      if (this.rows.finds) void this.refresh();
      if (this.id === id) void this.open(id, { again: true });
    });
  }

  answered(entry, problem) {
    if (entry.stream !== this.context.stream) return;
    if (problem) this.work.said.delete(entry.id);
    else {
      if (!this.rows.finds) this.work.gone(entry.id);
      announce(`The label of ${entry.id} has arrived.`);
    }
    this.drawList();
    if (this.id === entry.id) void this.open(entry.id, { again: true });
  }
}
