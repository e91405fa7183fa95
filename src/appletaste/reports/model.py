"""What a stream believes, column by column, in sentences: the facts behind ``appletaste model``."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np

from ..errors import InputError
from ..evaluate.answers import per_cent
from ..features import FeatureMap
from ..features.model_curves import ColumnCurve, ModelCurves
from ..pages.page import Table
from ..policies import Policy
from ..posteriors import Certificate
from ..streams import Stream

#: The level of the wide band.
LEVEL = 0.9
#: A column that moves the score by less than this hardly matters.
HARDLY = 0.05
#: The acceptance per feature below which the fit is called poor.
POOR = 0.7
#: How to read what trees add.
TREES = (
    "Trees take part, and their score comes on top. It is no sum over columns: what trees add at a value is the mean "
    "over items with labels, and eight in ten of them lie in the shaded range."
)
#: The heights of a small curve in letters, lowest first.
LETTERS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True)
class Model:
    """The curves of a stream, and what they rest on."""

    policy: str
    curves: ModelCurves
    threshold: float
    by_item: bool  #: whether items have costs, and so thresholds, of their own
    labels: int | None  #: how many were learnt; None: they are not kept
    positives: int | None
    certificate: Certificate | None
    draws: bool  #: whether the posterior is known by draws
    point: bool  #: whether there is one estimate and no uncertainty
    columns: int  #: how many there are, drawn or not

    @property
    def chance(self) -> float:
        """The chance of the typical item."""
        return sigmoid(self.curves.base)

    @property
    def interval(self) -> tuple[float, float]:
        """The ends between which that chance lies with a probability of 90 %."""
        half = NormalDist().inv_cdf(0.5 + 0.5 * LEVEL) * self.curves.base_spread
        return sigmoid(self.curves.base - half), sigmoid(self.curves.base + half)

    def top(self, most: int) -> Model:
        """Return the model with the columns that move the score most; 0: with all."""
        return replace(self, curves=replace(self.curves, columns=self.curves.columns[: most or None]))

    def sentences(self) -> list[str]:
        """Return what to know before looking at the curves."""
        return [*self.standing(), *self.reading()]

    def standing(self) -> list[str]:
        """Return what the curves rest on, a sentence each."""
        said = [_labels_told(self.labels, self.positives, self.policy)]
        low, high = self.interval
        sure = "" if self.point else f" (90 % interval {per_cent(low)} to {per_cent(high)})"
        said.append(f"An item that is typical in every column has a chance of {per_cent(self.chance)}{sure}.")
        average = ", at the average costs" if self.by_item else ""
        said.append(f"Acting pays from a chance of {per_cent(self.threshold)} on{average}{self._way()}.")
        said.append(self._fit())
        if self.curves.pairs:
            told = ", ".join(f"{pair.one} × {pair.two} ({pair.strength:.2f})" for pair in self.curves.pairs)
            said.append(f"Columns that trees take together, and what that adds to the score or takes away: {told}.")
        if self.curves.not_drawn:
            names = ", ".join(self.curves.not_drawn[:8]) + (", ..." if len(self.curves.not_drawn) > 8 else "")
            said.append(f"Not drawn, since no single column has them, or each of many levels has an effect: {names}.")
        if len(self.curves) < self.columns:
            said.append(f"Shown are the {len(self.curves)} of {self.columns} columns that move the score most.")
        return said

    def reading(self) -> list[str]:
        """Return how to read the curves."""
        more = sigmoid(self.curves.base + 1.0)
        return [
            "Each curve says what a column adds to the score, in log-odds, measured from the typical value of that "
            f"column. +1 multiplies the odds of a positive by {math.e:.1f}, and -1 divides the odds by as much. For "
            f"the typical item +1 turns a chance of {per_cent(self.chance)} into {per_cent(more)}.",
            "What the columns add is summed: the score of an item is that of the typical item and all its parts.",
            *([TREES] if any(column.trees for column in self.curves) else []),
        ]

    def _way(self) -> str:
        """Return how far the typical item is from the threshold."""
        if not 0.0 < self.threshold < 1.0:
            return ""
        way = math.log(self.threshold / (1.0 - self.threshold)) - self.curves.base
        if abs(way) < 0.005:
            return ": the typical item is just there"
        return f": {way:+.2f} from the typical item"

    def _fit(self) -> str:
        """Return how far the posterior can be trusted."""
        if self.point:
            return f"{self.policy} keeps one best estimate and no uncertainty: the curves have no bands."
        if self.draws:
            return "The posterior is known by draws: curves and bands are those of 400 draws."
        found = self.certificate
        if found is None or math.isnan(found.acceptance):
            return "There is no certificate of the fit: the bands are those of the Gaussian that decides."
        said = (
            f"Certificate: {found.acceptance:.2f} of 1 after {found.labels:,} labels, which is {found.per_feature:.2f} "
            f"for each of {found.n_features} features; 1 is an exact posterior."
        )
        if found.per_feature < POOR:
            said += " The Gaussian fits poorly here: make the stream with --policy exact-voi."
        return said

    def table(self) -> Table:
        """Return the columns as a table, a small curve in letters each."""
        rows = [
            (column.name, column.kind, f"{column.moves:.2f}", *_ends(column), sketch(column)) for column in self.curves
        ]
        return Table("", ("column", "kind", "moves", "lowest", "highest", "curve"), rows)

    def as_dict(self) -> dict[str, Any]:
        """Return the model for JSON; each column as ``ColumnCurve.as_dict`` has it."""
        low, high = self.interval
        found = self.certificate
        return {
            "policy": self.policy,
            "labels": self.labels,
            "positives": self.positives,
            "threshold": self.threshold,
            "certificate": None if found is None else {**vars(found), "per_feature": found.per_feature},
            "typical": {"score": self.curves.base, "spread": self.curves.base_spread, "chance": self.chance}
            | {"low_90": low, "high_90": high},
            "columns": [column.as_dict() for column in self.curves],
            "not_drawn": list(self.curves.not_drawn),
            "pairs": [pair._asdict() for pair in self.curves.pairs],
            "notes": self.sentences(),
        }


def model_of(stream: Stream) -> Model:
    """Return what the policy of a stream believes of its columns; OptionError where it has no posterior."""
    if stream.features is None:
        raise InputError(f"stream {stream.name!r} takes vectors: there is no map from columns to features to draw")
    return model_from(stream.player.policy, stream.features, stream.costs_by_item is not None)


def model_from(policy: Policy, features: FeatureMap, by_item: bool) -> Model:
    """Return what a policy believes of the columns of a map; ``by_item``: items have costs of their own."""
    posterior, curves = policy.posterior, policy.curves(features)
    labels = posterior.belief.labels
    known = None if labels is None else np.array(labels.values[: labels.n])
    return Model(
        policy=policy.name,
        curves=curves,
        threshold=policy.costs.threshold,
        by_item=by_item,
        labels=None if known is None else len(known),
        positives=None if known is None else int(known.sum()),
        certificate=posterior.belief.certificate(),
        draws=posterior.belief.sampled,
        point=posterior.is_point,
        columns=len(curves),
    )


def told_of(column: ColumnCurve) -> str:
    """Return what a curve says, in a sentence or two.

    Examples
    --------
    >>> told_of(ColumnCurve("job", "category", ("chef", "pilot"), "chef", (0.0, 1.0), (0.0, 0.2), 0.5, seen=(3, 3)))
    'Most is added by pilot (+1.00, odds × 2.7), least by chef (0.00, odds × 1). Measured from chef.'
    """
    low, high = (int(np.argmin(column.mean)), int(np.argmax(column.mean)))
    word = "by" if column.by_level else "at"
    said = f"Most is added {word} {_amount(column, high)}, least {word} {_amount(column, low)}."
    below, above = column.band(LEVEL)
    if not np.any(column.mean) or ((below <= 0.0) & (above >= 0.0)).all():
        by_itself = " by itself" if column.trees is not None else ""
        said = f"Labels do not say yet whether this column matters{by_itself}: 0 is within the 90 % band everywhere."
    elif column.moves < HARDLY:
        said = f"The column hardly moves the score. {said}"
    if len(column.seen) > 1 and column.by_level and np.count_nonzero(column.seen) == 1 and column.typical is not None:
        return f"Every row that was seen had {column.typical}. {said}"
    if column.kind == "pair":
        said += " A number counts as one standard deviation above its mean."
    if column.typical is not None:
        said += f" Measured from {value_text(column.typical, digits_of(column))}."
    if column.missing is not None:
        rows = f"; {column.missing_seen:,} rows" if column.missing_seen else ""
        said += f" Where the value is missing: {_added(column.missing[0])}{rows}."
    if column.trees is not None:
        mean, widest = column.trees.mean, int(np.argmax(np.subtract(column.trees.high, column.trees.low)))
        said += f" Trees add {min(mean):+.2f} to {max(mean):+.2f} on average; what else an item is matters most {word} "
        said += f"{value_text(column.values[widest], digits_of(column))}: {column.trees.low[widest]:+.2f} to "
        said += f"{column.trees.high[widest]:+.2f}."
    return said


def sketch(column: ColumnCurve, width: int = 16) -> str:
    """Return a small curve in letters; of levels the interval of means in their order.

    Examples
    --------
    >>> sketch(ColumnCurve("age", "number", (20.0, 30.0, 70.0), 30.0, (-1.0, 0.0, 1.0), (0.5, 0.0, 0.5), 0.5), 3)
    '▁▅█'
    """
    places = np.linspace(0.0, len(column.mean) - 1.0, min(width, max(2, len(column.mean))))
    heights = np.interp(places, np.arange(len(column.mean)), column.mean)
    low, span = heights.min(), heights.max() - heights.min()
    if span < HARDLY:
        return "flat"
    return "".join(LETTERS[round(7 * (height - low) / span)] for height in heights)


def sigmoid(score: float) -> float:
    """Return the chance that a score stands for."""
    return 1.0 / (1.0 + math.exp(-score)) if score > -700.0 else 0.0


def digits_of(column: ColumnCurve) -> int:
    """Return how many digits tell the values of a column apart: 3, or more where they lie close together.

    Examples
    --------
    >>> rates = tuple(4.85 + 0.001 * k for k in range(11))
    >>> digits_of(ColumnCurve("rate", "number", rates, rates[0], (0.0,) * 11, (0.0,) * 11, 0.0))
    5
    """
    if column.by_level:
        return 3
    values = np.array(column.values, dtype=np.float64)
    span = float(values.max() - values.min()) or 1.0
    return max(3, math.ceil(math.log10(max(float(np.abs(values).max()), span) / span)) + 2)


def value_text(value: float | str, digits: int = 3) -> str:
    """Return a value of a column as people write it.

    Examples
    --------
    >>> [value_text(value) for value in ("chef", 37.33, 12_345.6, 0.00012, 2_500_000.0, -0.0)]
    ['chef', '37.3', '12,346', '0.00012', '2.5 million', '0']
    """
    if isinstance(value, str):
        return value
    size = abs(value)
    if size >= 1e6:
        return f"{value / 1e6:.{digits + 1}g} million" if size < 1e10 else f"{value:.{digits}g}"
    if size >= 1000.0:
        return f"{value:,.{max(0, digits - 4)}f}"
    return f"{value + 0.0:.{digits}g}"


def factor_text(added: float) -> str:
    """Return log-odds as what they multiply the odds by.

    Examples
    --------
    >>> factor_text(0.0), factor_text(1.0), factor_text(-0.7)
    ('odds × 1', 'odds × 2.7', 'odds × 0.5')
    """
    factor = math.exp(min(added, 700.0))
    return f"odds × {factor:,.0f}" if factor >= 100 else f"odds × {factor:.2g}"


def _added(added: float) -> str:
    return f"{added if abs(added) >= 0.005 else 0.0:{'+' if abs(added) >= 0.005 else ''}.2f}, {factor_text(added)}"


def _amount(column: ColumnCurve, place: int) -> str:
    return f"{value_text(column.values[place], digits_of(column))} ({_added(column.mean[place])})"


def _ends(column: ColumnCurve) -> tuple[str, str]:
    """Return where least and most is added, for a table."""
    values, means, digits = [*column.values], [*column.mean], digits_of(column)
    if column.missing is not None:
        values, means = [*values, "missing"], [*means, column.missing[0]]
    found = (int(np.argmin(means)), int(np.argmax(means)))
    low, high = (f"{value_text(values[place], digits)[:20]} {means[place]:+.2f}" for place in found)
    return low, high


def _labels_told(labels: int | None, positives: int | None, policy: str) -> str:
    """Return how many labels the curves rest on."""
    if labels is None or positives is None:
        return f"{policy} keeps no labels, so they cannot be counted."
    if not labels:
        return (
            "No label has been learnt yet. The curves are what is believed before the first label: nothing is known of "
            "any column, and the bands say how far each could matter."
        )
    rate = per_cent(positives / labels)
    return (
        f"{labels:,} label{'' if labels == 1 else 's'} learnt, {positives:,} positive ({rate}). Labels are of items "
        "that were acted on or taught, so the share of positives among all items may be another."
    )
