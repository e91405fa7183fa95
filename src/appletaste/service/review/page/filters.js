// What of the queue is shown, and in which order.
//
//   const tools = queueTools(rows, changed)     `changed(asked)` is called with { order, code, stratum, since, until, escalated }
//   tools.element, tools.draw()                 draw after every answer: counts of codes, strata

import { count, figure, h, instant, part, replace, template } from "./dom.js";

/** The beginning of a day in the reader's zone, or of the day after. */
function dayBegins(text, after = 0) {
  if (!text) return "";
  const [year, month, day] = text.split("-").map(Number);
  return new Date(year, month - 1, day + after).toISOString();
}

/** Let a choice have options, and keep what was chosen; untouched where nothing has changed, as it may be open. */
function drawOptions(select, first, options) {
  const all = [["", first], ...options];
  const wanted = JSON.stringify(all);
  if (select.dataset.options === wanted) return;
  const before = select.value;
  select.dataset.options = wanted;
  replace(select, all.map(([value, words]) => h("option", { value }, words)));
  select.value = all.some(([value]) => value === before) ? before : "";
}

export function queueTools(rows, changed) {
  const element = template("tools");
  const [toggle, filters, total] = ["filter", "filters", "queue-total"].map((testid) => part(element, testid));
  const tell = () => {
    const { since, until, ...asked } = Object.fromEntries(new FormData(element));
    changed({ ...asked, since: dayBegins(since), until: dayBegins(until, 1) });
  };
  const reset = () => {
    const order = element.order.value;
    element.reset();
    element.order.value = order;
    tell();
  };
  element.onchange = tell;
  element.onsubmit = (event) => event.preventDefault();
  part(element, "filter-clear").onclick = reset;
  toggle.onclick = () => {
    filters.hidden = !filters.hidden;
    toggle.ariaExpanded = String(!filters.hidden);
  };

  function draw() {
    const { told, items, total: number, filtered } = rows;
    if (!told) return;
    replace(total, figure("total", number, count(number)), filtered ? [" of ", figure("queue_waiting", told.waiting, count(told.waiting)), " fit"] : number === 1 ? " waits" : " wait");
    drawOptions(element.code, "Every reason", Object.entries(told.codes).map(([name, one]) => [name, `${name} (${count(one.count)})`]));
    drawOptions(element.stratum, "Every stratum", told.strata.map((name) => [name, name]));
    part(element, "strata").hidden = !told.strata.length;
    const [first] = items.values();
    part(element, "filter-days").hidden = Boolean(first) && instant(first.time) === null;
    toggle.dataset.on = String(filtered);
    replace(toggle, filtered ? "Filter on" : "Filter");
  }

  return { element, draw, reset };
}
