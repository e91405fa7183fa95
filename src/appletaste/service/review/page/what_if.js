// What would happen under other costs, another threshold, capacity or audit rate; and, with `admin`, making it so.
import { api } from "./api.js";
import { column, intervals } from "./charts.js";
import { count, day, emptyState, figure, h, money, notify, number, part, percent, replace, template,
  trouble } from "./dom.js";
import { ask, costsProblem, estimateTile, heading, notesOf, OUTCOMES, tile } from "./parts.js";
import { address } from "./places.js";
import { capital, told as inWords, words as own } from "./words.js";

// milliseconds without a movement before the service is asked
const PAUSE = 250;
const perCent = (value) => `${number(value)} %`;

export async function show(root, context) {
  const question = (body, signal = context.signal) => api.post(context.path("what-if"), body, { signal });
  const stream = context.state?.state ?? await api.get(context.path(), { signal: context.signal });
  const head = heading("What if", "Move a slider. Nothing changes in the stream until somebody applies it.");
  const { first, last } = await api.get(context.path("days"), { signal: context.signal });
  if (!last) {
    replace(root, head, emptyState("No decisions yet",
      "What if is asked of decisions that were made: come back after the first ones."));
    return null;
  }
  let told = await question({});
  // what the costs below are about, and what today comes to at the costs of today
  const period = `${first === last ? day(first) : `${day(first)} to ${day(last)}`}`;
  const atFirst = told.now.cost;
  const { now } = told;
  const byItem = OUTCOMES.some(([name]) => typeof stream.costs[name] === "string");
  const start = { threshold: null, capacity: leading(now.capacity, "/day"), audit: leading(now.audit, "%") };
  for (const [name] of OUTCOMES) start[name] = byItem ? 0 : stream.costs[name] ?? 0;
  const wanted = { ...start };
  let asking = null;
  let timer = 0;

  /** What differs from today, as the service takes it. */
  const changes = () => {
    const [body, differs] = [{}, (name) => wanted[name] !== start[name]];
    if (OUTCOMES.some(([name]) => differs(name))) body.costs = Object.fromEntries(OUTCOMES.map(([name]) => [name,
      wanted[name]]));
    if (differs("threshold")) body.threshold = wanted.threshold / 100;
    if (differs("capacity")) body.capacity = wanted.capacity === null ? null : `${wanted.capacity}/day`;
    if (differs("audit")) body.audit = wanted.audit === null ? null : `${wanted.audit}%`;
    return body;
  };
  const changed = () => {
    const { threshold, ...rest } = changes();
    apply.disabled = Object.keys(rest).length === 0;
    reset.disabled = apply.disabled && threshold === undefined;
    asking?.abort();
    clearTimeout(timer);
    const wrong = rest.costs ? costsProblem(wanted.miss - wanted.hit, wanted.false_alarm - wanted.correct_pass) : "";
    replace(problem, wrong && h("p.notice#costs-problem", { role: "alert" }, wrong));
    results.setAttribute("aria-busy", String(!wrong));
    if (wrong) apply.disabled = true;
    else timer = setTimeout(answer, PAUSE);
  };
  const answer = async () => {
    const mine = new AbortController();
    asking = mine;
    try {
      told = await question(changes(), mine.signal);
      if (asking !== mine) return;
      replace(problem);
      draw();
    } catch (error) {
      if (error.name === "AbortError" || asking !== mine) return;
      replace(problem, trouble(error));
    }
    results.setAttribute("aria-busy", "false");
  };
  const draw = () => {
    replace(numbers, numbersOf(told, period), movedOf(told, atFirst, changes()));
    replace(short, shortOf(told));
    picture.update(pictureOf(told));
    picture.element.hidden = typeof told.cost.estimate !== "number";
    replace(more, moreOf(told, context));
  };
  const set = (name, value) => {
    wanted[name] = value;
    changed();
  };
  const largest = Math.max(1, ...OUTCOMES.map(([name]) => Math.abs(start[name])));
  const other = (text, value) => (text && value === null ? ` Today: ${text}.` : "");
  const controls = [
    ...(byItem ? [] : OUTCOMES.map(([name, title, help]) => slider(name, `${title} costs`, inWords(help), wanted, set,
      costRange(start[name], largest)))),
    slider("threshold", inWords("Act from a chance of, in %"), "Empty: the threshold that follows from the costs.", wanted, set,
      { high: 100 ** (1 / 3), most: 100, power: 3, step: 0.01, text: perCent,
        empty: Number(((told.threshold ?? 0.1) * 100).toPrecision(3)) }),
    slider("capacity", inWords("Acts a day"), `Empty: as many as pay.${other(now.capacity, start.capacity)}`, wanted, set,
      { high: Math.max(10, Math.ceil(3 * (start.capacity ?? told.acts_a_day))), step: 1, text: count,
        empty: Math.round(told.acts_a_day) }),
    slider("audit", "Audit rate, in %",
      `${inWords("Share of passes that are acted on to learn what is missed.")} Empty: none.${other(now.audit, start.audit)}`, wanted,
      set,
      { high: 20, most: 100, step: 0.1, text: perCent, empty: 0 }),
  ];
  const short = h("p.what-if-short#what-if-short", { "aria-live": "polite" });
  const apply = h("button.button.primary#apply", { disabled: true, onclick: () => void openApply() }, "Apply …");
  const reset = h("button.button#what-if-reset", { disabled: true, onclick: () => {
    Object.assign(wanted, start);
    controls.forEach((one) => one.draw());
    changed();
  } }, "Back to today");
  const [problem, numbers, more, picture] = [h("div"), h("div"), h("div.step-part"), intervals(pictureOf(told))];
  const results = h("div.what-if-results#what-if-results", { "aria-live": "polite", "aria-busy": "false" }, problem,
    numbers, picture.element, more);
  replace(root, head, h("div.what-if",
    h("form.card.what-if-form#what-if-form", { onsubmit: (event) => event.preventDefault() },
      byItem && h("p.notice", `The costs of this stream are formulas over columns, and stay as they are: ${Object.entries(stream.costs).map((pair) => pair.join(" = ")).join(", ")}.`),
      controls.map((one) => one.element),
      context.can("admin") && h("p.hint",
        "A threshold cannot be applied by itself: the threshold follows from the costs.")), results),
  h("div.what-if-bar#what-if-bar", short, h("div.row", context.can("admin") && apply, reset)));
  draw();

  const openApply = async () => {
    const { threshold, ...rest } = changes();
    // a threshold is not applied, so that the words must be about the rest
    const past = threshold === undefined ? told : await question(rest);
    const said = { capacity: [inWords("Acts a day"), count, "as many as pay"], audit: ["Audit rate", perCent, "none"] };
    const line = (name) => {
      const [title, text, none] = said[name];
      const word = (value) => (value === null ? none : text(value));
      return `${title}: ${word(wanted[name])} instead of ${word(start[name])}.`;
    };
    const words = [...OUTCOMES.filter(([name]) => wanted[name] !== start[name]).map(
      ([name, title]) => `${title} costs ${money(wanted[name])} instead of ${money(start[name])}.`),
    ...Object.keys(said).filter((name) => name in rest).map(line)];
    const content = template("apply");
    const list = (name, lines) => replace(part(content, `apply-${name}`), lines.map((one) => h("li", one)));
    list("changes", words);
    list("words", past.words.map(inWords));
    part(content, "apply-by").textContent = context.key.name;
    ask("Apply these settings?", content, "Apply from now on", "apply", async () => {
      const events = [];
      for (const [name, value] of Object.entries(rest)) {
        events.push((await api.post(context.path(name), { [name]: value, by: context.key.name })).seq);
        for (const one of name === "costs" ? OUTCOMES.map((cost) => cost[0]) : [name]) start[one] = wanted[one];
      }
      notify(`Applied: ${events.length === 1 ? "event" : "events"} ${events.map(count).join(" and ")} of the record.`);
      void context.state?.load();
      changed();
    }, true);
  };
  return () => {
    clearTimeout(timer);
    asking?.abort();
    picture.remove();
  };
}

