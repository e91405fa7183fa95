"""The pictures of a report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..evaluate import Estimate
from ..evaluate.answers import Answer
from ..pages.charts import legend_above, require_pyplot, save_figure
from ..words import Words
from .facts import Facts
from .phrases import NOT_YET, Writer, count

#: Those of the review page.
BLUE, ORANGE, GREEN, GREY = "#1f62ad", "#b3470f", "#1e6f48", "#e1e6e2"
#: Inches across: narrow enough that letters can be read on a telephone.
WIDTH = 4.4
#: How a truth is marked.
TRUTH: dict[str, Any] = {"marker": "D", "markersize": 5, "color": "black", "linestyle": "none", "zorder": 5}


#: Letters of the team's own words that a picture has room for.
ROOM = 14


def _label(text: str, room: int = ROOM) -> str:
    """Return words of the team, cut to what a picture has room for."""
    return text if len(text) <= room else f"{text[: room - 1]}…"


def draw_money(facts: Facts, target: Path, money: Writer) -> None:
    """Draw what was saved and what was missed in each period, with intervals."""
    figure, axis = require_pyplot().subplots(figsize=(WIDTH, 1.9), layout="constrained")
    places, names = np.arange(len(facts.shown)), [one.name for one in facts.shown]
    for aside, colour, name in ((-0.2, BLUE, "saved"), (0.2, ORANGE, "missed")):
        answers: list[Answer] = [getattr(one, name) for one in facts.shown]
        values = [answer.value if isinstance(answer, Estimate) else 0.0 for answer in answers]
        axis.bar(places + aside, values, color=colour, width=0.36, label=name)
        _intervals(axis, places + aside, answers, "#333333", "none")
        for place, answer in zip(places + aside, answers, strict=True):
            if not isinstance(answer, Estimate):
                axis.text(place, 0.0, "?", ha="center", va="bottom", color=colour)
    axis.axhline(0, color="black", linewidth=0.6)
    _written(axis, money)
    _periods(axis, places, names)
    _name_truth(axis, facts.known)
    legend_above(axis)
    save_figure(figure, [target])


def draw_periods(facts: Facts, target: Path, money: Writer, words: Words) -> None:
    """Draw items, acts and positives of each period, and what was saved in it."""
    plt = require_pyplot()
    figure, (left, right) = plt.subplots(2, 1, figsize=(WIDTH, 4.4), layout="constrained")
    places, names = np.arange(len(facts.shown)), [one.name for one in facts.shown]
    for values, colour, label, width in (
        ([one.decisions for one in facts.shown], GREY, _label(words.items), 0.8),
        ([one.acts for one in facts.shown], BLUE, _label(words.acted), 0.55),
        ([one.positives for one in facts.shown], ORANGE, f"{_label(words.positives)} found", 0.3),
    ):
        left.bar(places, values, color=colour, label=label, width=width)
    left.set(ylabel=_label(words.items))
    _written(left, count)
    legend_above(left)
    _intervals(right, places, [one.saved for one in facts.shown], BLUE)
    right.axhline(0, color="black", linewidth=0.6)
    _name_truth(right, facts.known)
    legend_above(right)
    right.set(ylabel="saved", xlim=(-0.6, len(names) - 0.4), ylim=(min(0.0, right.get_ylim()[0]), None))
    _written(right, money)
    for axis in (left, right):
        _periods(axis, places, names)
    save_figure(figure, [target])


def draw_missed(facts: Facts, target: Path, words: Words) -> None:
    """Draw positives missed and recall with their intervals, one line for each way to know."""
    plt = require_pyplot()
    design = facts.missed.design
    figure, (left, right) = plt.subplots(2, 1, figsize=(WIDTH, 3.6), layout="constrained", sharey=True)
    ways = ("from the\nprobabilities", "scaled to\nthe whole", "by the model")
    for axis, answers, scale, label in (
        (
            left,
            (design.missed, design.missed_hajek, facts.missed.model),
            1.0,
            _label(words.told("positives passed"), 2 * ROOM),
        ),
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
                axis.text(0.5, place, NOT_YET, ha="center", va="center", color="#777777", transform=_mixed(axis))
        axis.set(xlabel=label, ylim=(2.6, -0.6))
    for axis in (left, right):
        axis.set_yticks(range(3), ways)
    left.set_xlim(left=0)
    right.set_xlim(0, 100)
    _name_truth(left, facts.known)
    legend_above(left)
    save_figure(figure, [target])


def draw_thresholds(facts: Facts, target: Path, money: Writer, words: Words) -> None:
    """Draw what each threshold would have saved beyond what was done, and how many acts it takes."""
    plt = require_pyplot()
    figure, (left, right) = plt.subplots(2, 1, figsize=(WIDTH, 4.6), layout="constrained")
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
        left.plot(refused, np.full(len(refused), low), "x", color="#777777", label=NOT_YET)
    asked_about = words.told(
        "act from so many times the item's own threshold on" if facts.by_item else "act from this chance on"
    )
    left.set(ylabel="saved beyond\nwhat was done")
    _written(left, money)
    _name_truth(left, facts.known)
    legend_above(left)
    right.plot(asked, [found.acts for _, found in facts.thresholds], "o-", color=BLUE)
    right.axhline(facts.thresholds[0][1].logged_acts, color=ORANGE, linewidth=1, linestyle="--", label="what was done")
    legend_above(right)
    right.set(xlabel=_label(asked_about, 4 * ROOM), ylabel=_label(words.told("acted")), ylim=(0, None))
    _written(right, count)
    for axis in (left, right):
        axis.axvline(1.0 if facts.by_item else facts.threshold, color="#999999", linewidth=0.8, linestyle=":")
    save_figure(figure, [target])


def _written(axis: Any, write: Writer) -> None:
    """Write numbers along the axis as the report writes them."""
    axis.yaxis.set_major_formatter(lambda value, _: write(value))


def _periods(axis: Any, places: Any, names: list[str]) -> None:
    """Write the names of periods below the axis, slanted where there are many."""
    many = len(names) > 3
    shown = [name.removeprefix("week of ") for name in names]
    axis.set_xticks(places, shown, rotation=30 if many else 0, ha="right" if many else "center")


def _intervals(axis: Any, places: Any, answers: list[Answer], colour: str, mark: str = "o") -> None:
    """Draw estimates with their intervals at their places; refusals leave a gap."""
    for place, answer in zip(places, answers, strict=True):
        if isinstance(answer, Estimate):
            axis.errorbar([place], [answer.value], yerr=_ends(answer), fmt=mark, color=colour, capsize=3)
            if answer.truth is not None:
                axis.plot([place], [answer.truth], **TRUTH)


def _name_truth(axis: Any, known: bool) -> None:
    """Give the legend of an axis a line that says which marks are truths, where there are any."""
    if known:
        axis.plot([], [], **TRUTH, label="the truth")


def _ends(answer: Estimate) -> NDArray[np.float64]:
    """Return how far the interval reaches below and above the value, as an error bar takes it."""
    return np.maximum([[answer.value - answer.low], [answer.high - answer.value]], 0.0)


def _mixed(axis: Any) -> Any:
    """Return coordinates that are shares of the axis across, and data up and down."""
    return axis.get_yaxis_transform()
