// The frame of the review page: who is signed in, which stream, which view; everything else is a view.
//
// A view is a module in this folder that exports
//     async function show(root, context)      draws into `root`; returns a function that tears the view down
// (the function may have `update(view, params)`, called instead when only the rest of the address changes), and
// `context` has
//     stream        the name of the stream, or null          params     what stands behind the view in the address
//     key           { id, name, scopes, ... }                can(scope) whether the key allows something
//     path(...x)    the address of x in this stream, for api.get and the others
//     state         how the stream stands (state.js): state.watch((now) => ...), now has mode, pending, events, labels
//                   what the stream calls its items, outcomes and actions is in words.js by the time a view is shown
//     live          live.watch((events) => ...) hears what happened, at most once a second (live.js); may be null
//     signal        aborted when the view is torn down: hand it to api.get
//     go(view, ...params)                                     another view of the same stream
// An address is #/stream/NAME/VIEW/PARAMS..., #/first-use or #/sign-in (places.js).

import { api, Problem, problemOf, session, streamPath } from "./api.js";
import { drawBar } from "./bar.js";
import { bannerFor } from "./banner.js";
import { announce, emptyState, h, notify, on, replace, trouble } from "./dom.js";
import { useKeys } from "./keyboard.js";
import { Live } from "./live.js";
import { outbox } from "./outbox.js";
import { address, askToSignIn, home, parse, rememberStream } from "./places.js";
import { StreamState } from "./state.js";
import { outcomeOf, speak } from "./words.js";

/** Views of a stream by their address, all of which need to read; and views without a stream, with their scope. */
const VIEWS = {
  queue: { module: "./queue.js", title: "Queue" },
  case: { module: "./queue.js", title: "Case", hidden: true },
  stream: { module: "./stream.js", title: "Stream" },
  model: { module: "./model.js", title: "Model" },
  "what-if": { module: "./what_if.js", title: "What if" },
  health: { module: "./health.js", title: "Health" },
  report: { module: "./report.js", title: "Report" },
  "second-looks": { module: "./second_looks.js", title: "Second looks", scope: "review" },
  layout: { module: "./layout.js", title: "Layout", scope: "lead", hidden: true },
};
/** The second letter of the keys that lead from page to page: g, then q. */
const LETTERS = { queue: "q", stream: "s", model: "m", "what-if": "w", health: "h", report: "r", "second-looks": "l" };
const ALONE = {
  "sign-in": { module: "./sign_in.js", title: "Sign in" },
  keys: { module: "./keys.js", title: "Keys", scope: "admin" },
  "first-use": { module: "./first_use.js", title: "New stream", scope: "admin" },
};

const main = document.getElementById("main");
// { module, stream, teardown, controller }
let shown = null;
// { stream, state, live }
let place = null;

/** Follow a stream, and no other. */
function open(stream) {
  if (place?.stream === stream) return;
  place?.live?.close();
  place = null;
  bannerFor(null);
  speak();
  if (stream === null) return;
  rememberStream(stream);
  const state = new StreamState(stream);
  const live = session.can("read") ? new Live(stream) : null;
  place = { stream, state, live };
  bannerFor(state);
  if (live) {
    state.follow(live);
    const loaded = state.load();
    place.worded = loaded.catch(() => {});
    loaded.then((now) => live.open(now.events), () => {});
  }
}

function where() {
  const found = parse();
  if (!session.state) return found.view === "sign-in" ? found : { elsewhere: askToSignIn() };
  if (found.view === "sign-in" || (found.stream === null && !ALONE[found.view])) return { elsewhere: home() };
  return found;
}

