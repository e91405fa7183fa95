// Fields for what a team calls things: at the end of first use, and in the settings on the page Health.
//
//   const fields = wordFields(holder)      holder has the words by name; what is typed goes there
//   askForWords(context)                   a dialog with the fields, which are an event of the record
import { api } from "./api.js";
import { h, notify } from "./dom.js";
import { ask, field } from "./parts.js";
import { words } from "./words.js";

const ASKED = [
  ["item", "An item is called", "order"], ["positive", "Where acting was right", "fraud"], ["negative", "Where it was not", "fine"],
  ["act", "To act on it is to", "hold"], ["pass", "To leave it is to", "let through"], ["currency", "Amounts are in", "EUR"],
];

export function wordFields(holder) {
  return ASKED.map(([name, title, example]) => {
    const input = h("input", { testid: `word-${name}`, maxlength: "40", autocomplete: "off", placeholder: example,
      value: holder[name] ?? "", oninput: () => { holder[name] = input.value.trim(); } });
    return field(title, input);
  });
}

/** What is not empty, as the service takes it. */
export const sheetOf = (holder) => Object.fromEntries(Object.entries(holder).filter(([, word]) => word));

export function askForWords(context, done) {
  const holder = Object.fromEntries(ASKED.map(([name]) => [name, words[name]]));
  ask("What your team says", [h("p.quiet", "Page, report and exports speak in these words. Empty: the usual ones."),
    h("div.fields", wordFields(holder))], "Use these words", "words", async () => {
    await api.post(context.path("words"), { words: sheetOf(holder), by: context.key.name });
    await context.state?.load();
    notify("The words hold from now on.");
    done();
  });
}
