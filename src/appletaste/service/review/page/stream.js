// The stream by day: what was saved and what was spent, how sure that is, what is missed, and how the work went.
import { api } from "./api.js";
import { column, ends, multiples, plot } from "./charts.js";
import { count, emptyState, figure, h, money, number, part, percent, replace, template } from "./dom.js";
import { estimateTile, follow, heading, notesOf, tile } from "./parts.js";
import { dayText } from "./scales.js";

const DAY = 86_400_000;
const FLATTERS = "Labels of these days have mostly not arrived. Such days flatter: what is bad is often known last.";
const share = (part, whole) => (whole > 0 ? part / whole : null);

export async function show(root, context) {
  let told = null;
  let charts = null;
  const [problem, tiles, notes, place] = [h("div"), h("dl.tiles#stream-tiles"), h("div"), h("div")];
  const tools = template("days");
  const [range, own, from, to] = ["range", "own", "from", "to"].map((name) => part(tools, `days-${name}`));
  tools.onchange = () => {
    own.hidden = range.value !== "own";
    void loading.run();
  };
  replace(root, heading("Stream", "What was decided, what it saved, and what is missed. Intervals are 90 %.", tools),
    problem, notes, tiles, place);
  const asked = () => {
    const last = Date.parse(told?.last);
    if (range.value === "own") return { from: from.value, to: to.value };
    if (range.value === "usual" || !Number.isFinite(last)) return {};
    return { from: range.value === "all" ? told.first
      : new Date(last - (range.value - 1) * DAY).toISOString().slice(0, 10) };
  };
  const load = async () => {
    const query = new URLSearchParams(Object.entries(asked()).filter(([, day]) => day));
    told = await api.get(`${context.path("days")}?${query}`, { signal: context.signal });
    const some = told.days.length > 0;
    replace(tiles, some && tilesOf(told.totals));
    replace(notes, notesOf(told.notes, { testid: "stream-notes" }));
    const specs = some ? specsOf(told.days).map((spec) => [plot, spec]) : [];
    if (charts) charts.update(specs);
    else charts = multiples(specs, "div.chart-stack");
    replace(place, some ? charts.element : emptyState("No decisions in these days",
      "As soon as the first item is decided, its day stands here."));
  };
  const loading = follow(context, problem, load);
  await loading.run();
  return () => {
    loading.stop();
    charts?.remove();
  };
}

function tilesOf(totals) {
  const { capacity, decided, label_delay_days: delay, shadow_price: price } = totals;
  const portion = (name, title, words = "") => tile(name, title, undefined, percent(share(totals[name], decided)),
    [figure(name, totals[name], count(totals[name])), ` of ${count(decided)} items`], words);
  return [
    estimateTile("saved", "Saved", totals.saved, money, "against passing everything"),
    estimateTile("cost", "Cost of acts", totals.cost, money),
    estimateTile("precision", "Precision of labelled acts", totals.precision, percent),
    estimateTile("missed", "Missed positives", totals.missed, count, "", "too few audits"),
    estimateTile("recall", "Recall", totals.recall, percent, "", "too few audits"),
    portion("acted", "Acted on"), portion("explored", "Explored", "acted on to learn"),
      portion("audited", "Audited", "by the audit lane"),
    tile("label_delay_days", "Label delay", delay, delay === null ? "–" : `${number(delay, 3)} days`,
      "median of the labels that arrived"),
    tile("waiting", "Labels awaited", totals.waiting, count(totals.waiting),
      `${percent(totals.arrived)} of labels of acts arrived`),
    capacity && tile("capacity", "Capacity used", undefined, percent(share(capacity.used, capacity.limit)),
      [figure("capacity.used", capacity.used, count(capacity.used)), " of ",
        figure("capacity.limit", capacity.limit, count(capacity.limit)), " acts"]),
    price !== null && tile("shadow_price", "One more act would save", price, money(price),
      "the shadow price of the capacity"),
  ];
}

const few = (row) => row.arrived !== null && row.arrived < 0.5;
const day = column("Day", "day", dayText);
const arrived = column("Labels arrived", "arrived", (value) => percent(value) + (value < 0.5 ? ": flatters" : ""));
const counts = (...keys) => keys.map((key) => column(key[0].toUpperCase() + key.slice(1), key, count));

function specsOf(rows) {
  const hatched = { hatch: few, ...(rows.some(few) ? { hatchName: FLATTERS } : {}) };
  const of = (key, end) => (row) => row[key]?.[end];
  const whiskers = (key, tone, name) => ({ type: "whiskers", tone, name, y: of(key, "estimate"), low: of(key, "low"),
    high: of(key, "high") });
  const chart = (key, title, words, y, columns, ...layers) => ({
    testid: `chart-${key}`, title, words, rows, columns: [day, ...columns],
      x: { kind: "date", value: (row) => Date.parse(row.day), step: DAY }, y, layers,
  });
  const sums = (key, name, words, tone) => chart(key, `${name} by day`, words,
    { kind: "money", zero: true, robust: true, label: "money a day" }, [...ends(name, key, money), arrived],
    { type: "bars", tone, y: of(key, "estimate"), name: name.toLowerCase(), ...hatched },
      { ...whiskers(key, "ink", "90 % interval"), dots: false });
  const specs = [
    sums("saved", "Saved", "What acting saved against passing everything.", "accent"),
    sums("cost", "Cost of acts", "What the acts cost: the work, and false alarms.", "second"),
    chart("precision", "Precision of labelled acts", "The share of acts with a label that were right to act on.",
      { kind: "share", zero: true, robust: true },
      [...ends("Precision", "precision", percent), ...counts("labelled", "positive"), arrived],
      { type: "shade", tone: "muted", ...hatched },
        whiskers("precision", "accent", "precision with its 90 % interval")),
    chart("shares", "Acted on, explored, audited", "Shares of all items of the day.", { kind: "share", zero: true },
      counts("decided", "acted", "explored", "audited", "overruled"),
      ...[["acted", "accent"], ["explored", "second"], ["audited", "third"]].map(
        ([key, tone]) => ({ type: "line", tone, name: key, y: (row) => share(row[key], row.decided),
          dashed: key === "audited" }))),
    chart("arrived", "Labels arrived", "The share of acts of the day whose label is known by now.",
      { kind: "share", domain: [0, 1] }, [arrived, ...counts("labelled", "waiting")],
      { type: "bars", tone: "third", y: (row) => row.arrived, name: "labels arrived", ...hatched },
        { type: "line", tone: "ink", dashed: true, y: () => 0.5, name: "half of the labels" }),
  ];
  if (rows.some((row) => row.capacity)) {
    specs.push(chart("capacity", "Capacity used", "Acts of the day beside how many there can be.",
      { kind: "number", zero: true, label: "acts a day" },
      ["used", "limit"].map((end) => column(end, `capacity.${end}`, count, of("capacity", end))),
      { type: "bars", tone: "accent", y: of("capacity", "used"), name: "used" },
        { type: "line", tone: "ink", dashed: true, y: of("capacity", "limit"), name: "limit" }));
  }
  return specs;
}
