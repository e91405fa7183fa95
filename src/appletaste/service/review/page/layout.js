// How the page looks for everybody of a stream: columns, customers, a link elsewhere, and named queues.

import { api, problemOf } from "./api.js";
import { codeName } from "./codes.js";
import { h, notify, part, replace, template } from "./dom.js";
import { heading } from "./parts.js";

const CODES = ["EXPLOIT", "EXPLORE", "AUDIT", "ENACTED"];

export async function show(root, context) {
  const [{ layout, columns }, { strata }] = await Promise.all([api.get(context.path("layout"), { signal: context.signal }), api.get(`${context.path("queue")}?limit=1`, { signal: context.signal })]);
  const form = template("layout");
  const [queues, link, title, outcome] = ["layout-queues", "layout-link", "layout-title", "layout-outcome"].map((testid) => part(form, testid));
  const lists = { rows: part(form, "layout-rows"), customers: part(form, "layout-customers") };
  const names = columns.length ? columns : [...(layout.rows ?? []), ...(layout.customers ?? [])];
  for (const [name, place] of Object.entries(lists)) {
    replace(place, names.map((column) => h("label.check", h("input", { type: "checkbox", value: column, checked: (layout[name] ?? []).includes(column) }), " ", column)));
  }
  link.value = layout.link ?? "";
  link.placeholder = "https://shop.example/orders/{id}";
  title.value = layout.link_title ?? "Open in the back office";
  let count = 0;

  function queue({ name = "", codes = [], strata: of = [], amount_from: from, amount_below: below } = {}) {
    count += 1;
    const field = (words, props, tag = "input") => h("div.field", h("label", { for: `queue-${count}-${props.name}` }, words), h(tag, { id: `queue-${count}-${props.name}`, autocomplete: "off", ...props }));
    const row = h("fieldset.layout-queue", { testid: "layout-queue" }, h("legend.only-read", `Queue ${count}`),
      h("div.fields", field("Name", { name: "name", value: name, required: true, maxlength: 60 }),
        field("Strata, with commas", { name: "strata", value: of.join(", "), placeholder: strata.slice(0, 3).join(", ") }),
        field("Amount from", { name: "from", value: from ?? "", inputmode: "decimal" }), field("Amount below", { name: "below", value: below ?? "", inputmode: "decimal" }),
        h("button.button.small", { onclick: () => row.remove(), "aria-label": `Remove the queue ${name}` }, "Remove")),
      h("div.pick-columns", CODES.map((code) => h("label.check", h("input", { type: "checkbox", name: "code", value: code, checked: codes.includes(code) }), " ", codeName(code)))));
    queues.append(row);
  }
  (layout.queues ?? []).forEach(queue);
  part(form, "layout-add").onclick = () => queue();
  const texts = (place) => [...place.querySelectorAll("input:checked")].map((one) => one.value);
  const amount = (text) => (text.trim() ? { value: Number(text) } : null);
  form.onsubmit = async (event) => {
    event.preventDefault();
    const told = [...queues.children].map((row) => {
      const said = (name) => row.querySelector(`[name=${name}]`).value;
      const [from, below] = [amount(said("from")), amount(said("below"))];
      return { name: said("name").trim(), codes: texts(row), strata: said("strata").split(",").map((one) => one.trim()).filter(Boolean),
        ...(from && { amount_from: from.value }), ...(below && { amount_below: below.value }) };
    });
    const wanted = { rows: texts(lists.rows), customers: texts(lists.customers), link_title: title.value.trim() || "Open in the back office", queues: told, ...(link.value.trim() && { link: link.value.trim() }) };
    try {
      await api.put(context.path("layout"), wanted);
      replace(outcome);
      notify("Saved: everybody sees it with the next look at the queue.");
      context.go("queue");
    } catch (error) {
      replace(outcome, h("p.sign-wrong", { role: "alert" }, `${problemOf(error).title}. ${error.words}`));
    }
  };
  replace(root, heading("Arrange the page", `For everybody who reviews ${context.stream}.`), form);
  return () => {};
}
