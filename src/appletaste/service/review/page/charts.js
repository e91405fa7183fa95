// Charts as plain SVG. `plot` puts layers over one horizontal axis (lines, bands, bars by day, a histogram under a
// curve); `intervals` puts one row for each name (a mean with its intervals, on both sides of 0);
// `multiples` shows many.
//
// A chart is told: title, words, rows, columns (made by `column`; the first names the row), and for a plot `x` and `y`
// (`{ kind: "number" | "money" | "share" | "date", label, domain, zero, robust }`, `x` also `value(row)` and `step`)
// and `layers`, drawn in their order. A layer with a `name` stands in the legend.
import { h, number, svg as s } from "./dom.js";
import { frame, hatching } from "./chart_frame.js";
import { dateTicks, linear, numberTicks, widened } from "./scales.js";

// pixels of a letter of an axis, rounded up
const LETTER = 6.7;
const known = (value) => typeof value === "number" && Number.isFinite(value);
const at = (x, y) => `${x.toFixed(1)} ${y.toFixed(1)}`;
const path = (kind, tone, d, more) => s(`path.mark-${kind}.tone-${tone}`, { d, ...more });
const text = (kind, x, y, anchor, words) => s(`text.axis-${kind}`, { x, y, "text-anchor": anchor }, words);
const grid = (tick, d) => s(tick.value === 0 ? "path.axis-zero" : "path.axis-grid", { d });

/** The text of a tick below the axis, kept inside of the picture. */
const below = (tick, place, y, width) => {
  const half = (tick.text.length * LETTER) / 2;
  return text("text", Math.max(half, Math.min(width - half, place)), y + 16, "middle", tick.text);
};

const chart = (draw) => (spec) => {
  const made = frame(withLegend(spec), draw);
  return { ...made, update: (next) => made.update(withLegend(next)) };
};

/** Layers over one horizontal axis. */
export const plot = chart(drawPlot);

/** One row for each name, with a point and its intervals. */
export const intervals = chart(drawIntervals);

/** A column of the numbers of a chart: its name, the name of the figure, how it is written, and its value in a row. */
export const column = (name, key, text = number, value = (row) => row[key]) => ({ name, key, text: (one) => text(one),
  value });

/** An estimate with its interval, as columns. */
export const ends = (name, key, text) => [["estimate", name, ""], ["low", "90 % from", ".low"],
  ["high", "to", ".high"]].map(
  ([end, title, more]) => column(title, key + more, text, (row) => row[key]?.[end]));

/** Many small charts side by side, each `[make, spec]`; charts of the same place are updated, not made again. */
export function multiples(parts, tag = "div.chart-grid") {
  let charts = [];
  const element = h(tag);
  const update = (next) => {
    const same = charts.length === next.length && charts.every((one, k) => one.make === next[k][0]);
    if (same) return charts.forEach((one, k) => one.update(next[k][1]));
    charts.forEach((one) => one.remove());
    charts = next.map(([make, spec]) => ({ ...make(spec), make }));
    return element.replaceChildren(...charts.map((one) => one.element));
  };
  update(parts);
  return { element, update, remove: () => charts.forEach((one) => one.remove()) };
}

const SHAPES = { bars: "bar", whiskers: "interval" };

function withLegend(spec) {
  const legend = [];
  for (const layer of spec.layers ?? []) {
    const shape = layer.dashed ? "dashed" : SHAPES[layer.type] ?? layer.type;
    if (layer.name) legend.push({ tone: layer.tone, shape, text: layer.name });
    if (layer.hatchName) legend.push({ tone: layer.tone, shape: "hatch", text: layer.hatchName });
  }
  return { legend, ...spec };
}

/** The ends of the vertical axis: over all layers, with wide intervals cut where `robust` asks for it. */
function verticalDomain(spec) {
  const middles = spec.y.zero ? [0] : [];
  const ends = [];
  for (const layer of spec.layers) {
    for (const row of spec.rows) {
      if (layer.y) middles.push(layer.y(row));
      if (layer.low) ends.push(layer.low(row), layer.high(row));
    }
  }
  const [low, high] = endsOf(middles.filter(known));
  const [least, most] = endsOf([...ends, ...middles].filter(known));
  if (least > most) return [0, 1];
  const room = spec.y.robust && high > low ? (high - low) * 0.4 : Infinity;
  return [Math.max(least, low - room), Math.min(most, high + room)];
}

const endsOf = (values) => [Math.min(...values), Math.max(...values)];

