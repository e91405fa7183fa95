// The other cases of the same customer, card or device, for each column that the layout of the stream names.
//
//   customerCards(found, { context, layout })     cards that fill themselves; none where nothing is named

import { api, problemOf } from "./api.js";
import { ago, count, h, price, replace } from "./dom.js";
import { address } from "./places.js";
import { actionOf, outcomeOf, words } from "./words.js";

// cases that are listed
const MOST = 6;

export function customerCards(found, { context, layout }) {
  return (layout.customers ?? []).map((column) => {
    const value = found.item?.[column];
    return value !== undefined && value !== null && value !== "" && customerCard(found, context, column, String(value));
  });
}

function customerCard(found, context, column, value) {
  const list = h("div", { "aria-live": "polite" }, h("p.quiet", "Looking …"));
  const sum = h("p.quiet.small.legend");
  const query = new URLSearchParams({ text: value, column, limit: MOST + 1, columns: "[]" });
  api.get(`${context.path("cases")}?${query}`, { signal: context.signal }).then(({ items, total }) => {
    const others = items.filter((one) => one.id !== found.id).slice(0, MOST);
    const number = Math.max(0, total - 1);
    replace(sum, number ? `${count(number)} other ${number === 1 ? words.item : words.items}` : "");
    replace(list, others.length ? h("ul.customer-cases", others.map((one) => row(one, context))) : h("p.quiet", `No other ${words.item} with the same ${column}.`));
  }, (error) => {
    if (error.name !== "AbortError") replace(list, h("p.quiet", problemOf(error).words));
  });
  return h("section.card#customer", { "aria-label": `The same ${column}`, "data-column": column }, h("header", h("h2", "Same ", column, ": ", h("span.customer-name", value)), sum), list);
}

function row(one, context) {
  const known = one.label ?? null;
  return h("li#customer-case", h("a.mono", { href: address(context.stream, "case", one.id) }, one.id),
    known === null ? h("span.badge", one.state === "pending" ? "waits" : actionOf(one.act)) : h("span.badge", { class: known ? "warm" : "cool" }, outcomeOf(known)),
    h("span.quiet.small", price("customer_amount", one.amount), " · ", ago(one.time)));
}
