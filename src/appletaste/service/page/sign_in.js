// Signing in with a key. The key goes to the service once, and comes back as a cookie that no script can read.

import { api, Problem, session } from "./api.js";
import { h, replace } from "./dom.js";
import { outbox } from "./outbox.js";
import { home } from "./places.js";

export async function show(root) {
  const input = h("input", {
    id: "key", name: "key", type: "password", autocomplete: "current-password", spellcheck: "false", required: true, testid: "key",
    "aria-describedby": "key-hint key-wrong",
  });
  const wrong = h("p#sign-in-problem", { id: "key-wrong", class: "sign-wrong", role: "alert" });
  const button = h("button.button.primary#sign-in", { type: "submit" }, "Sign in");
  const { others } = outbox.state;
  const form = h("form.card.sign-in", { onsubmit: submit },
    h("div.sign-brand", h("span.brand-mark", { "aria-hidden": "true" }), "appletaste"),
    h("h1", "Sign in to the review desk"),
    session.why && h("p#why", { class: session.why.includes("revoked") ? "notice" : "quiet" }, session.why),
    others && h("p.notice#kept", `${others.labels === 1 ? "1 label waits" : `${others.labels} labels wait`} here until ${others.by} signs in again.`),
    h("div.field", h("label", { for: "key" }, "Key"), input,
      h("p.hint", { id: "key-hint" }, "It begins with at_. Whoever runs the service makes keys: ", h("code", "appletaste keys create"), ".")),
    wrong, button);
  replace(root, form);
  input.focus();

  async function submit(event) {
    event.preventDefault();
    button.disabled = true;
    replace(wrong);
    try {
      const told = await api.post("session", { key: input.value.trim() });
      input.value = "";
      session.begin(told);
      location.replace(home());
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      replace(wrong, error.status === 0 ? "The service cannot be reached. Try again in a moment."
        : error.passing ? `${error.title}. Try again in a moment.` : "This key opens nothing here: check for missing letters, or ask whether the key was revoked.");
      input.select();
    } finally {
      button.disabled = false;
    }
  }
}
