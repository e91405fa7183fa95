// Pieces that the views of the stream, the model, what-if and health share: tiles, estimates in words, fields, and
// loading again when something happened.
import { Problem } from "./api.js";
import { figure, h, number, replace, trouble } from "./dom.js";

/** A heading of a view, with what stands beside it. */
export function heading(title, words, ...beside) {
  return h("header", { class: "view-head" }, h("div", {}, h("h1", {}, title), words && h("p", { class: "quiet" }, words)),
    beside.length > 0 && h("div", { class: "view-tools" }, beside));
}

/** A part of a view under a heading of its own. */
export function section(title, words, ...content) {
  return h("section", { class: "part" }, h("h2", {}, title), words && h("p", { class: "quiet" }, words), content);
}

/** A number with its name, and words below. */
export function tile(name, title, value, text, words = "", tone = "") {
  return h("div", { class: `tile ${tone}`.trim(), "data-testid": `tile-${name}` }, h("dt", {}, title),
    h("dd", {}, figure(name, value, text, { class: "tile-value" }), words && h("span", { class: "tile-words" }, words)));
}

/** An estimate with its interval, or the words that say why there is none. */
export function estimateTile(name, title, told, format, words = "", unknown = "cannot be told") {
  if (told && typeof told.estimate === "number") {
    return h("div", { class: "tile", "data-testid": `tile-${name}` }, h("dt", {}, title), h("dd", {},
      figure(name, told.estimate, format(told.estimate), { class: "tile-value" }), h("span", { class: "tile-words" }, interval(name, told, format)),
      words && h("span", { class: "tile-words" }, words)));
  }
    const why = told?.too_few ?? words;
  return h("div", { class: "tile unknown", "data-testid": `tile-${name}` }, h("dt", {}, title),
    h("dd", {}, figure(name, null, unknown, { class: "tile-value" }), why && h("span", { class: "tile-words" }, why)));
}

/** "12 to 34", each end a figure. */
export function interval(name, { low, high }, format = number) {
  if (typeof low !== "number" || typeof high !== "number") return null;
  return [figure(`${name}.low`, low, format(low)), " to ", figure(`${name}.high`, high, format(high))];
}

/**
 * Runs `load` now, and again after events of the stream: at most every `pause` milliseconds, one at a time, and not
 * while nobody looks. A problem is shown in `place` and does not end the view. Returns a function that ends it.
 */
export function follow(context, place, load, pause = 5000) {
  let timer = 0;
  let busy = false;
  let again = false;
  let over = false;
  const run = async () => {
    if (busy || over) {
      again = true;
      return;
    }
    busy = true;
    again = false;
    try {
      await load();
      if (place.dataset.trouble) replace(place);
      delete place.dataset.trouble;
    } catch (error) {
      if (error.name !== "AbortError") {
        if (!(error instanceof Problem)) throw error;
        place.dataset.trouble = "yes";
        replace(place, trouble(error));
      }
    } finally {
      busy = false;
      if (again) soon();
    }
  };
  const soon = () => {
    if (timer || over) return;
    timer = setTimeout(() => {
      timer = 0;
      if (document.hidden) again = true;
      else void run();
    }, pause);
  };
  const seen = () => {
    if (!document.hidden && again) void run();
  };
  const stop = context.live?.watch(() => (busy ? (again = true) : soon()));
  document.addEventListener("visibilitychange", seen);
  return {
    run,
    stop() {
      over = true;
      clearTimeout(timer);
      stop?.();
      document.removeEventListener("visibilitychange", seen);
    },
  };
}

/** Sentences of the service as a list. */
export function notesOf(lines, props = {}) {
  return lines?.length > 0 && h("ul", { class: "notes", ...props }, lines.map((line) => h("li", {}, line[0].toUpperCase() + line.slice(1))));
}

let fields = 0;

/** A label, its field, and help below. */
export function field(title, input, help = "") {
  const id = input.id || `field-${(fields += 1)}`;
  input.id = id;
  if (help) input.setAttribute("aria-describedby", `${id}-help`);
  return h("div", { class: "field" }, h("label", { for: id }, title), input, help && h("p", { class: "hint", id: `${id}-help` }, help));
}

/** A list of choices: [value, words] each. */
export function choice(values, chosen, onchange, props = {}) {
  const select = h("select", { ...props, onchange: () => onchange(select.value) },
    values.map(([value, words]) => h("option", { value, selected: value === chosen }, words)));
  return select;
}

/** Copies a text, and says so on the button. */
export function copyButton(text, props = {}) {
  const button = h("button", { type: "button", class: "button small", ...props, onclick: async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Select the text and copy";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2500);
  } }, "Copy");
  return button;
}
