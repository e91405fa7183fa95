"""The paper's figures, drawn from stored pairings."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..pages.charts import (
    COLOURS,
    colours_of,
    draw_boxes,
    draw_regret,
    regret_axes,
    require_pyplot,
    save_figure,
)
from ..simulate.measures import quantile_bands, summarise
from .published import PRECISION_RECALL, WEIGHTS
from .results import Outcome
from .studies import DIMENSIONS, ESTIMATORS, POLICIES, SAMPLERS, SWEEPS, TABLES

#: Outcomes by (problem as text, policy label): what a figure reads.
Outcomes = Mapping[tuple[str, str], Outcome]


def problem_text(problem: Any, reading: str) -> str:
    """Return a short name that tells problems apart; a reading other than the one at hand is named."""
    name: str = problem.name
    if name == "dimension":
        name = f"d={problem.features} {problem.scaling}"
    if name == "tuning":
        name = f"tuning-{problem.rounds}"
    return name if problem.reading == reading else f"{name} {problem.reading}"


def index(outcomes: Sequence[Outcome], reading: str = "as-run") -> dict[tuple[str, str], Outcome]:
    """Return outcomes by problem and policy."""
    return {(problem_text(o.pairing.problem, reading), o.pairing.entry.label): o for o in outcomes}


def problems_in(outcomes: Outcomes) -> list[str]:
    """Return those of the problems of Tables 1-3 that were played, in the order of the paper."""
    return [name for name in PRECISION_RECALL if (name, "never") in outcomes]


def weight_label(weight: float) -> str:
    """Return the label of tunable PG-IDS at a weight."""
    return "pg-ids" if weight == 0.05 else f"pg-ids[weight={weight}]"


def draw_figure_1(outcomes: Outcomes) -> Any:
    """Draw regret over rounds, median and 90 % band, box plots of the four best, and never acting where it shows.

    A row for each of the problems that were played.
    """
    played = problems_in(outcomes)
    figure, axes = regret_axes(len(played), 3.5)
    for (curves, boxes), name in zip(axes, played, strict=True):
        mine = {policy: outcomes[name, policy] for policy in POLICIES}
        bands = {policy: (o.rounds, *quantile_bands(o.curves)) for policy, o in mine.items()}
        draw_regret((curves, boxes), bands, {policy: o.regret for policy, o in mine.items()})
        never = outcomes[name, "never"]
        if never.regret.mean() < max(o.regret.mean() for o in mine.values()):
            curves.plot(never.rounds, np.median(never.curves, axis=0), ":", color=COLOURS["never"], label="never act")
            curves.legend()
        count = len(never.regret)
        curves.set_title(f"Problem ({name}): median and 90 % band of regret, {count} replications", fontsize=10)
        boxes.set_title("final regret, the four best", fontsize=10)
    return figure


def draw_means(axis: Any, points: Mapping[str, Sequence[tuple[float, Any]]]) -> None:
    """Draw, for each policy, the mean over replications and the middle 90 % against a number."""
    colours = colours_of(list(points))
    for k, (label, series) in enumerate(points.items()):
        # Side by side: intervals at the same place would hide one another.
        x = np.array([place for place, _ in series]) * (1 + 0.02 * (k - (len(points) - 1) / 2))
        means = np.array([values.mean() for _, values in series])
        low, high = np.array([np.quantile(values, [0.05, 0.95]) for _, values in series]).T
        spread = np.maximum([means - low, high - means], 0)
        axis.errorbar(x, means, yerr=spread, fmt="o-", markersize=4, capsize=2, color=colours[label], label=label)
    axis.set_ylim(0, None)
    axis.legend()


def draw_figure_2a(outcomes: Outcomes) -> Any:
    """Draw regret over sqrt(d): with the printed covariance, and with one that keeps the score's variance."""
    figure, axes = require_pyplot().subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
    titles = {
        "printed": "items N(0, d$^{-1/2}$ I), as printed",
        "constant": "items N(0, d$^{-1}$ I), constant variance",
    }
    for axis, (scaling, title) in zip(axes, titles.items(), strict=True):
        points = {
            policy: [(d, outcomes[f"d={d} {scaling}", policy].regret / math.sqrt(d)) for d in DIMENSIONS]
            for policy in (*SAMPLERS, "greedy")
        }
        draw_means(axis, points)
        axis.set(xlabel="dimension d", title=title)
    axes[0].set_ylabel("regret / sqrt(d), mean and middle 90 %")
    return figure


