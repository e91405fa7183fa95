// What is said at the top of every page: not connected, labels that wait here, safe mode.
//
//   bannerFor(state)     from now on speaks of the stream with this state, or of none

import { connection, session } from "./api.js";
import { count, replace } from "./dom.js";
import { outbox } from "./outbox.js";

let stream = null;
let stop = null;

/** So many labels wait, in words. */
export function labels(number) {
  return number === 1 ? "1 label waits here" : `${count(number)} labels wait here`;
}

function said() {
  const { waiting, others } = outbox.state;
  const now = stream?.state;
  if (!connection.state.online) {
    const after = waiting ? "Labels are sent by themselves when the service answers." : "The page goes on by itself when the service answers.";
    return ["away", `Not connected, ${waiting ? labels(waiting) : "no labels wait here"}. ${after}`];
  }
  if (session.state && others) {
    return ["others", `${labels(others.labels)} until ${others.by} signs in again.`];
  }
  if (now?.mode === "safe") {
    return ["safe", `Safe mode: a fixed action stands for every item, and labels are recorded without being learnt.${now.trouble ? ` Reason: ${now.trouble}.` : ""}`];
  }
  return ["", ""];
}

function draw() {
  const banner = document.getElementById("banner");
  const [kind, words] = said();
  banner.dataset.kind = kind;
  banner.dataset.waiting = String(outbox.state.waiting);
  if (banner.textContent === words && banner.hidden === !words) return;
  banner.hidden = !words;
  replace(banner, words);
}

export function bannerFor(state) {
  stop?.();
  stream = state;
  stop = state?.watch(draw) ?? null;
  draw();
}

connection.watch(draw);
outbox.watch(draw);
session.watch(draw);
