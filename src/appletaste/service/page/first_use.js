// From a file to a running stream, step by step: file, columns, costs, replay, go live, first decision.
import { api, Problem, session } from "./api.js";
import { count, h, replace, trouble } from "./dom.js";
import { columnsOf, columnsStep, rolesOf } from "./first_use_columns.js";
import { costsOf, costsStep } from "./first_use_costs.js";
import { replayStep } from "./first_use_replay.js";
import { copyButton, field, heading, notesOf } from "./parts.js";
import { address } from "./places.js";

const STEPS = [["File", "Choose a file of the past", fileStep], ["Columns", "What the columns are", columnsPage], ["Costs", "What mistakes cost", costsPage],
  ["Replay", "What would it have saved?", replayPage], ["Go live", "Go live", livePage], ["First decision", "The stream is running. Send the first decision", donePage]];
const LARGEST = 64 * 1024 * 1024;

export async function show(root, context) {
  const state = { file: null, name: "", mode: "shadow", roles: null, costs: null, replayed: null, made: null };
  const [line, place] = [h("ol.steps", { "aria-label": "Steps" }), h("div.step")];
  const first = session.state.streams.length === 0;
  replace(root, heading(first ? "Welcome" : "New stream", `${first ? "This service has no stream yet. " : ""}Six steps lead from a file of yours to a running stream; nothing is switched on before step 5.`), line, place);
  let stop = null;
  const go = (step) => {
    stop?.();
    replace(line, STEPS.map(([name], k) => h(k < step ? "li.done" : "li", { "aria-current": k === step && "step" },
      h("span.step-mark", { "aria-hidden": "true" }, k < step ? "✓" : k + 1), k < step && h("span.only-read", "Done: "), name)));
    const title = h("h2", { tabindex: "-1", testid: `step-${step + 1}` }, STEPS[step][1]);
    const [body, why] = [h("div.step-body"), h("span.hint", { role: "status" })];
    replace(place, title, body);
    /** What a step shows, and the button that leads on; `ready("")` lets people press it, other words say what is missing. */
    const page = (content, words, on = () => go(step + 1), testid = "next") => {
      const next = h("button.button.primary", { testid, onclick: on }, words);
      replace(body, content, h("div.step-ends", step > 0 && h("button.button", { testid: "back", onclick: () => go(step - 1) }, "Back"), next, why));
      return next;
    };
    const ready = (next, problem) => {
      next.disabled = Boolean(problem);
      why.textContent = problem;
    };
    stop = STEPS[step][2]({ state, go, body, page, ready, signal: context.signal });
    if (step > 0) title.focus();
  };
  go(0);
  return () => stop?.();
}

function fileStep({ state, go, body, signal }) {
  const outcome = h("div", { "aria-live": "polite" });
  const input = h("input.only-read", { type: "file", id: "first-file", accept: ".csv,.tsv,.txt,text/csv", testid: "file-input", onchange: () => input.files[0] && void take(input.files[0]) });
  const over = (event) => {
    event.preventDefault();
    zone.classList.toggle("over", event.type === "dragover");
    if (event.type === "drop" && event.dataTransfer.files[0]) void take(event.dataTransfer.files[0]);
  };
  const zone = h("label.drop", { for: "first-file", testid: "drop-zone", ondragover: over, ondragleave: over, ondrop: over }, h("strong", "Drop a CSV file here, or choose one"),
    h("span.quiet", "As a spreadsheet saves it: Save as, then CSV. At most 64 MB."), h("span.button", { "aria-hidden": "true" }, "Choose a file"));
  const take = async (file) => {
    if (file.size > LARGEST) return replace(outcome, trouble({ title: "The file is too large", words: "At most 64 MB. Leave out older rows, or columns that are not needed." }));
    replace(outcome, h("p.working", { testid: "reading" }, `Reading ${file.name} …`));
    try {
      const told = await (await api.send("POST", "files", { body: file, type: "text/csv", signal })).json();
      Object.assign(state, { file: told, fileName: file.name, name: freeName(file.name), roles: rolesOf(told), costs: costsOf(told), replayed: null });
      return go(1);
    } catch (error) {
      return error.name !== "AbortError" && replace(outcome, trouble(error));
    }
  };
  const list = (title, ...lines) => h("div", h("h3", title), h("ul.plain-list", lines.map((one) => h("li", one))));
  replace(body, input, zone, outcome, h("div.grid",
    list("What the file needs", "A first line with the names of the columns, then one row for each item: orders, claims, calls, whatever you decide on.",
      "A label in every row: how the item turned out. 0 and 1, yes and no, or two words of your own.",
      "Columns known at the time of the decision: numbers, words and dates as they are, gaps included.", "Useful, if you have it: a column with the time of each item."),
    list("What happens to the file", "The file goes to this service and nowhere else.",
      "The file is deleted within a day. A stream that you make keeps what it learnt from the file.")));
}

