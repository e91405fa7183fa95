// What would happen under other costs, another threshold, capacity or audit rate; and, with `admin`, making it so.
import { api } from "./api.js";
import { intervals } from "./charts.js";
import { count, figure, h, money, notify, number, openDialog, percent, replace, trouble } from "./dom.js";
import { estimateTile, heading, notesOf, tile } from "./parts.js";
import { address } from "./places.js";

const PAUSE = 250; // milliseconds without a movement before the service is asked
const COSTS = [
  ["miss", "A miss costs", "A positive that was passed: what you lose, after what is recovered."],
  ["false_alarm", "A false alarm costs", "A negative that was acted on: the work, and the harm of it."],
  ["hit", "A hit costs", "A positive that was acted on: the work, less what is gained by it."],
  ["correct_pass", "A correct pass costs", "A negative that was passed; 0 for most."],
];

export async function show(root, context) {
  const stream = context.state?.state ?? await api.get(context.path(), { signal: context.signal });
  const today = await api.post(context.path("what-if"), {}, { signal: context.signal });
  const wanted = settingsOf(stream, today);
  const start = { ...wanted };
  const byItem = COSTS.some(([name]) => typeof stream.costs[name] === "string");
  let asking = null;
  let timer = 0;
  let answered = today;

  const picture = intervals(pictureOf(today));
  const [problem, numbers, more] = [h("div"), h("div"), h("div", { class: "step-part" })];
  const draw = (told) => {
    replace(problem);
    replace(numbers, numbersOf(told));
    picture.update(pictureOf(told));
    picture.element.hidden = typeof told.cost.estimate !== "number";
    replace(more, moreOf(told, context));
  };
  const results = h("div", { class: "what-if-results", "aria-live": "polite", "aria-busy": "false", "data-testid": "what-if-results" }, problem, numbers, picture.element, more);
  const apply = h("button", { type: "button", class: "button primary", "data-testid": "apply", disabled: true, onclick: () => openApply() }, "Apply …");
  const reset = h("button", { type: "button", class: "button", "data-testid": "what-if-reset", disabled: true, onclick: () => {
    Object.assign(wanted, start);
    controls.forEach((one) => one.draw());
    changed();
  } }, "Back to today");

  const changed = () => {
    const differs = Object.keys(bodyOf(wanted, start)).length > 0;
    reset.disabled = !differs;
    apply.disabled = Object.keys(applicable(wanted, start)).length === 0;
    clearTimeout(timer);
    timer = setTimeout(ask, PAUSE);
  };
  const ask = async () => {
    asking?.abort();
    const mine = new AbortController();
    asking = mine;
    results.setAttribute("aria-busy", "true");
    try {
      const told = await api.post(context.path("what-if"), bodyOf(wanted, start), { signal: mine.signal });
      if (asking !== mine) return;
      answered = told;
      draw(told);
    } catch (error) {
      if (error.name === "AbortError" || asking !== mine) return;
      replace(problem, trouble(error));
    }
    results.setAttribute("aria-busy", "false");
  };

  const set = (name, value) => {
    wanted[name] = value;
    changed();
  };
  const least = Math.max(1, ...COSTS.map(([name]) => Math.abs(start[name]) || 0));
  const controls = [
    ...(byItem ? [] : COSTS.map(([name, title, help]) => slider(name, title, help, wanted, set, costRange(start[name], least)))),
    slider("threshold", "Act from a chance of, in %", "Empty: the threshold that follows from the costs.", wanted, set,
      { low: 0, high: 100 ** (1 / 3), most: 100, power: 3, step: 0.01, text: (value) => `${number(value)} %`, empty: Number(((today.threshold ?? 0.1) * 100).toPrecision(3)) }),
    slider("capacity", "Acts a day", `Empty: as many as pay.${start.capacity === null ? otherText(today.now.capacity) : ""}`, wanted, set,
      { low: 0, high: Math.max(10, Math.ceil(3 * (start.capacity ?? today.acts_a_day ?? 100))), step: 1, text: count, empty: Math.round(today.acts_a_day ?? 100) }),
    slider("audit", "Audit rate, in %", `Share of passes that are acted on to learn what is missed. Empty: none.${start.audit === null ? otherText(today.now.audit) : ""}`, wanted, set,
      { low: 0, high: 20, most: 100, step: 0.1, text: (value) => `${number(value)} %`, empty: 0 }),
  ];
  replace(root, heading("What if", "Move a slider. Nothing changes in the stream until somebody applies it."),
    h("div", { class: "what-if" },
      h("form", { class: "card what-if-form", "data-testid": "what-if-form", onsubmit: (event) => event.preventDefault() },
        byItem && h("p", { class: "notice" }, "The costs of this stream are formulas over columns; they stay as the stream was created with. "
          + `Today: ${COSTS.filter(([name]) => name in stream.costs).map(([name]) => `${name} = ${stream.costs[name]}`).join(", ")}.`),
        controls.map((one) => one.element),
        h("div", { class: "row" }, context.can("admin") && apply, reset),
        context.can("admin") && h("p", { class: "hint" }, "A threshold cannot be applied by itself: the threshold follows from the costs.")),
      results));
  draw(today);

  function openApply() {
    const changes = applicable(wanted, start);
    const problem = h("div");
    const confirm = h("button", { type: "button", class: "button primary", "data-testid": "apply-confirm", onclick: async () => {
      confirm.disabled = true;
      try {
        const events = [];
        for (const [name, body] of Object.entries(changes)) {
          const { seq } = await api.post(context.path(name), { ...body.send, by: context.key.name });
          events.push(seq);
          for (const one of body.names) start[one] = wanted[one];
        }
        dialog.close();
        notify(events.length === 1 ? `Applied: event ${count(events[0])} of the record.` : `Applied: events ${events.map(count).join(" and ")} of the record.`);
        void context.state?.load();
        changed();
      } catch (error) {
        replace(problem, trouble(error));
        confirm.disabled = false;
      }
    } }, "Apply from now on");
    const lines = Object.values(changes).flatMap((one) => one.words);
    const dialog = openDialog("Apply these settings?", h("div", { class: "apply" },
      h("p", {}, "From the next decision on:"),
      h("ul", { "data-testid": "apply-changes" }, lines.map((line) => h("li", {}, line))),
      answered.words?.length > 0 && [h("p", {}, "On the decisions of the past, that would have meant:"),
        h("ul", { class: "quiet", "data-testid": "apply-words" }, answered.words.map((line) => h("li", {}, line)))],
      h("p", { class: "quiet" }, `The record keeps who changed it and when: ${context.key.name}, now.`), problem,
      h("div", { class: "dialog-end" }, h("button", { type: "button", class: "button", onclick: () => dialog.close() }, "Cancel"), confirm)),
    { testid: "apply-dialog", wide: true });
    confirm.focus();
  }
  return () => {
    clearTimeout(timer);
    asking?.abort();
    picture.remove();
  };
}

