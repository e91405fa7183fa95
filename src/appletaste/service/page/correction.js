// Changes of a label that was sent: a correction with a reason, or withdrawing the label; and escalating a case.
//
//   correctLabel(context, id, value, done)     asks for a reason, then `done` after the service has agreed
//   escalate(context, id, done)                asks for a word, then `done`

import { api, Problem } from "./api.js";
import { h, openDialog, replace } from "./dom.js";
import { WORDS } from "./undo.js";

/** A dialog with a form: `send(values)` is tried, and its problem shown in the dialog. */
function ask(title, testid, content, button, send, done) {
  const wrong = h("p.sign-wrong", { role: "alert" });
  const go = h("button.button.primary", { type: "submit", testid: `${testid}-send` }, button);
  const form = h("form", {
    onsubmit: async (event) => {
      event.preventDefault();
      go.disabled = true;
      replace(wrong);
      try {
        await send(Object.fromEntries(new FormData(form)));
        dialog.close();
        done();
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        replace(wrong, error.status === 0 ? "The service cannot be reached: nothing was changed. Try again when it answers." : `${error.title}. ${error.words}`);
      } finally {
        go.disabled = false;
      }
    },
  }, content, wrong, h("div.dialog-end", h("button.button.plain", { onclick: () => dialog.close() }, "Cancel"), go));
  const dialog = openDialog(title, form, { testid });
  form.querySelector("textarea")?.focus();
  return dialog;
}

export function correctLabel(context, id, value, done) {
  const other = 1 - value;
  const choice = (name, words, checked) => h("label.check", h("input", { type: "radio", name: "to", value: name, checked }), words);
  ask("Correct the label", "correction", [
    h("p", h("span.mono", id), " has the label ", h("strong", WORDS[value]), ". What was learnt from it is learnt anew."),
    h("fieldset.choices", h("legend", "What is right?"), choice(String(other), ` ${WORDS[other]}`, true), choice("none", " not known: withdraw the label", false)),
    h("div.field", h("label", { for: "correction-reason" }, "Reason"),
      h("textarea#correction-reason", { id: "correction-reason", name: "reason", required: true, maxlength: "1000" })),
  ], "Correct", async ({ to, reason }) => {
    if (to !== "none") return api.post(context.path("decisions", id, "label", "corrections"), { value: Number(to), reason: reason.trim() });
    await api.delete(context.path("decisions", id, "label"));
    return context.can("review") && api.post(context.path("decisions", id, "notes"), { text: `label withdrawn: ${reason.trim()}`, by: context.key.name });
  }, done);
}

export function escalate(context, id, done) {
  ask("Escalate the case", "escalation", [
    h("p", h("span.mono", id), " is flagged in the queue for somebody else, and is yours no longer."),
    h("div.field", h("label", { for: "escalation-text" }, "What should be looked at? (may be left empty)"),
      h("textarea#escalation-text", { id: "escalation-text", name: "text", maxlength: "1000" })),
  ], "Escalate", ({ text }) => api.post(context.path("decisions", id, "escalation"), text.trim() ? { text: text.trim() } : {}), done);
}
