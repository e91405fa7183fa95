"""Which labels arrive: by block of rounds, by lane, and by class as far as the log can tell.

Among the acts of a block of consecutive rounds and of one lane (audits, or the policy's own acts) the share q of labels
that have arrived is known. Audits have their own, because another team may answer them. An item that was passed would
have been acted on by either lane; it has the mean of both, by how acts of about its probability were divided.

Labels may also be lost by what they say: a share a of positives and b of negatives. Given the model's chance c of an
item a label then arrives with probability 1 - b - (a - b) c, so the slope s of arrival on chance within blocks is
b - a, and

    q(y) = q + s (y - mean c)

is the share of arrival of positives (y = 1) and of negatives (y = 0). s is estimated by least squares within blocks,
and where its standard error is at most 0.2 it is allowed for, the error in every interval (``sway``). Elsewhere, and
where chances are not logged, the log cannot tell, and labels are taken as missing at random within a block and a lane:
a slope of nothing but noise would be blown up by dividing by q(y). Little & Rubin 2019, ch. 3, on modelled response.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..logs.decision_log import DecisionLog

Floats = NDArray[np.float64]
#: Acts that a block holds at least, so that its share of labels is known to a few points.
BLOCK_ACTS = 40
#: A block with a smaller share of its acts labelled is not spoken about.
LEAST_SHARE = 0.2
#: Audits below which they are no lane of their own.
LEAST_AUDITS = 20
#: Shares of arrival are not believed to be smaller than this, nor other than 1 for labels that all arrived.
LEAST_BELIEVED = 0.05
#: The largest standard error of the slope at which a loss by class is allowed for.
TOLD = 0.2
#: How much likelier an act of one band of probabilities is than one of the next, where lanes are told apart.
RATIO = 4.0


@dataclass(frozen=True)
class Arrival:
    """How likely the label of each decision is to have arrived, if it is acted on."""

    share: Floats  #: q, whatever the label says
    seen: Floats  #: q(y) for labels that have arrived, else q
    tilt: Floats  #: y - mean c of its block for labels that have arrived, else 0: the slope's part in ``seen``
    slope: float  #: s; 0 where all labels arrived, or the log cannot tell
    slope_error: float  #: the standard error of s
    unequal: float  #: by how many standard errors labels of likelier items arrive more (or, below 0, less) often

    def sway(self, values: Floats) -> float:
        """Return how far the standard error of s moves the sum of values / q(y) over labels that have arrived."""
        return abs(float((values * self.tilt / np.maximum(self.seen, LEAST_BELIEVED) ** 2).sum())) * self.slope_error


def arrival_of(log: DecisionLog) -> Arrival:
    """Return how likely each label is to have arrived, by block, lane and, where chances are logged, class."""
    share, block = _by_lane(log)
    slope, error, centre = _slope(log, share, block)
    unequal = slope / error if error > 0.0 else 0.0
    if error > TOLD:
        slope = error = 0.0
    known = log.labelled
    tilt = np.where(known, np.where(known, log.label, 0) - centre, 0.0)
    seen = np.where(known & (share < 1.0), np.clip(share + slope * tilt, LEAST_BELIEVED, 1.0), share)
    tilt = np.where(known & (share < 1.0), tilt, 0.0)
    return Arrival(share, seen, tilt, slope, error, unequal)


def labelled_shares(log: DecisionLog) -> Floats:
    """Return q for each decision: the labelled share of the acts in its block of rounds and its lane.

    Examples
    --------
    >>> costs = {"miss": 5, "false_alarm": 1, "hit": 0, "probability": 0.5, "act": True}
    >>> rows = [{"id": k, "label": 1 if k % 2 else None, **costs} for k in range(30)]
    >>> sorted(set(labelled_shares(DecisionLog.from_rows(rows)).tolist()))
    [0.5]
    """
    return _by_lane(log)[0]


def _by_lane(log: DecisionLog) -> tuple[Floats, NDArray[np.int64]]:
    """Return q of each decision, and a number for the block and lane of each act."""
    rising = bool((log.round[1:] >= log.round[:-1]).all())  # as good as always, and sorting takes time and memory
    order = np.arange(len(log)) if rising else np.argsort(log.round, kind="stable")
    audits = log.audit & log.act
    if min(int(audits.sum()), int((log.act & ~audits).sum())) < LEAST_AUDITS:
        share, block = _blocks(log, log.act, order)
        return share, block
    own, own_block = _blocks(log, log.act & ~audits, order)
    lane, lane_block = _blocks(log, audits, order)
    band = np.floor(-np.log(np.maximum(log.probability, 1e-12)) / math.log(RATIO)).astype(np.int64)
    acted = np.bincount(band, weights=log.act)
    audited = np.divide(np.bincount(band, weights=audits), acted, out=np.ones(len(acted)), where=acted > 0)[band]
    share = np.where(audits, lane, np.where(log.act, own, audited * lane + (1.0 - audited) * own))
    return share, np.where(audits, lane_block + own_block.max(initial=0) + 1, own_block)


def _blocks(log: DecisionLog, acts: NDArray[np.bool_], order: NDArray[np.intp]) -> tuple[Floats, NDArray[np.int64]]:
    """Return the labelled share of these acts in the block of each decision, and its block."""
    mine = acts[order]
    total = int(mine.sum())
    blocks = max(1, total // BLOCK_ACTS)
    before: NDArray[np.int64] = np.cumsum(mine) - mine
    place = np.minimum(before * blocks // max(1, total), blocks - 1)
    acted = np.bincount(place, weights=mine, minlength=blocks)
    known = np.bincount(place, weights=mine & log.labelled[order], minlength=blocks)
    share = np.divide(known, acted, out=np.zeros(blocks), where=acted > 0)
    block = np.empty(len(log), dtype=np.int64)
    block[order] = place
    return np.asarray(share[block]), block


def _slope(log: DecisionLog, share: Floats, block: NDArray[np.int64]) -> tuple[float, float, Floats]:
    """Return the slope of arrival on chance within blocks, its standard error, and the mean chance of each block."""
    centre = np.zeros(len(log))
    if log.chance is None:
        return 0.0, 0.0, centre
    chance = np.where(np.isnan(log.chance), 0.0, log.chance)
    some = log.act & ~np.isnan(log.chance) & (share >= LEAST_SHARE)
    counts = np.bincount(block[some], minlength=block.max(initial=0) + 1)
    sums = np.bincount(block[some], weights=chance[some], minlength=len(counts))
    centre = np.divide(sums, counts, out=np.zeros(len(counts)), where=counts > 0)[block]
    some &= share < 1.0
    away, came = (chance - centre)[some], (log.labelled - share)[some]
    squares = float((away**2).sum())
    if squares <= 0.0:
        return 0.0, 0.0, centre
    slope = float((away * came).sum()) / squares
    noise = float((away**2 * (share * (1.0 - share))[some]).sum())
    return slope, math.sqrt(noise) / squares, centre
