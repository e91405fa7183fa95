// From a file to a running stream, step by step: file, columns, costs, replay, go live, first decision.
import { api, Problem, session } from "./api.js";
import { count, h, replace, trouble } from "./dom.js";
import { costsOf, costsStep } from "./first_use_costs.js";
import { columnsOf, columnsStep, rolesOf } from "./first_use_columns.js";
import { replayStep } from "./first_use_replay.js";
import { copyButton, field, heading, notesOf } from "./parts.js";
import { address } from "./places.js";

const STEPS = ["File", "Columns", "Costs", "Replay", "Go live", "First decision"];
const LARGEST = 64 * 1024 * 1024;
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]*$/;

export async function show(root, context) {
  const state = { file: null, name: "", mode: "shadow", roles: null, costs: null, replayed: null, made: null };
  const line = h("ol.steps", { "aria-label": "Steps" });
  const place = h("div.step");
  const first = session.state.streams.length === 0;
  replace(root, heading(first ? "Welcome" : "New stream", first ? "This service has no stream yet. Six steps lead from a file of yours to a running one; nothing is switched on before step 5."
    : "Six steps lead from a file to a running stream; nothing is switched on before step 5."), line, place);
  let stop = null;

  const go = (step) => {
    stop?.();
    stop = null;
    replace(line, STEPS.map((title, k) => h("li", { "aria-current": k === step ? "step" : null, class: k < step ? "done" : "" },
      h("span.step-mark", { "aria-hidden": "true" }, k < step ? "✓" : String(k + 1)), h("span.only-read", k < step ? "Done: " : ""), title)));
    const title = h("h2", { tabindex: "-1", testid: `step-${step + 1}` });
    const body = h("div.step-body");
    replace(place, title, body);
    stop = DRAW[step](title, body, state, go, context) ?? null;
    if (step > 0) title.focus();
  };
  go(0);
  return () => stop?.();
}

const DRAW = [fileStep, columnsPage, costsPage, replayPage, livePage, donePage];

/** The last line of a step: back, and on. */
function ends(go, step, next, ...more) {
  return h("div.step-ends", step > 0 && h("button.button", { testid: "back", onclick: () => go(step - 1) }, "Back"), next, more);
}

function fileStep(title, body, state, go, context) {
  title.textContent = "Choose a file of the past";
  const outcome = h("div", { "aria-live": "polite" });
  const input = h("input.only-read", { testid: "file-input", type: "file", id: "first-file", accept: ".csv,.tsv,.txt,text/csv", onchange: () => input.files[0] && void take(input.files[0]) });
  const zone = h("label.drop", { testid: "drop-zone", for: "first-file" }, h("strong", "Drop a CSV file here, or choose one"),
    h("span.quiet", "As a spreadsheet saves it: Save as, then CSV. At most 64 MB."), h("span.button", { "aria-hidden": "true" }, "Choose a file"));
  const over = (event) => {
    event.preventDefault();
    zone.classList.toggle("over", event.type === "dragover");
    if (event.type === "drop" && event.dataTransfer.files[0]) void take(event.dataTransfer.files[0]);
  };
  for (const type of ["dragover", "dragleave", "drop"]) zone.addEventListener(type, over);
  const take = async (file) => {
    if (file.size > LARGEST) return replace(outcome, trouble({ title: "The file is too large", words: "At most 64 MB. Leave out older rows, or columns that are not needed." }));
    replace(outcome, h("p.working", { testid: "reading" }, `Reading ${file.name} …`));
    try {
      const answer = await api.send("POST", "files", { body: file, type: "text/csv", signal: context.signal });
      state.file = await answer.json();
      state.fileName = file.name;
      state.name = freeName(file.name);
      Object.assign(state, { roles: rolesOf(state.file), costs: costsOf(state.file), replayed: null });
      return go(1);
    } catch (error) {
      if (error.name === "AbortError") return null;
      return replace(outcome, trouble(error));
    }
  };
  replace(body, input, zone, outcome,
    h("div.grid",
      h("div", h("h3", "What the file needs"), h("ul.plain-list",
        h("li", "A first line with the names of the columns, then one row for each item: orders, claims, calls, whatever you decide on."),
        h("li", "A label in every row: how the item turned out. 0 and 1, yes and no, or two words of your own."),
        h("li", "Columns known at the time of the decision: numbers, words and dates as they are, gaps included."),
        h("li", "Useful, if you have it: a column with the time of each item."))),
      h("div", h("h3", "What happens to the file"), h("ul.plain-list",
        h("li", "The file goes to this service and nowhere else."),
        h("li", "The file is deleted within a day. A stream that you make keeps what it learnt from the file.")))));
}

/** A name for the stream, from that of the file; another one where it is taken. */
function freeName(file) {
  const name = file.replace(/\.[^.]*$/, "").replace(/[^A-Za-z0-9_.-]+/g, "-").replace(/^[^A-Za-z0-9]+/, "").slice(0, 90) || "stream";
  for (let k = 1; ; k += 1) {
    const tried = k === 1 ? name : `${name}-${k}`;
    if (!session.state.streams.includes(tried)) return tried;
  }
}

