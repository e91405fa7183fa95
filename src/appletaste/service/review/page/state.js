// How a stream stands: its mode, what waits, how many labels were learnt; asked once, then kept up by what happens.
//
//   state.watch((now) => ...)     now is null until known; drawn at most once a second
//   await state.load()            asks the service again

import { api, streamPath, Watched } from "./api.js";
import { speak } from "./words.js";

// milliseconds between two drawings
const EVERY = 1000;
// after changes that events do not tell in full, ask once in so long
const AGAIN = 60_000;

export class StreamState extends Watched {
  constructor(stream) {
    super(null);
    this.stream = stream;
    this.asked = 0;
    this.timer = null;
  }

  async load() {
    this.asked = Date.now();
    const now = await api.get(streamPath(this.stream));
    speak(now.words);
    this.set(now);
    return this.state;
  }

  follow(live) {
    live.each((event) => this.#happened(event));
  }

  /** The service has just said how many items wait. */
  pending(number) {
    if (this.state && this.state.pending !== number) this.set({ ...this.state, pending: number });
  }

  #happened(event) {
    const now = this.state;
    if (!now) return;
    now.events = event.seq;
    if (event.kind === "decided" && now.mode !== "shadow") now.pending += event.act ? 1 : 0;
    else if (event.kind === "labelled" || event.kind === "expired") {
      now.pending = Math.max(0, now.pending - 1);
      if (event.kind === "labelled" && now.labels !== undefined) now.labels += 1;
    } else if (event.kind === "retracted") {
      now.pending += 1;
      if (now.labels !== undefined) now.labels -= 1;
    } else if (event.kind === "mode") now.mode = event.mode;
    else if (event.kind === "worded") speak(event.words);
    else if (event.kind === "costs") now.costs = event.costs;
    this.timer ??= setTimeout(() => {
      this.timer = null;
      this.set({ ...this.state });
      if (Date.now() - this.asked > AGAIN) this.load().catch(() => {});
    }, EVERY);
  }
}
