// Where one is in the page, and what this browser remembers of it.
//
//   address("cards", "case", id)    "#/stream/cards/case/..."; parse() reads the address of the page
//   home()                          where somebody who has just signed in goes on
//   remembered(name), remembered(name, value or null)      small words in this browser; nothing breaks without storage

import { session } from "./api.js";

const LAST = "appletaste.stream";
const WANTED = "appletaste.wanted";
export const FIRST_USE = "#/first-use";
export const KEYS = "#/keys";
export const SIGN_IN = "#/sign-in";

export function remembered(name, value, store = "localStorage") {
  try {
    if (value === undefined) return window[store].getItem(name);
    if (value === null) window[store].removeItem(name);
    else window[store].setItem(name, value);
  } catch {
    // no storage: nothing is remembered
  }
  return null;
}

export function address(stream, view, ...params) {
  return `#/${["stream", stream, view, ...params].map(encodeURIComponent).join("/")}`;
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function parse(hash = location.hash) {
  const parts = hash.replace(/^#\/?/, "").split("/").map(decoded);
  if (parts[0] === "stream" && parts[1]) return { stream: parts[1], view: parts[2] || "queue", params: parts.slice(3) };
  return { stream: null, view: parts[0], params: parts.slice(1) };
}

/** Keep the address that was wanted, for after signing in. */
export function askToSignIn() {
  if (location.hash && !location.hash.startsWith(SIGN_IN)) remembered(WANTED, location.hash, "sessionStorage");
  return SIGN_IN;
}

export function rememberStream(stream) {
  remembered(LAST, stream);
}

export function home() {
  const wanted = remembered(WANTED, undefined, "sessionStorage");
  remembered(WANTED, null, "sessionStorage");
  const { streams } = session.state;
  if (wanted && (streams.includes(parse(wanted).stream) || wanted === FIRST_USE || wanted === KEYS)) return wanted;
  const last = remembered(LAST);
  if (streams.length) return address(streams.includes(last) ? last : streams[0], "queue");
  return FIRST_USE;
}
