// Small helpers for all views: elements, figures, words for numbers and times.
//
//   h("p.quiet#why", { onclick: go }, "text", anotherElement)         an element with classes and a data-testid; text
//   svg("path.axis", { d: "M0 0" })                                   never becomes markup; the same for SVG
//   figure("waiting", 312), share("low", 0.1), price("hit", 4)        a number with data-name and data-value for tests
//   number(3.14159), percent(0.183), money(1234.5), count(9164)       words; "–" where there is no number
//   moment(time), ago(time)                                           <time> in the reader's zone, full time as title
//   template("bar"), part(root, "mode")                               what is static stands in index.html
//   replace(parent, ...children), on(target, type, listener)          `on` returns a function that takes it back

import { told, words } from "./words.js";

const NONE = "–";
/** Numbers and dates as the reader's browser writes them. */
export const LOCALE = navigator.language || "en";
const SVG = "http://www.w3.org/2000/svg";

function fill(tag, make, [first, ...rest]) {
  const [path, testid] = tag.split("#");
  const [kind, ...classes] = path.split(".");
  const element = make(kind);
  const given = first?.constructor === Object;
  if (kind === "button") element.type = "button";
  if (testid) element.dataset.testid = testid;
  if (classes.length) element.classList.add(...classes);
  for (const [name, value] of Object.entries(given ? first : {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.classList.add(...value.split(" ").filter(Boolean));
    else if (name === "style") Object.assign(element.style, value);
    else if (name === "value" && "value" in element) element.value = value;
    else element.setAttribute(name === "testid" ? "data-testid" : name, value === true ? "" : String(value));
  }
  return add(element, given ? rest : [first, ...rest]);
}

function add(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

export function h(tag, ...rest) {
  return fill(tag, (kind) => document.createElement(kind), rest);
}

export function svg(tag, ...rest) {
  return fill(tag, (kind) => document.createElementNS(SVG, kind), rest);
}

export function replace(parent, ...children) {
  parent.replaceChildren();
  return add(parent, children);
}

/** A copy of a template of index.html, in the words of the team, and an element in it by its data-testid. */
export function template(id) {
  const made = document.getElementById(`${id}-template`).content.firstElementChild.cloneNode(true);
  const texts = document.createTreeWalker(made, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { currentNode: text } = texts;
    if (!text.parentElement.closest("code, pre, kbd")) text.data = told(text.data);
  }
  return made;
}

export function part(root, testid) {
  return root.querySelector(`[data-testid="${testid}"]`);
}

export function on(target, type, listener, options) {
  target.addEventListener(type, listener, options);
  return () => target.removeEventListener(type, listener, options);
}

// ---- numbers

const known = (value) => typeof value === "number" && Number.isFinite(value);
const formats = new Map();

/** A number with a comma for thousands and a true minus; `most` and `least` digits behind the point, or `significant`. */
function written(value, most, least = 0, significant = undefined, currency = "") {
  const name = `${most} ${least} ${significant} ${currency}`;
  if (!formats.has(name)) {
    const digits = { maximumFractionDigits: most, minimumFractionDigits: least, maximumSignificantDigits: significant };
    formats.set(name, new Intl.NumberFormat(LOCALE, { ...digits, ...(currency && { style: "currency", currency, currencyDisplay: "narrowSymbol" }) }));
  }
  return formats.get(name).format(value).replace("-", "−");
}

export function count(value) {
  return known(value) ? written(value, 0) : NONE;
}

/** A number with so many digits that count: 1,234.6 and 0.00123. */
export function number(value, digits = 4) {
  if (!known(value)) return NONE;
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e9 || size < 1e-4)) return value.toExponential(2);
  return size >= 10 ** (digits - 1) ? written(value, 0) : written(value, undefined, undefined, digits);
}

export function percent(value) {
  if (!known(value)) return NONE;
  const hundred = Math.abs(value) * 100;
  return `${written(value * 100, hundred >= 10 || hundred === 0 ? 0 : hundred >= 1 ? 1 : hundred >= 0.1 ? 2 : 3)} %`;
}

/** An amount in the currency of the stream; a code of three letters stands where the reader's language has it. */
export function money(value) {
  if (!known(value)) return NONE;
  const code = words.currency.toUpperCase();
  const coded = /^[A-Z]{3}$/.test(code);
  const before = coded || !code ? "" : `${code} `;
  if (value !== 0 && Math.abs(value) < 0.005) return `${before || (coded ? `${code} ` : "")}${number(value, 2)}`;
  const places = Math.abs(value) >= 1000 ? 0 : 2;
  return before + written(value || 0, places, places, undefined, coded ? code : "");
}

export function signed(value, digits = 3) {
  return known(value) ? `${value > 0 ? "+" : value < 0 ? "−" : ""}${number(Math.abs(value), digits)}` : NONE;
}

/** A figure of the API on screen: tests read `data-value`, people read `text`. */
export function figure(name, value, text = number(value), props = {}) {
  return h("span.figure", { ...props, "data-name": name, "data-value": String(value ?? null) }, text);
}

/** The same for a share, and for an amount of money. */
export function share(name, value, props) {
  return figure(name, value, percent(value), props);
}

export function price(name, value, props) {
  return figure(name, value, money(value), props);
}

export function sentence(words) {
  return words ? `${words[0].toUpperCase()}${words.slice(1)}.` : "";
}

// ---- times: a date without a zone is UTC, as the library reads it; a number is a clock of the stream's own

export function instant(time) {
  if (typeof time !== "string") return null;
  const bare = time.trim().replace(" ", "T");
  const zone = /T.*(Z|[+-]\d\d:?\d\d)$/.test(bare) ? "" : bare.includes("T") ? "Z" : "T00:00Z";
  const found = new Date(bare + zone);
  return Number.isNaN(found.getTime()) ? null : found;
}

const DAY = new Intl.DateTimeFormat(LOCALE, { day: "numeric", month: "short", year: "numeric" });
const MINUTE = new Intl.DateTimeFormat(LOCALE, {
  day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZoneName: "short",
});
const FULL = new Intl.DateTimeFormat(LOCALE, { dateStyle: "full", timeStyle: "long", hourCycle: "h23" });
const STEPS = [[60, "second", 1], [3600, "minute", 60], [86400, "hour", 3600], [86400 * 60, "day", 86400]];
const RELATIVE = new Intl.RelativeTimeFormat(LOCALE, { numeric: "always", style: "narrow" });

export function day(time) {
  const found = instant(time);
  return found ? DAY.format(found) : time === null || time === undefined ? NONE : number(time, 8);
}

function timed(time, words) {
  const found = instant(time);
  if (!found) return h("span", time === null || time === undefined ? NONE : typeof time === "number" ? `at ${number(time, 8)}` : String(time));
  return h("time", { datetime: found.toISOString(), title: FULL.format(found) }, words(found));
}

/** A time to the minute. */
export function moment(time) {
  return timed(time, (found) => MINUTE.format(found));
}

/** How long ago, in one short word; the day, if that was long ago. */
export function ago(time, now = Date.now()) {
  return timed(time, (found) => {
    const seconds = (found.getTime() - now) / 1000;
    const step = STEPS.find(([limit]) => Math.abs(seconds) < limit);
    if (!step) return DAY.format(found);
    return Math.abs(seconds) < 5 ? "now" : RELATIVE.format(Math.round(seconds / step[2]), step[1]);
  });
}

// ---- pieces that many views need

/** The value of a column in words; a text of a date as a time in the reader's zone. */
export function cell(value) {
  if (value === null || value === "") return h("em.quiet", "missing");
  if (typeof value === "number") return number(value, 6);
  return /^\d{4}-\d\d-\d\d[T ]/.test(value) ? moment(value) : String(value);
}

/** What a view shows while there is nothing else: a title, a sentence, and perhaps what to do. */
export function emptyState(title, words, ...actions) {
  return h("section.empty#empty", h("h2", title), h("p", words), actions);
}

/** A problem in words, with its remedy. */
export function trouble(problem) {
  return h("div.notice.bad#problem", { role: "alert" },
    h("strong", problem.title ?? "Something went wrong"), h("p", problem.words ?? String(problem)));
}

/** A dialog that closes with Escape; the browser gives the focus back. Returns the element, opened. */
export function openDialog(title, content, { testid = "dialog", wide = false } = {}) {
  const id = `dialog-${Math.random().toString(36).slice(2)}`;
  const close = h("button.button.plain.icon", { "aria-label": "Close", onclick: () => dialog.close() }, "✕");
  const dialog = h("dialog", { class: wide ? "wide" : "", "aria-labelledby": id, testid },
    h("header", h("h2", { id }, title), close), content);
  dialog.onclose = () => dialog.remove();
  on(dialog, "click", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** Say something to people who listen to the page, and for tests. */
export function announce(words) {
  const place = document.getElementById("announce");
  place.append(h("p", words));
  while (place.childElementCount > 5) place.firstElementChild.remove();
}

/** A short message at the edge of the page; it goes by itself unless it is bad. */
export function notify(words, { bad = false, action = null, gone = () => {} } = {}) {
  const place = document.getElementById("notices");
  const away = () => {
    if (!note.isConnected) return;
    note.remove();
    gone();
  };
  const note = h("div#notice", { class: bad ? "note bad" : "note" }, h("p", words), action && h("button", {
    class: "button small", onclick: () => { away(); action.run(); },
  }, action.words), h("button.button.plain.icon", { "aria-label": "Dismiss", onclick: away }, "✕"));
  place.append(note);
  while (place.childElementCount > 4) place.firstElementChild.remove();
  if (!bad) setTimeout(away, 6000);
  return away;
}