/** Today's settings as numbers; null: none, or as the costs say. */
function settingsOf(stream, today) {
  const costs = Object.fromEntries(COSTS.map(([name]) => [name, Number(stream.costs[name] ?? 0)]));
  const capacity = /^([\d.]+)\/day/.exec(today.now.capacity ?? "");
  const audit = /^([\d.]+)\s*%/.exec(today.now.audit ?? "");
  return { ...costs, threshold: null, capacity: capacity ? Number(capacity[1]) : null, audit: audit ? Number(audit[1]) : null };
}

/** What is asked: only what differs from today. */
function bodyOf(wanted, start) {
  const body = {};
  if (COSTS.some(([name]) => wanted[name] !== start[name])) body.costs = Object.fromEntries(COSTS.map(([name]) => [name, wanted[name]]));
  if (wanted.threshold !== start.threshold) body.threshold = wanted.threshold / 100;
  if (wanted.capacity !== start.capacity) body.capacity = capacityText(wanted.capacity);
  if (wanted.audit !== start.audit) body.audit = auditText(wanted.audit);
  return body;
}

const capacityText = (value) => (value === null ? null : `${value}/day`);
const auditText = (value) => (value === null ? null : `${value}%`);
const otherText = (text) => (text ? ` Today: ${text}.` : "");

/** What can be applied, by route: the body, the settings in it, and the words. */
function applicable(wanted, start) {
  const found = {};
  const costs = COSTS.filter(([name]) => wanted[name] !== start[name]);
  if (costs.length) {
    found.costs = {
      send: { costs: Object.fromEntries(COSTS.map(([name]) => [name, wanted[name]])) }, names: COSTS.map(([name]) => name),
      words: costs.map(([name, title]) => `${title} ${money(wanted[name])} instead of ${money(start[name])}.`),
    };
  }
  if (wanted.capacity !== start.capacity) {
    const said = (value) => (value === null ? "as many as pay" : count(value));
    found.capacity = { send: { capacity: capacityText(wanted.capacity) }, names: ["capacity"], words: [`Acts a day: ${said(wanted.capacity)} instead of ${said(start.capacity)}.`] };
  }
  if (wanted.audit !== start.audit) {
    const said = (value) => (value === null ? "none" : `${number(value)} %`);
    found.audit = { send: { audit: auditText(wanted.audit) }, names: ["audit"], words: [`Audit rate: ${said(wanted.audit)} instead of ${said(start.audit)}.`] };
  }
  return found;
}

function costRange(value, least) {
  const reach = Math.max(Math.abs(value) * 3, least / 2);
  const step = 10 ** (Math.floor(Math.log10(reach)) - 2);
  const round = (one) => Math.round(one / step) * step;
  return { low: value < 0 ? round(value - reach) : 0, high: round(value + reach), step, text: money, empty: 0, needed: true };
}

