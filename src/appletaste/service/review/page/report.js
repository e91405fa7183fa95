// The report of a month, made now; and the log, to take along.
import { api } from "./api.js";
import { h, LOCALE, part, replace, template, trouble } from "./dom.js";
import { heading } from "./parts.js";

const MONTH = new Intl.DateTimeFormat(LOCALE, { month: "long", year: "numeric", timeZone: "UTC" });
// months that can be chosen
const MOST = 24;

export async function show(root, context) {
  const { first, last } = await api.get(context.path("days"), { signal: context.signal });
  const months = monthsOf(first, last);
  const page = template("report");
  const [month, button, outcome] = ["month", "make", "outcome"].map((name) => part(page, `report-${name}`));
  let made = null;
  const forget = () => made && URL.revokeObjectURL(made);
  const make = async () => {
    button.disabled = true;
    replace(outcome, h("p.working", "Making the report …"));
    try {
      const answer = await api.send("GET", `${context.path("report.html")}?month=${month.value}`,
        { signal: context.signal, headers: { Accept: "text/html" } });
      forget();
      made = URL.createObjectURL(await answer.blob());
      const link = h("a.button#report-download", { href: made, download: `${context.stream}-${month.value}.html` },
        "Download again");
      replace(outcome, h("p", `The report of ${MONTH.format(new Date(month.value))} is made and downloaded: one page that opens without a network.`), link);
      link.click();
    } catch (error) {
      if (error.name !== "AbortError") replace(outcome, trouble(error));
    }
    button.disabled = false;
  };
  replace(month, months.map((one) => h("option", { value: one }, MONTH.format(new Date(one)))));
  month.parentElement.hidden = button.disabled = months.length === 0;
  part(page, "report-none").hidden = months.length > 0;
  button.onclick = make;
  for (const name of ["log.csv", "log.parquet"]) {
    Object.assign(part(page, `download-${name}`),
      { href: `${api.base}${context.path(name)}`, download: `${context.stream}-${name}` });
  }
  replace(root, heading("Report",
    "What was saved, what is missed, what to change: for whoever answers for the stream."), page);
  return forget;
}

/** The months from the first to the last day, the latest first. */
function monthsOf(first, last) {
  const found = [];
  for (let day = new Date(last?.slice(0, 7)); first && day >= new Date(first.slice(0, 7))
    && found.length < MOST; day.setUTCMonth(day.getUTCMonth() - 1)) found.push(day.toISOString().slice(0, 7));
  return found;
}
