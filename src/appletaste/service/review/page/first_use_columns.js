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
    drop: new Set(dropped.map((column) => column.name)) };
}

/** Two words of a label that do not say which one is positive; null where it is plain. */
function levelsToChoose(file, label) {
  const levels = file.columns.find((column) => column.name === label)?.levels;
  return levels?.length === 2 && !PLAIN.includes(levels.map((level) => level.toLowerCase()).sort().join()) ? levels
    : null;
}

/** The part of a request that says how the file is read, or what is still missing. */
export function columnsOf(file, { label, time, id, positive, drop }) {
  const taken = [label, time, id].filter(Boolean);
  const rest = file.columns.map((column) => column.name).filter((name) => !taken.includes(name));
  const problem = !label ? "Choose the label: how each item turned out." : new Set(taken).size < taken.length
    ? "One column cannot be two things."
    : rest.every((name) => drop.has(name)) ? "At least one column must be used." : "";
  const given = Object.entries({ time, id, positive }).filter(([, name]) => name);
  return { problem, body: { label, drop: rest.filter((name) => drop.has(name)), ...Object.fromEntries(given) } };
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
    replace(rows, file.columns.map((column) => rowOf(column, roles, changed)));
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

function rowOf(column, roles, changed) {
  const { name, kind, summary, findings, missing } = column;
  const role = ["label", "time", "id"].find((one) => roles[one] === name);
  const box = h("input", { type: "checkbox", checked: !roles.drop.has(name), "aria-label": `Use ${name}`,
    testid: `use-${name}`, onchange: () => {
    roles.drop[box.checked ? "delete" : "add"](name);
    changed();
  } });
  return h("li", role ? h("span.badge.strong", { label: "the label", time: "the time", id: "the name" }[role])
    : h("label.check", box, "use"),
    h("div", h("strong", name), h("p.hint", `${kind}: ${summary}`),
      findings.map((finding) => h("p.finding", finding.replace(/^[A-Z_]+: /, "")))),
    lookOf(column), h("span.hint", { "data-name": "missing", "data-value": missing },
      missing > 0 ? `${percent(missing)} missing` : ""));
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