async function route() {
  const { elsewhere, stream, view, params } = where();
  if (elsewhere) return location.replace(elsewhere);
  const found = stream === null ? ALONE[view] : VIEWS[view];
  const seen = stream === null || session.state.streams.includes(stream) || await lookAgain(stream);
  open(seen ? stream : null);
  drawBar(VIEWS, place, view, signOut);
  if (!seen) return instead(emptyState("There is no such stream", `The key ${session.state.key.name} sees no stream with this name.`));
  if (!found) return instead(emptyState("There is no such page", "Choose one of the pages above."));
  const missing = [stream !== null && "read", found.scope].find((scope) => scope && !session.can(scope));
  if (missing) return instead(noPermission(missing));
  document.title = [found.title, stream ?? [], "appletaste"].flat().join(" · ");
  if (shown?.module === found.module && shown.stream === stream && shown.teardown?.update) {
    return shown.teardown.update(view, params);
  }
  void leave();
  await show(found.module, stream, view, params);
}

/** A stream may have been made since signing in. */
async function lookAgain(stream) {
  const told = await api.get("session");
  if (!told?.key || !told.streams.includes(stream)) return false;
  session.begin(told);
  return true;
}

async function show(name, stream, view, params) {
  const controller = new AbortController();
  const mine = { module: name, stream, controller, teardown: null };
  shown = mine;
  const root = h("div", { class: `view view-${view}`, testid: `view-${view}` });
  replace(main, root);
  main.setAttribute("aria-busy", "true");
  const context = {
    stream, view, params, signal: controller.signal, key: session.state?.key ?? null, can: (scope) => session.can(scope),
    path: (...parts) => streamPath(stream, ...parts), state: place?.state ?? null, live: place?.live ?? null,
    go: (other, ...rest) => { location.hash = address(stream, other, ...rest); },
  };
  try {
    const [module] = await Promise.all([import(name), place?.worded]);
    if (shown !== mine) return;
    const teardown = await module.show(root, context);
    if (shown === mine) mine.teardown = teardown;
    else teardown?.();
  } catch (error) {
    if (error.name === "AbortError" || shown !== mine) return;
    replace(root, failure(error));
  } finally {
    if (shown === mine) main.removeAttribute("aria-busy");
  }
}

function failure(error) {
  if (error instanceof Problem) return error.status === 403 && error.scope ? noPermission(error.scope) : trouble(error);
  console.error(error);
  return trouble({ title: "This page cannot be shown", words: "Reload the page. No label is lost: labels that were not sent are kept here." });
}

function noPermission(scope) {
  return emptyState("This key does not allow this", `The page needs a key with the scope “${scope}”. Ask whoever runs the service for one.`);
}

async function leave() {
  const before = shown;
  shown = null;
  before?.controller.abort();
  await before?.teardown?.();
}

function instead(content) {
  void leave();
  replace(main, content);
}

async function signOut() {
  await leave();
  await outbox.flush();
  try {
    await api.delete("session", { hasty: true });
  } catch (error) {
    problemOf(error);
  }
  session.end("You are signed out.");
}

/** A label that the service refused is shown until somebody has seen to it, also after the page was loaded again. */
const told = new Set();
outbox.watch(({ refused }) => {
  for (const entry of refused.filter((one) => !told.has(one.name))) {
    told.add(entry.name);
    notify(`The label ${outcomeOf(entry.value)} of ${entry.id} was refused: ${entry.refused}.`, {
      bad: true, gone: () => outbox.dismiss(entry),
      action: { words: "Open the case", run: () => { location.hash = address(entry.stream, "case", entry.id); } },
    });
  }
});
session.watch((now) => {
  if (now) return outbox.begin(now.key.name);
  outbox.pause();
  if (!session.why) return undefined;
  announce(session.why);
  return location.replace(askToSignIn());
});
on(window, "hashchange", () => void route());
useKeys("Pages", Object.fromEntries(Object.entries(LETTERS).map(([view, letter]) => [`g ${letter}`, [VIEWS[view].title,
  () => { if (place) location.hash = address(place.stream, view); }]])));
on(document.querySelector(".skip-link"), "click", (event) => {
  // the address says which page this is
  event.preventDefault();
  main.focus();
});

try {
  const found = await api.get("session");
  if (found?.key) session.begin(found);
} catch (error) {
  problemOf(error);
}
await route();
