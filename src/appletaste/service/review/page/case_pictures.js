// Small pictures of a case, as elements whose places are set in per cent: they fit every width and both themes.
//
//   chanceScale(chance, low, high, threshold)        where the chance lies, how sure, and from where acting pays
//   costBars({ act, pass })                          what either action is expected to cost
//   effectBar(contribution, low, high, reach)        a signed bar with a whisker
//   usualStrip(value, usual)                         a value beside what is usual

import { h, number, percent, price } from "./dom.js";
import { told } from "./words.js";

const known = (value) => typeof value === "number" && Number.isFinite(value);
const within = (share) => `${Math.min(Math.max(share, 0), 1) * 100}%`;

/** A piece of a picture from one share of the width to another. */
function piece(name, from, to) {
  return h("span", { class: name, style: { left: within(Math.min(from, to)), width: within(Math.abs(to - from)) } });
}

function mark(name, at) {
  return h("span", { class: name, style: { left: within(at) } });
}

/** The end of a scale of chances that leaves room for all that is shown. */
function reachOf(values) {
  const most = Math.max(...values.filter(known)) * 1.12;
  return [0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8].find((end) => end >= most) ?? 1;
}

export function chanceScale(chance, low, high, threshold) {
  const end = reachOf([chance, high, threshold, 0.02]);
  const pays = told(`acting pays from ${percent(threshold)}`);
  const words = `${percent(chance)}, ${known(low) ? `between ${percent(low)} and ${percent(high)} with 90 % probability, ` : ""}${pays}`;
  return h("div.scale#chance-scale", { role: "img", "aria-label": words },
    known(threshold) && h("div.scale-threshold", { class: threshold / end > 0.6 ? "late" : "", style: { left: within(threshold / end) } }, h("span", pays)),
    h("div.scale-track", known(threshold) && piece("scale-pays", threshold / end, 1),
      known(low) && piece("scale-band", low / end, high / end), known(chance) && mark("scale-dot", chance / end)),
    h("div.scale-axis", [0, end / 2, end].map((at) => h("span", percent(at)))));
}

export function costBars({ act, pass }) {
  const reach = Math.max(Math.abs(act), Math.abs(pass)) || 1;
  const row = (name, words, value, better) => h("div.cost-row", { class: better ? "better" : "" }, h("span", words),
    h("span.cost-track", known(value) && piece("cost-bar", 0, Math.abs(value) / reach)), price(name, value, { class: "cost-value" }));
  return h("div.costs", row("cost_act", told("Acting"), act, act <= pass), row("cost_pass", told("Passing"), pass, pass < act));
}

export function effectBar(contribution, low, high, reach) {
  const at = (value) => 0.5 + value / reach / 2;
  const side = contribution < 0 ? "cool" : "warm";
  return h("span.effect", { "aria-hidden": "true" }, h("span.effect-zero"), piece(`effect-bar ${side}`, 0.5, at(contribution)),
    piece("effect-whisker", at(low), at(high)));
}

export function usualStrip(value, usual) {
  if (!usual) return null;
  if (usual.kind === "number") return numberStrip(value, usual);
  const most = usual.top?.[0]?.[0] ?? null;
  return h("div.usual", { title: (usual.top ?? []).map(([level, share]) => `${level} ${percent(share)}`).join(", ") },
    h("span.strip", known(usual.share) && piece("strip-share", 0, usual.share)),
    h("span.usual-words", known(usual.share) && `${percent(usual.share)} are like this`, most !== null && most !== String(value) && h("span.usual-most", `most often ${most}`)));
}

function numberStrip(value, { low, median, high }) {
  const from = Math.min(low, known(value) ? value : low);
  const to = Math.max(high, known(value) ? value : high);
  const pad = (to - from) * 0.06 || 1;
  const at = (x) => (x - from + pad) / (to - from + 2 * pad);
  const odd = known(value) && (value < low || value > high);
  return h("div.usual",
    h("span.strip", piece("strip-band", at(low), at(high)), mark("strip-median", at(median)),
      known(value) && mark(odd ? "strip-dot odd" : "strip-dot", at(value))),
    h("span.usual-words", `usually ${number(low, 3)} to ${number(high, 3)}`, odd && h("strong", value < low ? "lower" : "higher")));
}
