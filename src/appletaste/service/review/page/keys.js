// Keys: who may sign in or send, when they did so last, a new one, and none any more.

import { api, problemOf, session } from "./api.js";
import { ago, day, h, notify, part, replace, template } from "./dom.js";
import { ask, heading } from "./parts.js";

export async function show(root, context) {
  const content = template("keys");
  const [form, rows, made, name, role, stream, days] = ["key-form", "keys", "key-made", "key-name", "key-role", "key-stream", "key-days"].map((testid) => part(content, testid));
  replace(stream, h("option", { value: "*" }, "every stream"), session.state.streams.map((one) => h("option", { value: one }, one)));
  replace(root, heading("Keys", "Whoever holds a key signs in with it; programs send it with every request."), content);

  async function draw() {
    const { keys } = await api.get("keys", { signal: context.signal });
    const now = Date.now();
    const open = (key) => !key.revoked && (!key.expires || Date.parse(key.expires) > now);
    replace(rows, keys.reverse().sort((a, b) => open(b) - open(a)).map((key) => h("tr#key-row", { "data-id": key.id, class: open(key) ? "" : "over" },
      h("th", { scope: "row" }, key.name, h("span.quiet.small.mono", ` ${key.id}`)),
      h("td", key.role ?? key.scopes.join(", ")), h("td", key.streams.includes("*") ? "every stream" : key.streams.join(", ")),
      h("td", key.used ? ago(key.used) : "never"), h("td", day(key.created)),
      h("td", key.revoked ? ["revoked ", ago(key.revoked)] : key.expires ? day(key.expires) : "never"),
      h("td", open(key) && h("button.button.small.danger", { testid: "revoke", "aria-label": `Revoke the key of ${key.name}`, onclick: () => revoke(key) }, "Revoke …")))));
  }

  function revoke(key) {
    const own = key.id === session.state.key.id && h("p", h("strong", "This is the key that you have signed in with."));
    ask(`Revoke the key of ${key.name}?`, h("div", own, h("p", "The key opens nothing any more, its sessions end at once, and what its holder has claimed is free.")), "Revoke", "revoke", async () => {
      await api.delete(`keys/${encodeURIComponent(key.id)}`);
      if (session.state) await draw();
    });
  }

  form.onsubmit = async (event) => {
    event.preventDefault();
    const expires = days.value && new Date(Date.now() + 86400e3 * Number(days.value)).toISOString();
    try {
      const { secret, key } = await api.post("keys", { name: name.value.trim(), role: role.value, streams: [stream.value], ...(expires && { expires }) });
      name.value = "";
      const copy = h("button.button.small", { onclick: () => navigator.clipboard?.writeText(secret).then(() => notify("Copied."), () => notify("Copy the key by hand.")) }, "Copy");
      replace(made, h("div.notice", h("p", "The key of ", h("strong", key.name), ". It is shown once: hand it over now."), h("div.row", h("code.secret", { testid: "key-secret" }, secret), copy)));
      await draw();
    } catch (error) {
      replace(made, h("p.sign-wrong", { role: "alert" }, problemOf(error).words));
    }
  };
  await draw();
  return () => {};
}
