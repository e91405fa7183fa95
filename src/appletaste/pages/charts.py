"""Pictures: regret over rounds, box plots of where it ends, and how a figure is saved so that it never changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .._files import written_aside
from ..errors import MissingExtraError

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
    # Text stays text (searchable, small), and ids do not change from run to run.
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "appletaste", "font.size": 9})
    matplotlib.rcParams.update({"legend.fontsize": 8, "legend.frameon": False})
    matplotlib.rcParams.update({"axes.spines.top": False, "axes.spines.right": False, "figure.facecolor": "white"})
    import matplotlib.pyplot

    return matplotlib.pyplot


def colours_of(labels: Sequence[str]) -> dict[str, str]:
    """Return a colour for each label: the policy's own, or a spare one where a policy appears more than once."""
    chosen: dict[str, str] = {}
    spare = iter(SPARE * (1 + len(labels)))
    for label in labels:
        own = COLOURS.get(label.partition("[")[0])
        chosen[label] = own if own and own not in chosen.values() else next(spare)
    return chosen


def regret_axes(rows: int, height: float) -> tuple[Any, Any]:
    """Return a figure with a pair of axes for each problem, which ``draw_regret`` fills."""
    plt = require_pyplot()
    figure = plt.figure(figsize=(10, height * rows), layout="constrained")
    return figure, figure.subplots(rows, 2, squeeze=False, width_ratios=(2.2, 1))


def draw_regret(pair: Any, bands: Mapping[str, tuple[Any, Any, Any, Any]], final: Mapping[str, Any]) -> None:
    """Draw one problem: the regret of each policy over rounds, and box plots of where the best few end."""
    curves, boxes = pair
    draw_bands(curves, bands)
    draw_boxes(boxes, best_few(final), colours_of(list(final)))


def draw_bands(axis: Any, bands: Mapping[str, tuple[Any, Any, Any, Any]]) -> None:
    """Draw (rounds, 5 %, median, 95 %) of the regret of each policy."""
    colours = colours_of(list(bands))
    for label, (rounds, low, middle, high) in bands.items():
        dashes = "--" if label.startswith("suplogistic") else "-"  # often lies on the line of cbp-side
        axis.plot(rounds, middle, dashes, color=colours[label], label=label)
        shade(axis, rounds, low, high, colours[label])
    axis.set(xlabel="round", ylabel="regret", ylim=(0, None), xlim=(1, None))
    axis.legend()


def shade(axis: Any, places: Any, low: Any, high: Any, colour: str) -> None:
    """Draw a band behind its line."""
    axis.fill_between(places, low, high, color=colour, alpha=0.15, linewidth=0)


def draw_boxes(axis: Any, values: Mapping[str, Any], colours: Mapping[str, str], rotation: float = 20) -> None:
    """Draw a box plot of each entry's final regrets."""
    boxes = axis.boxplot(
        list(values.values()), widths=0.6, patch_artist=True, tick_labels=list(values), flierprops={"markersize": 3}
    )
    for patch, median, label in zip(boxes["boxes"], boxes["medians"], values, strict=True):
        patch.set(facecolor=colours[label], alpha=0.5)
        median.set_color("black")
    axis.tick_params(axis="x", labelrotation=rotation, labelsize=8)
    axis.set_ylim(0, None)


def best_few(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries with the least mean, best first."""
    return dict(sorted(values.items(), key=lambda item: float(item[1].mean()))[:BOXED])


def legend_above(axis: Any) -> None:
    """Put the legend in one line above the axes, where nothing is drawn; none where nothing has a name."""
    names = axis.get_legend_handles_labels()[1]
    if names:
        place = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "borderaxespad": 0.3}
        axis.legend(ncols=len(names), columnspacing=1.2, handlelength=1.4, **place)


def save_figure(figure: Any, targets: Sequence[Path]) -> None:
    """Write a figure to every target (the suffix sets the format), aside and renamed, without dates inside."""
    for target in targets:
        with written_aside(target) as aside:
            figure.savefig(aside, dpi=130, metadata={"Date": None} if target.suffix == ".svg" else None)
    require_pyplot().close(figure)