function drawPlot(spec, width, id) {
  const height = spec.height ?? (width < 480 ? 190 : 230);
  const step = spec.x.step ?? 0;
  const xs = spec.rows.map((row) => spec.x.value(row));
  const bins = spec.layers.find((layer) => layer.type === "histogram")?.bins ?? [];
  const reach = xs.concat(bins.flatMap((bin) => [bin.from, bin.to])).filter(known);
  const [first, last] = spec.x.domain ?? (reach.length ? endsOf(reach) : [0, 1]);
  const horizontal = first < last || step ? [first - step / 2, last + step / 2] : [first - 0.5, last + 0.5];
  const count = Math.max(2, Math.floor((height - 40) / 44));
  const { domain: vertical, step: rise } = spec.y.domain ? { domain: spec.y.domain }
    : widened(verticalDomain(spec), count);
  const ticks = numberTicks(vertical, count, spec.y.kind, rise);
  const left = 10 + LETTER * Math.max(3, ...ticks.map((tick) => tick.text.length));
  const inner = { left, right: width - 10, top: spec.y.label ? 22 : 8, bottom: height - (spec.x.label ? 40 : 24) };
  const x = linear(horizontal, [inner.left, inner.right]);
  const y = linear(vertical, [inner.bottom, inner.top]);

  const nodes = [s("defs", s("clipPath", { id: `${id}-clip` },
    s("rect", { x: left, y: inner.top - 4, width: Math.max(0, inner.right - left),
    height: inner.bottom - inner.top + 4 }))), hatching(`${id}-hatch`)];
  for (const tick of ticks) {
    const place = y(tick.value);
    nodes.push(grid(tick, `M${at(inner.left, place)}H${inner.right}`),
      text("text", inner.left - 6, place + 4, "end", tick.text));
  }
  const room = Math.max(2, Math.floor((inner.right - inner.left) / (spec.x.kind === "date" ? 78 : 66)));
  const across = spec.x.kind === "date" ? dateTicks(horizontal, room) : numberTicks(horizontal, room, spec.x.kind);
  for (const tick of across) nodes.push(below(tick, x(tick.value), inner.bottom, width));
  if (spec.y.label) nodes.push(text("name", 0, 12, "start", spec.y.label));
  if (spec.x.label) nodes.push(text("name", inner.right, height - 6, "end", spec.x.label));
  const body = s("g", { "clip-path": `url(#${id}-clip)` });
  const places = { x, y, xs, inner, step, id };
  for (const layer of spec.layers) body.append(...LAYERS[layer.type](layer, spec.rows, places));
  nodes.push(body);

  const pixels = xs.map(x);
  const dotted = spec.layers.filter((layer) => layer.y);
  return {
    height,
    nodes,
    count: spec.rows.length,
    nearest: (place) => pixels.reduce(
      (best, one, k) => (Math.abs(one - place) < Math.abs(pixels[best] - place) ? k : best), 0),
    anchor(index) {
      const place = pixels[index];
      const heights = dotted.map((layer) => layer.y(spec.rows[index])).filter(known).map(y);
      const dots = heights.map((one) => s("circle", { cx: place, cy: one, r: 3.5 }));
      const line = s("path", { d: `M${at(place, inner.top)}V${inner.bottom}` });
      return { x: place, y: heights[0] ?? (inner.top + inner.bottom) / 2, nodes: [line, ...dots] };
    },
  };
}

/** What each kind of layer draws; one path for all of its rows, however many there are. */
const LAYERS = {
  line(layer, rows, { x, y, xs }) {
    let d = "";
    let open = false;
    rows.forEach((row, k) => {
      const value = layer.y(row);
      if (known(value)) d += `${open ? "L" : "M"}${at(x(xs[k]), y(value))}`;
      open = known(value);
    });
    return [path(layer.dashed ? "line.mark-dashed" : "line", layer.tone, d)];
  },
  band(layer, rows, { x, y, xs }) {
    let d = "";
    let run = [];
    const close = () => {
      if (run.length) d += `M${run.map(([place, , top]) => at(place, top)).join("L")}L${run.reverse().map(([place, low]) => at(place, low)).join("L")}Z`;
      run = [];
    };
    rows.forEach((row, k) => {
      const [low, high] = [layer.low(row), layer.high(row)];
      if (known(low) && known(high)) run.push([x(xs[k]), y(low), y(high)]);
      else close();
    });
    close();
    return [path("band", layer.tone, d)];
  },
  bars(layer, rows, { x, y, xs, step, id }) {
    const half = Math.max(0.5, Math.min(18, ((x(step) - x(0)) * 0.72) / 2));
    const d = { whole: "", hatched: "" };
    rows.forEach((row, k) => {
      const value = layer.y(row);
      if (!known(value)) return;
      const place = x(xs[k]);
      d[layer.hatch?.(row) ? "hatched"
        : "whole"] += `M${at(place - half, y(0))}V${y(value).toFixed(1)}h${(2 * half).toFixed(1)}V${y(0).toFixed(1)}Z`;
    });
    return [path("bar", layer.tone, d.whole), path("hatch", layer.tone, d.hatched, { fill: `url(#${id}-hatch)` })];
  },
  shade(layer, rows, { x, xs, step, inner, id }) {
    const half = (x(step) - x(0)) / 2;
    let d = "";
    rows.forEach((row, k) => {
      if (layer.hatch(row)) d += `M${at(x(xs[k]) - half, inner.bottom)}V${inner.top}h${(2 * half).toFixed(1)}V${inner.bottom}Z`;
    });
    return [path("shade", layer.tone, d, { fill: `url(#${id}-hatch)` })];
  },
  whiskers(layer, rows, { x, y, xs, step }) {
    const cap = Math.max(0, Math.min(4, ((x(step) - x(0)) * 0.5) / 2));
    let whiskers = "";
    let dots = "";
    rows.forEach((row, k) => {
      const [low, middle, high, place] = [layer.low(row), layer.y(row), layer.high(row), x(xs[k])];
      if (known(low) && known(high)) {
        whiskers += `M${at(place, y(low))}V${y(high).toFixed(1)}`;
        if (cap) whiskers += `M${at(place - cap, y(low))}h${2 * cap}M${at(place - cap, y(high))}h${2 * cap}`;
      }
      if (known(middle) && layer.dots !== false) dots += `M${at(place, y(middle))}h0`;
    });
    return [path("whisker", layer.tone, whiskers), path("dots", layer.tone, dots)];
  },
  histogram(layer, rows, { x, inner }) {
    const most = Math.max(1, ...layer.bins.map((bin) => bin.count));
    const tall = (inner.bottom - inner.top) * 0.25;
    let d = "";
    for (const bin of layer.bins) {
      const wide = Math.max(0.5, x(bin.to) - x(bin.from) - 1);
      const high = (bin.count / most) * tall;
      d += `M${at(x(bin.from), inner.bottom)}v${(-high).toFixed(1)}h${wide.toFixed(1)}v${high.toFixed(1)}Z`;
    }
    return [path("histogram", layer.tone, d)];
  },
};

