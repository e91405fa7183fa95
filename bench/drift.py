"""What forgetting is worth when the world changes, and how fast the alarm comes: ``make bench ARGS=drift``.

Streams whose coefficients change their sign at a known item, and the same streams without the change, with and without
a half-life; false alarms of Page-Hinkley on honest chances and its delay after shifts of known size. Two minutes
on two cores; a whole run is kept, and its tables and picture are put into the pages that show them.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

import appletaste as at
from appletaste.pages.charts import require_pyplot

from .figures.pages import page_of
from .figures.parts import table, text
from .figures.stored import keep_run

COSTS = at.Costs(miss=1.0, false_alarm=0.4, hit=0.05)
N, CHANGE, BLOCK, D = 6000, 3000, 250, 6
POLICIES = {
    "adf-voi": ("adf-voi", None),
    "adf-voi, half-life 500": ("adf-voi", 500),
    "adf-voi, half-life 2000": ("adf-voi", 2000),
    "voi": ("voi", None),
    "voi, half-life 500": ("voi", 500),
    "voi, half-life 2000": ("voi", 2000),
}


def stream(seed: int, change: int):
    """Return items, chances and labels; from item ``change`` on all coefficients but the intercept change sign."""
    rng = np.random.default_rng(seed)
    items = np.column_stack([rng.normal(size=(N, D - 1)), np.ones(N)])
    theta = np.append(rng.normal(size=D - 1), -1.0)
    signs = np.where(np.arange(N)[:, None] < change, 1.0, np.append(-np.ones(D - 1), 1.0))
    chances = 1 / (1 + np.exp(-(items * signs) @ theta))
    return items, chances, (rng.random(N) < chances).astype(int)


def play(name: str, half_life: float | None, seed: int, change: int):
    """Return the regret of each item and the items at which labels raised an alarm."""
    items, chances, labels = stream(seed, change)
    policy = at.policy(name, n_features=D, costs=COSTS, seed=seed, half_life=half_life)
    test, spent, alarms = at.drift.PageHinkley(), np.empty(N), []
    for t in range(N):
        decision = policy.decide(items[t])
        spent[t] = COSTS.regret(decision.act, chances[t])
        if decision.act:
            policy.learn(decision, int(labels[t]))
            if test.update(int(labels[t]), decision.chance):
                alarms.append(t + 1)
    return spent, alarms


def mean(values: np.ndarray, digits: int = 1) -> str:
    return f"{np.mean(values):.{digits}f} ± {np.std(values, ddof=1) / np.sqrt(len(values)):.{digits}f}"


def forgetting(seeds: range, jobs: int):
    """Return the rows of the table, and regret by block and alarms for the picture."""
    tasks = [(name, half, seed, change) for name, half in POLICIES.values() for seed in seeds for change in (CHANGE, N)]
    played = dict(zip(tasks, Parallel(n_jobs=jobs)(delayed(play)(*task) for task in tasks), strict=True))
    rows, curves, alarms = [], {}, {}
    for label, (name, half) in POLICIES.items():
        changed = [played[name, half, seed, CHANGE] for seed in seeds]
        still = np.array([played[name, half, seed, N][0].sum() for seed in seeds])
        plain = np.array([played[name, None, seed, N][0].sum() for seed in seeds])
        spent = np.array([one[0] for one in changed])
        first = [min((a for a in one[1] if a > CHANGE), default=None) for one in changed]
        curves[label] = 1000 * spent.reshape(len(seeds), -1, BLOCK).mean(axis=(0, 2))
        alarms[label] = [one for one in first if one is not None]
        price = "-" if half is None else mean(1000 * (still - plain) / N)
        rows.append(
            (
                f"`{name}`" + label.removeprefix(name),
                mean(1000 * spent[:, :CHANGE].sum(1) / CHANGE),
                mean(1000 * spent[:, CHANGE:].sum(1) / (N - CHANGE)),
                price,
                f"{np.median(alarms[label]) - CHANGE:.0f} ({len(alarms[label])} of {len(seeds)})",
                str(sum(a <= CHANGE for one in changed for a in one[1])),
            )
        )
    return rows, curves, alarms


def run_lengths(jobs: int):
    """Return labels between false alarms on honest chances, and the delay after shifts of the log-odds."""

    def alarms(stated: float, law: str, seed: int, n: int = 400_000) -> int:
        rng = np.random.default_rng(seed)
        p = np.full(n, float(law)) if law != "mixed" else rng.beta(1, 4, n)
        test = at.drift.PageHinkley(0.5, stated)
        pairs = zip((rng.random(n) < p).astype(int).tolist(), p.tolist(), strict=True)
        return sum(abs(test.update(label, chance)) for label, chance in pairs)

    def delay(shift: float, p: float, seed: int) -> list[int]:
        rng = np.random.default_rng(seed)
        moved, found = 1 / (1 + np.exp(-(np.log(p / (1 - p)) + shift))), []
        for _ in range(40):
            test = at.drift.PageHinkley()
            while test.labels < 500:
                test.update(int(rng.random() < p), p)
            while not test.update(int(rng.random() < moved), p) and test.labels < 20_000:
                pass
            found.append(test.labels - 500)
        return found

    laws = ("0.5", "0.2", "0.05", "mixed")
    stated = (1000, 5000, 20_000)
    counts = Parallel(n_jobs=jobs)(delayed(alarms)(s, law, 1) for s in stated for law in laws)
    false_rows = []
    for k, s in enumerate(stated):
        shown = (f"{400_000 / c:,.0f}" if c else "none" for c in counts[k * len(laws) : (k + 1) * len(laws)])
        false_rows.append((f"{s:,}", *shown))
    shifts, chances = (0.5, 1.0, 2.0, -0.5, -1.0, -2.0), (0.5, 0.2, 0.05)
    found = Parallel(n_jobs=jobs)(delayed(delay)(s, p, 2) for s in shifts for p in chances)
    delays = []
    for k, s in enumerate(shifts):
        mine = found[k * len(chances) : (k + 1) * len(chances)]
        delays.append((f"{s:+g}", *(f"{np.mean(d):,.0f}" for d in mine)))
    return laws, false_rows, chances, delays


def draw(curves, alarms, path: Path) -> None:
    """Draw regret by block with and without a half-life, and when the alarm came."""
    pyplot = require_pyplot()
    figure, axes = pyplot.subplots(1, 2, figsize=(10, 3.6), sharey=True, layout="constrained")
    styles = {"": ("#000000", "-"), ", half-life 500": ("#D55E00", "-"), ", half-life 2000": ("#0072B2", "--")}
    for axis, name in zip(axes, ("adf-voi", "voi"), strict=True):
        for tail, (colour, dash) in styles.items():
            label = name + tail
            edges = np.arange(0, N + 1, BLOCK)
            axis.stairs(curves[label], edges, baseline=None, ls=dash, color=colour, label=label, linewidth=1.6)
        axis.axvline(CHANGE, color="#7F7F7F", linestyle=":", label="the change")
        axis.axvline(np.median(alarms[name]), color="#009E73", label="alarm (median)")
        axis.set(xlabel="item", title=name)
        axis.legend(frameon=False)
    axes[0].set(ylabel="regret per 1,000 items", ylim=(0, None))
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench drift", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--streams", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    started = time.perf_counter()
    rows, curves, alarms = forgetting(range(args.streams), args.jobs)
    laws, false_rows, chances, delays = run_lengths(args.jobs)
    heads = ("regret per 1,000 items", "before", "after", "price on the same streams without a change")
    parts = [
        f"{args.streams} streams of {N:,} items, {D - 1} features and an intercept; at item {CHANGE:,} all "
        "coefficients but the intercept change sign. Means ± one standard error.",
        table((*heads, "items to the alarm, median", "false alarms"), rows),
        "![Regret by block, with and without forgetting](drift.svg)",
        "Labels between false alarms, stated and measured on 400,000 labels with honest chances (shift 0.5):",
        table(("at least", *(f"p = {law}" if law != "mixed" else "p ~ Beta(1, 4)" for law in laws)), false_rows),
        "Labels from a shift of the log-odds to the alarm, mean of 40 (default settings):",
        table(("shift", *(f"p = {p}" for p in chances)), delays),
    ]
    print(text(parts))
    print(f"in {time.perf_counter() - started:.0f} s")
    if args.streams == parser.get_default("streams"):
        picture = page_of("drift.table").with_name("drift.svg")
        draw(curves, alarms, picture)
        keep_run("drift", {"table": parts}, [picture])


if __name__ == "__main__":
    main()