/** A name for the stream, from that of the file; another one where it is taken. */
function freeName(file) {
  const name = file.replace(/\.[^.]*$/, "").replace(/[^A-Za-z0-9_.-]+/g, "-").replace(/^[^A-Za-z0-9]+/, "").slice(0, 90) || "stream";
  const tried = (k) => (k === 1 ? name : `${name}-${k}`);
  let k = 1;
  while (session.state.streams.includes(tried(k))) k += 1;
  return tried(k);
}

function columnsPage({ state, page, ready }) {
  const checked = () => {
    ready(next, columnsOf(state.file, state.roles).problem);
    state.replayed = null;
  };
  const next = page([h("p.quiet", `${state.fileName}: `, h("span", { "data-name": "rows", "data-value": state.file.rows }, count(state.file.rows)), ` rows, ${count(state.file.columns.length)} columns.`),
    columnsStep(state.file, state.roles, () => checked())], "Next: what mistakes cost");
  checked();
}

function costsPage({ state, page, ready }) {
  const step = costsStep(state.file, state.roles, state.costs, (problem) => {
    ready(next, problem);
    state.replayed = null;
  });
  const next = page(step.element, "Next: replay the file");
  step.draw();
}

/** How the file is to be read, as the service takes it. */
const played = (state) => ({ ...columnsOf(state.file, state.roles).body, ...state.costs.told() });

function replayPage({ state, page, ready }) {
  const step = replayStep(state, () => played(state), () => ready(next, ""));
  const next = page(step.element, "Next: go live");
  next.disabled = true;
  step.start();
  return step.stop;
}

function livePage({ state, go, page, ready, signal }) {
  const outcome = h("div", { "aria-live": "polite" });
  const name = h("input", { type: "text", value: state.name, maxlength: "100", autocomplete: "off", spellcheck: "false", testid: "stream-name", oninput: () => checked() });
  const words = { shadow: "Go live in shadow mode", live: "Go live" };
  const mode = (value, head, help) => h("label.choice", h("input", { type: "radio", name: "first-mode", value, checked: state.mode === value, testid: `begin-${value}`, onchange: () => {
    state.mode = value;
    button.textContent = words[value];
  } }), h("span", h("strong", head), h("span.hint", help)));
  const make = async () => {
    button.disabled = true;
    replace(outcome, h("p.working", "Making the stream, and teaching it the labels of the file …"));
    try {
      state.made = await api.post(`files/${encodeURIComponent(state.file.file)}/stream`, { ...played(state), name: state.name, mode: state.mode }, { signal });
      session.begin(await api.get("session"));
      go(5);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      replace(outcome, trouble(error));
      checked();
    }
  };
  const checked = () => {
    state.name = name.value.trim();
    const wrong = !/^[A-Za-z0-9][A-Za-z0-9_.-]*$/.test(state.name) ? "A name has letters, digits, dots, lines and underscores, and no spaces." : session.state.streams.includes(state.name) ? "There is a stream with this name already." : "";
    name.setAttribute("aria-invalid", String(Boolean(wrong)));
    ready(button, wrong);
  };
  const button = page([h("div.narrow", field("Name of the stream", name)),
    h("fieldset.choices", h("legend", "How to begin"),
      mode("shadow", "In shadow mode", "Recommended. Your own decisions stand; the stream records beside them what it would have done, and learns. Nobody notices anything. Switch to live when you like what you see."),
      mode("live", "Live", "The stream's decisions stand from the first one on.")), outcome], words[state.mode], make, "go-live");
  checked();
}

function donePage({ state, body }) {
  const { try_it: tryIt, stream, notes, taught } = state.made;
  const copied = (title, name, text, ...content) => h("section.card.lines", h("header", h("h3", title), copyButton(text, { testid: `copy-${name}`, "aria-label": `Copy: ${title}` })), content);
  const lines = (name, title) => copied(title, name, tryIt[name], h("pre", { tabindex: "0", role: "region", "aria-label": `Lines: ${title}`, testid: `code-${name}` }, h("code", tryIt[name])));
  replace(body,
    h("p", h("strong", stream.name), ` is in ${stream.mode} mode`, taught > 0 && [" and has learnt ", h("span", { "data-name": "taught", "data-value": taught }, count(taught)), " labels from your file"], ". Hand these lines to whoever runs your systems."),
    notesOf(notes),
    copied("The key", "key", tryIt.key, h("code.secret", { testid: "new-key" }, tryIt.key),
      h("p.hint", "This key is shown once: copy it now, and keep it like a password. It may send decisions and labels to this stream, and nothing else.")),
    lines("python", "Python"), lines("curl", "curl, for any other language"),
    h("div.step-ends", h("a.button.primary", { href: address(stream.name, "stream"), testid: "open-stream" }, "Open the stream")));
}
