"""A replay on disk: tables that a spreadsheet opens, everything as JSON, and pictures."""

from __future__ import annotations

import csv
import platform
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._files import MANIFEST, check_folder, write_json, written_aside

if TYPE_CHECKING:
    from .result import ReplayResult

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
        from .charts import draw_replay

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