/** The number before a unit, "120/day" or "2%"; null for none, or for another way to say it. */
const leading = (text, unit) => (text?.endsWith(unit) && Number.isFinite(parseFloat(text)) ? parseFloat(text) : null);

function costRange(value, largest) {
  const reach = Math.max(Math.abs(value) * 3, largest / 2);
  const step = 10 ** (Math.floor(Math.log10(reach)) - 2);
  return { low: value < 0 ? value - reach : 0, high: value + reach, step, text: money, empty: 0, needed: true };
}

/**
 * A slider and a number field that say the same. A number outside of the slider's range widens the range; `power` gives
 * small numbers more room.
 */
function slider(name, title, help, wanted, set, { low = 0, high, step, text, empty, needed = false, most = Infinity,
  power = 1 }) {
  const id = `what-if-${name}`;
  const told = (value) => {
    field.setAttribute("aria-invalid", "false");
    range.setAttribute("aria-valuetext", text(value ?? empty));
  };
  const place = (value) => {
    const spot = (value ?? empty) < 0 ? value : (value ?? empty) ** (1 / power);
    range.max = String(Math.max(range.max, spot));
    range.min = String(Math.min(range.min, spot));
    range.value = String(spot);
    told(value);
  };
  const range = h("input", { type: "range", testid: `${id}-range`, min: low, max: high, step: power === 1 ? step : 0.01,
    "aria-label": `${title}, slider`, oninput: () => {
    const value = Number((Math.round(Number(range.value) ** power / step) * step).toPrecision(12));
    field.value = String(value);
    told(value);
    set(name, value);
  } });
  const field = h("input", { type: "number", id, testid: id, step: "any", placeholder: needed ? "" : text(empty),
    inputmode: "decimal", "aria-describedby": `${id}-help`, oninput: () => {
    const value = field.value.trim() === "" ? null : Number(field.value);
    if (field.validity.badInput || (value === null ? needed : !needed
      && (value < 0 || value > most))) return field.setAttribute("aria-invalid", "true");
    place(value);
    return set(name, value);
  } });
  const draw = () => {
    field.value = wanted[name] ?? "";
    place(wanted[name]);
  };
  draw();
  return { draw, element: h("div.slider", h("label", { for: id }, title), field, range,
    h("p.hint", { id: `${id}-help` }, help)) };
}

