// The stream by day: what was saved and what was spent, how sure that is, what is missed, and how the work went.
import { api } from "./api.js";
import { column, ends, multiples, plot } from "./charts.js";
import { count, emptyState, figure, h, money, number, part, percent, replace, template } from "./dom.js";
import { capital, told as inWords, words as own } from "./words.js";
import { estimateTile, follow, heading, notesOf, tile } from "./parts.js";
import { dayText } from "./scales.js";

const DAY = 86_400_000;
const FLATTERS = "Labels of these days have mostly not arrived. Such days flatter: what is bad is often known last.";
const AGAINST = { saved: "against passing everything", saved_acting: "against acting on everything" };
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
    replace(notes, some && told.totals.constant && constantOf(told.totals.constant),
      notesOf(told.notes.map(inWords), { testid: "stream-notes" }));
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

/** What would have cost less than what was done, before anything else. */
function constantOf({ always, saving, acts, logged_acts: logged }) {
  return h("p.notice#better-constant", inWords(always ? "Acting on every item" : "Passing every item"), " would have cost ",
    figure("constant.saving", saving.estimate, money(saving.estimate)), " less than what was done, ", figure("constant.low",
      saving.low, money(saving.low)), " at least",
    inWords(`, with ${count(acts)} items acted on instead of ${count(logged)}. Look at the costs under What if before you go on.`));
}

function tilesOf(totals) {
  const { capacity, counted, decided, label_delay_days: delay, shadow_price: price } = totals;
  const portion = (name, title, words = "") => tile(name, inWords(title), undefined, percent(share(totals[name], decided)),
    [figure(name, totals[name], count(totals[name])), ` of ${count(decided)} ${own.items}`], words);
  // the harder opponent first
  const rivals = ["saved", "saved_acting"].filter((name) => typeof totals[name]?.estimate === "number");
  rivals.sort((a, b) => totals[a].estimate - totals[b].estimate);
  const some = counted < decided && `about ${count(counted)} of ${count(decided)} ${own.items}; labels of the others are awaited`;
  const saved = (name) => estimateTile(name, "Saved", totals[name], money, [inWords(AGAINST[name]), some && h("br"), some]);
  return [
    ...(rivals.length ? rivals : ["saved"]).map(saved),
    estimateTile("cost", `Cost of what was ${own.acted}`, totals.cost, money, "the work, and false alarms"),
    estimateTile("precision", `Right among what was ${own.acted}`, totals.precision, percent, "precision, by the labels that came"),
    estimateTile("missed", capital(`${own.positives} missed`), totals.missed, count, "", "too few audits"),
    estimateTile("recall", `Share of ${own.positives} found`, totals.recall, percent, "", "too few audits"),
    portion("acted", capital(own.acted)), portion("explored", capital(`${own.acted} to learn`)),
      portion("audited", "Audited", "chosen by chance, to see what is missed"),
    tile("label_delay_days", "A label takes", delay, delay === null ? "–" : `${number(delay, 3)} days`,
      "half of the labels that came took longer"),
    tile("waiting", "Labels awaited", totals.waiting, count(totals.waiting),
      `${percent(totals.arrived)} of the labels have come`),
    capacity && tile("capacity", "Capacity used", undefined, percent(share(capacity.used, capacity.limit)),
      [figure("capacity.used", capacity.used, count(capacity.used)), " of ",
        figure("capacity.limit", capacity.limit, count(capacity.limit)), ` ${own.items}`]),
    price !== null && tile("shadow_price", "One more place would save", price, money(price),
      `what the next ${own.item} is expected to save, if there were a reviewer for it`),
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
    { kind: "money", zero: true, robust: true, label: own.currency ? `${own.currency} a day` : "money a day" }, [...ends(name, key, money), arrived],
    { type: "bars", tone, y: of(key, "estimate"), name: name.toLowerCase(), ...hatched },
      { ...whiskers(key, "ink", "90 % interval"), dots: false });
  const specs = [
    sums("saved", "Saved", inWords("Against passing everything."), "accent"),
    sums("cost", "Cost", `What was ${own.acted}: the work, and false alarms.`, "second"),
    chart("precision", `Right among what was ${own.acted}`, `The share of ${own.items} ${own.acted}, with a label, that were ${own.positives}.`,
      { kind: "share", zero: true, robust: true },
      [...ends("Precision", "precision", percent), ...counts("labelled", "positive"), arrived],
      { type: "shade", tone: "muted", ...hatched },
        whiskers("precision", "accent", "precision with its 90 % interval")),
    chart("shares", capital(`${own.acted}, to learn, audited`), `Shares of all ${own.items} of the day.`, { kind: "share", zero: true },
      counts("decided", "acted", "explored", "audited", "overruled"),
      ...[["acted", "accent"], ["explored", "second"], ["audited", "third"]].map(
        ([key, tone]) => ({ type: "line", tone, name: { acted: own.acted, explored: "to learn", audited: "audited" }[key], y: (row) => share(row[key], row.decided),
          dashed: key === "audited" }))),
    chart("arrived", "Labels arrived", `The share of the ${own.items} ${own.acted} on the day whose label is known by now.`,
      { kind: "share", domain: [0, 1] }, [arrived, ...counts("labelled", "waiting")],
      { type: "bars", tone: "third", y: (row) => row.arrived, name: "labels arrived", ...hatched },
        { type: "line", tone: "ink", dashed: true, y: () => 0.5, name: "half of the labels" }),
  ];
  if (rows.some((row) => row.capacity)) {
    specs.push(chart("capacity", "Capacity used", `How many were ${own.acted} on the day, beside how many there can be.`,
      { kind: "number", zero: true, label: `${own.items} a day` },
      ["used", "limit"].map((end) => column(end, `capacity.${end}`, count, of("capacity", end))),
      { type: "bars", tone: "accent", y: of("capacity", "used"), name: "used" },
        { type: "line", tone: "ink", dashed: true, y: of("capacity", "limit"), name: "limit" }));
  }
  return specs.filter(hasPoints);
}

/** Whether there is anything to draw: after the first decisions nothing is known of most charts. */
function hasPoints({ rows, layers }) {
  return layers.some(({ y, dashed }) => y && !dashed && rows.some((row) => Number.isFinite(y(row) ?? NaN)));
}
