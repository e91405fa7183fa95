// The bar at the top: which stream, which pages there are, what waits, whether the page is live, who is signed in.
//
//   drawBar(views, place, view, signOut)     draws it for a place { stream, state, live } or null; marks the page

import { session } from "./api.js";
import { count, figure, h, part, replace, template } from "./dom.js";
import { showHelp } from "./keyboard.js";
import { address, FIRST_USE, remembered } from "./places.js";

const ALIVE = { open: "connected", connecting: "connecting", cut: "cut off" };
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
    const current = link.dataset.view === (view === "case" ? "queue" : view);
    link.ariaCurrent = current ? "page" : null;
    if (current) link.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
  return shell;
}

function makeBar(shell, views, place, signOut) {
  const element = template("bar");
  const [mode, waiting, alive, nav] = ["mode", "waiting", "alive", "nav"].map((testid) => part(element, testid));
  const open = Object.entries(views).filter(([, one]) => place?.live && !one.hidden && (!one.scope || session.can(one.scope)));
  const links = open.map(([view, one]) => h("a", { href: address(place.stream, view), "data-view": view, testid: `nav-${view}` }, one.title));
  replace(nav, links);
  nav.hidden = !links.length;
  alive.hidden = !place?.live;
  drawChoice(part(element, "stream-choice"), place);
  part(element, "help").onclick = showHelp;
  part(element, "theme").onclick = otherTheme;
  const who = part(element, "who");
  who.append(session.state.key.name);
  who.title = `Signed in as ${session.state.key.name}`;
  part(element, "keys-link").hidden = !(session.can("admin") && session.state.key.streams.includes("*"));
  part(element, "sign-out").onclick = signOut;
  // whom the proxy names is signed in again at once
  part(element, "sign-out").hidden = session.state.by_proxy;
  replace(shell, element);
  const stops = [place?.state.watch((state) => {
    if (!state) return;
    mode.dataset.mode = state.mode;
    replace(mode, state.mode);
    replace(waiting, figure("waiting", state.pending, count(state.pending)), " waiting");
  }), place?.live?.status.watch((status) => {
    alive.dataset.state = status;
    replace(part(alive, "alive-word"), ALIVE[status]);
  })];
  return { place, session: session.state, links, stop: () => stops.forEach((stop) => stop?.()) };
}

function drawChoice(select, place) {
  const { streams } = session.state;
  const other = place ? session.can("admin") && "New stream …" : streams.length ? "Choose a stream" : "No stream yet";
  replace(select, streams.map((name) => h("option", { value: name }, name)), other && h("option", { value: NEW }, other));
  select.value = place?.stream ?? NEW;
  select.onchange = () => { location.hash = select.value === NEW ? FIRST_USE : address(select.value, "queue"); };
}

function otherTheme() {
  const { dataset } = document.documentElement;
  const now = dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  dataset.theme = now === "dark" ? "light" : "dark";
  remembered("appletaste.theme", dataset.theme);
}