/** The outcome in one line, which stays in view beside Apply. */
function shortOf({ now, acts_a_day: acts, cost }) {
  const known = typeof cost.estimate === "number" && typeof now.cost.estimate === "number";
  return [`${capital(own.items)} ${own.acted} a day: `, h("strong", number(acts, 3)), ` (today ${number(now.acts_a_day, 3)})`,
    known && [". Cost: ", h("strong", money(cost.estimate)), ` (today ${money(now.cost.estimate)})`], "."];
}

/** What moved and why: other costs count for today's settings, too. */
function movedOf({ now }, atFirst, { costs }) {
  const moved = costs && typeof now.cost.estimate === "number" && now.cost.estimate !== atFirst.estimate;
  return moved && h("p.notice.calm-notice#what-moved",
    "Today's settings are counted at the costs on the left, too, so that both are judged by the same money: ",
    figure("today.cost", now.cost.estimate, money(now.cost.estimate)), `; at the costs of today ${money(atFirst.estimate)}. `,
    "What changes by your settings is the difference of the two lines below.");
}

function numbersOf(told, period) {
  const { now } = told;
  const from = (value) => (value === null ? "by item" : percent(value));
  return h("dl.tiles",
    tile("threshold", `${capital(own.acted)} from a chance of`, told.threshold, from(told.threshold), `today ${from(now.threshold)}`),
    tile("acts_a_day", `${capital(own.acted)} a day`, told.acts_a_day, number(told.acts_a_day, 3), `today ${number(now.acts_a_day, 3)}`),
    estimateTile("cost", "Estimated cost", told.cost, money, [
      typeof now.cost.estimate === "number" && `with today's settings ${money(now.cost.estimate)}`, h("br"),
      `in all, for the ${count(told.decisions)} ${own.items} of ${period} that can be told`]),
    tile("flip_count", "Cases that flip", told.flip_count, count(told.flip_count),
      `of ${count(told.decisions)} decisions`));
}

/** The cost then beside the cost now, with their intervals. */
function pictureOf(told) {
  return {
    testid: "chart-what-if", title: inWords("Cost, relative to passing everything"),
      rows: [{ settings: "then", ...told.cost }, { settings: "today", ...told.now.cost }],
    words: inWords("Below 0, acting pays.") + " Points are estimates, lines 90 % intervals: where lines overlap much, the difference may be chance.",
    columns: [column("Settings", "", String, (row) => row.settings), column("Cost", "estimate", money),
      column("90 % from", "low", money), column("to", "high", money)],
    label: (row) => row.settings, middle: (row) => row.estimate, outside: (row) => [row.low, row.high],
      tone: (row) => (row.settings === "then" ? "accent" : "muted"), x: { kind: "money" },
  };
}

function moreOf(told, context) {
  const word = (act) => h("td", h(act ? "span.badge.warm" : "span.badge", act ? own.acted : own.passed));
  const [cases, some] = [template("flips"), told.flips.length];
  part(cases, "no-flips").hidden = some > 0;
  cases.querySelector("div").hidden = some === 0;
  replace(part(cases, "flip-rows"), told.flips.map((flip) => h("tr",
    h("th", { scope: "row" }, h("a", { href: address(context.stream, "case", flip.id) }, flip.id)),
    h("td.num", figure("flip.chance", flip.chance, percent(flip.chance))), word(flip.act_now), word(flip.act_then))));
  replace(part(cases, "flips-shown"), told.flip_count > some
    && `The latest ${count(some)} of ${count(told.flip_count)}.`);
  return [notesOf(told.words.map(inWords), { testid: "what-if-words" }), cases];
}
