// What the model believes: what every column adds to the score, how well its chances come true, and what has changed.
import { api } from "./api.js";
import { intervals, multiples, plot } from "./charts.js";
import { count, day, emptyState, figure, h, number, percent, replace, signed } from "./dom.js";
import { estimateTile, field, follow, heading, section, tile } from "./parts.js";

const FEW = 30; // labels below which the prior says most
const adds = (value) => signed(value);

export async function show(root, context) {
  let since = "";
  let columns = null;
  let calibration = null;
  const problem = h("div");
  const tiles = h("dl", { class: "tiles", "data-testid": "model-tiles" });
  const words = h("div");
  const changes = h("div", { "data-testid": "model-changes" });
  const places = { columns: h("div"), calibration: h("div") };
  const chosen = h("input", { type: "date", "data-testid": "model-since", onchange: () => {
    since = chosen.value;
    void loading.run();
  } });
  replace(root, heading("Model", "What each column adds to the score, and how sure that is.", field("What changed since", chosen)),
    problem, tiles, words, changes, places.columns, places.calibration);

  const load = async () => {
    const asked = since ? `?since=${encodeURIComponent(since)}` : "";
    draw(await api.get(context.path("model", "curves") + asked, { signal: context.signal }));
  };
  const draw = (told) => {
    replace(tiles, tilesOf(told));
    const young = typeof told.labels === "number" && told.labels < FEW;
    replace(words, young && h("p", { class: "notice", "data-testid": "prior-only" },
      `Prior only: ${count(told.labels)} labels are learnt so far. Curves mean something from about ${FEW} labels on.`),
    told.notes?.length > 0 && h("details", { class: "explain" }, h("summary", {}, "How to read this page"),
      h("ul", {}, told.notes.map((note) => h("li", {}, note)))));
    replace(changes, since && told.columns && changesOf(told, since));
    const parts = (told.columns ?? []).map(specOf);
    if (!parts.length) {
      columns?.remove();
      columns = null;
      replace(places.columns, emptyState("No curves", "This policy keeps no model, or no column can be drawn by itself."));
    } else if (columns) columns.update(parts);
    else {
      columns = multiples(parts);
      replace(places.columns, section("Column by column", "Above 0: an item with such a value is more likely to be positive than a typical one. "
        + "The dark band holds the truth with a probability of 50 %, the light band with 90 %. Grey: how many items have such a value.", columns.element));
    }
    const bins = (told.calibration ?? []).filter((bin) => bin.count > 0);
    if (!bins.length) replace(places.calibration);
    else if (calibration) calibration.update(calibrationSpec(bins));
    else {
      calibration = plot(calibrationSpec(bins));
      replace(places.calibration, section("Do the chances come true?", "", h("div", { class: "calibration" }, calibration.element)));
    }
  };
  const loading = follow(context, problem, load, 10_000);
  await loading.run();
  return () => {
    loading.stop();
    columns?.remove();
    calibration?.remove();
  };
}

function tilesOf(told) {
  const sure = told.certificate;
  const rate = told.labels && typeof told.positives === "number" ? `${percent(told.positives / told.labels)} of them positive` : "";
  return [
    tile("labels", "Labels learnt", told.labels, count(told.labels), rate),
    told.typical && estimateTile("typical", "Chance of a typical item", told.typical, percent),
    typeof told.threshold === "number" && tile("threshold", "Acting pays from", told.threshold, percent(told.threshold), "a chance, at the usual costs"),
    typeof sure?.acceptance === "number"
      ? tile("certificate", "Certificate of the fit", sure.acceptance, number(sure.acceptance, 2),
        `${number(sure.per_feature, 2)} for each feature; 1 is exact`, sure.per_feature < 0.7 ? "warn" : "")
      : tile("certificate", "Certificate of the fit", null, "–", "this policy has none, or too few labels"),
    told.columns && tile("columns", "Columns", told.columns.length, count(told.columns.length)),
  ];
}