/**
 * Rows by name: `label(row)`, `middle(row)`, `inside(row)` and `outside(row)` as [low, high], `before(row)` for a mark
 * of what was. On narrow screens a name stands above its row.
 */
function drawIntervals(spec, width) {
  const narrow = width < 340;
  const tall = narrow ? 42 : 28;
  const names = spec.rows.map((row) => spec.label(row));
  const letters = Math.min(28, Math.max(4, ...names.map((name) => name.length)));
  const left = narrow ? 8 : 16 + letters * 1.1 * LETTER;
  const right = width - 12;
  const ends = spec.rows.flatMap((row) => [0, spec.middle(row), ...(spec.outside?.(row) ?? [])]).filter(known);
  const count = Math.max(2, Math.floor((right - left) / 80));
  const { domain, step } = widened(endsOf(ends.length ? ends : [0, 1]), count);
  const x = linear(domain, [left, right]);
  const top = 6;
  const bottom = top + tall * spec.rows.length;
  const nodes = [];
  for (const tick of numberTicks(domain, count, spec.x.kind, step)) {
    const place = x(tick.value);
    nodes.push(grid(tick, `M${at(place, top)}V${bottom}`), below(tick, place, bottom, width));
  }
  const heightOf = (k) => top + tall * (k + (narrow ? 0.72 : 0.5));
  spec.rows.forEach((row, k) => {
    const place = heightOf(k);
    const middle = spec.middle(row);
    const tone = spec.tone?.(row) ?? (middle < 0 ? "second" : "accent");
    const short = names[k].length > letters && !narrow ? `${names[k].slice(0, letters - 1)}…` : names[k];
    const where = narrow ? { x: left, y: place - 12 } : { x: left - 12, y: place, dy: "0.35em", "text-anchor": "end" };
    nodes.push(s("text.row-name", where, short, s("title", names[k])));
    const group = s(`g.tone-${tone}`);
    for (const [kind, ends] of [["whisker", spec.outside?.(row)], ["thick", spec.inside?.(row)]]) {
      if (ends?.every(known)) group.append(s(`path.mark-${kind}`,
        { d: `M${at(x(ends[0]), place)}H${x(ends[1]).toFixed(1)}` }));
    }
    if (known(middle)) group.append(s("circle.mark-dot", { cx: x(middle), cy: place, r: 4 }));
    const then = spec.before?.(row);
    if (known(then)) group.append(s("path.mark-then", { d: `M${at(x(then), place - 8)}v16` }));
    nodes.push(group);
  });
  return {
    height: bottom + 24,
    nodes,
    count: spec.rows.length,
    nearest: (_, place) => Math.max(0, Math.min(spec.rows.length - 1, Math.floor((place - top) / tall))),
    anchor(index) {
      const middle = spec.middle(spec.rows[index]);
      const shade = s("rect.row-shade", { x: 0, y: top + tall * index, width, height: tall });
      return { x: x(known(middle) ? middle : 0), y: heightOf(index), nodes: [shade] };
    },
  };
}
