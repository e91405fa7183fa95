// What happens in a stream, as it is written: server-sent events, read so that a cut leaves no gap.
//
//   const live = new Live("cards"); live.open(417)      hears event 418 and all that follow
//   live.each((event) => ...)                            every event, at once: for counting
//   live.watch((events) => ...)                          what came since last time, at most once a second: for drawing
//   live.status.watch((word) => ...)                     "connecting", "open" or "cut"
//
// The browser's own EventSource says neither why a connection failed nor where it stood when the page opens another,
// so the lines are read here: each event has its number, and a new connection asks for what comes after the last one.

import { api, backoff, connection, pause, session, streamPath, Watched } from "./api.js";

// milliseconds between two drawings
const EVERY = 1000;
// events that are held for the next drawing
const MOST = 2000;
// the service says every 15 seconds that it is there
const QUIET = 40_000;

export class Live {
  constructor(stream) {
    this.stream = stream;
    this.last = null;
    this.status = new Watched("connecting");
    this.listeners = new Set();
    this.watchers = new Set();
    this.held = [];
    this.timer = null;
    this.controller = new AbortController();
  }

  each(listener) {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  watch(watcher) {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }

  /** Follow the stream behind an event, until `close`. */
  async open(after) {
    if (this.last !== null) return;
    this.last = after;
    for (let turn = 0; !this.controller.signal.aborted; turn += 1) {
      try {
        await this.#read(() => { turn = 0; });
      } catch (error) {
        if (this.controller.signal.aborted || !session.state) return;
        if (error.name !== "AbortError" && error.status !== undefined && !error.passing) {
          this.status.set("cut");
          return;
        }
      }
      if (this.controller.signal.aborted) return;
      this.status.set("cut");
      await pause(backoff(turn), this.controller.signal).catch(() => {});
    }
  }

  close() {
    this.controller.abort();
    clearTimeout(this.timer);
    this.held = [];
  }

  async #read(began) {
    const connected = new AbortController();
    const stop = () => connected.abort();
    this.controller.signal.addEventListener("abort", stop);
    let quiet = setTimeout(stop, QUIET);
    try {
      const answer = await api.send("GET", `${streamPath(this.stream, "live")}?from_seq=${this.last + 1}`, {
        signal: connected.signal, hasty: true, headers: { Accept: "text/event-stream" },
      });
      this.status.set("open");
      began();
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let rest = ""; ;) {
        const { value, done } = await reader.read();
        if (done) return;
        connection.told(true);
        clearTimeout(quiet);
        quiet = setTimeout(stop, QUIET);
        const blocks = (rest + value).split("\n\n");
        rest = blocks.pop();
        for (const block of blocks) this.#take(block);
      }
    } finally {
      clearTimeout(quiet);
      this.controller.signal.removeEventListener("abort", stop);
    }
  }

  #take(block) {
    const data = block.split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trim()).join("\n");
    if (!data) return;
    const event = JSON.parse(data);
    // heard before the cut
    if (event.seq <= this.last) return;
    this.last = event.seq;
    for (const listener of this.listeners) listener(event);
    this.held.push(event);
    if (this.held.length >= MOST) this.#tell();
    else this.timer ??= setTimeout(() => this.#tell(), EVERY);
  }

  #tell() {
    clearTimeout(this.timer);
    this.timer = null;
    const events = this.held;
    this.held = [];
    for (const watcher of [...this.watchers]) watcher(events);
  }
}