def draw_figure_2b(outcomes: Outcomes) -> Any:
    """Draw regret against the number of sweeps, on (i) and on (iii)."""
    figure, axes = require_pyplot().subplots(1, 2, figsize=(10, 4), layout="constrained")
    for axis, name in zip(axes, ("i", "iii"), strict=True):
        points = {
            policy: [(m, outcomes[name, policy if m == 15 else f"{policy}[sweeps={m}]"].regret) for m in SWEEPS]
            for policy in SAMPLERS
        }
        draw_means(axis, points)
        axis.set(xscale="log", xticks=SWEEPS, xlabel="Gibbs sweeps per round, M", title=f"problem ({name})")
        axis.set_xticklabels([str(m) for m in SWEEPS])
        axis.minorticks_off()
    axes[0].set_ylabel("regret, mean and middle 90 %")
    return figure


def draw_figure_3(outcomes: Outcomes) -> Any:
    """Draw the final regret at ten weights, beside traditional IDS and Thompson sampling."""
    titles = {
        "tuning-250": "variants of (i), T = 250",
        "tuning-750": "variants of (i), T = 750",
        "iii": "problem (iii)",
    }
    figure, axes = require_pyplot().subplots(3, 1, figsize=(9, 9.5), layout="constrained")
    for axis, (name, title) in zip(axes, titles.items(), strict=True):
        values = {f"{weight:g}": outcomes[name, weight_label(weight)].regret for weight in WEIGHTS}
        values |= {"IDS trad.": outcomes[name, "pg-ids-traditional"].regret, "TS": outcomes[name, "pg-ts"].regret}
        colours = dict.fromkeys(values, COLOURS["pg-ids"])
        colours |= {"IDS trad.": COLOURS["pg-ids-traditional"], "TS": COLOURS["pg-ts"]}
        draw_boxes(axis, values, colours, rotation=0)
        axis.set(title=title, ylabel="final regret", xlabel="weight lambda of tunable PG-IDS")
    return figure


def draw_readings(outcomes: Outcomes) -> Any:
    """Draw precision and recall as published, as run and as printed: one reading lies on the published points."""
    figure, axes = require_pyplot().subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
    for axis, name in zip(axes, ("i", "ii"), strict=True):
        place = np.arange(len(POLICIES))
        for k, (measure, marker) in enumerate((("precision", "o"), ("recall", "s"))):
            published = [PRECISION_RECALL[name][policy][k] for policy in POLICIES]
            axis.plot(
                place, published, marker, color="black", markersize=9, fillstyle="none", label=f"{measure}, paper"
            )
            for suffix, colour in (("", "#0072B2"), (" as-printed", "#D55E00")):
                summaries = [summarise(getattr(outcomes[name + suffix, policy], measure)) for policy in POLICIES]
                axis.errorbar(
                    place + (0.15 if suffix else -0.15),
                    [s.mean for s in summaries],
                    yerr=[2 * s.se for s in summaries],
                    fmt=marker,
                    color=colour,
                    markersize=4,
                    label=f"{measure},{suffix or ' as-run'}",
                )
        axis.set_xticks(place, POLICIES, rotation=20, fontsize=8)
        axis.set(title=f"problem ({name})", ylim=(0, 1.05))
    axes[0].legend(fontsize=7, loc="lower left")
    axes[0].set_ylabel("mean, two standard errors")
    return figure


def draw_estimators(outcomes: Outcomes) -> Any:
    """Draw the final regret of PG-IDS under the three information estimators."""
    figure, axes = require_pyplot().subplots(1, 2, figsize=(10, 3.6), layout="constrained")
    for axis, name in zip(axes, ("i", "iii"), strict=True):
        labels = {e: "pg-ids" if e == ESTIMATORS[0] else f"pg-ids[estimator={e}]" for e in ESTIMATORS}
        values = {e: outcomes[name, label].regret for e, label in labels.items()}
        draw_boxes(axis, values, dict.fromkeys(values, COLOURS["pg-ids"]), rotation=0)
        axis.set(title=f"problem ({name})", ylabel="final regret")
    return figure


FIGURES: dict[str, Callable[[Outcomes], Any]] = {
    **dict.fromkeys((*TABLES, "figure-1"), draw_figure_1),
    "figure-2a": draw_figure_2a,
    "figure-2b": draw_figure_2b,
    "figure-3": draw_figure_3,
    "readings": draw_readings,
    "estimators": draw_estimators,
}


def draw(study: str, outcomes: Outcomes, folder: Path) -> list[Path]:
    """Draw a study's figure as SVG and PNG into a folder; return the files."""
    targets = [folder / f"{study}.svg", folder / f"{study}.png"]
    save_figure(FIGURES[study](outcomes), targets)
    return targets
