// The report of a month, made now; and the log, to take along.
import { api } from "./api.js";
import { h, notify, replace, trouble } from "./dom.js";
import { choice, field, heading } from "./parts.js";

const MONTH = new Intl.DateTimeFormat("en-GB", { month: "long", year: "numeric", timeZone: "UTC" });
const MOST = 24; // months that can be chosen

export async function show(root, context) {
  const { first, last } = await api.get(context.path("days"), { signal: context.signal });
  const months = monthsOf(first, last);
  let month = months[0] ?? "";
  let made = null;
  const outcome = h("div", { testid: "report-outcome", "aria-live": "polite" });
  const forget = () => {
    if (made) URL.revokeObjectURL(made);
    made = null;
  };
  const button = h("button.button.primary", { testid: "report-make", disabled: months.length === 0, onclick: async () => {
    button.disabled = true;
    button.textContent = "Making the report …";
    try {
      const answer = await api.send("GET", `${context.path("report.html")}?month=${month}`, { signal: context.signal, headers: { Accept: "text/html" } });
      const page = await answer.blob();
      forget();
      made = URL.createObjectURL(new Blob([page], { type: "text/html" }));
      const link = h("a.button", { href: made, download: `${context.stream}-${month}.html`, testid: "report-download" }, "Download again");
      replace(outcome, h("p", `The report of ${MONTH.format(new Date(month))} is made and downloaded: one page that opens without a network.`), link);
      link.click();
    } catch (error) {
      if (error.name === "AbortError") return;
      replace(outcome, trouble(error));
    }
    button.disabled = false;
    button.textContent = "Make and download";
  } }, "Make and download");
  const base = api.base + context.path();
  const file = (name, title, words) => h("li", h("div", h("strong", title), h("p.hint", words)),
    h("a.button", { href: `${base}/${name}`, download: `${context.stream}-${name}`, testid: `download-${name}`, onclick: () => notify(`${title} is on its way.`) }, "Download"));
  replace(root, heading("Report", "What was saved, what is missed, what to change: for whoever answers for the stream."),
    h("div.grid.report-grid",
      h("section.card", h("h2", "Report of a month"),
        h("p.quiet", "Three questions in money, then the evidence: what was saved, what is being missed, and what to change. Made from the record as it stands now."),
        months.length > 0 ? field("Month", choice(months.map((one) => [one, MONTH.format(new Date(one))]), month, (value) => { month = value; }, { testid: "report-month" }))
          : h("p.notice", "There are no decisions yet."),
        h("div.row", button), outcome),
      h("section.card", h("h2", "The log"),
        h("p.quiet", "One row for each decision: what was decided, with which probability and why, and how it turned out."),
        h("ul.files",
          file("log.csv", "Log as CSV", "For a spreadsheet."),
          file("log.parquet", "Log as Parquet", "For appletaste missed, what-if and report, and for other programs.")))));
  return forget;
}

/** The months from the first to the last day, the latest first. */
function monthsOf(first, last) {
  if (!first || !last) return [];
  const found = [];
  const day = new Date(`${last.slice(0, 7)}-01`);
  for (; day >= new Date(`${first.slice(0, 7)}-01`) && found.length < MOST; day.setUTCMonth(day.getUTCMonth() - 1)) found.push(day.toISOString().slice(0, 7));
  return found;
}