/**
 * A slider and a number field that say the same. A number outside of the slider's range widens the range; `power` gives
 * small numbers more room.
 */
function slider(name, title, help, wanted, set, { low, high, step, text, empty, needed = false, most = Infinity, power = 1 }) {
  const id = `what-if-${name}`;
  const range = h("input", { type: "range", id: `${id}-range`, min: low, max: high, step: power === 1 ? step : 0.01, "aria-label": `${title}, slider`, "data-testid": `${id}-range`,
    oninput: () => {
      const value = Number((Math.round(Number(range.value) ** power / step) * step).toPrecision(12));
      field.value = String(value);
      field.setAttribute("aria-invalid", "false");
      tell(value);
      set(name, value);
    } });
  const field = h("input", { type: "number", id, step: "any", placeholder: needed ? "" : text(empty), inputmode: "decimal", "aria-describedby": `${id}-help`, "data-testid": id,
    oninput: () => {
      const value = field.value.trim() === "" ? null : Number(field.value);
      const wrong = field.validity.badInput || (value === null ? needed : !needed && (value < 0 || value > most));
      field.setAttribute("aria-invalid", String(wrong));
      if (wrong) return;
      place(value);
      set(name, value);
    } });
  const tell = (value) => range.setAttribute("aria-valuetext", text(value));
  const place = (value) => {
    const shown = value ?? empty;
    const spot = shown < 0 ? shown : shown ** (1 / power);
    if (spot > Number(range.max)) range.max = String(spot);
    if (spot < Number(range.min)) range.min = String(spot);
    range.value = String(spot);
    tell(shown);
  };
  const draw = () => {
    field.value = wanted[name] === null ? "" : String(wanted[name]);
    field.setAttribute("aria-invalid", "false");
    place(wanted[name]);
  };
  draw();
  const element = h("div", { class: "slider" }, h("label", { for: id }, title), field, range, h("p", { class: "hint", id: `${id}-help` }, help));
  return { element, draw };
}

function numbersOf(told) {
  const { now } = told;
  const from = (value) => (typeof value === "number" ? percent(value) : "by item");
  return h("dl", { class: "tiles" },
    tile("threshold", "Acts from a chance of", told.threshold, from(told.threshold), `today ${from(now.threshold)}`),
    tile("acts_a_day", "Acts a day", told.acts_a_day, number(told.acts_a_day, 3), `today ${number(now.acts_a_day, 3)}`),
    estimateTile("cost", "Estimated cost", told.cost, money, typeof now.cost.estimate === "number" ? `with today's settings ${money(now.cost.estimate)}` : ""),
    tile("flip_count", "Cases that flip", told.flip_count, count(told.flip_count), `of ${count(told.decisions)} decisions`));
}

/** The cost then beside the cost now, with their intervals. */
function pictureOf(told) {
  const rows = [["then", told.cost], ["today", told.now.cost]];
  const column = (name, key) => ({ name, key, value: (row) => row[1][key], text: (value) => money(value) });
  return {
    testid: "chart-what-if", title: "Cost, relative to passing everything", words: "Below 0, acting pays. Points are estimates, lines 90 % intervals: where lines overlap much, the difference may be chance.", rows,
    columns: [{ name: "Settings", value: (row) => row[0], text: (value) => value }, column("Cost", "estimate"), column("90 % from", "low"), column("to", "high")],
    label: (row) => row[0], middle: (row) => row[1].estimate, outside: (row) => [row[1].low, row[1].high], tone: (row) => (row[0] === "then" ? "accent" : "muted"), x: { kind: "money" },
  };
}

function moreOf(told, context) {
  return [
    notesOf(told.words, { "data-testid": "what-if-words" }),
    h("section", { class: "card" }, h("h2", {}, "Cases that would flip"), told.flips.length === 0
      ? h("p", { class: "quiet" }, "None of the decisions in the log would be another.")
      : h("div", { class: "scroll-x flips", tabindex: "0", role: "region", "aria-label": "Cases that would flip" }, h("table", { "data-testid": "flips" },
        h("thead", {}, h("tr", {}, ["Case", "Chance", "Decided", "Would be"].map((name, k) => h("th", { scope: "col", class: k === 1 ? "num" : "" }, name)))),
        h("tbody", {}, told.flips.map((flip) => h("tr", {}, h("th", { scope: "row" }, h("a", { href: address(context.stream, "case", flip.id) }, flip.id)),
          h("td", { class: "num" }, figure("flip.chance", flip.chance, percent(flip.chance))), h("td", {}, word(flip.act_now)), h("td", {}, word(flip.act_then))))))),
    told.flip_count > told.flips.length && h("p", { class: "hint" }, `The latest ${count(told.flips.length)} of ${count(told.flip_count)}.`)),
  ];
}

const word = (act) => h("span", { class: `badge ${act ? "warm" : ""}` }, act ? "act" : "pass");
