"""A finished run on disk: Parquet tables and a small manifest, written aside and renamed; plots are drawn from it.

The picture of finished runs: regret over rounds, and box plots of where it ends.
"""

from __future__ import annotations

import json
import platform
import shutil
import tempfile
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from .._files import MANIFEST, check_folder, write_json
from ..errors import MissingExtraError
from ..pages.charts import draw_regret, regret_axes, save_figure
from . import Result
from .measures import quantile_bands

#: The per-replication numbers, and the regret bands over rounds.
RESULTS, BANDS = "results.parquet", "bands.parquet"


def require_pyarrow() -> Any:
    """Return pyarrow's Parquet module, or say how to install it."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("writing results", "plot") from None
    return pyarrow


def write_run(folder: Path, results: list[Result], settings: dict[str, Any]) -> None:
    """Write the results of ``replicate`` into a folder, which must be new or hold an earlier run."""
    arrow = require_pyarrow()
    folder = folder.resolve()
    check_folder(folder, RESULTS)
    rows: dict[str, list[Any]] = {
        name: [] for name in ("policy", "replication", "regret", "precision", "recall", "act_rate")
    }
    bands: dict[str, list[Any]] = {name: [] for name in ("policy", "round", "q05", "q50", "q95")}
    for result in results:
        count = len(result.acts)
        rows["policy"] += [result.entry.label] * count
        rows["replication"] += range(count)
        rows["regret"] += result.final_regret.tolist()
        rows["precision"] += result.precision.tolist()
        rows["recall"] += result.recall.tolist()
        rows["act_rate"] += (result.acts / result.rounds).tolist()
        low, middle, high = quantile_bands(result.curves)
        bands["policy"] += [result.entry.label] * result.rounds
        bands["round"] += range(1, result.rounds + 1)
        for name, values in (("q05", low), ("q50", middle), ("q95", high)):
            bands[name] += values.tolist()
    packages = ("appletaste", "numpy", "numba")
    manifest = {
        **settings,
        "versions": {"python": platform.python_version(), **{name: version(name) for name in packages}},
    }
    folder.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    try:
        arrow.parquet.write_table(arrow.table(rows), aside / RESULTS)
        arrow.parquet.write_table(arrow.table(bands), aside / BANDS)
        write_json(aside / MANIFEST, manifest)
        folder.mkdir(exist_ok=True)
        (folder / MANIFEST).unlink(missing_ok=True)
        for name in (RESULTS, BANDS, MANIFEST):  # the manifest last: it says that the run is whole
            (aside / name).replace(folder / name)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def read_columns(path: Path) -> dict[str, Any]:
    """Return a Parquet file as a dictionary of NumPy arrays."""
    table = require_pyarrow().parquet.read_table(path)
    return {name: np.asarray(table[name].to_numpy(zero_copy_only=False)) for name in table.column_names}


def draw_runs(folders: Sequence[Path], targets: Sequence[Path]) -> None:
    """Draw stored runs, one row each: regret over rounds, and box plots of the best few."""
    figure, axes = regret_axes(len(folders), 3.4)
    for pair, folder in zip(axes, folders, strict=True):
        manifest = json.loads((folder / MANIFEST).read_text())
        results, bands = read_columns(folder / RESULTS), read_columns(folder / BANDS)
        labels = list(dict.fromkeys(bands["policy"].tolist()))
        picked = {label: bands["policy"] == label for label in labels}
        names = ("round", "q05", "q50", "q95")
        curves = {label: tuple(bands[n][mine] for n in names) for label, mine in picked.items()}
        final = {label: results["regret"][results["policy"] == label] for label in labels}
        draw_regret(pair, curves, final)
        pair[0].set_title(f"problem {manifest['problem']}: median and 90 % band", fontsize=10)
        pair[1].set_title(f"final regret, {manifest['replications']} replications", fontsize=10)
    save_figure(figure, targets)
