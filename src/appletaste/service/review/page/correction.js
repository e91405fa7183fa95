// Changes of a label that was sent: a correction with a reason, or withdrawing the label; and escalating a case.
//
//   correctLabel(context, id, value, done)     asks for a reason, then `done` after the service has agreed
//   escalate(context, id, done)                asks for a word, then `done`

import { api, problemOf } from "./api.js";
import { h, openDialog, part, replace, template } from "./dom.js";
import { WORDS } from "./undo.js";

/** A dialog with the form of a template: `send({ text, to })` is tried, and its problem shown in the dialog. */
function ask(title, testid, id, button, send, done) {
  const form = template(testid);
  const wrong = h("p.sign-wrong", { role: "alert" });
  const go = h("button.button.primary", { type: "submit", testid: `${testid}-send` }, button);
  const dialog = openDialog(title, form, { testid });
  part(form, "about").append(id);
  form.append(wrong, h("div.dialog-end", h("button.button.plain", { onclick: () => dialog.close() }, "Cancel"), go));
  form.onsubmit = async (event) => {
    event.preventDefault();
    go.disabled = true;
    try {
      await send(Object.fromEntries(new FormData(form)));
      dialog.close();
      done();
    } catch (error) {
      problemOf(error);
      replace(wrong, error.status ? `${error.title}. ${error.words}` : "The service cannot be reached: nothing was changed. Try again when it answers.");
    }
    go.disabled = false;
  };
  form.querySelector("textarea").focus();
  return form;
}

export function correctLabel(context, id, value, done) {
  const form = ask("Correct the label", "correction", id, "Correct", async ({ to, text }) => {
    if (to === "other") return api.post(context.path("decisions", id, "label", "corrections"), { value: 1 - value, reason: text });
    await api.delete(context.path("decisions", id, "label"));
    return context.can("review") && api.post(context.path("decisions", id, "notes"), { text: `label withdrawn: ${text}` });
  }, done);
  part(form, "had").append(WORDS[value]);
  part(form, "other").append(WORDS[1 - value]);
}

export function escalate(context, id, done) {
  ask("Escalate the case", "escalation", id, "Escalate", ({ text }) => api.post(context.path("decisions", id, "escalation"), text ? { text } : {}), done);
}
