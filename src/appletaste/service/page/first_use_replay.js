// Step 4 of first use: the file played as if only the labels of acts had been seen, in money.
import { api } from "./api.js";
import { plot } from "./charts.js";
import { count, figure, h, money, percent, replace, trouble } from "./dom.js";
import { notesOf } from "./parts.js";

const WORDS = {
  never: "Pass everything", always: "Act on everything", today: "What is done today", oracle: "Knows the future",
  "full-information": "Told every label",
};
const TONES = ["accent", "second", "third", "ink"];
const called = (row) => WORDS[row.name] ?? `appletaste (${row.name})`;

export function replayStep(state, played, ready) {
  const controller = new AbortController();
  let chart = null;
  const outcome = h("div.step-part", { testid: "replay-outcome", "aria-live": "polite" });
  const draw = () => {
    chart?.remove();
    chart = plot(pictureOf(state.replayed));
    replace(outcome, told(state.replayed), chart.element, tableOf(state.replayed),
      notesOf([...state.replayed.words, ...state.replayed.notes]));
    ready();
  };
  const run = async () => {
    replace(outcome, h("p.working", { testid: "replaying" }, "Playing your file, item by item. The first time takes up to a minute …"));
    try {
      state.replayed = await api.post(`files/${encodeURIComponent(state.file.file)}/replay`, played(), { signal: controller.signal });
      draw();
    } catch (error) {
      if (error.name === "AbortError") return;
      replace(outcome, trouble(error), h("div.row", h("button.button", { onclick: run }, "Try again")));
    }
  };
  if (state.replayed) draw();
  else void run();
  return {
    element: h("div.step-part", h("p.quiet", "Your file is played as if you had seen only the labels of what was acted on. The policy starts knowing nothing."), outcome),
    stop() {
      controller.abort();
      chart?.remove();
    },
  };
}

const own = (replayed) => replayed.rows.find((row) => !(row.name in WORDS)) ?? replayed.rows[0];

function told(replayed) {
  const row = own(replayed);
  const saved = row.saved_against_never;
  if (typeof saved !== "number") return null;
  return h("p.headline", { testid: "replay-headline" }, saved > 0 ? "Saves " : "Costs ", figure("saved_against_never", saved, money(Math.abs(saved)), { class: "headline-number" }),
    saved > 0 ? " for every 1,000 items, against passing everything." : " more for every 1,000 items than passing everything: look at the costs and the columns again.");
}

function pictureOf(replayed) {
  const names = replayed.rows.map((row) => row.name).filter((name) => name !== "never" && name !== "full-information" && replayed.money[0]?.costs[name] !== undefined);
  const against = replayed.money[0]?.costs.never !== undefined;
  const value = (name) => (point) => (against ? point.costs.never - point.costs[name] : point.costs[name]);
  return {
    testid: "chart-replay", title: against ? "Saved so far, against passing everything" : "Cost so far", words: "Item by item, in the order of the file.", rows: replayed.money,
    columns: [{ name: "Items", key: "items", value: (point) => point.items, text: count }, ...names.map((name) => ({ name: called({ name }), key: `saved.${name}`, value: value(name), text: (sum) => money(sum) }))],
    x: { kind: "number", value: (point) => point.items, label: "items" }, y: { kind: "money", zero: true },
    layers: names.map((name, k) => ({ type: "line", tone: TONES[k % TONES.length], y: value(name), name: called({ name }), dashed: name in WORDS })),
  };
}

function tableOf(replayed) {
  const heads = ["", "Cost for 1,000 items", "Saved against passing all", "Saved against acting on all", "Precision", "Recall", "Acted on"];
  const share = (name, value) => h("td.num", figure(name, value, percent(value)));
  return h("div.card.scroll-x", { tabindex: "0", role: "region", "aria-label": "The replay as a table" }, h("table", { testid: "replay-table" },
    h("thead", h("tr", heads.map((name, k) => (k === 0 ? h("th", { scope: "col" }, "Who decides") : h("th.num", { scope: "col" }, name))))),
    h("tbody", replayed.rows.map((row) => h("tr", { class: row === own(replayed) ? "own" : "", "data-policy": row.name }, h("th", { scope: "row" }, called(row)),
      h("td.num", figure("cost_per_1000", row.cost_per_1000, money(row.cost_per_1000)), row.se > 0 && h("span.hint", ` ± ${money(row.se)}`)),
      h("td.num", figure("saved_against_never", row.saved_against_never, money(row.saved_against_never))),
      h("td.num", figure("saved_against_always", row.saved_against_always, money(row.saved_against_always))),
      share("precision", row.precision), share("recall", row.recall), share("act_rate", row.act_rate))))));
}
