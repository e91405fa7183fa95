// Scales and ticks: where a number, a sum of money, a share or a date stands on an axis, and how the axis says so.

const DAY = 86_400_000;
const MONTH_LENGTHS = [1, 2, 3, 6, 12, 24, 60, 120];

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
    const value = k * step + 0; // never -0
    ticks.push({ value, text: tickText(value, step, kind) });
  }
  return ticks;
}

/** A tick in few letters: 1.5k, 2M, 30 %. */
function tickText(value, step, kind) {
  if (value === 0) return kind === "share" ? "0 %" : "0";
  if (kind === "share") return `${trimmed(value * 100, step * 100)} %`;
  const size = Math.max(Math.abs(value), step);
  const [unit, letter] = size >= 1e9 ? [1e9, "B"] : size >= 1e6 ? [1e6, "M"] : size >= 1e4 ? [1e3, "k"] : [1, ""];
  const text = trimmed(Math.abs(value) / unit, step / unit) + letter;
  return `${value < 0 ? "−" : ""}${text}`;
}

function trimmed(value, step) {
  const digits = Math.min(8, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** Widens [low, high] to round numbers, so that no mark touches the edge; returns the domain and the step. */
export function widened([low, high], count) {
  if (!(high > low)) [low, high] = low === 0 ? [0, 1] : [Math.min(low, 0), Math.max(low, 0)];
  const step = niceStep(high - low, count);
  const half = step / 2;
  return { domain: [Math.floor(low / half + 1e-9) * half, Math.ceil(high / half - 1e-9) * half], step };
}

const formatter = (options) => new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", ...options });
const HOURS = formatter({ hour: "2-digit", minute: "2-digit" });
const DAYS = formatter({ day: "numeric", month: "short" });
const MONTHS = formatter({ month: "short" });
const MONTHS_AND_YEARS = formatter({ month: "short", year: "numeric" });
const LONG = formatter({ weekday: "short", day: "numeric", month: "short", year: "numeric" });

/** A day, "2024-06-01", as people write dates; the day is the stream's own, whatever the reader's zone. */
export const dayText = (day) => LONG.format(new Date(typeof day === "string" ? day.slice(0, 10) : day));

/** Ticks of a date axis (milliseconds): at hours, days, weeks or firsts of months, whatever fits. */
export function dateTicks([low, high], count) {
  const length = high - low;
  const short = [3_600_000, 10_800_000, 21_600_000, 43_200_000, DAY, 2 * DAY, 7 * DAY, 14 * DAY];
  const step = short.find((one) => length / one <= count);
  if (step !== undefined) return evenDates(low, high, step);
  const months = MONTH_LENGTHS.find((one) => length / (one * 30.44 * DAY) <= count) ?? 240;
  const ticks = [];
  const start = new Date(low);
  let index = Math.floor((start.getUTCFullYear() * 12 + start.getUTCMonth()) / months) * months;
  for (; ; index += months) {
    const value = new Date(0).setUTCFullYear(Math.floor(index / 12), index % 12, 1);
    if (value > high) break;
    if (value < low) continue;
    const yearly = months >= 12 || index % 12 === 0 || ticks.length === 0;
    const text = months >= 12 ? String(Math.floor(index / 12)) : (yearly ? MONTHS_AND_YEARS : MONTHS).format(value);
    ticks.push({ value, text });
  }
  return ticks;
}

function evenDates(low, high, step) {
  const ticks = [];
  const offset = step >= 7 * DAY ? 4 * DAY : 0; // 1970 began on a Thursday; weeks begin on Mondays
  for (let value = Math.ceil((low - offset) / step) * step + offset; value <= high; value += step) {
    const midnight = value % DAY === 0;
    ticks.push({ value, text: (midnight ? DAYS : HOURS).format(value) });
  }
  return ticks;
}
