"""What one pass over a stream came to: the counts, the money over time, and the tenths of the stream."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..costs import Costs
from ..costs_by_item import CostColumns
from ..history.labelled import BLOCKS, edges

#: Points of a curve.
POINTS = 200

Floats = NDArray[np.float64]


def costs_of(acts: NDArray[np.bool_], labels: NDArray[np.int8], costs: Costs | CostColumns) -> Floats:
    """Return what each action cost, given what the label was."""
    acted = np.where(labels == 1, costs.hit, costs.false_alarm)
    passed = np.where(labels == 1, costs.miss, costs.correct_pass)
    return np.asarray(np.where(acts, acted, passed), dtype=np.float64)


@dataclass(frozen=True)
class Tally:
    """One pass of one policy; blocks have one entry each, curves one for each of the points."""

    items: int
    acts: int
    hits: int
    positives: int
    labels: int  #: bought: due for every act; for full information, for every item
    learnt: int  #: of those, the ones that came before the end
    cost: float
    stake: float  #: what all positives would have cost if they had been missed
    caught: float  #: of that, the part of those that were acted on
    curve: Floats  #: cost so far
    block_positives: Floats  #: base rate of each block
    block_acts: Floats  #: act rate
    block_costs: Floats  #: cost per 1,000 items
    seconds: float
    notes: tuple[str, ...] = ()

    @property
    def precision(self) -> float:
        """The share of acts on positives; NaN without an act."""
        return self.hits / self.acts if self.acts else float("nan")

    @property
    def recall(self) -> float:
        """The share of positives that were acted on."""
        return self.hits / self.positives if self.positives else float("nan")

    @property
    def money_recall(self) -> float:
        """The share of what all positives would have cost if missed that belongs to those acted on; NaN without any."""
        return self.caught / self.stake if self.stake > 0 else float("nan")


def tally(
    acts: NDArray[np.bool_],
    labels: NDArray[np.int8],
    costs: Costs | CostColumns,
    seconds: float,
    bought: int,
    learnt: int,
    notes: tuple[str, ...] = (),
) -> Tally:
    """Count what a pass did, against the labels."""
    spent = costs_of(acts, labels, costs)
    starts = edges(len(labels), BLOCKS)
    sizes = np.diff(starts)
    total = np.cumsum(spent)
    stakes = np.where(labels == 1, costs.miss, 0.0)
    return Tally(
        items=len(labels),
        acts=int(acts.sum()),
        hits=int(labels[acts].sum()),
        positives=int(labels.sum()),
        labels=bought,
        learnt=learnt,
        cost=float(total[-1]),
        stake=float(stakes.sum()),
        caught=float(stakes[acts].sum()),
        curve=total[edges(len(labels), POINTS)[1:] - 1],
        block_positives=np.add.reduceat(labels.astype(np.float64), starts[:-1]) / sizes,
        block_acts=np.add.reduceat(acts.astype(np.float64), starts[:-1]) / sizes,
        block_costs=1000.0 * np.add.reduceat(spent, starts[:-1]) / sizes,
        seconds=seconds,
        notes=notes,
    )
