"""The tables and the picture of how cost grows, from the results."""

from __future__ import annotations

import math
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt

from ..figures.parts import Grid, Part, table

PROMISED = 20  # the number of features that promises are about


def of(results: dict, policy: str, d: int) -> dict | None:
    """Return a stream's results."""
    return next((found for found in results["streams"] if (found["policy"], found["d"]) == (policy, d)), None)


def mean_at(found: dict, labels: int) -> float:
    """Return the mean cost of the window that ends at a number of labels."""
    return next(row["mean"] for row in found["rows"] if row["labels"] == labels)


def promises(results: dict) -> Grid:
    """Return what was promised beside what was measured."""
    rows = []

    def add(what: str, limit: float, value: float, unit: str) -> None:
        shown = f"{value:.2f}" if value < 10 else f"{value:.0f}"
        rows.append((what, f"{limit:g} {unit}", f"{shown} {unit}", "yes" if value <= limit else "**no**"))

    voi, exact, adf = (of(results, name, PROMISED) for name in ("voi", "exact-ts", "adf-voi"))
    late = [row for row in voi["rows"] if row["labels"] >= 3_000]
    add("`voi`: highest median from 1,000 labels on", 12, max(row["p50"] for row in late), "us")
    add("`voi`: highest 99th percentile", 60, max(row["p99"] for row in late), "us")
    add("`voi`: worst round", 1000, max(row["worst"] for row in late), "us")
    add("`exact-ts`: median around 1,000 labels", 60, exact["around"]["1000"], "us")
    add("`exact-ts`: median around 1,000,000 labels", 30, exact["around"]["1000000"], "us")
    for name, found in (("voi", voi), ("exact-ts", exact)):
        ratio = mean_at(found, 1_000_000) / mean_at(found, 10_000)
        add(f"`{name}`: mean cost at 1,000,000 over that at 10,000 labels", 1.1, ratio, "")
    add("`exact-ts`: memory of 1,000,000 labels", 250, exact["rows"][-1]["memory"], "MB")
    early = next(
        row["memory"] for row in adf["rows"] if row["labels"] == 100_000
    )  # once the items of the bench itself are all there
    add("`adf-voi`: memory gained from 100,000 to 1,000,000 labels", 1, abs(adf["rows"][-1]["memory"] - early), "MB")
    return table(("d = 20", "promised", "measured", "kept"), rows)


def streams(results: dict) -> Grid:
    """Return the rounds of every stream, window by window."""
    rows = []
    for found in results["streams"]:
        for row in found["rows"]:
            if row["labels"] in (1_000, 3_000, 10_000, 100_000, 1_000_000):
                numbers = (f"{row[key]:.1f}" for key in ("p50", "mean", "p99"))
                last = (f"{row['worst']:.0f}", f"{row['memory']:.0f}")
                rows.append((f"`{found['policy']}`, d = {found['d']}", f"{row['labels']:,.0f}", *numbers, *last))
    return table(("stream", "labels up to", "p50 us", "mean us", "p99 us", "worst us", "MB"), rows)


def growth(results: dict) -> Grid:
    """Return the median round against the number of features."""
    features = sorted({found["d"] for found in results["growth"]})
    rows = []
    for policy in ("voi", "adf-voi"):
        medians = {f["d"]: f["rows"][-1]["p50"] for f in results["growth"] if f["policy"] == policy}
        rows.append((f"`{policy}`, p50 us", *(f"{medians[d]:.1f}" for d in features)))
    return table(("features", *map(str, features)), rows)


def rates(results: dict) -> list[Part]:
    """Return items a second: one by one, many at once, and in simulation."""
    rows = [
        (f"`decide`, d = {row['d']}", f"{row['one']:,.0f}", f"{row['many']:,.0f}", f"{row['many'] / row['one']:.1f}")
        for row in results["batches"]
    ]
    found = table(("one core, items a second", "one by one", "`decide_many`, all cores", "ratio"), rows)
    simulated = (f"{row['processes']} process(es): {row['rounds_a_second']:,.0f}" for row in results["replications"])
    said = f"`replicate`, rounds a second of `voi` at d = 20 (learning included): {'; '.join(simulated)}."
    return [found, said]


def beside(results: dict) -> str:
    """Return the ratio to Vowpal Wabbit, measured in the same run."""
    other, voi = results["vowpal_wabbit"], of(results, "voi", PROMISED)
    if other is None:
        return "Vowpal Wabbit is not installed here: no ratio."
    row = next(row for row in voi["rows"] if row["labels"] == 3_000)
    return (
        f"Vowpal Wabbit's fastest configuration (`{other['player']}`) took {other['p50']:.1f} us (p50) and "
        f"{other['p99']:.1f} us (p99) a round in the same run, through its own interface: "
        f"{other['p50'] / row['p50']:.1f} and {other['p99'] / row['p99']:.1f} times `voi`."
    )


def draw(results: dict, path: Path) -> None:
    """Draw cost against labels, and against features."""
    mpl.rcParams.update({"svg.hashsalt": "appletaste", "font.size": 9})
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for found in results["streams"]:
        labels = [row["labels"] for row in found["rows"]]
        (line,) = left.plot(labels, [row["mean"] for row in found["rows"]], marker="o", ms=3)
        line.set_label(f"{found['policy']}, d = {found['d']}")
        left.plot(labels, [row["p99"] for row in found["rows"]], ls=":", color=line.get_color())
    left.set(xscale="log", yscale="log", xlabel="labels learnt", ylabel="microseconds a round (dotted: p99)")
    left.legend(frameon=False, fontsize=7)
    for policy in ("voi", "adf-voi"):
        rows = [found for found in results["growth"] if found["policy"] == policy]
        right.plot([f["d"] for f in rows], [f["rows"][-1]["p50"] for f in rows], marker="o", ms=3, label=policy)
    right.set(xscale="log", yscale="log", xlabel="features", ylabel="microseconds a round (median)")
    right.legend(frameon=False)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def short(results: dict) -> Grid:
    """Return what most readers want to know of ``voi``."""
    voi = of(results, "voi", PROMISED)["rows"]
    late = [row for row in voi if row["labels"] >= 3_000]
    medians = {f["d"]: f["rows"][-1]["p50"] for f in results["growth"] if f["policy"] == "voi"}
    rows = [
        (f"median round, d = {PROMISED}", f"below {math.ceil(max(row['p50'] for row in late))} us"),
        (f"99th percentile, d = {PROMISED}", f"{max(row['p99'] for row in late):.0f} us"),
        (f"worst of a million rounds, d = {PROMISED}", f"{max(row['worst'] for row in late) / 1000:.1f} ms"),
        *((f"median round, d = {d}", f"{medians[d]:.0f} us") for d in (100, 200)),
        (f"memory of 1,000,000 labels, d = {PROMISED}", f"{voi[-1]['memory']:.0f} MB"),
    ]
    return table(("`voi`, one core", ""), rows)


def slowest(results: dict) -> str:
    """Return the highest median of ``voi`` from 1,000 labels on, in microseconds."""
    rows = of(results, "voi", PROMISED)["rows"]
    return f"{max(row['p50'] for row in rows if row['labels'] >= 3_000):.0f}"


def parts(results: dict) -> list[Part]:
    """Return all that a page shows."""
    return [
        "![Cost of a round against labels and features](scale.svg)",
        promises(results),
        beside(results),
        "## Streams",
        streams(results),
        "## Features",
        growth(results),
        "## Rates",
        *rates(results),
    ]
