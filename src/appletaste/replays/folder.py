"""A replay on disk: tables that a spreadsheet opens, everything as JSON, and pictures.

The picture of a replay: money saved so far, and the tenths of the stream.
"""

from __future__ import annotations

import csv
import platform
import textwrap
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._files import MANIFEST, check_folder, write_json, written_aside
from ..pages.charts import colours_of, require_pyplot, save_figure, shade
from .comparators import BOOSTER, COMPARATORS
from .verdict import said_of

if TYPE_CHECKING:
    from .result import ReplayResult


#: Letters of a line above the panels.
WIDE = 150
DASHES: dict[str, Any] = {
    "oracle": ":",
    "full-information": "--",
    BOOSTER: (0, (6, 1, 1, 1)),
    "always": "-.",
    "never": "-",
}


def draw_replay(result: ReplayResult, targets: Sequence[Path]) -> None:
    """Draw three panels: money saved against never, cost by tenths, and how many items are positive and acted on."""
    plt = require_pyplot()
    figure, axes = plt.subplots(1, 3, figsize=(13, 3.8), width_ratios=(1.5, 1, 1), layout="constrained")
    colours = colours_of(list(result))
    _saved(axes[0], result, colours)
    _blocks(axes[1], axes[2], result, colours)
    figure.suptitle("\n".join([*textwrap.wrap(said_of(result) or "", WIDE), result.title]), fontsize=10)
    save_figure(figure, targets)


def _style(result: ReplayResult, label: str, colours: dict[str, str]) -> dict[str, Any]:
    """Return how a policy is drawn: policies in full lines, what they are measured against thinner."""
    name = result[label].entry.name
    thin = name in COMPARATORS
    return {"color": colours[label], "linestyle": DASHES.get(name, "-"), "linewidth": 1.0 if thin else 1.8}


def _saved(axis: Any, result: ReplayResult, colours: dict[str, str]) -> None:
    """Draw money saved so far against never; bands are two standard errors over the shuffles."""
    never, shown = result["never"].curves, []
    for label, one in result.policies.items():
        saved = never - one.curves
        mean = saved.mean(axis=0)
        axis.plot(result.points, mean, label=label, **_style(result, label, colours))
        if len(saved) > 1 and one.entry.name not in ("never", "always", "oracle"):
            error = 2.0 * saved.std(axis=0, ddof=1) / np.sqrt(len(saved))
            shade(axis, result.points, mean - error, mean + error, colours[label])
        if one.entry.name != "always":  # it may be so dear that nothing else could be told apart
            shown.append(mean)
    low, high = float(np.min(shown)), float(np.max(shown))
    room = 0.06 * max(high - low, 1e-9)
    axis.set(
        xlabel="items", ylabel="saved so far, compared with never", xlim=(0, None), ylim=(low - 2 * room, high + room)
    )
    axis.legend()


def _blocks(costs: Any, rates: Any, result: ReplayResult, colours: dict[str, str]) -> None:
    """Draw the tenths: cost per 1,000 items, and the share of positives beside the share acted on."""
    first = next(iter(result.policies.values())).blocks()
    tenths = np.arange(1, len(first) + 1)
    rates.bar(tenths, [block["base_rate"] for block in first], color="#dddddd", label="positives")
    for label, one in result.policies.items():
        if one.entry.name == "always":
            continue
        style = _style(result, label, colours)
        costs.plot(tenths, [block["cost_per_1000"] for block in one.blocks()], marker=".", label=label, **style)
        if one.entry.name not in COMPARATORS:
            rates.plot(tenths, [block["act_rate"] for block in one.blocks()], marker=".", label=label, **style)
    costs.set(xlabel="tenth of the stream", ylabel="cost per 1,000 items", xticks=tenths)
    rates.set(xlabel="tenth of the stream", ylabel="share positive (bars), acted on", ylim=(0, 1), xticks=tenths)
    rates.legend()


#: What a folder holds: one row for each policy, pass, tenth and point of the curves.
TABLES = ("policies.csv", "passes.csv", "blocks.csv", "curves.csv")
#: By this file a folder of a replay is known.
SIGN = TABLES[0]
PICTURES = ("replay.png", "replay.svg")


def write_folder(result: ReplayResult, folder: Path, pictures: bool = True) -> None:
    """Write a replay into a folder, which must be new or hold an earlier run."""
    check_folder(folder, SIGN)
    (folder / MANIFEST).unlink(missing_ok=True)
    found = result.as_dict()
    money = ("cost_per_1000", "se", "saved_vs_never", "saved_vs_always")
    names = ("policy", "items", "labels", *money, "precision", "recall", "act_rate", "items_per_second")
    _write(folder / "policies.csv", names, ([label, *_line(row)] for label, row in found.items()))
    _write(
        folder / "passes.csv",
        ("policy", "pass", "cost_per_1000", "precision", "recall", "acts", "labels", "labels_learnt", "seconds"),
        (
            [label, k, 1000 * t.cost / t.items, t.precision, t.recall, t.acts, t.labels, t.learnt, t.seconds]
            for label, one in result.policies.items()
            for k, t in enumerate(one.tallies)
        ),
    )
    blocks = ("first", "last", "base_rate", "act_rate", "cost_per_1000")
    _write(
        folder / "blocks.csv",
        ("policy", *blocks),
        ([label, *(block[n] for n in blocks)] for label, one in result.policies.items() for block in one.blocks()),
    )
    _write(
        folder / "curves.csv",
        ("policy", "pass", "items", "cost_so_far"),
        (
            [label, k, point, value]
            for label, one in result.policies.items()
            for k, curve in enumerate(one.curves.tolist())
            for point, value in zip(result.points.tolist(), curve, strict=True)
        ),
    )
    if pictures:
        draw_replay(result, [folder / name for name in PICTURES])
    plan = result.plan
    manifest = {
        "source": plan.stream.records.source,
        "items": len(plan.stream),
        "costs": plan.costs.outcomes() if plan.stream.costs is None else plan.stream.costs.sheet.outcomes(),
        "order": "shuffled" if plan.shuffled else "as is",
        "passes": result.passes,
        "delay": {"law": plan.delay.law, "scale": plan.delay.scale, "sigma": plan.delay.sigma},
        "seed": plan.seed,
        "encoder": repr(plan.encoder),
        "verdict": result.verdict,
        "notes": list(result.notes),
        "policies": list(found.values()),
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("appletaste", "numpy", "numba")},
        },
    }
    write_json(folder / MANIFEST, manifest)  # last: the run is whole


def _line(row: dict[str, Any]) -> list[Any]:
    """Return the numbers of a policy for the table."""
    cost, saved = row["cost_per_1000"], row["saved_per_1000"]
    rest = [row[name] for name in ("precision", "recall", "act_rate", "items_per_second")]
    return [row["items"], row["labels"], cost["mean"], cost["se"], saved["never"], saved["always"], *rest]


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table, aside and renamed."""
    with written_aside(path) as aside, aside.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
