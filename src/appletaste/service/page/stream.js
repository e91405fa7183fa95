// The stream by day: what was saved and what was spent, how sure that is, what is missed, and how the work went.
import { api } from "./api.js";
import { plot } from "./charts.js";
import { count, emptyState, h, money, number, percent, replace } from "./dom.js";
import { choice, estimateTile, field, follow, heading, notesOf, tile } from "./parts.js";
import { dayText } from "./scales.js";

const DAY = 86_400_000;
const RANGES = [["14", "Last 14 days"], ["30", "Last 30 days"], ["usual", "Last 60 days"], ["365", "Last year"], ["all", "All days"], ["own", "From … to …"]];
const FLATTERS = "Labels of these days have mostly not arrived. Such days flatter: what is bad is often known last.";
const share = (part, whole) => (whole > 0 ? part / whole : null);

export async function show(root, context) {
  const asked = { range: "usual", from: "", to: "" };
  let charts = null;
  const problem = h("div");
  const tiles = h("dl", { class: "tiles", "data-testid": "stream-tiles" });
  const notes = h("div");
  const place = h("div", { class: "chart-stack" });
  const from = h("input", { type: "date", "data-testid": "days-from", onchange: () => ranged() });
  const to = h("input", { type: "date", "data-testid": "days-to", onchange: () => ranged() });
  const own = h("div", { class: "fields", hidden: true }, field("From", from), field("To", to));
  const range = choice(RANGES, asked.range, (value) => {
    asked.range = value;
    own.hidden = value !== "own";
    void loading.run();
  }, { "data-testid": "days-range" });
  const ranged = () => {
    [asked.from, asked.to] = [from.value, to.value];
    void loading.run();
  };
  replace(root, heading("Stream", "What was decided, what it saved, and what is missed. Intervals are 90 %.",
    field("Days", range), own), problem, tiles, notes, place);
  let told = null;
  const load = async () => {
    told = await api.get(context.path("days") + query(asked, told), { signal: context.signal });
    draw();
  };
  const draw = () => {
    if (told.first && !from.min) [from.min, from.max, to.min, to.max] = [told.first, told.last, told.first, told.last].map(String);
    const nothing = told.days.length === 0;
    replace(tiles, nothing ? [] : tilesOf(told.totals));
    replace(notes, notesOf(told.notes, { "data-testid": "stream-notes" }));
    if (nothing) {
      charts?.forEach((one) => one.remove());
      charts = null;
      replace(place, emptyState("No decisions in these days", "As soon as the first item is decided, its day stands here."));
      return;
    }
    const specs = specsOf(told.days);
    if (charts?.length === specs.length) charts.forEach((one, k) => one.update(specs[k]));
    else {
      charts?.forEach((one) => one.remove());
      charts = specs.map(plot);
      replace(place, charts.map((one) => one.element));
    }
  };
  const loading = follow(context, problem, load);
  await loading.run();
  return () => {
    loading.stop();
    charts?.forEach((one) => one.remove());
  };
}

function query({ range, from, to }, told) {
  if (range === "usual") return "";
  if (range === "all") return told?.first ? `?from=${told.first}` : "";
  if (range === "own") return `?${new URLSearchParams(Object.entries({ from, to }).filter(([, day]) => day))}`;
  const last = Date.parse(told?.last);
  return Number.isFinite(last) ? `?from=${new Date(last - (Number(range) - 1) * DAY).toISOString().slice(0, 10)}` : "";
}

function tilesOf(totals) {
  const capacity = totals.capacity;
  return [
    estimateTile("saved", "Saved", totals.saved, money, "against passing everything"),
    estimateTile("cost", "Cost of acts", totals.cost, money),
    estimateTile("precision", "Precision of labelled acts", totals.precision, percent),
    estimateTile("missed", "Missed positives", totals.missed, count, "", "too few audits"),
    estimateTile("recall", "Recall", totals.recall, percent, "", "too few audits"),
    shareTile("acted", "Acted on", totals),
    shareTile("explored", "Explored", totals, "acted on to learn"),
    shareTile("audited", "Audited", totals, "acted on by the audit lane"),
    tile("label_delay_days", "Label delay", totals.label_delay_days, days(totals.label_delay_days), "median of the labels that arrived"),
    tile("waiting", "Labels awaited", totals.waiting, count(totals.waiting), `${percent(totals.arrived)} of labels of acts arrived`),
    capacity && tile("capacity", "Capacity used", share(capacity.used, capacity.limit), percent(share(capacity.used, capacity.limit)),
      `${count(capacity.used)} of ${count(capacity.limit)} acts`),
    typeof totals.shadow_price === "number" && tile("shadow_price", "One more act would save", totals.shadow_price,
      money(totals.shadow_price), "the shadow price of the capacity"),
  ];
}

const days = (value) => (typeof value === "number" ? `${number(value, 3)} ${value === 1 ? "day" : "days"}` : "–");

