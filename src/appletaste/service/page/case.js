// One case: how likely, what either action costs, why, what is usual, what became of cases like it, and its history.
//
//   drawCase(root, found, { context, held, said, actions, onchange })
//     found      a case as the service tells it             said   the label that was just given here, or undefined
//     actions    { label(value), skip, escalate, correct, next, back }; what the key does not allow is false
//     onchange   called after a note was written

import { api, Problem } from "./api.js";
import { chanceScale, costBars, effectBar, usualStrip } from "./case_pictures.js";
import { CODES } from "./codes.js";
import { ago, count, figure, h, moment, money, notify, number, percent, replace, signed } from "./dom.js";
import { address } from "./places.js";
import { WORDS } from "./undo.js";

const STATES = {
  pending: "waits for its label", observed: "labelled", corrected: "labelled, and corrected", expired: "no longer waited for", never_due: "passed",
};
const FEW_LABELS = 30;

export function drawCase(root, found, given) {
  const { context } = given;
  const labels = context.state?.state?.labels;
  replace(root, h("article.case#case", { "aria-labelledby": "case-title", "data-id": found.id },
    head(found, given),
    labels !== undefined && labels < FEW_LABELS && h("p.notice#prior-only",
      `Prior only: little is known yet. ${labels === 0 ? "No labels were" : labels === 1 ? "1 label was" : `${count(labels)} labels were`} learnt so far, so the chance is mostly a guess.`),
    h("div.case-top", chanceCard(found), costCard(found)),
    reasonsCard(found),
    h("div.case-low", similarCard(found, context), historyCard(found, given))), actionBar(found, given));
  root.scrollTop = 0;
}

function head(found, { held, actions }) {
  const label = found.label ?? found.outcome;
  return h("header.case-head",
    h("div.case-line",
      h("button.button.plain.small.back#back", { onclick: actions.back }, "‹ Queue"),
      h("h1", { id: "case-title", class: "mono", tabindex: "-1" }, found.id),
      found.code && h("span.code", { "data-code": found.code, title: CODES[found.code] }, found.code),
      label !== null && label !== undefined ? outcome(label) : h("span.badge#case-state", STATES[found.state] ?? found.state),
      found.escalated && h("span.badge.warn#case-escalated", "⚑ escalated"),
      held && h("span.badge.strong#case-held", "held for you"),
      !held && found.by && h("span.badge.warn#case-held-by", `held by ${found.by}`)),
    h("p.case-why#case-why", h("strong", CODES[found.code] ?? ""), " ", sentence(found.reasons?.[0] ?? "")),
    h("p.quiet.case-when", "Decided ", moment(found.time), found.stratum && ` · ${found.stratum}`,
      ` · ${found.act ? "acted on" : "passed"} with probability `, figure("probability", found.probability, percent(found.probability)),
      found.enacted_by && ` · ${found.acted ? "acted on" : "passed"} by ${found.enacted_by}`));
}

function sentence(words) {
  return words ? `${words[0].toUpperCase()}${words.slice(1)}.` : "";
}

function outcome(label) {
  return h("span", { class: `badge ${label ? "warm" : "cool"}`, testid: "case-label", "data-value": label }, label ? "+ positive" : "− negative");
}

function chanceCard(found) {
  const chance = found.chance_now ?? found.chance;
  const [low, high] = found.interval ?? [null, null];
  return h("section.card.chance-card", { "aria-label": "Chance" },
    h("h2", "Chance of positive"),
    h("div.chance-line", figure("chance_now", chance, percent(chance), { class: "huge" }),
      low !== null && h("p.quiet", figure("low", low, percent(low)), " to ", figure("high", high, percent(high)), h("br"), "with 90 % probability")),
    chanceScale(chance, found.interval, found.threshold),
    h("p.chance-words", certainty(low, high, found.threshold)));
}

/** What the interval says about acting. */
function certainty(low, high, threshold) {
  if (low === null || typeof threshold !== "number") return "";
  if (low >= threshold) return "Acting pays wherever in the interval the chance lies.";
  if (high < threshold) return "Acting does not pay by itself, wherever in the interval the chance lies: the label is wanted to learn from.";
  return "Whether acting pays is not certain: the interval lies on both sides of the threshold.";
}

