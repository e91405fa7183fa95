"""What was missed, from the recorded probabilities alone: no model of the labels is needed or used.

For seen positives i (acted on, labelled) with probability p_i of acting and share q_i of labels in, let

    passed_i = (1 - p_i) / (p_i q_i),        unlabelled_i = (1 - q_i) / q_i.

Horvitz-Thompson: M = sum passed_i positives among the passed, U = sum unlabelled_i among the acts without a label,
K = the seen ones, and recall = (K + U) / (K + U + M). Hájek: the same, scaled so that all items, positive and
negative, come to the known number of items, n K' / (K' + N') with K' = sum 1 / (p q) over the positives, N' over the
negatives; it pays where the probabilities vary a lot and positives are not rare.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..logs.decision_log import DecisionLog
from .answers import Answer, Estimate, Refusal
from .stand_ins import DRAWS, Floats, generator, geometric_sums, interval, one_more
from .support import Support, few_labels

#: Labels on items that might have been passed, below which there is nothing to go by.
LEAST_LABELS = 10
ASSUMES = (
    "each action was drawn with its recorded probability; labels that have not arrived are missing at random within a "
    "block of rounds"
)
#: What an answer rests on where every item was acted on.
NOTHING_PASSED = "none: nothing was passed"
NO_POSITIVE = Refusal("no positive has been seen, so recall would be a share of nothing", "log more decisions")


@dataclass(frozen=True)
class ByDesign:
    """Design-based answers about the supported part of the log."""

    missed: Answer  #: Horvitz-Thompson
    missed_hajek: Answer
    recall: Answer
    recall_hajek: Answer
    seen_positives: int  #: that acting showed, in the supported part


def by_design(log: DecisionLog, support: Support, level: float, floor: float) -> ByDesign:
    """Estimate positives among the passed items of the supported part, and recall there.

    Assumes honest probabilities (P(act) given all before was the recorded one, and the action did not look at the
    label) and labels missing at random within blocks; nothing of the model. The interval is exact (mid-p) for equal
    probabilities, asymptotically right for adaptive ones; see ``stand_ins``.
    """
    rows = support.seen_rows
    positive = log.label[rows] == 1
    if log.act.all():
        return _nothing_passed(int(positive.sum()), level)
    uncertain = int((log.probability[rows] < 1).sum())
    refusal = _refuse(log, support, uncertain, floor)
    if refusal is not None:
        return ByDesign(refusal, refusal, refusal, refusal, int(positive.sum()))
    passes = int((support.usable & ~log.act).sum())
    rng = generator("by design")
    positives, negatives = rows[positive], rows[~positive]
    value, missed_draws, known_positives, caught_draws = drawn(log, support, rng)
    missed = _clip(Estimate(value, *interval(missed_draws, level), level, ASSUMES), passes)
    recall = recall_of(known_positives, value, caught_draws, missed_draws, level, passes)
    # Hájek: the weights of positives and negatives come to the number of items.
    n = float(support.usable.sum())
    all_positives = 1.0 / support.inclusion[positives]
    all_negatives = 1.0 / support.inclusion[negatives]
    drawn_negatives = len(negatives) + geometric_sums(all_negatives - 1.0, DRAWS, rng)
    scale_draws = n / np.maximum(caught_draws + missed_draws + drawn_negatives, 1.0)
    scale = n / max(float(all_positives.sum() + all_negatives.sum()), 1.0)
    value_h = max(0.0, scale * (known_positives + value) - known_positives)
    draws_h = np.maximum(0.0, scale_draws * (caught_draws + missed_draws) - caught_draws)
    missed_h = _clip(Estimate(value_h, *interval(draws_h, level), level, ASSUMES), passes)
    recall_h = recall_of(known_positives, value_h, caught_draws, draws_h, level, passes)
    return ByDesign(missed, missed_h, recall, recall_h, len(positives))


class Drawn(NamedTuple):
    """What was missed and what was caught, each with draws of what it may be."""

    missed: float
    missed_draws: Floats
    caught: float
    caught_draws: Floats


def drawn(log: DecisionLog, support: Support, rng: np.random.Generator) -> Drawn:
    """Return positives among the passed and among the acted on, by Horvitz-Thompson, with stand-ins for the unseen."""
    p, rows = log.probability, support.seen_rows

    def open_(some: slice) -> Floats:
        return support.inclusion[some] * (support.usable[some] & (p[some] < 1))

    def passed(places: NDArray[np.intp]) -> Floats:
        return np.asarray((1 - p[places]) / support.inclusion[places])

    more = one_more(open_, support.band, passed, DRAWS, rng)[1].sum(axis=0)
    positives = rows[log.label[rows] == 1]
    weights = passed(positives)
    unsure = rng.standard_normal(DRAWS)  # of how positives arrive
    arrival, known = support.arrival, support.arrival.known
    counts = support.usable[known] & (log.label[known] == 1)
    moved = arrival.sway(counts * (1 - p[known]) / p[known])
    missed_draws = np.maximum(geometric_sums(weights, DRAWS, rng) + more + moved * unsure, 0.0)
    q = arrival.seen[counts]
    out = geometric_sums((1 - q) / q, DRAWS, rng)
    out = np.maximum(out + arrival.sway(counts.astype(np.float64)) * unsure, 0.0)
    return Drawn(float(weights.sum()), missed_draws, float((1.0 / q).sum()), len(positives) + out)


def _nothing_passed(seen: int, level: float) -> ByDesign:
    """Return what is known of a log without a pass: nothing was missed, whatever the labels say."""
    missed, recall = Estimate(0.0, 0.0, 0.0, level, NOTHING_PASSED), Estimate(1.0, 1.0, 1.0, level, NOTHING_PASSED)
    caught = recall if seen else NO_POSITIVE
    return ByDesign(missed, missed, caught, caught, seen)


def _refuse(log: DecisionLog, support: Support, uncertain: int, floor: float) -> Refusal | None:
    if not log.labelled.any():
        return Refusal("no label has arrived yet", "wait for labels, or act on more items")
    if support.contradiction is not None:
        return support.contradiction
    if not (support.usable & ~log.act).any():
        if (log.probability[~log.act] >= floor).any():
            return few_labels(log, support)
        return Refusal(
            "every passed item was passed with certainty, or nearly: no log of that can say what was missed",
            "audit a share of what is passed, 2 % say, or use a policy that decides by lot, such as ts",
        )
    if uncertain < LEAST_LABELS:
        return few_labels(log, support)
    return None


def _clip(estimate: Estimate, most: int) -> Estimate:
    """Keep an estimate below the number of passed items: no more can have been missed."""
    value, low, high = (min(end, float(most)) for end in (estimate.value, estimate.low, estimate.high))
    return Estimate(value, low, high, estimate.level, estimate.assumes)


def recall_of(known: float, value: float, caught: Floats, missed: Floats, level: float, passes: int) -> Answer:
    """Return caught / (caught + missed); no positive seen, no recall."""
    if known == 0.0:
        return NO_POSITIVE
    missed = np.minimum(missed, float(passes))
    low, high = interval(caught / (caught + missed), level)
    return Estimate(known / (known + min(value, float(passes))), low, high, level, ASSUMES)
