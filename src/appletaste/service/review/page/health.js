// Whether all is well: alarms and who took note of them, the mode and who set it, the record and the store.
import { api, Problem } from "./api.js";
import { ago, count, day, figure, h, moment, notify, number, part, replace, template } from "./dom.js";
import { ask, field, follow, heading, notesOf, section, sentence, tile } from "./parts.js";
import { address } from "./places.js";
import { askForWords } from "./word_fields.js";
import { told, words as own } from "./words.js";

export async function show(root, context) {
  const [problem, modes, record, alarms, wording] = [h("div"), h("div"), h("div"), h("div#alarms"), h("div")];
  const tiles = h("dl.tiles#health-tiles");
  let health = null;
  let verifying = false;
  replace(root, heading("Health", "Whether the stream is still the one that was learnt, and the record still whole."),
    problem,
    tiles, alarms, h("div.grid.health-grid", modes, record, wording));
  const load = async () => {
    replace(wording, context.can("admin") && wordsOf(context, () => void loading.run()));
    const [told, watched] = await Promise.all(["health",
      "alarms"].map((name) => api.get(context.path(name), { signal: context.signal })));
    health = told;
    const focused = document.activeElement?.dataset.testid;
    replace(tiles, tilesOf(health));
    replace(alarms, alarmsOf(watched, context, acknowledge));
    replace(modes, modesOf(health.mode, context, openMode));
    if (!verifying) replace(record, recordOf(health, context, verify));
    if (focused && document.activeElement === document.body) document.querySelector(`[data-testid="${CSS.escape(focused)}"]`)?.focus();
  };

  const acknowledge = (alarm) => {
    const text = h("textarea#acknowledge-text", { maxlength: "1000" });
    ask("Acknowledge this alarm", [h("p", sentence(told(alarm.change))), h("p.quiet", told(alarm.remedy)),
      field("What was found, or done", text, "May be left empty.")],
      "Acknowledge", "acknowledge", async () => {
        await api.post(context.path("alarms", alarm.id, "acknowledge"), { text: text.value.trim() });
        notify("Acknowledged.");
        await loading.run();
      });
  };
  const openMode = (mode, words) => {
    const reason = h("textarea#mode-reason", { maxlength: "1000", required: true });
    ask(`Set the mode to ${mode}?`, [h("p", words),
      h("p.quiet", `Today: ${health.mode.mode}. The change holds from the next decision on, and is an event of the record.`),
      field("Reason", reason, "The record keeps the reason and your name.")], `Set to ${mode}`, "mode", async () => {
      if (!reason.value.trim()) {
        reason.focus();
        throw new Problem(422, { title: "A reason is missing", detail: "write why, so that others understand" });
      }
      await api.post(context.path("mode"), { mode, by: context.key.name, reason: reason.value.trim() });
      notify(`The mode is ${mode} now.`);
      await Promise.all([loading.run(), context.state?.load()]);
    });
  };
  const verify = async (button) => {
    verifying = true;
    button.disabled = true;
    button.textContent = "Verifying …";
    try {
      const told = await api.post(context.path("verify"));
      notify(told.verifies ? `Verified: ${count(told.events)} events.` : told.told, { bad: !told.verifies });
    } catch (error) {
      notify(error.words ?? String(error), { bad: true });
    }
    verifying = false;
    await loading.run();
  };
  const loading = follow(context, problem, load);
  await loading.run();
  return loading.stop;
}

function tilesOf(health) {
  const { commits } = health;
  return [
    tile("pending", "Labels awaited", health.pending, count(health.pending)),
    tile("queue", "Requests that wait", health.queue, count(health.queue), "for the writer of the stream"),
    commits ? tile("commits.median", "A commit takes", commits.median, `${number(commits.median, 3)} ms`,
      `median of the last ${count(commits.count)}; at most ${number(commits.most, 3)} ms`)
      : tile("commits.median", "A commit takes", null, "–", "no commit since the service started"),
    tile("events", "Events", health.events, count(health.events), "in the record"),
    tile("capacity", "Capacity", health.capacity, health.capacity ?? "any", `${own.items} ${own.acted}`),
    tile("audit", "Audits", health.audit, health.audit ?? "none", `of the ${own.items} ${own.passed}`),
  ];
}

function alarmsOf({ alarms, notes, items }, context, acknowledge) {
  const open = alarms.filter((alarm) => !alarm.acknowledged).length;
  const words = alarms.length ? `${count(open)} of ${count(alarms.length)} not acknowledged yet.` : "";
  const list = alarms.length === 0 ? h("p.calm#no-alarms", h("span.calm-mark", { "aria-hidden": "true" }, "✓"),
    `No alarms. ${count(items)} ${own.items} were watched.`)
    : h("ul.alarms", groupsOf(alarms).map((group) => groupOf(group, context, acknowledge)));
  return section("Alarms", words, list, notesOf(notes.map(told)));
}

