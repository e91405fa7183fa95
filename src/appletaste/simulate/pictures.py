"""The picture of finished runs: regret over rounds, and box plots of where it ends."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from .._files import MANIFEST
from ..pages.charts import best_few, colours_of, draw_bands, draw_boxes, require_pyplot, save_figure
from .runs import BANDS, RESULTS, read_columns


def draw_runs(folders: Sequence[Path], targets: Sequence[Path]) -> None:
    """Draw stored runs, one row each: regret over rounds, and box plots of the best few."""
    plt = require_pyplot()
    figure, axes = plt.subplots(
        len(folders), 2, figsize=(10, 3.4 * len(folders)), squeeze=False, width_ratios=(2.2, 1), layout="constrained"
    )
    for (curve_axis, box_axis), folder in zip(axes, folders, strict=True):
        manifest = json.loads((folder / MANIFEST).read_text())
        results, bands = read_columns(folder / RESULTS), read_columns(folder / BANDS)
        labels = list(dict.fromkeys(bands["policy"].tolist()))
        picked = {label: bands["policy"] == label for label in labels}
        names = ("round", "q05", "q50", "q95")
        draw_bands(curve_axis, {label: tuple(bands[n][mine] for n in names) for label, mine in picked.items()})
        curve_axis.set_title(f"problem {manifest['problem']}: median and 90 % band", fontsize=10)
        final = {label: results["regret"][results["policy"] == label] for label in labels}
        draw_boxes(box_axis, best_few(final), colours_of(labels))
        box_axis.set_title(f"final regret, {manifest['replications']} replications", fontsize=10)
    save_figure(figure, targets)
