// Step 4 of first use: the file played as if only the labels of acts had been seen, in money.
import { api } from "./api.js";
import { column, plot } from "./charts.js";
import { count, figure, h, money, part, percent, replace, template, trouble } from "./dom.js";
import { notesOf } from "./parts.js";
import { told as inWords } from "./words.js";

const WORDS = {
  never: "Pass everything", always: "Act on everything", today: "What is done today", oracle: "Knows the future",
  "full-information": "Told every label",
};
const TONES = ["accent", "second", "third", "ink"];
const called = (name) => inWords(WORDS[name] ?? "") || `appletaste (${name})`;

export function replayStep(state, played, ready) {
  const controller = new AbortController();
  let chart = null;
  const outcome = h("div.step-part#replay-outcome", { "aria-live": "polite" });
  const draw = () => {
    chart?.remove();
    chart = plot(pictureOf(state.replayed, state.roles.time));
    replace(outcome, told(state.replayed), chart.element, tableOf(state.replayed),
      notesOf([...state.replayed.words, ...state.replayed.notes].map(inWords)));
    ready();
  };
  const run = async () => {
    replace(outcome, h("p.working#replaying",
      "Playing your file, item by item. The first time takes up to a minute …"));
    try {
      state.replayed = await api.post(`files/${encodeURIComponent(state.file.file)}/replay`, played(),
        { signal: controller.signal });
      draw();
    } catch (error) {
      if (error.name === "AbortError") return;
      replace(outcome, trouble(error), h("div.row", h("button.button", { onclick: run }, "Try again")));
    }
  };
  return {
    start: () => (state.replayed ? draw() : void run()),
    element: h("div.step-part",
      h("p.quiet", `${inWords("Your file is played as if you had seen only the labels of what was acted on.")} The policy starts knowing nothing. ${state.roles.time ? `Items come in the order of ${state.roles.time}, as they did.` : "There is no column with a time, so the order is by chance: a stream that changes can do worse than this."}`), outcome),
    stop() {
      controller.abort();
      chart?.remove();
    },
  };
}

const own = ({ rows }) => rows.find((row) => !(row.name in WORDS)) ?? rows[0];

/** What the policy saves against the better of the two that need no policy. */
function told(replayed) {
  const row = own(replayed);
  const [key, other] = row.saved_against_always < row.saved_against_never ? ["saved_against_always", "acting on"]
    : ["saved_against_never", "passing"];
  const [verb, words] = row[key] > 0 ? ["Saves ", `, against ${other} everything.`]
    : ["Costs ", ` more than ${other} everything: look at the costs and the columns again.`];
  return h("p.headline#replay-headline", verb, figure(key, row[key], money(Math.abs(row[key])),
    { class: "headline-number" }), inWords(` for every 1,000 items${words}`));
}

function pictureOf({ rows, money: points }, inOrder) {
  const names = rows.map((row) => row.name).filter((name) => name !== "never" && name !== "full-information"
    && name in (points[0]?.costs ?? {}));
  const saved = (name) => (point) => point.costs.never - point.costs[name];
  return {
    testid: "chart-replay", title: inWords("Saved so far, against passing everything"),
      words: inOrder ? `Item by item, in the order of ${inOrder}.` : "Item by item, in the order of the file.", rows: points,
    columns: [column("Items", "items", count), ...names.map((name) => column(called(name), `saved.${name}`, money,
      saved(name)))],
    x: { kind: "number", value: (point) => point.items, label: "items" }, y: { kind: "money", zero: true },
    layers: names.map((name, k) => ({ type: "line", tone: TONES[k % TONES.length], y: saved(name), name: called(name),
      dashed: name in WORDS })),
  };
}

const FIGURES = [["cost_per_1000", money], ["saved_against_never", money], ["saved_against_always", money],
  ["precision", percent], ["recall", percent], ["act_rate", percent]];

function tableOf(replayed) {
  const table = template("replay");
  replace(part(table, "replay-rows"), replayed.rows.map((row) => h(row === own(replayed) ? "tr.own" : "tr",
    { "data-policy": row.name }, h("th", { scope: "row" }, called(row.name)),
    FIGURES.map(([key, text]) => h("td.num", figure(key, row[key], text(row[key])))))));
  return table;
}
