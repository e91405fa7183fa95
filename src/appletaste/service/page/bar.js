// The bar at the top: which stream, which pages the key allows, what waits, whether the page is live, who is signed in.
//
//   drawBar(views, place, view, signOut)     draws it for a place { stream, state, live } or null; marks the page

import { session } from "./api.js";
import { count, figure, h, replace } from "./dom.js";
import { showHelp } from "./keyboard.js";
import { address, FIRST_USE, remembered } from "./places.js";

/** What each mode of a stream means. */
export const MODES = {
  live: "The actions of the policy stand, and labels are learnt.",
  shadow: "The caller's own action stands; the policy says what it would have done.",
  frozen: "Decisions are made, and nothing is learnt.",
  safe: "A fixed action stands for every item, until somebody sets another mode.",
};
const ALIVE = { open: "live", connecting: "connecting", cut: "cut" };
const NEW = "\0new";

let bar = null;

export function drawBar(views, place, view, signOut) {
  const shell = document.getElementById("shell");
  if (!session.state) {
    bar?.stop();
    bar = null;
    return replace(shell);
  }
  if (!bar || bar.place !== place || bar.session !== session.state) {
    bar?.stop();
    bar = makeBar(shell, views, place, signOut);
  }
  for (const link of bar.links) {
    if (link.dataset.view === (view === "case" ? "queue" : view)) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  return shell;
}

function makeBar(shell, views, place, signOut) {
  const { key } = session.state;
  const open = Object.entries(views).filter(([, one]) => !one.hidden && session.can(one.scope));
  const links = place === null ? [] : open.map(([view, one]) => h("a", {
    href: address(place.stream, view), "data-view": view, testid: `nav-${view}`,
  }, one.title));
  const mode = h("span.mode#mode");
  const waiting = h("span.bar-count#waiting");
  const alive = h("span.alive#alive");
  replace(shell, h("header.bar",
    h("a.brand", { href: place === null ? "#/" : address(place.stream, "queue"), "aria-label": "appletaste, to the queue" },
      h("span.brand-mark", { "aria-hidden": "true" }), h("span.brand-word", "appletaste")),
    h("div.bar-stream", streamChoice(place), mode),
    links.length > 0 && h("nav", { "aria-label": "Pages of the stream" }, links),
    h("div.bar-end", waiting, alive,
      h("button.button.plain.icon#help", { "aria-label": "Keys and help", title: "Keys and help (?)", onclick: showHelp }, "?"),
      themeButton(),
      h("span.who", { title: `Signed in with the key ${key.name}`, testid: "who" }, key.name),
      h("button.button.small#sign-out", { onclick: signOut }, "Sign out"))));
  const stops = [];
  if (place) stops.push(place.state.watch((state) => state && drawState(state, mode, waiting)));
  if (place?.live) stops.push(place.live.status.watch((status) => {
    alive.dataset.state = status;
    replace(alive, h("span.dot", { "aria-hidden": "true" }), h("span.alive-word", ALIVE[status]));
  }));
  return { place, session: session.state, links, stop: () => stops.forEach((stop) => stop()) };
}

function drawState(state, mode, waiting) {
  mode.dataset.mode = state.mode;
  mode.title = MODES[state.mode] ?? "";
  replace(mode, state.mode);
  replace(waiting, figure("waiting", state.pending, count(state.pending)), " waiting");
}

function streamChoice(place) {
  const { streams } = session.state;
  const select = h("select", {
    id: "stream-choice", testid: "stream-choice",
    onchange: () => { location.hash = select.value === NEW ? FIRST_USE : address(select.value, "queue"); },
  }, place === null && h("option", { value: NEW }, streams.length ? "Choose a stream" : "No stream yet"),
  streams.map((name) => h("option", { value: name }, name)),
  place !== null && session.can("admin") && h("option", { value: NEW }, "New stream …"));
  select.value = place === null ? NEW : place.stream;
  return [h("label.only-read", { for: "stream-choice" }, "Stream"), select];
}

function themeButton() {
  const root = document.documentElement;
  const dark = () => (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  return h("button", {
    class: "button plain icon", "aria-label": "Light or dark", title: "Light or dark", testid: "theme",
    onclick: () => {
      root.dataset.theme = dark() ? "light" : "dark";
      remembered("appletaste.theme", root.dataset.theme);
    },
  }, "◐");
}
