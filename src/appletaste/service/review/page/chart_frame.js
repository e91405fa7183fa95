// What every chart has around its marks: a title, words, a legend, the values under the pointer or the arrow keys, and
// all numbers as a table. The marks themselves are drawn by charts.js.
import { h, replace, svg as s } from "./dom.js";

const MOST_ROWS = 500;
let serial = 0;

const waiting = new Set();
let next = 0;

/** Paints charts in the next frames of the screen, a few milliseconds each, so that nothing else has to wait. */
function soon(paint) {
  waiting.add(paint);
  next ||= requestAnimationFrame((start) => {
    next = 0;
    for (const one of waiting) {
      if (performance.now() - start > 12) return soon(one);
      waiting.delete(one);
      one();
    }
    return null;
  });
}

/**
 * Puts a frame around what `draw(spec, width, id)` returns: `{ height, nodes, count, nearest(x, y), anchor(index) }`.
 * Returns `{ element, update(spec), remove() }`; updates within a frame of the screen are drawn once.
 */
export function frame(first, draw) {
  const id = `chart-${(serial += 1)}`;
  let [spec, drawn, at, width] = [first, null, -1, 0];

  const title = h("span.chart-title", { id: `${id}-title` });
  const words = h("span.chart-words", { id: `${id}-words` });
  const marks = s("g");
  const cursor = s("g.chart-cursor", { "aria-hidden": "true" });
  const svg = s("svg.chart-svg", { role: "img", tabindex: "0", "aria-labelledby": `${id}-title`,
    "aria-describedby": `${id}-words` }, marks, cursor);
  const tip = h("div.chart-tip", { "aria-hidden": "true", hidden: true });
  const said = h("div.only-read", { role: "status" });
  const stage = h("div.chart-stage", svg, tip);
  const legend = h("ul.chart-legend");
  const numbers = h("div.chart-numbers", { id: `${id}-numbers`, hidden: true, tabindex: "0", role: "region" });
  const button = h("button.chart-button", { "aria-expanded": "false", "aria-controls": `${id}-numbers`, onclick: () => {
    numbers.hidden = !numbers.hidden;
    button.textContent = numbers.hidden ? "Show numbers" : "Hide numbers";
    button.setAttribute("aria-expanded", String(!numbers.hidden));
    table();
  } }, "Show numbers");
  const element = h("figure.chart", h("div.chart-head", title, button), words, stage, said, legend, numbers);

  svg.onpointerdown = svg.onpointermove = (event) => {
    const box = svg.getBoundingClientRect();
    if (drawn?.count) point(drawn.nearest(event.clientX - box.left, event.clientY - box.top));
  };
  svg.onpointerleave = svg.onblur = (event) => event.pointerType !== "touch" && point(-1);
  svg.onkeydown = (event) => {
    const last = (drawn?.count ?? 0) - 1;
    const back = Math.max(0, at < 0 ? last : at - 1);
    const on = Math.min(last, at + 1);
    const next = { ArrowLeft: back, ArrowUp: back, ArrowRight: on, ArrowDown: on, Home: 0, End: last,
      Escape: -1 }[event.key];
    if (last < 0 || next === undefined || (next < 0 && at < 0)) return;
    point(next, true);
    event.preventDefault();
    event.stopPropagation();
  };
  const observer = new ResizeObserver((entries) => {
    const wide = Math.floor(entries[0].contentRect.width);
    if (wide > 0 && wide !== width) {
      width = wide;
      soon(paint);
    }
  });
  observer.observe(stage);

  /** Shows the values of one point; -1 for none. */
  function point(index, aloud = false) {
    at = index;
    tip.hidden = index < 0 || !drawn;
    if (tip.hidden) {
      cursor.replaceChildren();
      return;
    }
    const lines = spec.columns.map((column) => [column.name, cellText(column, spec.rows[index])]);
    const [heading, ...rest] = lines;
    replace(tip, h("strong", heading[1]), h("dl",
      rest.filter(([, text]) => text).map(([name, text]) => [h("dt", name), h("dd", text)])));
    const { x, y, nodes } = drawn.anchor(index);
    cursor.replaceChildren(...nodes);
    const wide = tip.offsetWidth;
    const left = x + 14 + wide > width ? Math.max(0, x - 14 - wide) : x + 14;
    const top = Math.max(0, Math.min(y - tip.offsetHeight / 2, drawn.height - tip.offsetHeight));
    tip.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
    if (aloud) said.textContent = lines.map(([name, text]) => `${name} ${text}`).join(", ");
  }

  function paint() {
    if (!width) return;
    drawn = draw(spec, width, id);
    svg.setAttribute("width", width);
    svg.setAttribute("height", drawn.height);
    marks.replaceChildren(...drawn.nodes);
    if (at >= drawn.count) at = -1;
    point(at);
  }

  function table() {
    if (numbers.hidden) return;
    const rows = spec.rows.slice(-MOST_ROWS);
    const note = rows.length < spec.rows.length ? ` (the last ${MOST_ROWS} of ${spec.rows.length})` : "";
    replace(numbers, h("table", h("caption", spec.title + note),
      h("thead", h("tr", spec.columns.map((column) => h("th", { scope: "col" }, column.name)))),
      h("tbody", rows.map((row) => h("tr", spec.columns.map((column, k) => cell(column, row, k === 0)))))));
    numbers.setAttribute("aria-label", `Numbers of: ${spec.title}`);
  }

  function update(next) {
    spec = next;
    title.textContent = spec.title;
    words.textContent = spec.words ?? "";
    if (spec.testid) element.dataset.testid = spec.testid;
    const entries = spec.legend ?? [];
    legend.hidden = entries.length === 0;
    const key = JSON.stringify(entries);
    if (legend.dataset.key !== key) {
      legend.dataset.key = key;
      replace(legend, entries.map((entry) => h("li", swatch(entry, id), entry.text)));
    }
    table();
    soon(paint);
  }

  function remove() {
    observer.disconnect();
    waiting.delete(paint);
    element.remove();
    drawn = null;
  }

  update(first);
  return { element, update, remove };
}

const missing = (value) => value === null || value === undefined;

function cellText(column, row) {
  const value = column.value(row);
  return missing(value) ? "" : column.text(value);
}

function cell(column, row, heading) {
  const value = column.value(row);
  const data = column.key && !missing(value) ? { "data-name": column.key, "data-value": value } : {};
  return h(heading ? "th" : "td", { scope: heading && "row", ...data }, cellText(column, row) || "–");
}

function swatch({ tone, shape }, id) {
  const name = `${id}-key-${tone}`;
  const whole = { x: 1, y: 1, width: 18, height: 10 };
  const marks = {
    line: () => [s("path.mark-line", { d: "M1 6H19" })],
    dashed: () => [s("path.mark-line.mark-dashed", { d: "M1 6H19" })],
    interval: () => [s("path.mark-whisker", { d: "M2 6H18M2 3V9M18 3V9" }),
      s("circle.mark-dot", { cx: 10, cy: 6, r: 3 })],
    hatch: () => [hatching(name), s("rect.mark-hatch", { ...whole, fill: `url(#${name})` })],
  };
  return s("svg", { width: 20, height: 12, "aria-hidden": "true", class: `tone-${tone}` },
    marks[shape]?.() ?? s(`rect.mark-${shape}`, whole));
}

/** Slanted lines: what is not known yet. */
export function hatching(name) {
  const lines = s("path.hatch-lines", { d: "M-1 1L1 -1M0 6L6 0M5 7L7 5" });
  return s("defs", s("pattern", { id: name, width: 6, height: 6, patternUnits: "userSpaceOnUse" }, lines));
}
