// Keys that do something, and the help that lists them.
//
//   const stop = useKeys("Case", { 1: ["positive", () => ...], "g q": ["to the queue", () => ...] })
//
// Two letters are pressed one after the other. Keys are quiet while somebody types, while a dialog is open, and with
// Ctrl, Alt or Meta held.

import { h, openDialog, template } from "./dom.js";

// milliseconds in which the second letter comes
const SOON = 1500;
const groups = [];
let first = "";
let timer = 0;

export function useKeys(title, keys) {
  const group = { title, keys };
  groups.push(group);
  return () => groups.splice(groups.indexOf(group), 1);
}

function typing(target) {
  return target instanceof HTMLElement && (target.isContentEditable || target.closest("input:not([type=checkbox]):not([type=range]), textarea, select") !== null);
}

/** What the keys that were pressed stand for; null: nothing. */
function meant(pressed) {
  for (const { keys } of [...groups].reverse()) if (Object.hasOwn(keys, pressed)) return keys[pressed];
  return null;
}

addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog[open]")) return;
  if (typing(event.target)) return;
  if (event.key === "?") {
    event.preventDefault();
    return showHelp();
  }
  const both = first && meant(`${first} ${event.key}`);
  const begins = groups.some(({ keys }) => Object.keys(keys).some((one) => one.startsWith(`${event.key} `)));
  clearTimeout(timer);
  first = !both && begins ? event.key : "";
  if (first) timer = setTimeout(() => { first = ""; }, SOON);
  const found = both || meant(event.key);
  if (!found) return;
  if (event.repeat && event.key !== "j" && event.key !== "k") return;
  event.preventDefault();
  found[1]();
});

export function showHelp() {
  const help = template("help");
  help.prepend(...groups.filter(({ keys }) => Object.keys(keys).length).map(({ title, keys }) => h("section", h("h3", title), h("dl",
    Object.entries(keys).map(([key, [words]]) => h("div", h("dt", key.split(" ").map((one) => [h("kbd", one), " "])), h("dd", words)))))));
  openDialog("Keys", help, { testid: "help-dialog", wide: true });
}