/** What moved since a day, the largest change first. */
function changesOf(told, since) {
  const moved = told.columns.filter((column) => typeof column.change === "number").sort((a, b) => Math.abs(b.change) - Math.abs(a.change));
  const learnt = told.labels - told.since?.labels;
  const between = Number.isFinite(learnt) ? ` ${count(learnt)} labels were learnt since.` : "";
  if (!moved.length) return h("p", { class: "notice" }, `Nothing to compare with ${day(since)}.${between}`);
  return section(`What changed since ${day(since)}`, `The largest change of each column, in what it adds to the score.${between} Dashed below: what was believed then.`,
    h("ul", { class: "changes" }, moved.slice(0, 8).map((column) => h("li", {}, h("strong", {}, column.name), " ",
      figure(`change.${column.name}`, column.change, signed(column.change))))));
}

function specOf(column) {
  const rows = column.points ?? [...(column.levels ?? []), ...(column.missing ? [column.missing] : [])];
  const before = (row) => row.then;
  const compared = rows.some((row) => typeof row.then === "number");
  const columns = [
    { name: column.name, key: "value", value: (row) => row.x ?? row.level, text: (value) => (typeof value === "number" ? number(value) : String(value)) },
    { name: "Adds", key: "mean", value: (row) => row.mean, text: adds },
    { name: "50 % from", key: "low50", value: (row) => row.low50, text: adds }, { name: "to", key: "high50", value: (row) => row.high50, text: adds },
    { name: "90 % from", key: "low90", value: (row) => row.low90, text: adds }, { name: "to", key: "high90", value: (row) => row.high90, text: adds },
  ];
  if (compared) columns.push({ name: "Then", key: "then", value: before, text: adds });
  const common = { testid: `column-${column.name}`, title: column.name, words: column.told ?? "", columns, height: 200 };
  if (column.points) {
    const layers = [
      { type: "histogram", tone: "muted", bins: column.histogram ?? [] },
      { type: "band", tone: "accent", low: (row) => row.low90, high: (row) => row.high90 },
      { type: "band", tone: "accent", low: (row) => row.low50, high: (row) => row.high50 },
      { type: "line", tone: "accent", y: (row) => row.mean },
    ];
    if (compared) layers.push({ type: "line", tone: "ink", dashed: true, y: before });
    return [plot, { ...common, rows, x: { kind: "number", value: (row) => row.x }, y: { kind: "number", zero: true }, layers }];
  }
  columns.push({ name: "Items", key: "count", value: (row) => row.count, text: count });
  return [intervals, { ...common, rows, label: (row) => String(row.level), middle: (row) => row.mean,
    inside: (row) => [row.low50, row.high50], outside: (row) => [row.low90, row.high90], before, x: { kind: "number" } }];
}

function calibrationSpec(bins) {
  const most = Math.min(1, Math.max(...bins.map((bin) => Math.max(bin.predicted, bin.high))) * 1.1);
  return {
    testid: "chart-calibration", height: 300, title: "Calibration",
    words: "Labelled items by the chance that was said when they were decided, beside the share that turned out positive. On the dashed line chances come true.",
    rows: bins,
    columns: [
      { name: "Chance said", key: "predicted", value: (bin) => bin.predicted, text: (value) => percent(value) },
      { name: "Seen", key: "seen", value: (bin) => bin.seen, text: (value) => percent(value) },
      { name: "90 % from", key: "low", value: (bin) => bin.low, text: (value) => percent(value) },
      { name: "to", key: "high", value: (bin) => bin.high, text: (value) => percent(value) },
      { name: "Items", key: "count", value: (bin) => bin.count, text: count },
    ],
    x: { kind: "share", value: (bin) => bin.predicted, label: "chance that was said", domain: [0, most] },
    y: { kind: "share", label: "share positive", domain: [0, most] },
    layers: [
      { type: "path", tone: "muted", dashed: true, points: [[0, 0], [most, most]], name: "chances come true" },
      { type: "whiskers", tone: "accent", y: (bin) => bin.seen, low: (bin) => bin.low, high: (bin) => bin.high, name: "seen, with 90 % interval" },
    ],
  };
}
