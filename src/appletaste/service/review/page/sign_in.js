// Signing in with a key. The key goes to the service once, and comes back as a cookie that no script can read.

import { api, problemOf, session } from "./api.js";
import { labels } from "./banner.js";
import { part, replace, template } from "./dom.js";
import { outbox } from "./outbox.js";
import { home } from "./places.js";

export async function show(root) {
  const form = template("sign-in");
  const [input, wrong, button, why, kept] = ["key", "sign-in-problem", "sign-in", "why", "kept"].map((testid) => part(form, testid));
  const { others } = outbox.state;
  why.append(session.why ?? "");
  if (others) kept.append(`${labels(others.labels)} until ${others.by} signs in again.`);
  replace(root, form);
  input.focus();
  form.onsubmit = async (event) => {
    event.preventDefault();
    button.disabled = true;
    replace(wrong);
    try {
      const told = await api.post("session", { key: input.value.trim() });
      input.value = "";
      session.begin(told);
      location.replace(home());
    } catch (error) {
      problemOf(error);
      replace(wrong, error.passing ? `${error.title}. Try again in a moment.`
        : "This key opens nothing here: check for missing letters, or ask whether the key was revoked.");
      input.select();
    }
    button.disabled = false;
  };
}
