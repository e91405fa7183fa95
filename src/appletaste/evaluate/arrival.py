"""Which labels arrive: by block of rounds, by lane, and by class as far as the log can tell.

Among the acts of a block of consecutive rounds and of one lane (audits, or the policy's own acts) the share q of labels
that have arrived is known. Audits have their own, because another team may answer them. An item that was passed would
have been acted on by either lane; it has the mean of both, by how acts of about its probability were divided. Recent
blocks, of whose acts hardly any has a label, are set apart before lanes are: forty audits may be those of a month, and
the labels that the last days have not yet are not missing in the first ones.

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
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..logs.decision_log import DecisionLog
from ..logs.lazy import pieces

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
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
_BANDS = 1 + math.floor(-math.log(1e-12) / math.log(RATIO))  # of probabilities down to 1e-12


@dataclass(frozen=True)
class Arrival:
    """How likely the label of each decision is to have arrived, if it is acted on."""

    share: Floats  #: q of each decision, whatever the label says
    known: Places  #: where labels have arrived; the next two are of these decisions alone
    seen: Floats  #: q(y)
    tilt: Floats  #: y - mean c of its block: the slope's part in ``seen``; 0 where all labels arrived
    slope: float  #: s; 0 where all labels arrived, or the log cannot tell
    slope_error: float  #: the standard error of s
    unequal: float  #: by how many standard errors labels of likelier items arrive more (or, below 0, less) often

    @property
    def pull(self) -> Floats:
        """What a standard error of s moves 1 / q(y) by, for each label that has arrived."""
        return self.slope_error * self.tilt / self.seen**2

    def among(self, some: NDArray[np.bool_]) -> Arrival:
        """Return the same of some of the decisions, as a log of these has them."""
        here, place = some[self.known], np.cumsum(some) - 1
        known, seen, tilt = place[self.known[here]], self.seen[here], self.tilt[here]
        return Arrival(self.share[some], known, seen, tilt, self.slope, self.slope_error, self.unequal)

    def sway(self, values: Floats) -> float:
        """Return how far a standard error of s moves the sum of values / q(y), a value for each label that arrived."""
        return abs(float((values * self.pull).sum()))


def arrival_of(log: DecisionLog) -> Arrival:
    """Return how likely each label is to have arrived, by block, lane and, where chances are logged, class."""
    share, acts = _by_lane(log)
    slope, error, centre = _slope(log, acts)
    unequal = slope / error if error > 0.0 else 0.0
    if error > TOLD:
        slope = error = 0.0
    arrived = np.flatnonzero(log.labelled[acts.rows])
    arrived = arrived[np.argsort(acts.rows[arrived], kind="stable")]
    known, q = acts.rows[arrived], acts.share[arrived]
    tilt = np.where(q < 1.0, log.label[known] - centre[arrived], 0.0)
    seen = np.where(q < 1.0, np.clip(q + slope * tilt, LEAST_BELIEVED, 1.0), q)
    return Arrival(share, known, seen, tilt, slope, error, unequal)


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


def block_shares(log: DecisionLog) -> Floats:
    """Return for each decision the labelled share of the acts in its block of rounds, whatever their lane."""
    return _blocks(log, log.act, by_round(log))[0]


def by_round(log: DecisionLog) -> Places | None:
    """Return the places of decisions in the order of rounds; None where that is the order of the log."""
    if (log.round[1:] >= log.round[:-1]).all():  # as good as always, and sorting takes time and memory
        return None
    return np.argsort(log.round, kind="stable")


class _Acts(NamedTuple):
    """Acts of one lane, or of all: where they are, and the block of each with its labelled share."""

    rows: Places
    block: Places
    share: Floats

    def joined(self, other: _Acts) -> _Acts:
        """Return both, their blocks apart."""
        block = np.concatenate([self.block, other.block + self.block.max(initial=-1) + 1])
        return _Acts(np.concatenate([self.rows, other.rows]), block, np.concatenate([self.share, other.share]))

    def at(self, some: NDArray[np.bool_]) -> _Acts:
        """Return the acts among some of the decisions."""
        kept = some[self.rows]
        return _Acts(self.rows[kept], self.block[kept], self.share[kept])


def _by_lane(log: DecisionLog) -> tuple[Floats, _Acts]:
    """Return q of each decision, and the acts with their blocks."""
    order = by_round(log)
    by_block, all_acts = _blocks(log, log.act, order)
    recent = by_block < LEAST_SHARE
    if recent.all():
        recent[:] = False
    audits, others = log.act & log.audit & ~recent, log.act & ~log.audit & ~recent
    if min(int(audits.sum()), int(others.sum())) < LEAST_AUDITS:
        return by_block, all_acts
    share, own = _blocks(log, others, order)
    lane_share, lane = _blocks(log, audits, order)
    band = np.empty(len(log), dtype=np.int8)
    counts = np.zeros((2, _BANDS))
    for some in pieces(len(log)):
        band[some] = np.floor(-np.log(np.maximum(log.probability[some], 1e-12)) / math.log(RATIO))
        for count, acts in zip(counts, (log.act[some], audits[some]), strict=True):
            count += np.bincount(band[some], weights=acts, minlength=_BANDS)
    audited = np.divide(counts[1], counts[0], out=np.ones(_BANDS), where=counts[0] > 0)
    for some in pieces(len(log)):
        part, mine = audited[band[some]], share[some]
        mixed = part * lane_share[some] + (1.0 - part) * mine
        share[some] = np.where(audits[some], lane_share[some], np.where(log.act[some], mine, mixed))
        share[some] = np.where(recent[some], by_block[some], share[some])
    return share, own.joined(lane).joined(all_acts.at(recent))


def _blocks(log: DecisionLog, acts: NDArray[np.bool_], order: Places | None) -> tuple[Floats, _Acts]:
    """Return the labelled share of these acts in the block of each decision, and the acts."""
    places = np.flatnonzero(acts if order is None else acts[order])
    total = len(places)
    blocks = max(1, total // BLOCK_ACTS)
    after = np.minimum(np.arange(total + 1) * blocks // max(1, total), blocks - 1)  # the block by acts that went before
    rows = places if order is None else order[places]
    block = after[:total]
    acted = np.bincount(block, minlength=blocks)
    known = np.bincount(block, weights=log.labelled[rows], minlength=blocks)
    share = np.divide(known, acted, out=np.zeros(blocks), where=acted > 0)
    lengths = np.diff(np.concatenate([[-1], places, [len(log) - 1]]))
    everywhere = np.repeat(share[after], lengths)
    if order is not None:
        spread = np.empty(len(log))
        spread[order] = everywhere
        everywhere = spread
    return everywhere, _Acts(rows, block, share[block])


def _slope(log: DecisionLog, acts: _Acts) -> tuple[float, float, Floats]:
    """Return the slope of arrival on chance within blocks, its standard error, and the mean chance of each act's."""
    if log.chance is None:
        return 0.0, 0.0, np.zeros(len(acts.rows))
    chance, share = log.chance[acts.rows], acts.share
    some = ~np.isnan(chance) & (share >= LEAST_SHARE)
    chance = np.where(some, chance, 0.0)
    counts = np.bincount(acts.block, weights=some)
    sums = np.bincount(acts.block, weights=chance)
    centre = np.divide(sums, counts, out=np.zeros(len(counts)), where=counts > 0)[acts.block]
    some &= share < 1.0
    away, came = (chance - centre)[some], (log.labelled[acts.rows] - share)[some]
    squares = float((away**2).sum())
    if squares <= 0.0:
        return 0.0, 0.0, centre
    slope = float((away * came).sum()) / squares
    noise = float((away**2 * (share * (1.0 - share))[some]).sum())
    return slope, math.sqrt(noise) / squares, centre