/** Alarms of the same column, or of labels that are off in the same way, the latest group and the latest alarm first. */
function groupsOf(alarms) {
  const groups = new Map();
  for (const alarm of alarms) {
    const about = alarm.column ?? alarm.change;
    groups.set(about, [...groups.get(about) ?? [], alarm]);
  }
  return [...groups.values()];
}

/** The latest alarm of a group, and behind a click those before it. */
function groupOf([latest, ...others], context, acknowledge) {
  if (!others.length) return alarmOf(latest, context, acknowledge);
  const open = others.filter((alarm) => !alarm.acknowledged).length;
  return h("li.alarm-group#alarm-group", h("ul.alarms", alarmOf(latest, context, acknowledge)),
    h("details", h("summary", `${count(others.length)} earlier ${others.length === 1 ? "alarm" : "alarms"} of the same`,
      open > 0 && `, ${count(open)} not acknowledged`), h("ul.alarms", others.map((alarm) => alarmOf(alarm, context, acknowledge)))));
}

function alarmOf(alarm, context, acknowledge) {
  const noted = alarm.acknowledged;
  const began = alarm.since_day && [`Since about ${day(alarm.since_day)}, seen `, moment(alarm.raised), "."];
  return h("li", { class: `alarm ${noted ? "noted" : ""}`.trim(), testid: `alarm-${alarm.id}`,
    "data-acknowledged": String(Boolean(noted)) },
    h("div.alarm-head", h("span", { class: `badge ${noted ? "" : "warn"}` }, noted ? "acknowledged" : "open"),
      h("strong", sentence(told(alarm.change))), h("span.quiet", ago(alarm.raised))),
    (began || alarm.segment) && h("p#alarm-since", began, alarm.segment && ` ${sentence(told(alarm.segment))}.`),
    h("p", h("span.quiet", "What to do: "), told(alarm.remedy), doOf(alarm, context)),
    h("p.hint", "raised ", moment(alarm.raised), alarm.column && `, column ${alarm.column}`, ", statistic ",
      figure("statistic", alarm.statistic),
      " against a threshold of ", figure("threshold", alarm.threshold)),
    noted ? h("p.hint#acknowledged-by", "Acknowledged by ", h("strong", noted.by), " ", ago(noted.time),
      noted.text && `: ${noted.text}`)
      : context.can("review") && h("button.button.small",
        { testid: `acknowledge-${alarm.id}`, onclick: () => acknowledge(alarm) }, "Acknowledge …"));
}

/** Where on this page the reader can do something about it. */
function doOf(alarm, context) {
  if (!alarm.stands) return false;
  const to = (view, words) => h("a", { href: address(context.stream, view) }, words);
  return alarm.column ? [" ", to("model", "What the model makes of the column"), "."]
    : context.can("admin") && [" ", to("what-if", "Audit more"), "."];
}

/** What the team calls things, as a sentence in these very words. */
function wordsOf(context, done) {
  return h("section.card#words-card", h("h2", "Words"),
    h("p", `Each ${own.item} is ${own.acted} or ${own.passed}, and turns out to be ${own.positive} or ${own.negative}. Amounts are ${own.currency ? `in ${own.currency}` : "without a currency"}.`),
    h("button.button#words-change", { onclick: () => askForWords(context, done) }, "Change the words …"));
}

function modesOf(now, context, change) {
  const list = template("modes");
  for (const row of list.children) {
    const { mode } = row.dataset;
    const words = row.querySelector("p").textContent;
    if (mode === now.mode) row.append(h("span.badge.strong", "holds now"));
    else if (context.can("admin")) row.append(h("button.button.small",
      { testid: `mode-${mode}`, "aria-label": `Switch to ${mode}`, onclick: () => change(mode, words) }, "Switch …"));
  }
  return h("section.card", h("h2", "Mode"), h("p",
    h("strong", { "data-name": "mode", "data-value": now.mode }, now.mode), " since ", moment(now.since),
    now.by && `, set by ${now.by}`, now.reason && `: ${now.reason}`), list);
}

function recordOf({ verified, trouble, events, store }, context, verify) {
  const page = template("record");
  const button = part(page, "verify");
  part(page, "record-trouble").hidden = !trouble;
  part(page, "record-trouble").lastElementChild.textContent = trouble ?? "";
  if (verified) {
    replace(part(page, "verified-event"), figure("verified.events", verified.events, count(verified.events)),
      ` of ${count(events)}, `, ago(verified.time));
    part(page, "verified-told").textContent = verified.told;
  }
  replace(part(page, "record-store"), figure("store", store, store));
  part(page, "record-report").href = address(context.stream, "report");
  button.hidden = !context.can("admin");
  button.onclick = () => void verify(button);
  return page;
}
