// Step 2 of first use: the columns of a file, a look at each, and which is the label, the time and the name of the item.
import { count, h, percent, replace } from "./dom.js";
import { choice, field } from "./parts.js";

const PLAIN = [["0", "1"], ["no", "yes"], ["false", "true"], ["n", "y"], ["f", "t"]];
const KINDS = { number: "number", category: "category", date: "date", text: "text", empty: "empty", constant: "one value" };
const LEFT_OUT = /^(IDENTIFIER|DATE_AFTER|LEAK|CONSTANT|EMPTY|FREE_TEXT|TEXT)/;

/** What each column seems to be: what is known only afterwards, or is a mere name, is left out at first. */
export function rolesOf(file) {
  const { label, time, id } = file.suggested;
  const roles = { label: label ?? "", positive: "", time: time ?? "", id: id ?? "", drop: new Set() };
  for (const column of file.columns) {
    if (column.findings.some((finding) => LEFT_OUT.test(finding))) roles.drop.add(column.name);
  }
  roles.positive = positiveOf(file, roles.label);
  return roles;
}

/** The positive one of two words that say nothing by themselves: to be chosen; "" where it is plain. */
function levelsToChoose(file, label) {
  const levels = file.columns.find((column) => column.name === label)?.levels;
  if (!levels || levels.length !== 2) return null;
  const told = levels.map((level) => String(level).toLowerCase()).sort().join();
  return PLAIN.some((pair) => [...pair].sort().join() === told || told === "0.0,1.0") ? null : levels;
}

const positiveOf = (file, label) => levelsToChoose(file, label)?.[1] ?? "";

/** The part of a request that says how the file is read, or what is still missing. */
export function columnsOf(file, roles) {
  const taken = [roles.label, roles.time, roles.id].filter(Boolean);
  const features = file.columns.filter((column) => !taken.includes(column.name) && !roles.drop.has(column.name));
  const problem = !roles.label ? "Choose the label: how each item turned out." : new Set(taken).size < taken.length ? "One column cannot be two things."
    : features.length === 0 ? "At least one column must be used." : "";
  const body = { label: roles.label, drop: file.columns.map((column) => column.name).filter((name) => roles.drop.has(name) && !taken.includes(name)) };
  if (roles.time) body.time = roles.time;
  if (roles.id) body.id = roles.id;
  if (roles.positive) body.positive = roles.positive;
  return { body, features, problem };
}

export function columnsStep(file, roles, changed) {
  const rows = h("tbody");
  const positive = h("div");
  const names = file.columns.map((column) => column.name);
  const could = (role) => [...file.columns].sort((a, b) => b.could_be.includes(role) - a.could_be.includes(role)).map((column) => [column.name, column.name]);
  const chosen = (role, none) => choice([["", none], ...could(role)], roles[role], (value) => {
    roles[role] = value;
    if (role === "label") roles.positive = positiveOf(file, value);
    draw();
    changed();
  }, { testid: `role-${role}` });
  const draw = () => {
    const levels = levelsToChoose(file, roles.label);
    positive.hidden = !levels;
    replace(positive, levels && field("Which one is positive?", choice(levels.map((level) => [String(level), String(level)]), roles.positive, (value) => {
      roles.positive = value;
      changed();
    }, { testid: "role-positive" }), "Positive: acting was right."));
    replace(rows, file.columns.map((column) => rowOf(column, roles, changed)));
  };
  draw();
  return h("div.step-part",
    h("div.grid",
      field("Label", chosen("label", "Choose …"), "How the item turned out. An item is positive if acting was right."),
      positive,
      field("Time", chosen("time", "There is none"), "When the item arrived. Without a time the order of the rows counts."),
      field("Name of the item", chosen("id", "There is none"), "An order number, say. Nothing is learnt from a name.")),
    h("p", h("strong", "Ask of every column: was this known when the item arrived?"),
      " A column that gives the answer away makes every policy look brilliant, and useless on the day the policy is switched on. Take the tick away from such columns."),
    h("div.card.scroll-x", { tabindex: "0", role: "region", "aria-label": "Columns" }, h("table.columns", { testid: "columns" },
      h("thead", h("tr", ["Use", "Column", "Holds", "A look", "Missing"].map((name) => h("th", { scope: "col" }, name)))), rows)),
    names.length > 60 && h("p.hint", `${count(names.length)} columns: scroll to see all.`));
}

function rowOf(column, roles, changed) {
  const role = ["label", "time", "id"].find((one) => roles[one] === column.name);
  const words = { label: "the label", time: "the time", id: "the name" }[role];
  const id = `use-${column.name}`;
  const box = h("input", { type: "checkbox", id, checked: !roles.drop.has(column.name), "aria-label": `Use ${column.name}`, testid: `use-${column.name}`, onchange: () => {
    if (box.checked) roles.drop.delete(column.name);
    else roles.drop.add(column.name);
    changed();
  } });
  return h("tr", h("td", role ? h("span.badge.strong", words) : box),
    h("th", { scope: "row" }, h("strong", column.name), column.findings.map((finding) => h("p.finding", finding.replace(/^[A-Z_]+: /, "")))),
    h("td", h("span.badge", KINDS[column.kind] ?? column.kind), h("p.hint", column.summary)),
    h("td", lookOf(column)), h("td.num", h("span", { "data-name": "missing", "data-value": column.missing }, column.missing > 0 ? percent(column.missing) : "none")));
}

/** A small picture: bars with their names for words, without for numbers. */
function lookOf(column) {
  const most = Math.max(...column.look.map((bar) => bar.share), 1e-9);
  const told = column.look.map((bar) => `${bar.name} ${percent(bar.share)}`).join(", ");
  const bars = column.look.map((bar) => h("span.look-bar", { title: `${bar.name}: ${percent(bar.share)}`, style: { height: `${Math.max(1, Math.round((28 * bar.share) / most))}px` } }));
  return h("div.look", h("div.look-bars", { role: "img", "aria-label": told || "nothing to see" }, bars),
    column.look.length > 0 && h("div.look-ends", { "aria-hidden": "true" }, h("span", column.look[0].name), column.look.length > 1 && h("span", column.look.at(-1).name)));
}
