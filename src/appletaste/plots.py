"""Pictures of stored runs: regret over rounds and box plots of where it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .errors import MissingExtraError
from .runs import BANDS, MANIFEST, RESULTS, read_columns

#: Colour-blind safe (Okabe & Ito 2008); each policy keeps its colour from picture to picture.
COLOURS = {
    "pg-ts": "#0072B2",
    "pg-ids": "#D55E00",
    "pg-ids-traditional": "#E69F00",
    "greedy": "#009E73",
    "cbp-side": "#CC79A7",
    "suplogistic": "#7F7F7F",
    "always": "#000000",
    "never": "#56B4E9",
    "oracle": "#B0B000",
}
SPARE = ("#332288", "#88CCEE", "#44AA99", "#117733", "#999933", "#DDCC77", "#CC6677", "#882255", "#AA4499")
BOXED = 4  # box plots are for the best few, as in the paper


def require_pyplot() -> Any:
    """Return matplotlib's pyplot without a screen, or say how to install it."""
    try:
        import matplotlib
    except ImportError:
        raise MissingExtraError("drawing", "plot") from None
    matplotlib.use("Agg")
    import matplotlib.pyplot

    return matplotlib.pyplot


def colours_of(labels: list[str]) -> dict[str, str]:
    """Return a colour for each label: the policy's own, or a spare one where a policy appears more than once."""
    chosen: dict[str, str] = {}
    spare = iter(SPARE * (1 + len(labels)))
    for label in labels:
        own = COLOURS.get(label.partition("[")[0])
        chosen[label] = own if own and own not in chosen.values() else next(spare)
    return chosen


def draw_runs(folders: list[Path], targets: list[Path]) -> None:
    """Draw stored runs, one row each, and write the picture to every target (the suffix sets the format)."""
    plt = require_pyplot()
    figure, axes = plt.subplots(
        len(folders),
        2,
        figsize=(10, 3.4 * len(folders)),
        squeeze=False,
        width_ratios=(2.2, 1),
        layout="constrained",
    )
    for (curve_axis, box_axis), folder in zip(axes, folders, strict=True):
        manifest = json.loads((folder / MANIFEST).read_text())
        results, bands = read_columns(folder / RESULTS), read_columns(folder / BANDS)
        labels = list(dict.fromkeys(bands["policy"].tolist()))
        colours = colours_of(labels)
        for label in labels:
            mine = bands["policy"] == label
            rounds = bands["round"][mine]
            dashes = "--" if label.startswith("suplogistic") else "-"  # often lies on the line of cbp-side
            curve_axis.plot(rounds, bands["q50"][mine], dashes, color=colours[label], label=label)
            curve_axis.fill_between(
                rounds, bands["q05"][mine], bands["q95"][mine], color=colours[label], alpha=0.15, linewidth=0
            )
        curve_axis.set(xlabel="round", ylabel="regret", ylim=(0, None), xlim=(1, None))
        curve_axis.set_title(f"problem {manifest['problem']}: median and 90 % band", fontsize=10)
        curve_axis.legend(fontsize=8, frameon=False)
        final = {label: results["regret"][results["policy"] == label] for label in labels}
        best = sorted(labels, key=lambda label: float(final[label].mean()))[:BOXED]
        boxes = box_axis.boxplot([final[label] for label in best], widths=0.6, patch_artist=True, tick_labels=best)
        for patch, median, label in zip(boxes["boxes"], boxes["medians"], best, strict=True):
            patch.set(facecolor=colours[label], alpha=0.5)
            median.set_color("black")
        box_axis.set_title(f"final regret, {manifest['replications']} replications", fontsize=10)
        box_axis.tick_params(axis="x", labelrotation=20, labelsize=8)
        box_axis.set_ylim(0, None)
    for target in targets:
        aside = target.with_name(f".{target.stem}.part{target.suffix}")
        figure.savefig(aside, dpi=130, metadata={"Date": None} if target.suffix == ".svg" else None)
        aside.replace(target)
    plt.close(figure)
