// From a file to a running stream, step by step: file, columns, costs, replay, go live, first decision.
import { api, Problem, session } from "./api.js";
import { count, h, part, replace, template, trouble } from "./dom.js";
import { columnsOf, columnsStep, rolesOf } from "./first_use_columns.js";
import { costsOf, costsStep } from "./first_use_costs.js";
import { replayStep } from "./first_use_replay.js";
import { heading, notesOf } from "./parts.js";
import { address } from "./places.js";
import { sheetOf, wordFields } from "./word_fields.js";

const STEPS = [["File", "Choose a file of the past", fileStep], ["Columns", "What the columns are", columnsPage],
  ["Costs", "What mistakes cost", costsPage],
  ["Replay", "What would it have saved?", replayPage], ["Go live", "Go live", livePage],
    ["First decision", "The stream is running. Send the first decision", donePage]];
const LARGEST = 64 * 1024 * 1024;

export async function show(root, context) {
  const state = { file: null, name: "", mode: "shadow", roles: null, costs: null, replayed: null, made: null };
  const [line, place] = [h("ol.steps", { "aria-label": "Steps" }), h("div.step")];
  const first = session.state.streams.length === 0;
  replace(root, heading(first ? "Welcome" : "New stream",
    `${first ? "This service has no stream yet. " : ""}Six steps lead from a file of yours to a running stream; nothing is switched on before step 5.`), line, place);
  let stop = null;
  const go = (step) => {
    stop?.();
    replace(line, STEPS.map(([name], k) => h(k < step ? "li.done" : "li", { "aria-current": k === step && "step" },
      h("span.step-mark", { "aria-hidden": "true" }, k < step ? "✓" : k + 1), k < step && h("span.only-read", "Done: "),
        name)));
    const title = h("h2", { tabindex: "-1", testid: `step-${step + 1}` }, STEPS[step][1]);
    const [body, why] = [h("div.step-body"), h("span.hint#why-not", { role: "status", id: "why-not" })];
    replace(place, title, body);
    // What a step shows, and the button that leads on; `ready(next, words)`: words say what is still missing.
    const page = (content, words, on = () => go(step + 1), testid = "next") => {
      const next = h("button.button.primary", { testid, onclick: on }, words);
      replace(body, content, h("div.step-ends", step > 0
        && h("button.button#back", { onclick: () => go(step - 1) }, "Back"), next, why));
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
  const page = template("file");
  const [input, zone, outcome] = ["file-input", "drop-zone", "file-outcome"].map((name) => part(page, name));
  const take = async (file) => {
    if (!file) return null;
    if (file.size > LARGEST) return replace(outcome,
      trouble({ title: "The file is too large",
      words: "At most 64 MB. Leave out older rows, or columns that are not needed." }));
    replace(outcome, h("p.working#reading", `Reading ${file.name} …`));
    try {
      const told = await (await api.send("POST", "files", { body: file, type: "text/csv", signal })).json();
      Object.assign(state, { file: told, fileName: file.name, name: freeName(file.name), roles: rolesOf(told),
        costs: costsOf(told), words: wordsFor(told), replayed: null });
      return go(1);
    } catch (error) {
      return error.name !== "AbortError" && replace(outcome, trouble(error));
    }
  };
  input.onchange = () => void take(input.files[0]);
  zone.ondragover = zone.ondragleave = zone.ondrop = (event) => {
    event.preventDefault();
    zone.classList.toggle("over", event.type === "dragover");
    if (event.type === "drop") void take(event.dataTransfer.files[0]);
  };
  replace(body, page);
}

/** A first guess at the team's words: the column with the labels often names what is looked for. */
function wordsFor({ suggested: { label } }) {
  const plain = /^[\p{L}][\p{L}\d _-]{1,30}$/u.test(label ?? "") && !/^(label|target|class|y|outcome|result|is|has)([ _-]|$)/i.test(label);
  return { item: "", positive: plain ? label.replace(/[_-]+/g, " ") : "", negative: "", act: "", pass: "", currency: "" };
}

/** A name for the stream, from that of the file; another one where it is taken. */
function freeName(file) {
  const name = file.replace(/\.[^.]*$/, "").replace(/[^A-Za-z0-9_.-]+/g, "-").replace(/^[^A-Za-z0-9]+/, "").slice(0, 90)
    || "stream";
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
  const next = page([h("p.quiet", `${state.fileName}: `,
    h("span", { "data-name": "rows", "data-value": state.file.rows }, count(state.file.rows)),
    ` rows, ${count(state.file.columns.length)} columns.`),
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
  const form = template("live");
  const [name, outcome] = [part(form, "stream-name"), part(form, "live-outcome")];
  const make = async () => {
    button.disabled = true;
    replace(outcome, h("p.working", "Making the stream, and teaching it the labels of the file …"));
    try {
      state.made = await api.post(`files/${encodeURIComponent(state.file.file)}/stream`,
        { ...played(state), name: state.name, mode: state.mode, words: sheetOf(state.words) }, { signal });
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
    state.mode = part(form, "begin-live").checked ? "live" : "shadow";
    button.textContent = state.mode === "live" ? "Go live" : "Go live in shadow mode";
    const wrong = !/^[A-Za-z0-9][A-Za-z0-9_.-]*$/.test(state.name)
      ? "A name has letters, digits, dots, lines and underscores, and no spaces."
      : session.state.streams.includes(state.name) ? "There is a stream with this name already." : "";
    name.setAttribute("aria-invalid", String(Boolean(wrong)));
    ready(button, wrong);
  };
  replace(part(form, "live-words"), wordFields(state.words));
  name.value = state.name;
  part(form, `begin-${state.mode}`).checked = true;
  form.oninput = () => checked();
  const button = page(form, "", make, "go-live");
  checked();
}

function donePage({ state, body }) {
  const { try_it: tryIt, stream, notes, taught } = state.made;
  const page = template("done");
  replace(part(page, "made"), h("strong", stream.name), ` is in ${stream.mode} mode`,
    taught > 0 && [" and has learnt ", h("span", { "data-name": "taught", "data-value": taught }, count(taught)),
    " labels from your file"],
    ". Hand these lines to whoever runs your systems.");
  replace(part(page, "made-notes"), notesOf(notes));
  for (const [name, place] of [["key", "new-key"], ["python", "code-python"], ["curl", "code-curl"]]) {
    part(page, place).textContent = tryIt[name];
    part(page, `copy-${name}`).onclick = (event) => void copy(event.target, tryIt[name]);
  }
  part(page, "open-stream").href = address(stream.name, "stream");
  replace(body, page);
}

/** Copies a text, and says so on the button. */
async function copy(button, text) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Select the text and copy";
  }
  setTimeout(() => { button.textContent = "Copy"; }, 2500);
}
