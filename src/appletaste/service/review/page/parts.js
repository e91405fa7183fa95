// Pieces that the views of the stream, the model, what-if and health share: tiles, estimates in words, fields, and
// loading again when something happened.
import { api, Problem } from "./api.js";
import { count, figure, h, on, openDialog, part, replace, template, trouble } from "./dom.js";
import { told as inWords } from "./words.js";

/** What can come of a decision, in the words of the guide: the name in the service, the title, and what it costs. */
export const OUTCOMES = [...template("outcomes").querySelectorAll("dt")].map((one) => [one.dataset.outcome,
  one.textContent, one.nextElementSibling.textContent]);

/** Why acting would never, or always, pay: `gain` is what an act saves on a positive, `alarm` its cost on a negative. */
export const costsProblem = (gain, alarm) => (!(gain > 0)
  ? "A miss must cost more than a hit, or acting would never pay."
  : !(alarm > 0) ? "A false alarm must cost more than an item rightly passed, or acting would always pay." : "");

/** A heading of a view, with what stands beside it. */
export function heading(title, words, ...beside) {
  return h("header.view-head", h("div", h("h1", title), words && h("p.quiet", words)),
    beside);
}

/** A part of a view under a heading of its own. */
export function section(title, words, ...content) {
  return h("section.part", h("h2", title), words && h("p.quiet", words), content);
}

/** A number with its name, and words below; a value that the service did not say has no figure. */
export function tile(name, title, value, text, ...words) {
  return h("div.tile", { testid: `tile-${name}` }, h("dt", title),
    h("dd", value === undefined ? h("span.tile-value", text) : figure(name, value, text, { class: "tile-value" }),
    words.filter(Boolean).map((one) => h("span.tile-words", one))));
}

/** An estimate with its interval, or the words that say why there is none. */
export function estimateTile(name, title, told, format, words = "", unknown = "cannot be told") {
  if (typeof told?.estimate !== "number") return tile(name, title, null, unknown, told?.too_few ? sentence(inWords(told.too_few)) : words);
  const end = (key) => figure(`${name}.${key}`, told[key], format(told[key]));
  return tile(name, title, told.estimate, format(told.estimate),
    typeof told.low === "number" && [end("low"), " to ", end("high")], words);
}

/** Says how far the record is read, until the function that is returned is called: after a start that takes a while. */
export function whileReading(context, place) {
  let over = false;
  const look = async () => {
    try {
      const { read, events } = await api.get(context.path("progress"), { signal: context.signal });
      if (!over && read < events) {
        replace(place, h("p.working#reading-record", { role: "status" }, "The first numbers after a start: ",
          figure("read", read, count(read)), ` of ${count(events)} events of the record are read.`));
      }
    } catch {
      // whoever asked for the numbers hears what is wrong
    }
    if (!over) timer = setTimeout(look, 1000);
  };
  let timer = setTimeout(look, 800);
  return () => {
    over = true;
    clearTimeout(timer);
    part(place, "reading-record")?.remove();
  };
}

/**
 * Runs `load` now, and again after events of the stream: at most every `pause` milliseconds, one at a time, and not
 * while nobody looks. A problem is shown in `place` and does not end the view. Returns `{ run, stop }`.
 */
export function follow(context, place, load, pause = 5000) {
  let timer = 0;
  let busy = false;
  // "soon": something happened; "now": somebody waits for it
  let again = "";
  let over = false;
  let first = true;
  const run = async () => {
    if (busy) again = "now";
    if (busy || over) return;
    busy = true;
    again = "";
    const read = first && whileReading(context, place);
    first = false;
    try {
      await load();
      if (read) read();
      replace(place);
    } catch (error) {
      if (!(error instanceof Problem) && error.name !== "AbortError") throw error;
      if (error instanceof Problem) replace(place, trouble(error));
    } finally {
      if (read) read();
      busy = false;
      if (again === "now") void run();
      else if (again) soon();
    }
  };
  const soon = () => {
    again ||= "soon";
    if (!busy && !over) {
      timer ||= setTimeout(() => {
        timer = 0;
        if (!document.hidden) void run();
      }, pause);
    }
  };
  const stops = [context.live?.watch(soon), on(document, "visibilitychange",
    () => !document.hidden && again && void run())];
  const stop = () => {
    over = true;
    clearTimeout(timer);
    stops.forEach((one) => one?.());
  };
  return { run, stop };
}

/** A dialog with one thing to do; what is refused is said in the dialog. */
export function ask(title, content, verb, testid, act, wide = false) {
  const problem = h("div");
  const go = h("button.button.primary", { type: "submit", testid: `${testid}-confirm` }, verb);
  const form = h("form", { novalidate: true, onsubmit: async (event) => {
    event.preventDefault();
    go.disabled = true;
    try {
      await act();
      dialog.close();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      replace(problem, trouble(error));
      go.disabled = false;
    }
  } }, content, problem, h("div.dialog-end", h("button.button", { onclick: () => dialog.close() }, "Cancel"), go));
  const dialog = openDialog(title, form, { testid: `${testid}-dialog`, wide });
  (form.querySelector("textarea") ?? go).focus();
}

export const sentence = (words) => words.charAt(0).toUpperCase() + words.slice(1);

/** Sentences of the service as a list. */
export const notesOf = (lines, props = {}) => lines?.length > 0
  && h("ul.notes", props, lines.map((line) => h("li", sentence(line))));

let fields = 0;

/** A label, its field, and help below. */
export function field(title, input, help = "") {
  const id = input.id || `field-${(fields += 1)}`;
  input.id = id;
  if (help) input.setAttribute("aria-describedby", `${id}-help`);
  return h("div.field", h("label", { for: id }, title), input, help && h("p.hint", { id: `${id}-help` }, help));
}

/** A list of choices: [value, words] each. */
export function choice(values, chosen, onchange, props = {}) {
  const select = h("select", { ...props, onchange: () => onchange(select.value) },
    values.map(([value, words]) => h("option", { value, selected: value === chosen }, words)));
  return select;
}