function columnsPage(title, body, state, go) {
  title.textContent = "What the columns are";
  const next = h("button.button.primary", { testid: "next", onclick: () => go(2) }, "Next: what mistakes cost");
  const why = h("span.hint", { role: "status" });
  const checked = () => {
    const { problem } = columnsOf(state.file, state.roles);
    next.disabled = Boolean(problem);
    why.textContent = problem;
    state.replayed = null;
  };
  replace(body, h("p.quiet", `${state.fileName}: `, h("span", { "data-name": "rows", "data-value": state.file.rows }, count(state.file.rows)), " rows, ",
    `${count(state.file.columns.length)} columns.`), columnsStep(state.file, state.roles, checked), ends(go, 1, next, why));
  checked();
}

function costsPage(title, body, state, go) {
  title.textContent = "What mistakes cost";
  const next = h("button.button.primary", { testid: "next", onclick: () => go(3) }, "Next: replay the file");
  const why = h("span.hint", { role: "status" });
  const checked = (problem) => {
    next.disabled = Boolean(problem);
    why.textContent = problem;
    state.replayed = null;
  };
  replace(body, costsStep(state.file, state.roles, state.costs, checked), ends(go, 2, next, why));
}

/** How the file is to be read, as the service takes it. */
function played(state) {
  const { costs, capacity, audit } = state.costs.told();
  return { ...columnsOf(state.file, state.roles).body, costs, ...(capacity ? { capacity } : {}), ...(audit ? { audit } : {}) };
}

function replayPage(title, body, state, go) {
  title.textContent = "What would it have saved?";
  const next = h("button.button.primary", { testid: "next", disabled: !state.replayed, onclick: () => go(4) }, "Next: go live");
  const step = replayStep(state, () => played(state), () => { next.disabled = false; });
  replace(body, step.element, ends(go, 3, next));
  return step.stop;
}

function livePage(title, body, state, go, context) {
  title.textContent = "Go live";
  const outcome = h("div", { "aria-live": "polite" });
  const name = h("input", { testid: "stream-name", type: "text", value: state.name, maxlength: "100", autocomplete: "off", spellcheck: "false", oninput: () => checked() });
  const words = { shadow: "Go live in shadow mode", live: "Go live" };
  const mode = (value, head, help) => {
    const radio = h("input", { type: "radio", name: "first-mode", value, checked: state.mode === value, testid: `begin-${value}`, onchange: () => {
      state.mode = value;
      button.textContent = words[value];
    } });
    return h("label.choice", radio, h("span", h("strong", head), h("span.hint", help)));
  };
  const button = h("button.button.primary", { testid: "go-live", onclick: async () => {
    button.disabled = true;
    replace(outcome, h("p.working", "Making the stream, and teaching it the labels of the file …"));
    try {
      state.made = await api.post(`files/${encodeURIComponent(state.file.file)}/stream`, { ...played(state), name: state.name, mode: state.mode }, { signal: context.signal });
      session.begin(await api.get("session"));
      go(5);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      replace(outcome, trouble(error));
      checked();
    }
  } }, words[state.mode]);
  const checked = () => {
    state.name = name.value.trim();
    const wrong = !NAME.test(state.name) ? "Letters, digits, dots, lines and underscores, without spaces." : session.state.streams.includes(state.name) ? "There is a stream with this name already." : "";
    button.disabled = Boolean(wrong);
    name.setAttribute("aria-invalid", String(Boolean(wrong)));
    replace(hint, wrong);
  };
  const hint = h("p.hint", { role: "status", id: "stream-name-hint" });
  name.setAttribute("aria-describedby", "stream-name-hint");
  replace(body, h("div.narrow", field("Name of the stream", name), hint),
    h("fieldset.choices", h("legend", "How to begin"),
      mode("shadow", "In shadow mode", "Recommended. Your own decisions stand; the stream records beside them what it would have done, and learns. Nobody notices anything. Switch to live when you like what you see."),
      mode("live", "Live", "The stream's decisions stand from the first one on.")),
    outcome, ends(go, 4, button));
  checked();
}

function donePage(title, body, state) {
  const { try_it: tryIt, stream, notes, taught } = state.made;
  title.textContent = "The stream is running. Send the first decision";
  const lines = (name, language, text) => h("section.card.lines", h("header", h("h3", language), copyButton(text, { testid: `copy-${name}`, "aria-label": `Copy the lines for ${language}` })),
    h("pre", { tabindex: "0", role: "region", "aria-label": `Lines for ${language}`, testid: `code-${name}` }, h("code", text)));
  replace(body,
    h("p", h("strong", stream.name), ` is in ${stream.mode} mode`, taught > 0 && [" and has learnt ", h("span", { "data-name": "taught", "data-value": taught }, count(taught)), " labels from your file"], ". Hand these lines to whoever runs your systems."),
    notesOf(notes),
    h("section.card.secret", h("header", h("h3", "The key"), copyButton(tryIt.key, { testid: "copy-key", "aria-label": "Copy the key" })),
      h("code", { testid: "new-key" }, tryIt.key),
      h("p.hint", "This key is shown once: copy it now, and keep it like a password. It may send decisions and labels to this stream, and nothing else.")),
    lines("python", "Python", tryIt.python), lines("curl", "curl, for any other language", tryIt.curl),
    h("div.step-ends", h("a.button.primary", { testid: "open-stream", href: address(stream.name, "stream") }, "Open the stream")));
}
