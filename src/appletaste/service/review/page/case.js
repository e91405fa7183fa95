// One case: how likely, what either action costs, why, what is usual, what became of cases like it, and its history.
//
//   drawCase(root, found, { context, layout, held, said, actions, onchange })
//     layout     which columns are of customers, and the words of the link elsewhere
//     found      a case as the service tells it             said   the label that was just given here, or undefined
//     actions    { label(value), skip, escalate, correct, next, back }; what the key does not allow is false
//     onchange   called after a note was written

import { api, problemOf } from "./api.js";
import { chanceScale, costBars, effectBar, usualStrip } from "./case_pictures.js";
import { customerCards } from "./case_customer.js";
import { codeChip, codeWords } from "./codes.js";
import { ago, cell, count, figure, h, moment, money, notify, part, percent, price, replace, sentence, share, signed, template } from "./dom.js";
import { address } from "./places.js";
import { actionOf, capital, outcomeOf, told, words } from "./words.js";

const STATES = { pending: "waits for its label", expired: "no longer waited for", never_due: "passed" };
const KINDS = {
  decided: "Decided", labelled: "Label arrived", corrected: "Label corrected", retracted: "Label withdrawn", expired: "No longer waited for",
  recorded: "Label recorded", enacted: "Done otherwise", noted: "Note", erased: "Values erased",
  looked_again: "Looked at again",
};
const SHEET = { hit: "Hit", false_alarm: "False alarm", miss: "Miss", correct_pass: "Correct pass" };
const FEW_LABELS = 30;
// columns that are shown at first
const FIRST = 15;

