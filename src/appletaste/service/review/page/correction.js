// Changes of a label that was sent: a correction with a reason, or withdrawing the label; and escalating a case.
//
//   correctLabel(context, id, value, done)     asks for a reason, then `done` after the service has agreed
//   escalate(context, id, done)                asks for a word and for whom, then `done`
//
// Enter sends, Shift and Enter begin another line. What was written and not sent is there again the next time.

import { api, problemOf } from "./api.js";
import { h, notify, on, openDialog, part, replace, template } from "./dom.js";
import { outcomeOf } from "./words.js";

/** Texts that were written and not sent, by what they are about. */
const drafts = new Map();

/** A dialog with the form of a template: `send({ text, to })` is tried, and its problem shown in the dialog. */
function ask(title, testid, id, button, send, done) {
  const form = template(testid);
  const wrong = h("p.sign-wrong", { role: "alert" });
  const go = h("button.button.primary", { type: "submit", testid: `${testid}-send` }, button);
  const dialog = openDialog(title, form, { testid });
  const text = form.querySelector("textarea");
  const draft = `${testid} ${id}`;
  let sent = false;
  text.value = drafts.get(draft) ?? "";
  part(form, "about").append(id);
  form.append(wrong, h("div.dialog-end", h("p.quiet.small", h("kbd", "Enter"), " sends"), h("button.button.plain", { onclick: () => dialog.close(), testid: `${testid}-cancel` }, "Cancel"), go));
  text.onkeydown = (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    if (!go.disabled) form.requestSubmit(go);
  };
  on(dialog, "close", () => {
    if (sent || !text.value.trim()) return drafts.delete(draft);
    drafts.set(draft, text.value);
    return notify("Nothing was sent. What you wrote is kept until you open this again.");
  });
  form.onsubmit = async (event) => {
    event.preventDefault();
    go.disabled = true;
    try {
      await send(Object.fromEntries(new FormData(form)));
      sent = true;
      dialog.close();
      done();
    } catch (error) {
      problemOf(error);
      replace(wrong, error.status ? `${error.title}. ${error.words}` : "The service cannot be reached: nothing was changed. Try again when it answers.");
    }
    go.disabled = false;
  };
  text.focus();
  return form;
}

export function correctLabel(context, id, value, done) {
  const form = ask("Correct the label", "correction", id, "Correct", async ({ to, text }) => {
    if (to === "other") return api.post(context.path("decisions", id, "label", "corrections"), { value: 1 - value, reason: text });
    await api.delete(context.path("decisions", id, "label"));
    return context.can("review") && api.post(context.path("decisions", id, "notes"), { text: `label withdrawn: ${text}` });
  }, done);
  part(form, "had").append(outcomeOf(value));
  part(form, "other").append(outcomeOf(1 - value));
}

export function escalate(context, id, done) {
  ask("Escalate the case", "escalation", id, "Escalate", ({ text, to }) => api.post(context.path("decisions", id, "escalation"),
    { ...(text && { text }), ...(to.trim() && { to: to.trim() }) }), done);
}