function costCard(found) {
  const told = found.expected_cost_now ?? found.expected_cost;
  const saved = told.pass - told.act;
  const known = told.act !== null && told.pass !== null;
  return h("section.card", { "aria-label": "Expected cost" },
    h("h2", "Expected cost"),
    costBars(told),
    known && h("p.cost-words", saved >= 0 ? "Acting saves " : "Passing saves ", h("strong", money(Math.abs(saved))), " on average."),
    known && found.chance !== null && h("p.quiet.small", "By the chance when it was decided, ", figure("chance", found.chance, percent(found.chance)), "."),
    found.costs && h("dl.sheet", [["hit", "Hit"], ["false_alarm", "False alarm"], ["miss", "Miss"], ["correct_pass", "Correct pass"]].map(
      ([name, words]) => h("div", h("dt", words), h("dd", figure(name, found.costs[name], money(found.costs[name])))))));
}

function shown(value) {
  if (value === null || value === undefined || value === "") return h("em.quiet", "missing");
  if (typeof value === "number") return number(value, 6);
  if (typeof value === "string" && /^\d{4}-\d\d-\d\d[T ]/.test(value)) return moment(value);
  return typeof value === "boolean" ? (value ? "yes" : "no") : String(value);
}

/** The columns of a case, those that pull most first; then those that say nothing. */
function lines(found) {
  const item = found.item ?? {};
  const effects = (found.contributions ?? []).map((one) => ({ ...one, value: one.value ?? item[one.column] ?? null }));
  const there = new Set(effects.map((one) => one.column));
  const rest = Object.keys(item).filter((column) => !there.has(column)).map((column) => ({ column, value: item[column], contribution: null }));
  return [...effects, ...rest];
}

function reasonsCard(found) {
  if (found.erased) return h("section.card", h("h2", "Why"), h("p.quiet", "The values of this case were erased. Its action and its probability remain."));
  const all = lines(found);
  if (!all.length) return h("section.card", h("h2", "Why"), h("p.quiet", "The policy of this stream has no model to explain by."));
  const reach = Math.max(...all.map((one) => Math.max(Math.abs(one.low ?? 0), Math.abs(one.high ?? 0), Math.abs(one.contribution ?? 0))), 0.1) * 1.04;
  return h("section.card.reasons", { "aria-labelledby": "why-title" },
    h("header", h("h2", { id: "why-title" }, "Why"), h("p.quiet.small.legend",
      h("span", h("i.swatch.cool"), "towards negative"), h("span", h("i.swatch.warm"), "towards positive"), h("span", h("i.swatch.line"), "90 % interval"))),
    h("table.why",
      h("caption.only-read", "Each column: its value, what is usual, and how it moves the score"),
      h("thead", h("tr", h("th", { scope: "col" }, "Column"), h("th", { scope: "col" }, "Value"), h("th", { scope: "col" }, "Usual"),
        h("th", { scope: "col", class: "effect-head" }, "Effect on the score"), h("th", { scope: "col", class: "num" }, h("span.only-read", "Effect as a number")))),
      h("tbody", all.map((one) => h("tr#contribution", { "data-column": one.column },
        h("th", { scope: "row", class: "why-column", title: one.column }, one.column),
        h("td.why-value", { title: one.value === null ? "" : String(one.value) }, shown(one.value)),
        h("td.why-usual", usualStrip(one.value, found.usual?.[one.column])),
        h("td.why-effect", one.contribution === null ? h("span.quiet.small.unused", "not used") : effectBar(one.contribution, one.low, one.high, reach)),
        h("td.num.why-number", one.contribution !== null && figure("contribution", one.contribution, signed(one.contribution, 2),
          { title: typeof one.low === "number" ? `between ${signed(one.low)} and ${signed(one.high)} with 90 % probability` : "" })))))));
}

