"""The pictures of a report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..evaluate import Estimate
from ..evaluate.answers import Answer
from ..pages.charts import require_pyplot, save_figure
from .facts import Facts

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#cccccc"
#: How a truth is marked.
TRUTH: dict[str, Any] = {"marker": "D", "markersize": 5, "color": "black", "linestyle": "none", "zorder": 5}


def draw_periods(facts: Facts, target: Path) -> None:
    """Draw items, acts and positives of each period, and what was saved in it."""
    plt = require_pyplot()
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained")
    places, names = np.arange(len(facts.periods)), [one.name for one in facts.periods]
    for values, colour, label, width in (
        ([one.decisions for one in facts.periods], GREY, "items", 0.8),
        ([one.acts for one in facts.periods], BLUE, "acted on", 0.55),
        ([one.positives for one in facts.periods], ORANGE, "found positive", 0.3),
    ):
        left.bar(places, values, color=colour, label=label, width=width)
    left.set(ylabel="items")
    left.legend()
    _intervals(right, places, [one.saved for one in facts.periods], BLUE)
    right.axhline(0, color="black", linewidth=0.6)
    _name_truth(right, facts.known)
    right.set(ylabel="saved, against passing everything", ylim=(min(0.0, right.get_ylim()[0]), None))
    for axis in (left, right):
        axis.set_xticks(places, names, rotation=30 if len(names) > 3 else 0, ha="right" if len(names) > 3 else "center")
    save_figure(figure, [target])


def draw_missed(facts: Facts, target: Path) -> None:
    """Draw positives missed and recall with their intervals, one line for each way to know."""
    plt = require_pyplot()
    design = facts.missed.design
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 2.2), layout="constrained", sharey=True)
    ways = ("by design\n(Horvitz-Thompson)", "by design\n(Hájek)", "by the model")
    for axis, answers, scale, label in (
        (left, (design.missed, design.missed_hajek, facts.missed.model), 1.0, "positives passed"),
        (right, (design.recall, design.recall_hajek, None), 100.0, "recall, %"),
    ):
        for place, answer in enumerate(answers):
            if isinstance(answer, Estimate):
                ends = None if np.isnan(answer.low) else scale * _ends(answer)
                colour = GREEN if place == 2 else BLUE
                axis.errorbar([scale * answer.value], [place], xerr=ends, fmt="o", capsize=4, color=colour)
                if answer.truth is not None:
                    axis.plot([scale * answer.truth], [place], **TRUTH)
            elif answer is not None:
                axis.text(0.5, place, "no answer", ha="center", va="center", color="#777777", transform=_mixed(axis))
        axis.set(xlabel=label, ylim=(2.6, -0.6))
    left.set_yticks(range(3), ways)
    left.set_xlim(left=0)
    right.set_xlim(0, 100)
    _name_truth(right, facts.known)
    save_figure(figure, [target])


def draw_thresholds(facts: Facts, target: Path) -> None:
    """Draw what each threshold would have saved beyond what was done, and how many acts it takes."""
    plt = require_pyplot()
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained")
    asked = np.array([threshold for threshold, _ in facts.thresholds])
    savings = [found.saving for _, found in facts.thresholds]
    for place, answer in zip(asked, (facts.together.widened(saving) for saving in savings), strict=True):
        if isinstance(answer, Estimate):  # thin: so wide that all hold at once
            left.vlines([place], answer.low, answer.high, color=BLUE, linewidth=0.7)
    _intervals(left, asked, savings, BLUE)
    left.axhline(0, color="black", linewidth=0.6)
    low = left.get_ylim()[0]
    refused = asked[[not isinstance(answer, Estimate) for answer in savings]]
    if len(refused):
        left.plot(refused, np.full(len(refused), low), "x", color="#777777", label="no answer")
        left.legend()
    asked_about = "act from so many times the item's own threshold on" if facts.by_item else "act from this chance on"
    _name_truth(left, facts.known)
    left.set(xlabel=asked_about, ylabel="saved against what was done")
    right.plot(asked, [found.acts for _, found in facts.thresholds], "o-", color=BLUE)
    right.axhline(facts.thresholds[0][1].logged_acts, color=ORANGE, linewidth=1, linestyle="--", label="what was done")
    right.legend()
    right.set(xlabel=asked_about, ylabel="acts", ylim=(0, None))
    for axis in (left, right):
        axis.axvline(1.0 if facts.by_item else facts.threshold, color="#999999", linewidth=0.8, linestyle=":")
    save_figure(figure, [target])


def _intervals(axis: Any, places: Any, answers: list[Answer], colour: str) -> None:
    """Draw estimates with their intervals at their places; refusals leave a gap."""
    for place, answer in zip(places, answers, strict=True):
        if isinstance(answer, Estimate):
            axis.errorbar([place], [answer.value], yerr=_ends(answer), fmt="o", color=colour, capsize=3)
            if answer.truth is not None:
                axis.plot([place], [answer.truth], **TRUTH)


def _name_truth(axis: Any, known: bool) -> None:
    """Say in a legend which marks are truths, where there are any."""
    if known:
        axis.plot([], [], **TRUTH, label="the truth, known in a replay")
        axis.legend()


def _ends(answer: Estimate) -> NDArray[np.float64]:
    """Return how far the interval reaches below and above the value, as an error bar takes it."""
    return np.maximum([[answer.value - answer.low], [answer.high - answer.value]], 0.0)


def _mixed(axis: Any) -> Any:
    """Return coordinates that are shares of the axis across, and data up and down."""
    return axis.get_yaxis_transform()
