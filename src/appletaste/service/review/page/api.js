// Requests to the service: with the session's cookie and CSRF token, problems as words, patience while it is away.
//
//   await api.get("streams/cards/queue?limit=200", { signal })    safe requests wait until the service answers again
//   await api.post("streams/cards/costs", { costs })              the answer's JSON, null for 204; a Problem is thrown
//   await api.put(path, body), api.delete(path), api.send(method, path, { body, type, keepalive })
//   streamPath("cards", "cases", id)                              "streams/cards/cases/..." with every part encoded
//   connection.watch((state) => ...)                              { online }, at once and whenever it changes
//   session.watch((told) => ...)                                  { key, streams, csrf } or null, and why it ended

const BASE = new URL("v1/", document.baseURI).href;

/** Milliseconds to wait before a request is sent again, the longer the more often it failed. */
export const backoff = (turn) => Math.min(300 * 2 ** turn, 5000);

/** What the service refused, or that it could not be reached; `words` is for people. */
export class Problem extends Error {
  constructor(status, { type = "away", title = "the service cannot be reached", remedy, detail, errors = [], scope } = {}) {
    super(title);
    Object.assign(this, { status, remedy, detail, errors, scope, name: type.split(":").pop(), title: sentence(title) });
  }

  /** The service is away, or says that the same request may succeed later. */
  get passing() {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }

  get words() {
    const fields = this.errors.map((one) => [one.pointer || one.parameter, one.expected ?? one.code].filter(Boolean).join(": "));
    return [this.detail, ...fields, this.remedy].filter(Boolean).map(sentence).join(". ") || this.title;
  }
}

/** What was refused, for whoever can go on; errors of another kind are thrown again. */
export function problemOf(error) {
  if (error instanceof Problem) return error;
  throw error;
}

function sentence(words) {
  return words[0].toUpperCase() + words.slice(1);
}

/** A value that others watch. */
export class Watched {
  constructor(state) {
    this.state = state;
    this.watchers = new Set();
  }

  set(state) {
    this.state = state;
    for (const watcher of [...this.watchers]) watcher(state);
  }

  watch(watcher) {
    this.watchers.add(watcher);
    watcher(this.state);
    return () => this.watchers.delete(watcher);
  }
}

class Connection extends Watched {
  told(online) {
    if (online !== this.state.online) this.set({ online });
  }
}

export const connection = new Connection({ online: true });

class Session extends Watched {
  /** Whether the key allows something. */
  can(scope) {
    return this.state?.key.scopes.includes(scope) ?? false;
  }

  begin(told) {
    this.why = "";
    this.set(told);
  }

  end(why) {
    this.why = why;
    if (this.state) this.set(null);
  }
}

export const session = new Session(null);

export function streamPath(stream, ...parts) {
  return ["streams", stream, ...parts].map(encodeURIComponent).join("/").replace(/(queue|labels)%3A/, "$1:");
}

async function once(method, path, { body, type = "application/json", signal, keepalive = false, headers = {} } = {}) {
  const given = { Accept: "application/json", ...headers };
  if (method !== "GET" && session.state) given["X-CSRF-Token"] = session.state.csrf;
  let content;
  if (body !== undefined) {
    given["Content-Type"] = type;
    content = type === "application/json" ? JSON.stringify(body) : body;
  }
  let answer;
  try {
    answer = await fetch(BASE + path, { method, headers: given, body: content, signal, keepalive, credentials: "same-origin", cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    connection.told(false);
    throw new Problem(0);
  }
  if (answer.ok) {
    connection.told(true);
    return answer;
  }
  connection.told(answer.status < 502);
  throw new Problem(answer.status, await answer.json().catch(() => ({ title: `the service answered ${answer.status}` })));
}

async function patient(method, path, options = {}) {
  let renewed = false;
  for (let turn = 0; ; turn += 1) {
    try {
      return await once(method, path, options);
    } catch (error) {
      if (problemOf(error).status === 401 && path !== "session") {
        session.end("Your session is over: the key was revoked, or has expired. Sign in again to go on.");
        throw error;
      }
      if (error.name === "csrf" && !renewed) {
        renewed = true;
        session.begin(await (await once("GET", "session")).json());
        continue;
      }
      const wait = method === "GET" && error.passing && error.status !== 500;
      if (!wait || options.hasty) throw error;
    }
    await pause(backoff(turn), options.signal);
  }
}

/** Wait some milliseconds, or until `signal` says that nobody waits any more. */
export function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const gone = () => reject(new DOMException("nobody waits any more", "AbortError"));
    if (signal?.aborted) return gone();
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", gone);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      gone();
    }, { once: true });
  });
}

async function parsed(answer) {
  return answer.status === 204 ? null : answer.json();
}

export const api = {
  base: BASE,
  get: async (path, options) => parsed(await patient("GET", path, options)),
  post: async (path, body = {}, options) => parsed(await patient("POST", path, { ...options, body })),
  put: async (path, body, options) => parsed(await patient("PUT", path, { ...options, body })),
  delete: async (path, options) => parsed(await patient("DELETE", path, options)),
  /** The whole answer, for bodies that are no JSON. */
  send: patient,
};
