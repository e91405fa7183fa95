// Step 3 of first use: what each outcome costs, in the words of the guide; a sum, or a share of a column.
import { h, LOCALE, part, percent, replace, template } from "./dom.js";
import { choice, costsProblem, field, OUTCOMES } from "./parts.js";

/** The costs of a file as they are written down; `told` is what the service takes. */
export function costsOf(file) {
  const one = (sum) => ({ by: "sum", sum, share: "100", column: file.suggested.amount ?? "" });
  const written = { miss: one(""), false_alarm: one(""), hit: one(""), correct_pass: one("0") };
  return { written, capacity: "", audit: "", told() {
    return { costs: Object.fromEntries(OUTCOMES.map(([name]) => [name, priceOf(written[name])])),
      ...(this.capacity.trim() && { capacity: `${Number(this.capacity)}/day` }),
      ...(this.audit.trim() && { audit: `${Number(this.audit)}%` }) };
  } };
}

const numeric = (text) => (text.trim() === "" || !Number.isFinite(Number(text)) ? null : Number(text));

/** A number, or a formula over a column; null where something is missing. */
function priceOf({ by, sum, share, column }) {
  if (by === "sum") return numeric(sum);
  const [part, rest] = [numeric(share), sum.trim() === "" ? 0 : numeric(sum)];
  if (part === null || rest === null || !column) return null;
  const quote = /^[A-Za-z_]\w*$/.test(column) ? "" : ['"', "'", "\x60"].find((one) => !column.includes(one)) ?? "";
  return `${quote}${column}${quote}*${part / 100}${rest < 0 ? "-" : "+"}${Math.abs(rest)}`;
}

export function costsStep(file, roles, costs, changed) {
  const told = h("div.notice.calm-notice#costs-words", { role: "status" });
  const numbers = file.columns.filter((column) => column.kind === "number" && column.name !== roles.label
    && column.name !== roles.time);
  const draw = () => {
    const problem = problemOf(costs, roles.time);
    replace(told, problem || sentenceOf(costs.written));
    changed(problem);
  };
  const bound = (input, holder, key) => {
    input.value = holder[key];
    input.oninput = () => {
      holder[key] = input.value.replace(",", ".");
      input.setAttribute("aria-invalid", String(holder[key].trim() !== "" && numeric(holder[key]) === null));
      draw();
    };
    return input;
  };
  const number = (holder, key, testid) => bound(h(`input#${testid}`, { inputmode: "decimal", autocomplete: "off" }),
    holder, key);
  const limits = template("limits");
  for (const key of ["capacity", "audit"]) bound(part(limits, key), costs, key);
  const cards = OUTCOMES.map(([name, title, help]) => outcome(name, title, help, costs.written[name], numbers, number,
    draw));
  return { draw, element: h("div.step-part", h("p",
    "Four numbers in your own currency. Only differences count. A good guess is enough to begin."),
    h("div.costs", cards), told, limits) };
}

function outcome(name, title, help, written, numbers, number, draw) {
  const place = h("div.cost-fields");
  const fill = () => {
    const sum = number(written, "sum", `cost-${name}`);
    const which = () => choice(numbers.map((one) => [one.name, one.name]), written.column, (value) => {
      written.column = value;
      draw();
    }, { testid: `cost-${name}-column` });
    if (written.by === "column" && !written.column) written.column = numbers[0].name;
    replace(place, written.by === "sum" ? field("Cost", sum)
      : [field("Per cent", number(written, "share", `cost-${name}-share`)), field("of the column", which()),
        field("and on top", sum)]);
  };
  const by = choice([["sum", "the same for every item"], ["column", "depends on a column"]], written.by, (value) => {
    written.by = value;
    fill();
    draw();
  }, { testid: `cost-${name}-by`, "aria-label": `${title} is` });
  fill();
  return h("fieldset.cost.card", h("legend", title), h("p.hint", help), numbers.length > 0 && by, place);
}

function problemOf(costs, time) {
  const missing = OUTCOMES.find(([name]) => priceOf(costs.written[name]) === null);
  if (missing) return `Still missing: what ${missing[1].toLowerCase()} costs, as a number.`;
  const [capacity, audit] = [costs.capacity.trim(), costs.audit.trim()];
  if (capacity && !(numeric(capacity) > 0)) return "The number of acts in a day must be above 0, or empty.";
  if (capacity && !time) {
    return "A number of acts in a day needs a column with the time: go back and choose one, or leave the number empty.";
  }
  if (audit && !(numeric(audit) >= 0 && numeric(audit) <= 100)) {
    return "Audits are a number from 0 to 100, in per cent.";
  }
  if (column(costs.written)) return "";
  const { alarm, gain } = pricesAt(costs.written, 0);
  return costsProblem(gain, alarm);
}

/** The column on which costs depend, if they do. */
const column = (written) => Object.values(written).find((one) => one.by === "column")?.column;

/** What acting on a negative costs more, and on a positive saves, for an item whose column holds a number. */
function pricesAt(written, amount) {
  const at = ({ by, sum, share }) => (numeric(sum) ?? 0) + (by === "sum" ? 0 : (amount * numeric(share)) / 100);
  return { alarm: at(written.false_alarm) - at(written.correct_pass), gain: at(written.miss) - at(written.hit) };
}

/** From which chance on acting pays: for every item, or for one of 100 and one of 1,000. */
function sentenceOf(written) {
  const pays = (amount) => {
    const { alarm, gain } = pricesAt(written, amount);
    const threshold = alarm / (alarm + gain);
    return gain > 0 && alarm > 0
      ? `pays from a chance of ${percent(threshold)}, one in ${Math.round(1 / threshold).toLocaleString(LOCALE)}`
      : gain > 0 ? "always pays" : "never pays";
  };
  const name = column(written);
  if (!name) return `By these costs acting ${pays(0)}. If that seems too low to your team, a false alarm costs more than you wrote down.`;
  return `By these costs acting ${pays(100)}, where ${name} is 100. Acting ${pays(1000)}, where ${name} is 1,000.`;
}
