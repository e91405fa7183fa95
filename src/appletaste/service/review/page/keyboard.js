// Keys that do something, and the help that lists them.
//
//   const stop = useKeys("Case", { 1: ["positive", () => ...], 0: ["negative", () => ...] })
//
// Keys are quiet while somebody types, while a dialog is open, and with Ctrl, Alt or Meta held.

import { h, openDialog, template } from "./dom.js";

const groups = [];

export function useKeys(title, keys) {
  const group = { title, keys };
  groups.push(group);
  return () => groups.splice(groups.indexOf(group), 1);
}

function typing(target) {
  return target instanceof HTMLElement && (target.isContentEditable || target.closest("input:not([type=checkbox]):not([type=range]), textarea, select") !== null);
}

addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog[open]")) return;
  if (typing(event.target)) return;
  if (event.key === "?") {
    event.preventDefault();
    return showHelp();
  }
  for (const { keys } of [...groups].reverse()) {
    const found = Object.hasOwn(keys, event.key) ? keys[event.key] : null;
    if (!found) continue;
    if (event.repeat && event.key !== "j" && event.key !== "k") return;
    event.preventDefault();
    found[1]();
    return;
  }
});

export function showHelp() {
  const help = template("help");
  help.prepend(...groups.map(({ title, keys }) => h("section", h("h3", title), h("dl",
    Object.entries(keys).map(([key, [words]]) => h("div", h("dt", h("kbd", key)), h("dd", words)))))));
  openDialog("Keys", help, { testid: "help-dialog", wide: true });
}
