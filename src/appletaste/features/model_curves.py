"""What each column adds to a score, over its values, and how sure that is: the model as it can be drawn."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .feature_map import INTERCEPT, FeatureMap
from .views import View, pairs_of, views_of

Floats = NDArray[np.float64]


class TreesAdd(NamedTuple):
    """What trees add besides at each value of a column, over items with labels: to trees all of an item matters."""

    mean: tuple[float, ...]
    low: tuple[float, ...]  #: one item in ten is below
    high: tuple[float, ...]  #: and one in ten above


class Interaction(NamedTuple):
    """Two columns that trees take together."""

    one: str
    two: str
    strength: float  #: what they add beyond the sum of each, root mean square over items with labels


@dataclass(frozen=True)
class ColumnCurve:
    """What one column adds to the score at each of its values, measured from its typical value, in log-odds.

    At a value with the entries x, and x_0 those of the typical value, the column adds (x - x_0)'m_g, with variance
    (x - x_0)'V_gg (x - x_0): N(m_g, V_gg) is what is believed of all its coefficients together, the line, its ramps
    and what is added where the value is missing.
    """

    name: str
    kind: str  #: number, category, date, pair or score
    values: tuple[float, ...] | tuple[str, ...]  #: in the column's own units: a grid, or the levels
    typical: float | str | None  #: the value at which nothing is added; None: of an interaction
    mean: tuple[float, ...]  #: of what is added at each value
    spread: tuple[float, ...]  #: its posterior standard deviation
    moves: float  #: the standard deviation of what is added over what was seen: how much the column matters
    edges: tuple[float, ...] = ()  #: of the bins of what was seen; none for levels
    seen: tuple[int, ...] = ()  #: rows of the warm-up in each bin or with each level
    labels: tuple[int, ...] | None = None  #: labels in each bin or of each level; None: not known
    missing: tuple[float, float] | None = None  #: mean and spread where the value is missing; None: it never was
    missing_seen: int = 0
    trees: TreesAdd | None = None  #: None: no trees look at the column

    @property
    def by_level(self) -> bool:
        """Whether its values are levels, rather than a grid of numbers."""
        return isinstance(self.values[0], str)

    def band(self, share: float) -> tuple[Floats, Floats]:
        """Return the ends between which the curve lies with this probability, at each value by itself.

        Examples
        --------
        >>> curve = ColumnCurve("job", "category", ("chef", "pilot"), "chef", (0.0, 1.0), (0.0, 2.0), 0.5)
        >>> [ends.round(2).tolist() for ends in curve.band(0.9)]
        [[0.0, -2.29], [0.0, 4.29]]
        """
        half = NormalDist().inv_cdf(0.5 + 0.5 * share) * np.array(self.spread)
        return np.array(self.mean) - half, np.array(self.mean) + half

    def as_dict(self) -> dict[str, Any]:
        """Return the curve with its bands, for JSON."""
        bands = {f"{end}_{100 * share:.0f}": ends for share in (0.5, 0.9) for end, ends in self._ends(share)}
        trees = None if self.trees is None else self.trees._asdict()
        return {**vars(self), **bands, "trees": trees}

    def _ends(self, share: float) -> Iterator[tuple[str, list[float]]]:
        low, high = self.band(share)
        yield from (("low", low.tolist()), ("high", high.tolist()))


@dataclass(frozen=True)
class ModelCurves:
    """The curves of all columns, those that move the score most first; the score is their sum above the base.

    Where trees take part their score comes on top, which is no sum over columns; the base has that of the typical item.
    """

    columns: tuple[ColumnCurve, ...]
    base: float  #: the score of the typical item, which has the typical value in every column
    base_spread: float
    not_drawn: tuple[str, ...] = ()  #: names of features that no curve is of
    pairs: tuple[Interaction, ...] = ()  #: of columns that trees take together, the strongest first
    typical: Floats = field(default_factory=lambda: np.zeros(0), compare=False)  #: the vector of the typical item

    def __iter__(self) -> Iterator[ColumnCurve]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, name: str) -> ColumnCurve:
        return next(column for column in self.columns if column.name == name)


def curves_of(
    features: FeatureMap, mean: Floats, covariance: Floats | None, items: Floats | None = None
) -> ModelCurves:
    """Return the curves of a belief N(mean, covariance) on the vectors of a map; None: the mean is all there is.

    ``items`` are vectors whose labels are known, to be counted.

    Examples
    --------
    >>> import appletaste as at
    >>> features = at.Encoder().fit({"job": ["chef", "chef", "pilot"]})
    >>> found = curves_of(features, np.array([-1.0, 0.5, 2.0, 0.0]), np.eye(4))
    >>> found.base, found["job"].values, found["job"].mean
    (-0.5, ('chef', 'pilot', 'any other'), (0.0, 1.5, -0.5))
    """
    views = [view for column in features.columns for view in views_of(column, features)]
    views += pairs_of(features, views)
    typical = np.zeros(features.n_features)
    typical[0] += features.encoder.intercept
    for view in views:
        np.add.at(typical, view.places, view.origin)
    drawn = {int(place) for view in views for place in view.places}
    names = features.names()
    left = tuple(name for place, name in enumerate(names) if place not in drawn and name != INTERCEPT)
    columns = [_curve(view, mean, covariance, items) for view in views]
    ordered = tuple(sorted(columns, key=lambda column: -column.moves))  # columns that move alike stay in their order
    spread = float(_spreads(typical[None, :], covariance)[0])
    return ModelCurves(ordered, float(mean @ typical), spread, left, typical=typical)


def _curve(view: View, mean: Floats, covariance: Floats | None, items: Floats | None) -> ColumnCurve:
    block = None if covariance is None else covariance[np.ix_(view.places, view.places)]
    away = view.rows - view.origin
    added = away @ mean[view.places]
    missing = None
    if view.missing is not None:
        gone = view.missing - view.origin
        missing = float(gone @ mean[view.places]), float(_spreads(gone[None, :], block)[0])
    return ColumnCurve(
        view.name,
        view.kind,
        view.values,
        view.typical,
        tuple(added.tolist()),
        tuple(_spreads(away, block).tolist()),
        _moves(view, added, mean, missing),
        view.seen.edges,
        view.seen.counts,
        None if items is None or view.count is None else tuple(view.count(items)),
        missing,
        view.seen.missing,
    )


def _moves(view: View, added: Floats, mean: Floats, missing: tuple[float, float] | None) -> float:
    """Return the standard deviation of what is added over what was seen, rows without a value among them."""
    if view.kind == "pair":  # each product by itself: which of them come together is not kept
        return math.sqrt(float(view.weights @ (view.rows @ mean[view.places]) ** 2))
    given = sum(view.seen.counts)
    if missing is None or not view.seen.missing:
        return float(np.sqrt(view.weights @ (added - view.weights @ added) ** 2))
    shares = np.append(view.weights * given, view.seen.missing) / (given + view.seen.missing)
    every = np.append(added, missing[0])
    return float(np.sqrt(shares @ (every - shares @ every) ** 2))


def _spreads(rows: Floats, covariance: Floats | None) -> Floats:
    """Return sqrt(x'Vx) of each row."""
    if covariance is None:
        return np.zeros(len(rows))
    return np.asarray(np.sqrt(np.maximum((rows @ covariance * rows).sum(axis=1), 0.0)))