function similarCard(found, context) {
  const all = found.similar ?? [];
  const positive = all.filter((one) => one.label === 1).length;
  return h("section.card", { "aria-labelledby": "similar-title" },
    h("header", h("h2", { id: "similar-title" }, "Cases like this one"),
      all.length > 0 && h("p.quiet.small", figure("similar_positive", positive, count(positive)), ` of ${count(all.length)} were positive`)),
    all.length === 0 ? h("p.quiet", "No labelled case is like this one yet.")
      : h("table.similar", h("thead", h("tr", h("th", { scope: "col" }, "Case"), h("th", { scope: "col" }, "Outcome"),
        h("th", { scope: "col" }, "Likeness"), h("th", { scope: "col", class: "num" }, "Chance then"), h("th", { scope: "col", class: "num wide-only" }, "When"))),
      h("tbody", all.map((one) => h("tr#similar",
        h("td.similar-id", h("a.mono", { href: address(context.stream, "case", one.id) }, one.id)),
        h("td", h("span", { class: `badge ${one.label ? "warm" : "cool"}` }, one.label ? "+ positive" : "− negative")),
        h("td", h("span.likeness", { title: percent(one.likeness) }, h("span", { style: { width: `${Math.max(one.likeness, 0.02) * 100}%` } })), h("span.only-read", percent(one.likeness))),
        h("td.num", figure("similar_chance", one.chance, percent(one.chance))),
        h("td.num.quiet.wide-only", ago(one.time)))))));
}

const KINDS = {
  decided: "Decided", labelled: "Label arrived", corrected: "Label corrected", retracted: "Label withdrawn", expired: "No longer waited for",
  recorded: "Label recorded", enacted: "Done otherwise", noted: "Note", erased: "Values erased",
};

function historyCard(found, { context, onchange }) {
  const text = h("textarea#note-text", { id: "note-text", rows: "2", maxlength: "10000" });
  const add = h("button.button.small#note-add", { type: "submit" }, "Add note");
  async function write(event) {
    event.preventDefault();
    if (!text.value.trim()) return text.focus();
    add.disabled = true;
    try {
      await api.post(context.path("decisions", found.id, "notes"), { text: text.value.trim(), by: context.key.name });
      text.value = "";
      onchange();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      notify(`The note was not written. ${error.title}.`, { bad: true });
    } finally {
      add.disabled = false;
    }
    return undefined;
  }
  const events = found.history ?? found.notes.map((note) => ({ kind: "noted", ...note }));
  return h("section.card", { "aria-labelledby": "history-title" },
    h("h2", { id: "history-title" }, "History and notes"),
    h("ol.history#history", events.map((one) => h("li", { "data-kind": one.kind },
      h("p", h("strong", KINDS[one.kind] ?? one.kind), one.by && ` by ${one.by}`, one.time !== undefined && h("span.quiet", " · ", moment(one.time))),
      one.text && h("p.history-text", one.text)))),
    context.can("review") && h("form.note-form", { onsubmit: write }, h("div.field", h("label", { for: "note-text" }, "Write a note"), text), add));
}

function actionBar(found, { actions, said, context }) {
  const button = (testid, key, words, run, kind = "") => h("button", { class: `button ${kind}`, testid: testid, onclick: run }, words, h("kbd", { "aria-hidden": "true" }, key));
  const label = said?.value ?? found.label ?? found.outcome ?? null;
  let content;
  if (found.by && found.by !== context.key.name && label === null) {
    content = [h("p.quiet#taken", h("strong", found.by), " holds this case until ", moment(found.until), "."), button("next", "j", "Next case", actions.next)];
  } else if (!actions.label && !actions.escalate) content = h("p.quiet#only-look", "This key looks at cases, and gives no labels.");
  else if (said) content = h("p.quiet#just-said", "You said: ", h("strong", WORDS[said.value]), ".");
  else if (label !== null) {
    content = [h("p.quiet", "The label is ", h("strong", WORDS[label]), "."),
      context.can("correct") && button("correct", "u", "Correct the label", actions.correct)];
  } else {
    content = [actions.label && button("positive", "1", "Positive", () => actions.label(1), "say warm"), actions.label && button("negative", "0", "Negative", () => actions.label(0), "say cool"),
      actions.skip && button("skip", "s", "Skip", actions.skip), actions.escalate && button("escalate", "e", "Escalate", actions.escalate)];
  }
  return h("footer.actions#actions", { role: "group", "aria-label": "What to do with this case" }, content);
}