function shareTile(name, title, totals, words = "") {
  const value = share(totals[name], totals.decided);
  return h("div", { class: "tile", "data-testid": `tile-${name}` }, h("dt", {}, title), h("dd", {},
    h("span", { class: "tile-value figure", "data-name": `${name}_share`, "data-value": String(value) }, percent(value)),
    h("span", { class: "tile-words" }, h("span", { "data-name": name, "data-value": String(totals[name]) }, count(totals[name])),
      ` of ${count(totals.decided)} items${words ? `, ${words}` : ""}`)));
}

const x = { kind: "date", value: (row) => Date.parse(row.day), step: DAY };
const column = { name: "Day", key: "day", value: (row) => row.day, text: dayText };
const few = (row) => typeof row.arrived === "number" && row.arrived < 0.5;
const arrived = { name: "Labels arrived", key: "arrived", value: (row) => row.arrived, text: (value, row) => `${percent(value)}${few(row) ? ": flatters" : ""}` };
const counted = (key, name) => ({ name, key, value: (row) => row[key], text: count });

function estimateColumns(key, name, format) {
  const text = (value) => format(value);
  return [
    { name, key, value: (row) => row[key]?.estimate, text, missing: "cannot be told" },
    { name: "90 % from", key: `${key}.low`, value: (row) => row[key]?.low, text },
    { name: "to", key: `${key}.high`, value: (row) => row[key]?.high, text },
  ];
}

function specsOf(rows) {
  const hatched = rows.some(few) ? { hatchName: FLATTERS } : {};
  const moneyBars = (key, name, words, tone) => ({
    testid: `chart-${key}`, title: `${name} by day`, words, rows, x, columns: [column, ...estimateColumns(key, name, money), arrived],
    y: { kind: "money", zero: true, robust: true, label: "money a day" },
    layers: [
      { type: "bars", tone, y: (row) => row[key]?.estimate, hatch: few, name: name.toLowerCase(), ...hatched },
      { type: "whiskers", tone: "ink", dots: false, y: () => null, low: (row) => row[key]?.low, high: (row) => row[key]?.high, name: "90 % interval" },
    ],
  });
  const specs = [
    moneyBars("saved", "Saved", "What acting saved against passing everything.", "accent"),
    moneyBars("cost", "Cost of acts", "What the acts cost: the work, and false alarms.", "second"),
    {
      testid: "chart-precision", title: "Precision of labelled acts", words: "The share of acts with a label that were right to act on.", rows, x,
      columns: [column, ...estimateColumns("precision", "Precision", percent), counted("labelled", "Labelled"), counted("positive", "Positive"), arrived],
      y: { kind: "share", zero: true, robust: true },
      layers: [
        { type: "shade", tone: "muted", hatch: few, ...hatched },
        { type: "whiskers", tone: "accent", y: (row) => row.precision?.estimate, low: (row) => row.precision?.low, high: (row) => row.precision?.high, name: "precision with its 90 % interval" },
      ],
    },
    {
      testid: "chart-shares", title: "Acted on, explored, audited", words: "Shares of all items of the day.", rows, x,
      columns: [column, counted("decided", "Decided"), counted("acted", "Acted on"), counted("explored", "Explored"), counted("audited", "Audited"), counted("overruled", "Overruled")],
      y: { kind: "share", zero: true },
      layers: [["acted", "accent", "acted on"], ["explored", "second", "explored"], ["audited", "third", "audited"]].map(
        ([key, tone, name], k) => ({ type: "line", tone, y: (row) => share(row[key], row.decided), name, dashed: k === 2 })),
    },
  ];
  specs.push({
    testid: "chart-arrived", title: "Labels arrived", words: "The share of acts of the day whose label is known by now.", rows, x,
    columns: [column, arrived, counted("labelled", "Labelled"), counted("waiting", "Awaited")],
    y: { kind: "share", domain: [0, 1] },
    layers: [{ type: "bars", tone: "third", y: (row) => row.arrived, hatch: few, name: "labels arrived", ...hatched }, { type: "rule", tone: "ink", at: 0.5 }],
  });
  if (rows.some((row) => row.capacity)) {
    specs.push({
      testid: "chart-capacity", title: "Capacity used", words: "Acts of the day beside how many there can be.", rows, x,
      columns: [column, { name: "Used", key: "capacity.used", value: (row) => row.capacity?.used, text: count }, { name: "Limit", key: "capacity.limit", value: (row) => row.capacity?.limit, text: count }],
      y: { kind: "number", zero: true, label: "acts a day" },
      layers: [
        { type: "bars", tone: "accent", y: (row) => row.capacity?.used, name: "used" },
        { type: "line", tone: "ink", dashed: true, y: (row) => row.capacity?.limit, name: "limit" },
      ],
    });
  }
  return specs;
}
