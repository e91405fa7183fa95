"""Which labels arrive: by block of rounds, by lane, by age, and by class as far as the log can tell.

Among the acts of a block of consecutive rounds and of one lane (audits, or the policy's own acts) the share q of labels
that have arrived is known. Audits have their own, because another team may answer them. An item that was passed would
have been acted on by either lane; it has the mean of both, by how acts of about its probability were divided. Recent
blocks, of whose acts hardly any has a label, are set apart before lanes are: forty audits may be those of a month, and
the labels that the last days have not yet are not missing in the first ones.

Labels may also be late, or lost, by what they say. Where the log has the times of labels, each class has a law of its
delay, F_y (``lateness``). What these laws do not explain is lost: a share of each lane. A label that arrived then
stands for

    w = 1 / q(y) = 1 / F_y(age) + lambda e o_y,        o = 1 / F_y(age), e = exp(+- delta / 2) by class,

with lambda such that the weights of a lane come to its acts. Without times, or where blocks say that labels were lost
at other rates than these, 1 / F is 1 and o = (1 - q) / q by block: what is missing in a block is all that is known.

How the loss divides between the classes, delta, is told by the model's chances c: whatever these are worth, they were
there before the label, so sum (c - mean c of the block) w over labels has mean zero if w is right (Kott & Chang 2010).
The error of delta and those of both laws are in every interval (``sway``). Delta has a wide prior about 0: where next
to nothing tells it, labels are as good as lost at random, and the interval knows that nobody knows. Where chances are
not logged, or all alike, loss is taken to be at random. Little & Rubin 2019, ch. 15: labels missing by what they say.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..logs.decision_log import DecisionLog
from ..logs.lazy import pieces
from .lateness import LEAST, LEAST_TIMED, Lateness, of_another_clock, seconds_of

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
#: The largest standard error of the difference between classes at which the cost of what was done is told. Below it
#: intervals covered 95 % where 40 % of positives and 5 % of negatives were lost, above it 50 %.
TOLD = 0.15
#: What delta is before the log has spoken: normal with mean 0 and this deviation. Odds may differ twentyfold.
PRIOR = 3.0
#: The largest delta that is looked at, either way, and how many points are.
FAR, POINTS = 5.0, 81
#: Of labels that arrived, those whose time must be known before ages are gone by.
TIMED = 0.9
#: Standard errors by which blocks may differ from what ages say before they are believed instead.
UNLIKE = 6.0
#: How much likelier an act of one band of probabilities is than one of the next, where lanes are told apart.
RATIO = 4.0
_BANDS = 1 + math.floor(-math.log(1e-12) / math.log(RATIO))  # of probabilities down to 1e-12


@dataclass(frozen=True)
class Arrival:
    """How likely the label of each decision is to have arrived, if it is acted on."""

    share: Floats  #: q of each decision, whatever the label says; 0 where those of one class have hardly arrived
    known: Places  #: where labels have arrived; the next two are of these decisions alone
    seen: Floats  #: q(y)
    pull: Floats  #: what a standard error of delta, and of each law, moves 1 / q(y) by: [error, label]
    unequal: float  #: by how many standard errors labels of likelier items arrive more (or, below 0, less) often
    difference: float = 0.0  #: q(1) - q(0), on average over labels
    difference_error: float = 0.0  #: its standard error, as far as delta makes it
    young: NDArray[np.bool_] | None = None  #: decisions so recent that labels of one class are still to come

    def among(self, some: NDArray[np.bool_]) -> Arrival:
        """Return the same of some of the decisions, as a log of these has them."""
        here, place = some[self.known], np.cumsum(some) - 1
        known, seen = place[self.known[here]], self.seen[here]
        young = None if self.young is None else self.young[some]
        return replace(self, share=self.share[some], known=known, seen=seen, pull=self.pull[:, here], young=young)

    def sway(self, values: Floats) -> float:
        """Return the standard error of the sum of values / q(y), a value for each label, by what moves q(y)."""
        return math.hypot(*(self.pull @ values).tolist()) if len(values) else 0.0


def arrival_of(log: DecisionLog) -> Arrival:
    """Return how likely each label is to have arrived, by block, lane, age and, where chances are logged, class."""
    share, acts = _by_lane(log)
    arrived = np.flatnonzero(log.labelled[acts.rows])
    arrived = arrived[np.argsort(acts.rows[arrived], kind="stable")]
    known, q = acts.rows[arrived], acts.share[arrived]
    if len(known) in (0, len(acts.rows)):
        return Arrival(share, known, q, np.zeros((1, len(known))), 0.0)
    laws = _laws_of(log, acts)
    fit = None if laws is None else _Fit.of(log, acts, laws)
    if fit is None or fit.unlike_blocks():
        laws, fit = None, _Fit.of(log, acts, None)
    tilt, error, unequal = fit.solved()
    difference, difference_error = fit.difference(tilt, error)
    weights = fit.weights(tilt)
    moved = [fit.weights(tilt + error) - fit.weights(tilt - error)]
    for one in () if laws is None else (0, 1):
        more, less = (end.weights(end.solved()[0]) for end in (fit.shifted(one, 1.0), fit.shifted(one, -1.0)))
        moved.append(more - less)
    pull = np.zeros((len(moved), len(acts.rows)))
    pull[:, fit.places] = 0.5 * np.array(moved)
    seen = acts.share.copy()
    seen[fit.places] = np.clip(1.0 / weights, LEAST_BELIEVED, 1.0)
    young = None
    if laws is not None:
        young = _too_young(log, acts, fit.heard(tilt))
        share[young] = 0.0
    return Arrival(share, known, seen[arrived], pull[:, arrived], unequal, difference, difference_error, young)


class _Laws(NamedTuple):
    """Both laws at the ages of acts: [class, act]."""

    shares: Floats
    errors: Floats


def _laws_of(log: DecisionLog, acts: _Acts) -> _Laws | None:
    """Return how likely labels of each class are to have arrived at the age of each act; None: the log cannot say."""
    if log.time is None or log.label_time is None:
        return None
    decided, arrived = seconds_of(log.time[acts.rows]), seconds_of(log.label_time[acts.rows])
    label = log.label[acts.rows]
    if np.isnan(decided).any() or np.isnan(arrived).all():
        return None
    if log.dated:
        arrived = np.where(of_another_clock(decided, arrived), np.nan, arrived)
    timed = (label >= 0) & ~np.isnan(arrived)
    if timed.sum() < max(LEAST, TIMED * float((label >= 0).sum())):
        return None
    last = seconds_of(log.time[len(log) - 1 :])  # acts may be few
    ages = np.nanmax(np.concatenate([arrived, decided, last])) - decided
    took = np.maximum(arrived - decided, 0.0)  # a day is taken as its beginning
    mine = [timed & (label == one) for one in (0, 1)]
    if min(int(some.sum()) for some in mine) < LEAST_TIMED:
        mine = [timed, timed]
    laws = [Lateness.of(took[some], ages[some]) for some in mine]
    return _Laws(np.array([law.within(ages) for law in laws]), np.array([law.error(ages) for law in laws]))


@dataclass(frozen=True)
class _Fit:
    """The labels that arrived among acts that are old enough, and what each stands for."""

    places: Places  #: of these labels among the acts
    positive: NDArray[np.bool_]
    lane: NDArray[np.int8]
    block: Places
    base: Floats  #: 1 / F
    odds: Floats  #: o
    errors: Floats  #: of log F, each by its own class
    away: Floats  #: c - mean c of the block
    acts: Floats  #: how many acts each lane has
    block_acts: Floats
    laws: _Laws | None  #: of all acts
    lanes: NDArray[np.int8]  #: of all acts

    @classmethod
    def of(cls, log: DecisionLog, acts: _Acts, laws: _Laws | None) -> _Fit:
        """Return the labels of acts, by the laws of their delays or by the shares of their blocks."""
        told = acts.share >= LEAST_SHARE
        if laws is not None:
            told &= laws.shares.min(axis=0) >= LEAST_SHARE
        label = log.label[acts.rows]
        places = np.flatnonzero(told & (label >= 0))
        positive, share = label[places] == 1, acts.share[places]
        errors, base, odds = np.zeros(len(places)), np.ones(len(places)), (1.0 - share) / share
        if laws is not None:
            mine = positive.astype(np.intp), places
            base = odds = 1.0 / laws.shares[mine]
            errors = laws.errors[mine]
        return cls(
            places, positive, acts.lane[places], acts.block[places], base, odds, errors,
            _away(log, acts, told)[places],
            np.bincount(acts.lane[told], minlength=2).astype(np.float64),
            np.bincount(acts.block, weights=told).astype(np.float64), laws, acts.lane,
        )  # fmt: skip

    def shifted(self, one: int, way: float) -> _Fit:
        """Return the same if the law of a class were a standard error off."""
        factor = np.where(self.positive == one, np.exp(way * self.errors), 1.0)
        return replace(self, base=np.maximum(self.base * factor, 1.0), odds=self.odds * factor)

    def _classes(self, tilt: float) -> Floats:
        return np.where(self.positive, math.exp(0.5 * tilt), math.exp(-0.5 * tilt))

    def _rates(self, tilt: float) -> Floats:
        """Return lambda of each lane: what the laws do not explain, by what would be lost at a rate of 1."""
        lost = np.maximum(self.acts - np.bincount(self.lane, weights=self.base, minlength=2), 0.0)
        whole = np.bincount(self.lane, weights=self.odds * self._classes(tilt), minlength=2)
        return np.divide(lost, whole, out=np.zeros(2), where=whole > 0.0)

    def weights(self, tilt: float) -> Floats:
        """Return what each label stands for."""
        return np.asarray(self.base + self._rates(tilt)[self.lane] * self.odds * self._classes(tilt))

    def solved(self) -> tuple[float, float, float]:
        """Return delta, its standard error, and how far delta = 0 is off, in standard errors.

        Mean and deviation of delta under its prior and a normal law of what should have mean zero, on a grid: there may
        be next to nothing to tell it by, and then the normal law of delta itself is far off.
        """
        kind = 2 * self.lane + self.positive

        def sums(values: Floats) -> Floats:
            found: Floats = np.bincount(kind, weights=values, minlength=4).astype(np.float64)
            return found.reshape(2, 2)  # [lane, class]

        g, base, odds = self.away, self.base, self.odds
        lost = np.maximum(self.acts - sums(base).sum(axis=1), 0.0)
        grid = np.linspace(-FAR, FAR, POINTS)
        classes = np.exp(np.array([-0.5, 0.5]) * grid[:, None])  # [point, class]
        whole = classes @ sums(odds).T  # [point, lane]
        rates = np.divide(lost, whole, out=np.zeros_like(whole), where=whole > 0.0)
        each = rates[:, :, None] * classes[:, None, :]  # [point, lane, class]
        off = (sums(g * base) + each * sums(g * odds)).sum(axis=(1, 2))
        squares = sums(g**2 * base * (base - 1.0)) + each * sums(g**2 * odds * (2.0 * base - 1.0))
        noise = (squares + each**2 * sums(g**2 * odds**2)).sum(axis=(1, 2))
        if not lost.any() or noise.min() <= 0.0:
            return 0.0, 0.0, 0.0
        weight = np.exp(-0.5 * (off**2 / noise - (off**2 / noise).min()) - 0.5 * (grid / PRIOR) ** 2)
        mean = float(np.average(grid, weights=weight))
        middle = POINTS // 2
        spread = math.sqrt(float(np.average((grid - mean) ** 2, weights=weight)))
        return mean, spread, float(off[middle] / math.sqrt(noise[middle]))

    def difference(self, tilt: float, error: float) -> tuple[float, float]:
        """Return q(1) - q(0) on average, and what a standard error of delta moves it by."""

        def between(tilt: float) -> float:
            weights = self.weights(tilt)
            means = [
                float(some.sum()) / max(float(weights[some].sum()), 1.0) for some in (~self.positive, self.positive)
            ]
            return means[1] - means[0]

        return between(tilt), 0.5 * abs(between(tilt + error) - between(tilt - error))

    def heard(self, tilt: float) -> NDArray[np.bool_]:
        """Return which acts are so old that labels of either class are likely enough to have arrived."""
        if self.laws is None:
            return np.ones(len(self.lanes), dtype=bool)
        classes = np.exp(np.array([[-0.5], [0.5]]) * tilt)
        q = self.laws.shares / (1.0 + classes * self._rates(tilt)[self.lanes])
        return np.asarray(q.min(axis=0) >= LEAST_SHARE)

    def unlike_blocks(self) -> bool:
        """Say whether the labels of blocks are more, or fewer, than ages and one loss for all times can explain."""
        weights, blocks = self.weights(0.0), len(self.block_acts)
        off = np.bincount(self.block, weights=weights, minlength=blocks) - self.block_acts
        spread = np.bincount(self.block, weights=weights * (weights - 1.0), minlength=blocks)
        squares = off**2 / np.maximum(spread, 1.0)
        return bool(squares.sum() > blocks + UNLIKE * math.sqrt(2.0 * blocks))


def _too_young(log: DecisionLog, acts: _Acts, heard: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which decisions come after the last act whose label is likely enough to have arrived."""
    order, mine = by_round(log), acts.rows[heard]
    rank = np.arange(len(log))
    if order is not None:
        rank[order] = np.arange(len(log))
    return np.asarray(rank > rank[mine].max(initial=-1))


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
    lane: NDArray[np.int8]  #: 1: audits, where they are a lane of their own

    def joined(self, other: _Acts) -> _Acts:
        """Return both, their blocks apart."""
        block = np.concatenate([self.block, other.block + self.block.max(initial=-1) + 1])
        lane = np.concatenate([self.lane, other.lane])
        return _Acts(np.concatenate([self.rows, other.rows]), block, np.concatenate([self.share, other.share]), lane)

    def at(self, some: NDArray[np.bool_]) -> _Acts:
        """Return the acts among some of the decisions."""
        kept = some[self.rows]
        return _Acts(self.rows[kept], self.block[kept], self.share[kept], self.lane[kept])


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
    lane = lane._replace(lane=np.ones(len(lane.rows), dtype=np.int8))
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
    return everywhere, _Acts(rows, block, share[block], np.zeros(total, dtype=np.int8))


def _away(log: DecisionLog, acts: _Acts, told: NDArray[np.bool_]) -> Floats:
    """Return how far the chance of each act is from the mean of its block; 0 where it is not known."""
    if log.chance is None:
        return np.zeros(len(acts.rows))
    chance = log.chance[acts.rows]
    some = told & ~np.isnan(chance)
    chance = np.where(some, chance, 0.0)
    counts, sums = np.bincount(acts.block, weights=some), np.bincount(acts.block, weights=chance)
    centre = np.divide(sums, counts, out=np.zeros(len(counts)), where=counts > 0)[acts.block]
    return np.where(some & (np.abs(chance - centre) > 1e-9), chance - centre, 0.0)  # less is rounding, and no chance