export function drawCase(root, found, given) {
  const labels = given.context.state?.state?.labels;
  // whoever reads or writes in the case that is drawn again stays where they are
  const same = root.firstElementChild?.dataset.id === found.id;
  const focused = root.contains(document.activeElement) && ((same && document.activeElement.id) || "case-title");
  const { scrollTop } = root;
  replace(root, h("article.case#case", { "aria-labelledby": "case-title", "data-id": found.id },
    head(found, given),
    labels < FEW_LABELS && h("p.notice#prior-only", `Prior only: little is known yet. Labels learnt so far: ${count(labels)}.`),
    h("div.case-top", chanceCard(found), costCard(found)),
    reasonsCard(found, given.layout),
    h("div.case-low", h("div.case-stack", customerCards(found, given), similarCard(found, given.context)), historyCard(found, given))), actionBar(found, given));
  root.scrollTop = same ? scrollTop : 0;
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

function card(title, aside, ...content) {
  return h("section.card", { "aria-label": title }, h("header", h("h2", title), aside && h("p.quiet.small.legend", aside)), content);
}

function labelOf(found) {
  return found.label ?? found.outcome;
}

function outcome(label, testid) {
  return h("span.badge", { class: label ? "warm" : "cool", testid, "data-value": label }, `${label ? "+" : "−"} ${outcomeOf(label)}`);
}

function head(found, { held, actions, layout }) {
  const link = /^https?:\/\//.test(found.link ?? "") && h("a.button.small.case-link", { href: found.link, target: "_blank", rel: "noopener noreferrer", testid: "case-link" }, layout.link_title ?? "Open in the back office", " ↗");
  return h("header.case-head",
    h("div.case-line",
      h("button.button.plain.small.back#back", { onclick: actions.back }, "‹ Queue"),
      h("h1.mono", { id: "case-title", tabindex: "-1" }, found.id),
      codeChip(found.code),
      labelOf(found) === null ? h("span.badge#case-state", STATES[found.state] ?? found.state) : outcome(labelOf(found), "case-label"),
      found.escalated && h("span.badge.warn#case-escalated", found.escalated_to ? `⚑ for ${found.escalated_to}` : "⚑ escalated"),
      held ? h("span.badge.strong#case-held", "held for you") : found.by && h("span.badge.warn#case-held-by", `held by ${found.by}`), link),
    h("p.case-why#case-why", h("strong", codeWords(found.code)), " ", told(found.reasons.map(sentence).join(" "))),
    h("p.quiet.small#case-of", capital(words.item), " of ", moment(found.time), found.stratum && ` · ${found.stratum}`,
      ` · ${actionOf(found.act)} with probability `, share("probability", found.probability), found.enacted_by && ` · ${actionOf(found.acted)} by ${found.enacted_by}`));
}

function chanceCard(found) {
  const chance = found.chance_now ?? found.chance;
  const [low, high] = found.interval ?? [];
  return card(`Chance of ${words.positive}`, null,
    h("div.chance-line", share("chance_now", chance, { class: "huge" }),
      found.interval && h("p.quiet.small", share("low", low), " to ", share("high", high), h("br"), "with 90 % probability")),
    chanceScale(chance, low, high, found.threshold),
    found.interval && h("p.chance-words", told(certainty(low, high, found.threshold))));
}

/** What the interval says about acting. */
function certainty(low, high, threshold) {
  if (low >= threshold) return "Acting pays wherever in the interval the chance lies.";
  if (high < threshold) return "Acting does not pay by itself, wherever in the interval the chance lies: the label is wanted to learn from.";
  return "Whether acting pays is not certain: the interval lies on both sides of the threshold.";
}

function costCard({ chance, costs, expected_cost: cost }) {
  const saved = cost.pass - cost.act;
  return card("Expected cost", null, costBars(cost),
    chance !== null && [h("p.cost-words", told(saved >= 0 ? "Acting saves " : "Passing saves "), h("strong", money(Math.abs(saved))), " on average."),
      h("p.quiet.small", "By the chance when it was decided, ", share("chance", chance), ".")],
    h("dl.sheet", Object.entries(SHEET).map(([name, words]) => h("div", h("dt", words), h("dd", price(name, costs[name]))))));
}

function heads(...names) {
  return h("thead", h("tr", names.map(([words, name = ""]) => h("th", { scope: "col", class: name }, words))));
}

function reasonsCard({ erased, item, contributions, usual }, { columns, learnt }) {
  if (erased) return card("Why", null, h("p.quiet", "The values of this case were erased. Its action and its probability remain."));
  const used = new Set(contributions.map((one) => one.column));
  const rest = Object.keys(item ?? {}).filter((column) => !used.has(column)).map((column) => ({ column, value: item[column] }));
  const reach = Math.max(0.1, ...contributions.flatMap((one) => [Math.abs(one.low), Math.abs(one.high)])) * 1.04;
  const all = [...contributions, ...rest];
  const more = all.length > FIRST && h("button.button.plain.small#all-columns", { onclick: () => more.remove() }, `Show all ${all.length} columns`);
  const sides = [["cool", `towards ${words.negative}`], ["warm", `towards ${words.positive}`], ["line", "90 % interval"]];
  return card("Why", sides.map(([name, words]) => h("span", h("i.swatch", { class: name }), words)),
    h("table.why", h("caption.only-read", "Each column: its value, what is usual, and how it moves the score"),
      heads(["Column"], ["Value"], ["Usual"], ["Effect on the score", "effect-head"], [h("span.only-read", "Effect as a number")]),
      h("tbody", all.map(({ column, value, contribution, low, high }) => h("tr#contribution", { "data-column": column },
        h("th.why-column", { scope: "row", title: column }, column),
        h("td.why-value", { title: value, class: typeof value === "string" && value.length > 14 ? "long" : "" }, cell(value)),
        h("td.why-usual", usualStrip(value, usual[column])),
        h("td.why-effect", contribution === undefined ? h("span.quiet.small.unused", columns.length && !learnt.includes(column) ? "shown, not learnt" : "not used") : effectBar(contribution, low, high, reach)),
        h("td.num.why-number", contribution !== undefined && figure("contribution", contribution, signed(contribution, 2),
          { title: `between ${signed(low)} and ${signed(high)} with 90 % probability` })))))), more);
}

function similarCard({ similar }, context) {
  const positive = similar.filter((one) => one.label).length;
  return card("Cases like this one", similar.length > 0 && h("span", figure("similar_positive", positive), ` of ${similar.length} were ${words.positive}`),
    !similar.length ? h("p.quiet", "No labelled case is like this one yet.") : h("table.similar",
      heads(["Case"], ["Outcome"], ["Likeness"], ["Chance then", "num"], ["When", "num wide-only"]),
      h("tbody", similar.map((one) => h("tr#similar",
        h("td.similar-id", h("a.mono", { href: address(context.stream, "case", one.id) }, one.id)),
        h("td", outcome(one.label)),
        h("td", h("span.likeness", h("span", { style: { width: `${one.likeness * 100}%` } })), h("span.only-read", percent(one.likeness))),
        h("td.num", share("similar_chance", one.chance)),
        h("td.num.quiet.wide-only", ago(one.time)))))));
}

function historyCard(found, { context, onchange }) {
  const form = template("note");
  const [text, add] = [part(form, "note-text"), part(form, "note-add")];
  form.onsubmit = async (event) => {
    event.preventDefault();
    add.disabled = true;
    try {
      await api.post(context.path("decisions", found.id, "notes"), { text: text.value.trim() });
      text.value = "";
      onchange();
    } catch (error) {
      problemOf(error);
      notify(`The note was not written. ${error.title}.`, { bad: true });
    }
    add.disabled = false;
  };
  return card("History and notes", "by the clock of the service",
    h("ol.history#history", found.history.map((one) => h("li", { "data-kind": one.kind },
      h("p", h("strong", KINDS[one.kind] ?? one.kind), one.by && ` by ${one.by}`, h("span.quiet", " · ", moment(one.time))),
      one.text && h("p.history-text", said(one))))),
    context.can("review") && form);
}

/** What happened, in the words of the team; notes of people stay as they are. */
function said({ kind, text }) {
  if (kind === "noted") return text;
  const label = text.match(/^label (?:corrected to )?([01])$/);
  return label ? text.replace(/[01]$/, outcomeOf(Number(label[1]))) : told(text);
}

function actionBar(found, { actions, said, context }) {
  const button = (testid, key, words, run, kind) => run && h("button.button", { class: kind, testid, onclick: run }, words, h("kbd", { "aria-hidden": "true" }, key));
  const { label } = actions;
  const known = labelOf(found);
  const quiet = (testid, ...words) => h("p.quiet", { testid }, words);
  let content = [button("positive", "1", capital(words.positive), label && (() => label(1)), "say warm"), button("negative", "0", capital(words.negative), label && (() => label(0)), "say cool"),
    button("skip", "s", "Skip", actions.skip), button("escalate", "e", "Escalate", actions.escalate)];
  if (said) content = quiet("just-said", "You said: ", h("strong", outcomeOf(said.value)), ".");
  else if (known !== null) content = [quiet("known", "The label is ", h("strong", outcomeOf(known)), "."), button("correct", "u", "Correct the label", context.can("correct") && actions.correct)];
  else if (found.by && found.by !== context.key.name) content = [quiet("taken", h("strong", found.by), " holds this case until ", moment(found.until), "."), button("next", "j", "Next case", actions.next),
    actions.takeOver && h("button.button#take-over", { onclick: actions.takeOver }, "Take over")];
  else if (!label && !actions.escalate) content = quiet("only-look", "This key looks at cases, and gives no labels.");
  return h("footer.actions#actions", { role: "group", "aria-label": "What to do with this case" }, content);
}
