// Scales and ticks: where a number, a sum of money, a share or a date stands on an axis, and how the axis says so.
import { LOCALE } from "./dom.js";

const DAY = 86_400_000;

/** A straight map from [low, high] to [from, to]. */
export const linear = ([low, high], [from, to]) => (value) => from + ((value - low) * (to - from)) / (high - low || 1);

/** The least step of 1, 2 or 5 times a power of ten that gives at most `count` steps over a length. */
function niceStep(length, count) {
  const rough = length / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * ([1, 2, 5].find((factor) => factor * power >= rough * (1 - 1e-9)) ?? 10);
}

/** Ticks of a number axis: values at round steps, and the text of each. */
export function numberTicks([low, high], count, kind = "number", step = niceStep(high - low, count)) {
  if (!(high > low)) return [{ value: low, text: tickText(low, Math.abs(low) || 1, kind) }];
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k += 1) {
    // never -0
    const value = k * step + 0;
    ticks.push({ value, text: tickText(value, step, kind) });
  }
  return ticks;
}

/** A tick in few letters: 1.5k, 2M, 30 %. */
function tickText(value, step, kind) {
  // a year has no comma, and no month lies between two months
  if (kind === "whole") return Number.isInteger(value) ? String(value) : "";
  if (value === 0) return kind === "share" ? "0 %" : "0";
  if (kind === "share") return `${trimmed(value * 100, step * 100)} %`;
  const size = Math.max(Math.abs(value), step);
  const [unit, letter] = size >= 1e9 ? [1e9, "B"] : size >= 1e6 ? [1e6, "M"] : size >= 1e4 ? [1e3, "k"] : [1, ""];
  const text = trimmed(Math.abs(value) / unit, step / unit) + letter;
  return `${value < 0 ? "−" : ""}${text}`;
}

function trimmed(value, step) {
  const digits = Math.min(8, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
  return value.toLocaleString(LOCALE, { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** Widens [low, high] to round numbers, so that no mark touches the edge; returns the domain and the step. */
export function widened([low, high], count) {
  if (!(high > low)) [low, high] = low === 0 ? [0, 1] : [Math.min(low, 0), Math.max(low, 0)];
  const step = niceStep(high - low, count);
  const half = step / 2;
  return { domain: [Math.floor(low / half + 1e-9) * half, Math.ceil(high / half - 1e-9) * half], step };
}

const formatter = (options) => new Intl.DateTimeFormat(LOCALE, { timeZone: "UTC", ...options });
const DAYS = formatter({ day: "numeric", month: "short" });
const MONTHS = formatter({ month: "short" });
const MONTHS_AND_YEARS = formatter({ month: "short", year: "numeric" });
const YEARS = formatter({ year: "numeric" });
const LONG = formatter({ weekday: "short", day: "numeric", month: "short", year: "numeric" });

/** A day, "2024-06-01", as people write dates; the day is the stream's own, whatever the reader's zone. */
export const dayText = (day) => LONG.format(new Date(day));

/** Ticks of a date axis (milliseconds): at days, Mondays or firsts of months, whatever fits. */
export function dateTicks([low, high], count) {
  const fits = (days) => (high - low) / (days * DAY) <= count;
  const ticks = [];
  const step = [1, 2, 7, 14].find(fits) * DAY;
  if (step) {
    // 1970 began on a Thursday
    const offset = step >= 7 * DAY ? 4 * DAY : 0;
    for (let value = Math.ceil((low - offset) / step) * step + offset; value <= high; value += step) ticks.push({ value,
      text: DAYS.format(value) });
    return ticks;
  }
  const months = [1, 2, 3, 6, 12, 24, 60, 120].find((one) => fits(one * 30.44)) ?? 240;
  const start = new Date(low);
  for (let index = Math.floor((start.getUTCFullYear() * 12 + start.getUTCMonth()) / months) * months; ; index += months) {
    const value = Date.UTC(Math.floor(index / 12), index % 12);
    if (value > high) return ticks;
    if (value >= low) ticks.push({ value, text: (months >= 12 ? YEARS : index % 12 && ticks.length ? MONTHS
      : MONTHS_AND_YEARS).format(value) });
  }
}
