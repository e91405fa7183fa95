// What of the queue is shown, and in which order.
//
//   const tools = queueTools(rows, changed)     `changed(asked)` is called with { order, code, stratum, since, until, escalated }
//   tools.element, tools.draw()                 draw after every answer: counts of codes, strata

import { count, figure, h, instant, replace } from "./dom.js";
import { ORDERS } from "./rows.js";

/** The beginning of a day in the reader's zone, or of the day after. */
function dayBegins(text, after = 0) {
  if (!text) return "";
  const [year, month, day] = text.split("-").map(Number);
  return new Date(year, month - 1, day + after).toISOString();
}

function select(id, label, options, onchange) {
  const element = h("select", { id, testid: id, onchange });
  const draw = (all) => {
    const before = element.value;
    const wanted = JSON.stringify(all);
    if (element.dataset.options === wanted) return;
    element.dataset.options = wanted;
    replace(element, all.map(([value, words]) => h("option", { value }, words)));
    if (all.some(([value]) => value === before)) element.value = before;
  };
  draw(options);
  return { element, draw, field: h("div.field", h("label", { for: id }, label), element) };
}

export function queueTools(rows, changed) {
  const tell = () => changed({
    order: order.element.value, code: code.element.value, stratum: stratum.element.value,
    since: dayBegins(since.value), until: dayBegins(until.value, 1), escalated: escalated.checked ? "true" : "",
  });
  const order = select("order", "Order", Object.entries(ORDERS), tell);
  const code = select("filter-code", "Why it is there", [["", "Every reason"]], tell);
  const stratum = select("filter-stratum", "Stratum", [["", "Every stratum"]], tell);
  const since = h("input#filter-since", { id: "filter-since", type: "date", onchange: tell });
  const until = h("input#filter-until", { id: "filter-until", type: "date", onchange: tell });
  const escalated = h("input#filter-escalated", { id: "filter-escalated", type: "checkbox", onchange: tell });
  const days = h("div.filter-days", h("div.field", h("label", { for: "filter-since" }, "From"), since),
    h("div.field", h("label", { for: "filter-until" }, "Until"), until));
  const clear = h("button.button.plain.small#filter-clear", { onclick: () => reset() }, "Show all");
  const filters = h("div", { id: "filters", class: "filters", hidden: true }, code.field, stratum.field, days,
    h("label.check", escalated, "Only escalated"), clear);
  const toggle = h("button", {
    class: "button small", "aria-expanded": "false", "aria-controls": "filters", testid: "filter",
    onclick: () => {
      filters.hidden = !filters.hidden;
      toggle.setAttribute("aria-expanded", String(!filters.hidden));
    },
  }, "Filter");
  const total = h("p.queue-total#queue-total");
  const element = h("div.queue-tools",
    h("div.queue-title", h("h1", "Queue"), total),
    h("div.row", h("label.only-read", { for: "order" }, "Order"), order.element, toggle), filters);

  function reset() {
    for (const field of [code.element, stratum.element, since, until]) field.value = "";
    escalated.checked = false;
    tell();
  }

  function draw() {
    const { told, total: number, filtered } = rows();
    if (!told) return;
    replace(total, figure("total", number, count(number)), filtered ? [" of ", figure("queue_waiting", told.waiting, count(told.waiting))] : "", filtered ? " fit" : number === 1 ? " waits" : " wait");
    code.draw([["", "Every reason"], ...Object.entries(told.codes).map(([name, one]) => [name, `${name} (${count(one.count)})`])]);
    stratum.draw([["", "Every stratum"], ...told.strata.map((name) => [name, name])]);
    stratum.field.hidden = told.strata.length === 0;
    const first = rows().items.find(Boolean);
    days.hidden = Boolean(first) && instant(first.time) === null;
    toggle.dataset.on = String(filtered);
    replace(toggle, filtered ? "Filter on" : "Filter");
  }

  return { element, draw, reset };
}
