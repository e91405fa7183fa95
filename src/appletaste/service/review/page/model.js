// What the model believes: what every column adds to the score, how well its chances come true, and what has changed.
import { api } from "./api.js";
import { column, intervals, multiples, plot } from "./charts.js";
import { count, day, emptyState, figure, h, number, percent, replace, signed, template } from "./dom.js";
import { capital, told as inWords, words as own } from "./words.js";
import { estimateTile, field, follow, heading, section, tile } from "./parts.js";

// labels below which the prior says most
const FEW = 30;
// whole numbers that have a bar each
const BARS = 3;

export async function show(root, context) {
  const [problem, words, changes] = [h("div"), h("div"), h("div#model-changes")];
  const tiles = h("dl.tiles#model-tiles");
  const chosen = h("input#model-since", { type: "date", onchange: () => void loading.run() });
  const [columns, calibration] = [multiples([]), multiples([], "div.calibration")];
  const curves = template("curves");
  curves.append(columns.element);
  const chances = section("Do the chances come true?", "", calibration.element);
  replace(root, heading("Model", "What each column adds to the score, and how sure that is.",
    field("What changed since", chosen)), problem, tiles, words, changes, curves, chances);

  const load = async () => {
    const since = chosen.value;
    const told = await api.get(`${context.path("model", "curves")}${since && `?since=${since}`}`,
      { signal: context.signal });
    const shown = told.columns ?? [];
    replace(tiles, tilesOf(told));
    replace(words, told.labels !== null && told.labels < FEW && h("p.notice#prior-only",
      `Prior only: ${count(told.labels)} labels are learnt so far. Curves mean something from about ${FEW} labels on.`),
    told.notes.length > 0 && h("details.explain", h("summary", "How to read this page"),
      h("ul", told.notes.map((note) => h("li", inWords(note))))),
    shown.length === 0 && emptyState("No curves", "This policy keeps no model, or no column can be drawn by itself."));
    replace(changes, since && shown.length > 0 && changesOf(told, since));
    columns.update(shown.map(specOf));
    curves.hidden = shown.length === 0;
    const bins = told.calibration.filter((bin) => bin.count > 0);
    chances.hidden = bins.length === 0;
    calibration.update(bins.length ? [[plot, calibrationSpec(bins)]] : []);
  };
  const loading = follow(context, problem, load, 10_000);
  await loading.run();
  return () => [loading.stop, columns.remove, calibration.remove].forEach((end) => end());
}

function tilesOf(told) {
  const sure = told.certificate;
  return [
    tile("labels", "Labels learnt", told.labels, count(told.labels),
      told.labels > 0 && `${percent(told.positives / told.labels)} of them ${own.positives}`),
    told.typical && estimateTile("typical", `Chance of a typical ${own.item}`, told.typical, percent),
    told.threshold !== null && tile("threshold", inWords("Acting pays from"), told.threshold, percent(told.threshold),
      "a chance, at the usual costs"),
    typeof sure?.acceptance === "number" ? tile("certificate", "The bands can be trusted", sure.acceptance,
      sure.per_feature < 0.7 ? "poorly" : sure.per_feature < 0.9 ? "roughly" : "well",
      `${number(sure.per_feature, 2)} for each part of the model; 1 is exact`)
      : tile("certificate", "The bands can be trusted", null, "–", "not known for this policy, or too few labels"),
  ];
}

/** What moved since a day, the largest change first. */
function changesOf(told, since) {
  const moved = told.columns.filter((one) => typeof one.change === "number")
    .sort((a, b) => Math.abs(b.change) - Math.abs(a.change));
  const learnt = told.labels - told.since?.labels;
  const between = Number.isFinite(learnt) ? ` ${count(learnt)} labels were learnt since.` : "";
  if (!moved.length) return h("p.notice", `Nothing to compare with ${day(since)}.${between}`);
  return section(`What changed since ${day(since)}`,
    `The largest change of each column, in what it adds to the score.${between} Dashed below: what was believed then.`,
    h("ul.changes", moved.slice(0, 8).map((one) => h("li", h("strong", one.name), " ",
      figure(`change.${one.name}`, one.change, signed(one.change))))));
}

/** Whether a column has a few whole numbers, such as 0 and 1, months or years: they are written as they are. */
const whole = (rows) => rows.every((row) => Number.isInteger(row.x));

/** A curve over a histogram for numbers, intervals for categories. */
function specOf(told) {
  const rows = told.points ?? [...(told.levels ?? []), ...(told.missing ? [told.missing] : [])];
  const of = (key) => (row) => row[key];
  const both = (low, high) => (row) => [row[low], row[high]];
  const compared = rows.some((row) => typeof row.then === "number");
  const text = whole(rows) ? String : (value) => number(value);
  const columns = [column(told.name, "value", (value) => (typeof value === "number" ? text(value) : value),
    (row) => row.x ?? row.level),
    ...[["Adds", "mean"], ["50 % from", "low50"], ["to", "high50"], ["90 % from", "low90"], ["to", "high90"],
      ...(compared ? [["Then", "then"]] : [])].map(([name, key]) => column(name, key, signed))];
  const common = { testid: `column-${told.name}`, title: told.name, words: inWords(told.told), rows, columns, height: 200 };
  if (!told.points || (whole(rows) && rows.length <= BARS)) {
    if (!told.points) columns.push(column(capital(own.items), "count", count));
    return [intervals, { ...common, label: (row) => row.level ?? String(row.x), middle: of("mean"), inside: both("low50", "high50"),
      outside: both("low90", "high90"), before: of("then"), x: { kind: "number" } }];
  }
  const layers = [{ type: "histogram", tone: "muted", bins: told.histogram ?? [] },
    ...["90", "50"].map((level) => ({ type: "band", tone: "accent", low: of(`low${level}`),
    high: of(`high${level}`) })),
    { type: "line", tone: "accent", y: of("mean") },
      ...(compared ? [{ type: "line", tone: "ink", dashed: true, y: of("then") }] : [])];
  return [plot, { ...common, x: { kind: whole(rows) ? "whole" : "number", value: of("x") }, y: { kind: "number", zero: true }, layers }];
}

function calibrationSpec(rows) {
  const most = Math.min(1, Math.max(...rows.map((bin) => Math.max(bin.predicted, bin.high))) * 1.1);
  return {
    testid: "chart-calibration", height: 300, title: "Calibration", rows,
    words: `Labelled ${own.items} by the chance that was said when they were decided, beside the share of ${own.positives} among them. On the dashed line chances come true.`,
    columns: [...[["Chance said", "predicted"], ["Seen", "seen"], ["90 % from", "low"],
      ["to", "high"]].map(([name, key]) => column(name, key, percent)), column(capital(own.items), "count", count)],
    x: { kind: "share", value: (bin) => bin.predicted, label: "chance that was said", domain: [0, most] },
    y: { kind: "share", label: `share of ${own.positives}`, domain: [0, most] },
    layers: [
      { type: "line", tone: "muted", dashed: true, y: (bin) => bin.predicted, name: "chances come true" },
      { type: "whiskers", tone: "accent", y: (bin) => bin.seen, low: (bin) => bin.low, high: (bin) => bin.high,
        name: "seen, with 90 % interval" },
    ],
  };
}
