// Step 3 of first use: what each outcome costs, in the words of the guide; a sum, or a share of a column.
import { h, percent, replace } from "./dom.js";
import { choice, field, OUTCOMES } from "./parts.js";

/** The costs of a file as they are written down; `told` is what the service takes. */
export function costsOf(file) {
  const one = (sum) => ({ by: "sum", sum, share: "100", column: file.suggested.amount ?? "" });
  const written = { miss: one(""), false_alarm: one(""), hit: one(""), correct_pass: one("0") };
  return { written, capacity: "", audit: "2", told() {
    return { costs: Object.fromEntries(OUTCOMES.map(([name]) => [name, priceOf(written[name])])), ...(this.capacity.trim() && { capacity: `${Number(this.capacity)}/day` }),
      ...(Number(this.audit) > 0 && { audit: `${Number(this.audit)}%` }) };
  } };
}

const numeric = (text) => (text.trim() === "" || !Number.isFinite(Number(text)) ? null : Number(text));

/** A number, or a formula over a column; null where something is missing. */
function priceOf({ by, sum, share, column }) {
  if (by === "sum") return numeric(sum);
  const [part, rest] = [numeric(share), sum.trim() === "" ? 0 : numeric(sum)];
  if (part === null || rest === null || !column) return null;
  const quote = /^[A-Za-z_]\w*$/.test(column) ? "" : ['"', "'", "`"].find((one) => !column.includes(one)) ?? "";
  return `${quote}${column}${quote}*${part / 100}${rest < 0 ? "-" : "+"}${Math.abs(rest)}`;
}

/** What the price comes to for an item whose column holds a number. */
function priceAt({ by, sum, share }, amount) {
  return by === "sum" ? numeric(sum) : (amount * (numeric(share) ?? 0)) / 100 + (numeric(sum) ?? 0);
}

export function costsStep(file, roles, costs, changed) {
  const told = h("div.notice.calm-notice#costs-words", { role: "status" });
  const numbers = file.columns.filter((column) => column.kind === "number" && column.name !== roles.label && column.name !== roles.time);
  const draw = () => {
    const problem = problemOf(costs);
    replace(told, problem || sentenceOf(costs.written));
    changed(problem);
  };
  const number = (holder, key, props) => h("input", { type: "text", inputmode: "decimal", autocomplete: "off", value: holder[key], ...props, oninput: (event) => {
    holder[key] = event.target.value.replace(",", ".");
    event.target.setAttribute("aria-invalid", String(event.target.value.trim() !== "" && numeric(holder[key]) === null));
    draw();
  } });
  const cards = OUTCOMES.map(([name, title, help]) => outcome(name, title, help, costs.written[name], numbers, number, draw));
  return { draw, element: h("div.step-part",
    h("p", "Four numbers in your own currency. Only differences count. A good guess is enough to begin."), h("div.costs", cards), told,
    h("div.grid",
      field("How many items can your team act on in a day?", number(costs, "capacity", { testid: "capacity" }), "Leave empty if there is no limit. A limit needs a column with the time."),
      field("Audits, in % of passes", number(costs, "audit", { testid: "audit" }), "A few passes are acted on by chance: nobody can say what is being missed without them. 2 is a good start."))) };
}

function outcome(name, title, help, written, numbers, number, draw) {
  const place = h("div.cost-fields");
  const fill = () => {
    const sum = number(written, "sum", { testid: `cost-${name}` });
    const column = () => choice(numbers.map((one) => [one.name, one.name]), written.column, (value) => {
      written.column = value;
      draw();
    }, { testid: `cost-${name}-column` });
    if (written.by === "column" && !written.column) written.column = numbers[0].name;
    replace(place, written.by === "sum" ? field("Cost", sum)
      : [field("Per cent", number(written, "share", { testid: `cost-${name}-share` })), field("of the column", column()), field("and on top", sum)]);
  };
  const by = choice([["sum", "the same for every item"], ["column", "depends on a column"]], written.by, (value) => {
    written.by = value;
    fill();
    draw();
  }, { testid: `cost-${name}-by`, "aria-label": `${title} is` });
  fill();
  return h("fieldset.cost.card", h("legend", title), h("p.hint", help), numbers.length > 0 && by, place);
}

function problemOf(costs) {
  const missing = OUTCOMES.find(([name]) => priceOf(costs.written[name]) === null);
  if (missing) return `Still missing: what ${missing[1].toLowerCase()} costs, as a number.`;
  if (costs.capacity.trim() && !(numeric(costs.capacity) > 0)) return "The number of acts in a day must be above 0, or empty.";
  if (costs.audit.trim() && !(numeric(costs.audit) >= 0 && numeric(costs.audit) <= 100)) return "Audits are a number from 0 to 100, in per cent.";
  const at = (name) => priceAt(costs.written[name], 100);
  if (!(at("miss") > at("hit"))) return "A miss must cost more than a hit, or acting would never pay.";
  if (!(at("false_alarm") > at("correct_pass"))) return "A false alarm must cost more than a correct pass, or acting would always pay.";
  return "";
}

/** From which chance on acting pays: for every item, or for one of 100 and one of 1,000. */
function sentenceOf(written) {
  const threshold = (amount) => {
    const [alarm, gain] = [priceAt(written.false_alarm, amount) - priceAt(written.correct_pass, amount), priceAt(written.miss, amount) - priceAt(written.hit, amount)];
    return alarm / (alarm + gain);
  };
  const said = (value) => `${percent(value)}, one in ${Math.max(1, Math.round(1 / value)).toLocaleString("en")}`;
  if (Object.values(written).every((one) => one.by === "sum")) return `By these costs acting pays from a chance of ${said(threshold(0))}. If that seems too low to your team, a false alarm costs more than you wrote down.`;
  const name = Object.values(written).find((one) => one.by === "column").column;
  return `By these costs acting pays from a chance of ${said(threshold(100))}, where ${name} is 100; and of ${said(threshold(1000))}, where ${name} is 1,000.`;
}
