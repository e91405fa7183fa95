// Second looks: labelled cases that are drawn by lot, shown without their label, one after the other; and how often two
// people agree. A reviewer is told of himself, an admin of the team and of everybody.

import { api, problemOf } from "./api.js";
import { cell, count, emptyState, figure, h, notify, percent, replace } from "./dom.js";
import { useKeys } from "./keyboard.js";
import { choice, estimateTile, heading, section } from "./parts.js";
import { remembered } from "./places.js";
import { capital, outcomeOf, words } from "./words.js";

const SHARES = [0.01, 0.02, 0.05, 0.1, 0.25, 1];
const USUAL = 0.05;
const REMEMBERED = "appletaste.second-looks";

export async function show(root, context) {
  const looks = new Looks(context);
  replace(root, heading("Second looks", `Some ${words.items} with a label are drawn by lot and looked at again, without the label and by another person. So it is known how often labels are wrong.`,
    looks.shares), looks.pane, looks.told);
  const stop = useKeys("Second looks", { 1: [`the case is ${words.positive}`, () => looks.say(1)], 0: [`the case is ${words.negative}`, () => looks.say(0)], s: ["skip: the case comes again later", () => looks.skip()] });
  await looks.load();
  return stop;
}

const answer = ({ value, low, high, refused }) => ({ estimate: value, low, high, too_few: refused });

class Looks {
  constructor(context) {
    const kept = Number(remembered(REMEMBERED));
    Object.assign(this, { context, due: [], more: 0, busy: false, rate: SHARES.includes(kept) ? kept : USUAL });
    this.pane = h("section.card#second-look", { "aria-label": "Case", "aria-live": "polite", tabindex: "-1" });
    this.told = h("div#agreement");
    const select = choice(SHARES.map((one) => [String(one), percent(one)]), String(this.rate), (value) => this.choose(Number(value)), { id: "second-look-share", testid: "second-look-share" });
    this.shares = h("div.field", h("label", { for: "second-look-share" }, "Share of labels"), select);
  }

  choose(rate) {
    this.rate = rate;
    remembered(REMEMBERED, String(rate));
    void this.load();
  }

  async load() {
    const { context } = this;
    const ask = (path) => api.get(path, { signal: context.signal });
    const [due, agreed] = await Promise.all([ask(`${context.path("second-looks")}?rate=${this.rate}`), ask(context.path("agreement"))]);
    Object.assign(this, due);
    this.draw();
    this.drawAgreement(agreed);
  }

  draw() {
    const [first] = this.due;
    const left = this.due.length + this.more;
    if (!first) {
      return replace(this.pane, emptyState("Nothing to look at again", `No label by somebody else was drawn at ${percent(this.rate)} that nobody has looked at again.`));
    }
    const column = ([name, value]) => h("tr", { "data-column": name }, h("th", { scope: "row" }, name), h("td", cell(value)));
    const cells = first.item === null ? [] : Array.isArray(first.item) ? first.item.map((value, place) => [`number ${place + 1}`, value]) : Object.entries(first.item);
    const button = (testid, key, text, run, kind = "") => h("button.button", { class: kind, testid, onclick: run }, text, h("kbd", { "aria-hidden": "true" }, key));
    return replace(this.pane, h("header", h("h2.mono", { "data-id": first.id, testid: "second-look-id" }, first.id), h("p.quiet.small", figure("due", left, count(left)), " to look at")),
      first.item === null ? h("p.quiet", "The values of this case were erased: skip the case.")
        : h("table", h("caption.only-read", "Each column and its value"), h("tbody", cells.map(column))),
      h("div.row", button("second-look-1", "1", capital(outcomeOf(1)), () => this.say(1), "primary"), button("second-look-0", "0", capital(outcomeOf(0)), () => this.say(0), "primary"),
        button("second-look-skip", "s", "Skip", () => this.skip(), "plain")));
  }

  async say(value) {
    const [first] = this.due;
    if (!first || first.item === null || this.busy) return;
    this.busy = true;
    try {
      await api.put(this.context.path("decisions", first.id, "second-look"), { value, rate: this.rate });
      this.due.shift();
      this.due.length ? this.draw() : await this.load();
    } catch (error) {
      if (error.name === "AbortError") return;
      // somebody else was faster, or the label is gone: the next one
      notify(`The second look was not recorded. ${problemOf(error).words}`, { bad: true });
      await this.load();
    } finally {
      this.busy = false;
    }
  }

  skip() {
    if (this.due.length > 1) this.due.push(this.due.shift());
    this.draw();
  }

  drawAgreement({ team, reviewers }) {
    const people = Object.entries(reviewers);
    const mine = people.filter(([name]) => name === this.context.key.name);
    const of = (name, title, found) => h("section", { "data-name": name, testid: "agreement-of" }, h("h3", title),
      h("dl.tiles", estimateTile(`${name}.agreement`, "Two people agree", answer(found.agreement), percent, `${count(found.agree)} of ${count(found.looks)}`, "too few"),
        estimateTile(`${name}.sensitivity`, `${capital(words.positives)} called so`, answer(found.sensitivity), percent, "if the second look is right", "too few"),
        estimateTile(`${name}.specificity`, `${capital(words.negative)} called so`, answer(found.specificity), percent, "if the second look is right", "too few")));
    const told = team ? [of("team", "Everybody", team), people.map(([name, found]) => of(name, name, found))] : mine.map(([name, found]) => of(name, "Your labels", found));
    replace(this.told, section("How often people agree", "Nothing is said of fewer than twenty second looks. To agree is not to be right: both may be wrong.",
      told.flat().length ? told : h("p.quiet", team === null ? "Nobody has looked at a label of yours again." : "Nobody has looked at a label again.")));
  }
}
