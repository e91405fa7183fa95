// Step 2 of first use: the columns of a file, a look at each, and which is the label, the time and the name of the
// item.
import { h, part, percent, replace, template } from "./dom.js";

// labels that say by themselves which is positive
const PLAIN = ["0,1", "0.0,1.0", "no,yes", "false,true", "n,y", "f,t"];
const LEFT_OUT = /^(IDENTIFIER|DATE_AFTER|DATE_FORMAT|LEAK|CONSTANT|EMPTY|FREE_TEXT)/;

/** What each column seems to be: what is known only afterwards, or is a mere name, is left out at first. */
export function rolesOf(file) {
  const { label, time, id } = file.suggested;
  const dropped = file.columns.filter((column) => column.findings.some((finding) => LEFT_OUT.test(finding)));
  return { label: label ?? "", positive: levelsToChoose(file, label)?.[1] ?? "", time: time ?? "", id: id ?? "",
    drop: new Set(dropped.map((column) => column.name)), text: new Set(), labelTime: "" };
}

/** Two words of a label that do not say which one is positive; null where it is plain. */
function levelsToChoose(file, label) {
  const levels = file.columns.find((column) => column.name === label)?.levels;
  return levels?.length === 2 && !PLAIN.includes(levels.map((level) => level.toLowerCase()).sort().join()) ? levels
    : null;
}

/** The part of a request that says how the file is read, or what is still missing. */
export function columnsOf(file, { label, time, id, positive, drop, text, labelTime }) {
  const taken = [label, time, id, labelTime].filter(Boolean);
  const rest = file.columns.map((column) => column.name).filter((name) => !taken.includes(name));
  const problem = !label ? "Choose the label: how each item turned out." : new Set(taken).size < taken.length
    ? "One column cannot be two things."
    : rest.every((name) => drop.has(name)) ? "At least one column must be used." : "";
  const given = Object.entries({ time, id, positive, label_time: labelTime }).filter(([, name]) => name);
  const categories = rest.filter((name) => text.has(name) && !drop.has(name));
  return { problem, body: { label, drop: rest.filter((name) => drop.has(name)), ...Object.fromEntries(given),
    ...(categories.length > 0 && { categories }) } };
}

export function columnsStep(file, roles, changed) {
  const page = template("columns");
  const [rows, positive] = [part(page, "columns"), part(page, "role-positive")];
  const options = (names) => names.map((name) => h("option", { value: name }, name));
  const draw = () => {
    const levels = levelsToChoose(file, roles.label);
    positive.parentElement.hidden = !levels;
    replace(positive, options(levels ?? []));
    positive.value = roles.positive;
    replace(rows, file.columns.map((column) => rowOf(column, roles, changed, draw)));
  };
  for (const role of ["label", "time", "id"]) {
    const select = part(page, `role-${role}`);
    const could = [...file.columns].sort((a, b) => b.could_be.includes(role) - a.could_be.includes(role));
    select.append(...options(could.map((column) => column.name)));
    select.value = roles[role];
    select.onchange = () => {
      roles[role] = select.value;
      if (role === "label") roles.positive = levelsToChoose(file, select.value)?.[1] ?? "";
      draw();
      changed();
    };
  }
  positive.onchange = () => {
    roles.positive = positive.value;
    changed();
  };
  draw();
  return page;
}

function rowOf(column, roles, changed, draw) {
  const { name, kind, summary, findings, missing, samples = [] } = column;
  const role = ["label", "time", "id", "labelTime"].find((one) => roles[one] === name);
  const box = h("input", { type: "checkbox", checked: !roles.drop.has(name), "aria-label": `Use ${name}`,
    testid: `use-${name}`, onchange: () => {
    roles.drop[box.checked ? "delete" : "add"](name);
    changed();
  } });
  return h("li", role ? h("span.badge.strong", { label: "the label", time: "the time", id: "the name", labelTime: "when known" }[role])
    : h("label.check", box, "use"),
    h("div", h("strong", name), roles.text.has(name) && h("span.badge", "a code"), h("p.hint", `${kind}: ${summary}`),
      samples.length > 0 && h("p.hint", "such as ", h("span.mono#samples", { "data-column": name }, samples.join(" · "))),
      findings.map((finding) => h("p.finding", finding.replace(/^[A-Z_]+: /, ""))),
      settledBy(column, roles, () => {
        draw();
        changed();
      })),
    lookOf(column), h("span.hint", { "data-name": "missing", "data-value": missing },
      missing > 0 ? `${percent(missing)} missing` : ""));
}

const AFTERWARDS = /^(LEAK|DATE_AFTER|LABEL_KNOWN)/;

/** What a click settles: whether a column was known in time, whether a date says when labels came, and codes. */
function settledBy({ name, kind, findings, could_be: could }, roles, redraw) {
  const asks = [];
  const choice = (testid, words, on, act) => h("button.button.small", { testid: `${testid}-${name}`, "aria-pressed": String(on),
    onclick: () => {
      act();
      redraw();
      document.querySelector(`[data-testid="${CSS.escape(`${testid}-${name}`)}"]`)?.focus();
    } }, words);
  const [dropped, when] = [roles.drop.has(name), roles.labelTime === name];
  const as = (drop, labelTime) => () => {
    roles.drop[drop ? "add" : "delete"](name);
    if (labelTime || when) roles.labelTime = labelTime ? name : "";
  };
  if (findings.some((one) => AFTERWARDS.test(one)) && !["label", "time", "id"].some((role) => roles[role] === name)) {
    asks.push(h("div.settle", { role: "group", "aria-label": `When is ${name} known?` },
      h("span.hint", "When is this known?"),
      choice("after", "Only afterwards: leave it out", dropped && !when, as(true, false)),
      choice("before", "Before the decision: use it", !dropped && !when, as(false, false)),
      kind === "date" && could.includes("time") && choice("when", "It says when the label came", when, as(false, true))));
  }
  if (findings.some((one) => one.startsWith("CODE"))) {
    const text = roles.text.has(name);
    asks.push(h("div.settle", { role: "group", "aria-label": `What is ${name}?` }, h("span.hint", "What is this?"),
      choice("code", "A code: each value by itself", text, () => roles.text.add(name)),
      choice("size", "A size: more is more", !text, () => roles.text.delete(name))));
  }
  return asks;
}

/** A small picture: a bar for each part, with the names of the first and the last. */
function lookOf({ look }) {
  const most = Math.max(...look.map((bar) => bar.share), 1e-9);
  const told = look.map((bar) => `${bar.name} ${percent(bar.share)}`);
  return h("div.look", { role: "img", "aria-label": told.join(", ") || "nothing to see" },
    h("div.look-bars", look.map((bar, k) => h("span.look-bar",
      { title: told[k], style: { height: `${Math.max(1, Math.round((28 * bar.share) / most))}px` } }))),
    h("div.look-ends", h("span", look[0]?.name), look.length > 1 && h("span", look.at(-1).name)));
}
