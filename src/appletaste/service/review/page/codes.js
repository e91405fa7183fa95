// Why an item was acted on or passed: a short name for rows, and words; the service has the same codes.
//
//   codeChip("EXPLORE")       the short name as an element        codeWords("EXPLORE")       a sentence

import { h } from "./dom.js";
import { told } from "./words.js";

const CODES = {
  EXPLOIT: ["pays", "A look is expected to pay."],
  EXPLORE: ["to learn", "Chosen to learn from: the expected cost alone says pass."],
  AUDIT: ["audit", "An audit, to find out what is missed."],
  ENACTED: ["by hand", "Somebody acted, whatever was decided."],
  CAPACITY: ["no room", "Passed: the reviews go to items that save more."],
  RANDOM: ["by chance", "Passed by the draw."],
  PASS: ["does not pay", "Passed: a look is not expected to pay."],
  SAFE: ["safe mode", "Decided in safe mode, by a fixed action."],
};

export function codeName(code) {
  return CODES[code]?.[0] ?? code;
}

export function codeWords(code, otherwise = "") {
  return told(CODES[code]?.[1] ?? otherwise);
}

export function codeChip(code) {
  return code && h("span.code", { "data-code": code, title: codeWords(code) }, codeName(code));
}
