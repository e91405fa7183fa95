// What of the queue is shown, in which order, and with which columns.
//
//   const tools = queueTools(rows, { changed, open, views, layout })
//     changed(asked)    is called with { of, order, queue, code, stratum, since, until, text, columns }
//     open()            Enter in the field to search: the first row
//   tools.element, tools.draw()       draw after every answer: counts of codes, strata, queues
//   tools.search()                    puts the cursor into the field to search

import { api, problemOf } from "./api.js";
import { codeName } from "./codes.js";
import { count, figure, h, instant, notify, part, replace, template } from "./dom.js";
import { ask } from "./parts.js";
import { told } from "./words.js";

// milliseconds after the last letter
const SOON = 200;
const LISTS = [["waiting", "What waits"], ["escalated", "Escalated"], ["skipped", "Skipped by me"], ["mine", "My labels"], ["labelled", "All labels"]];
const USUAL = { of: "waiting", order: "worth" };

/** The beginning of a day in the reader's zone, or of the day after. */
function dayBegins(text, after = 0) {
  if (!text) return "";
  const [year, month, day] = text.split("-").map(Number);
  return new Date(year, month - 1, day + after).toISOString();
}

/** A day as a field has it, of the time that `dayBegins` made of it. */
function dayOf(text, after = 0) {
  const found = instant(text ?? null);
  if (!found) return "";
  found.setDate(found.getDate() - after);
  return [found.getFullYear(), found.getMonth() + 1, found.getDate()].map((one) => String(one).padStart(2, "0")).join("-");
}

/** Let a choice have options, and keep what was chosen; untouched where nothing has changed, as it may be open. */
function drawOptions(select, groups) {
  const wanted = JSON.stringify(groups);
  if (select.dataset.options === wanted) return;
  const before = select.value;
  select.dataset.options = wanted;
  const option = ([value, words]) => h("option", { value }, words);
  replace(select, groups.map(([title, options]) => (title ? options.length > 0 && h("optgroup", { label: title }, options.map(option)) : options.map(option))));
  const all = groups.flatMap(([, options]) => options.map(([value]) => value));
  select.value = all.includes(before) ? before : all[0];
}

export function queueTools(rows, { changed, open, layout, views: first }) {
  const { context } = rows;
  const element = template("tools");
  const names = ["filter", "filters", "queue-total", "search", "list", "columns", "view-save", "view-forget"];
  const [toggle, filters, total, search, list, columns, save, forget] = names.map((testid) => part(element, testid));
  let views = first;
  let timer = 0;
  search.placeholder = told("Find an item: id, or text in a column");

  const chosen = () => {
    const [kind, ...rest] = list.value.split(":");
    return kind === "queue" ? { of: "waiting", queue: rest.join(":") } : { of: kind, queue: "" };
  };
  /** The columns that somebody has chosen, or else those of the layout. */
  const shown = () => {
    const own = [...columns.querySelectorAll("input:checked")].map((one) => one.value);
    return own.length ? own : layout.rows ?? [];
  };
  const tell = () => {
    clearTimeout(timer);
    const { since, until, code, stratum, order } = Object.fromEntries(new FormData(element));
    changed({ ...chosen(), order, code, stratum, since: dayBegins(since), until: dayBegins(until, 1), text: search.value.trim(), columns: shown() });
  };
  const fill = ({ of, order, queue, code, stratum, since, until, columns: own = [] }) => {
    element.order.value = order ?? USUAL.order;
    for (const [select, value] of [[element.code, code], [element.stratum, stratum]]) {
      if (value && ![...select.options].some((one) => one.value === value)) select.append(h("option", { value }, value));
      select.value = value ?? "";
    }
    element.since.value = dayOf(since);
    element.until.value = dayOf(until, 1);
    for (const one of columns.querySelectorAll("input")) one.checked = own.includes(one.value);
    search.value = "";
    return { ...USUAL, of, queue: queue ?? "" };
  };
  const reset = () => {
    fill({ order: element.order.value });
    list.value = "waiting";
    tell();
  };
  element.onsubmit = (event) => {
    event.preventDefault();
    tell();
    open();
  };
  element.onchange = (event) => {
    if (event.target === list && list.value.startsWith("view:")) {
      const view = views[list.value.slice(5)];
      const { of, queue } = fill(view);
      filters.hidden = true;
      return changed({ ...view, of, queue, text: "", columns: shown() });
    }
    if (event.target !== list && list.value.startsWith("view:")) {
      const { of, queue } = views[list.value.slice(5)];
      list.value = queue ? `queue:${queue}` : of;
    }
    return tell();
  };
  search.oninput = () => {
    clearTimeout(timer);
    timer = setTimeout(tell, SOON);
  };
  part(element, "filter-clear").onclick = reset;
  toggle.onclick = () => {
    filters.hidden = !filters.hidden;
    toggle.ariaExpanded = String(!filters.hidden);
  };
  save.onclick = () => {
    const name = h("input", { id: "view-name", maxlength: 60, required: true, testid: "view-name", autocomplete: "off" });
    ask("Save this view", h("div.field", h("label", { for: "view-name" }, "Name of the view"), name), "Save", "view", async () => {
      const { text, since, until, ...asked } = Object.fromEntries(Object.entries(rows.asked).filter(([, value]) => value && value.length !== 0));
      const told_ = { ...asked, ...(since && { since }), ...(until && { until }) };
      ({ views } = await api.put(context.path("views", name.value.trim()), told_));
      draw();
      list.value = `view:${name.value.trim()}`;
      draw();
    });
    name.focus();
  };
  forget.onclick = async () => {
    try {
      ({ views } = await api.delete(context.path("views", list.value.slice(5))));
      reset();
    } catch (error) {
      notify(problemOf(error).words, { bad: true });
    }
  };
  replace(columns, layout.columns.map((name) => h("label.check", h("input", { type: "checkbox", value: name, "aria-label": name }), " ", name)));
  part(element, "columns-part").hidden = !layout.columns.length;

  function draw() {
    const { told: now, items, total: number, filtered, finds } = rows;
    if (!now) return;
    const of = figure("total", number, count(number));
    replace(total, of, now.more && finds ? " or more" : finds ? " found" : filtered && now.waiting !== undefined ? [" of ", figure("queue_waiting", now.waiting, count(now.waiting))] : number === 1 ? " waits" : " wait");
    drawOptions(list, [["", LISTS], ["Queues", Object.entries(now.queues ?? {}).map(([name, waiting]) => [`queue:${name}`, `${name} (${count(waiting)})`])],
      ["My views", Object.keys(views).map((name) => [`view:${name}`, name])]]);
    drawOptions(element.code, [["", [["", "Every reason"], ...Object.entries(now.codes).map(([name, one]) => [name, `${codeName(name)} (${count(one.count)})`])]]]);
    drawOptions(element.stratum, [["", [["", "Every stratum"], ...now.strata.map((name) => [name, name])]]]);
    part(element, "strata").hidden = !now.strata.length;
    const [one] = items.values();
    part(element, "filter-days").hidden = Boolean(one) && instant(one.time) === null;
    for (const name of ["code", "stratum", "since", "until", "order"]) element[name].disabled = finds;
    save.hidden = list.value.startsWith("view:");
    forget.hidden = !save.hidden;
    const { code, stratum, since, until } = rows.asked;
    const on = Boolean(code || stratum || since || until);
    toggle.dataset.on = String(on);
    replace(toggle, on ? "Filter on" : "Filter");
  }

  return { element, draw, reset, search: () => { search.focus(); search.select(); } };
}
