"""The picture of finished runs: regret over rounds, and box plots of where it ends."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from .._files import MANIFEST
from ..pages.charts import draw_regret, regret_axes, save_figure
from .runs import BANDS, RESULTS, read_columns


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
