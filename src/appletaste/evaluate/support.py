"""Which decisions a log can speak about: those with a probability above the floor, whose labels have arrived.

An item is seen with probability p q: it must be acted on, and its label must arrive (``arrival``). A block of rounds
whose labels are nearly all missing belongs to the part about which the log says nothing; ``settled`` is the log without
such blocks.

Items are put into bands by the probability p q with which they were to be seen, each band four times that of the next.
A band in which fewer than ten labels were to be expected is left out as well: a positive there would have been seen
so rarely that its absence tells nothing. Without that rule and the halves of ``stand_ins`` intervals of policies whose
probabilities tail off to zero covered 49 to 76 % where 90 were asked (docs/decisions/measured/missed.md).

Whether a log can be what it says it is: acts as often as its recorded probabilities of acting say.

Each action is drawn afresh with its probability p, so the sum of A - p over any decisions that are chosen by p alone is
a martingale, also of a policy that learns. With v = sum p (1 - p), Freedman's inequality (1975) has

    P(|sum (A - p)| >= s)  <=  2 exp(-s^2 / (2 v + 2 s / 3)),

whatever the size of the log. Where the bound is below one in a billion, in some band of probabilities, somebody has
logged another number: P(positive), the probability of the action that was taken, or only some of the decisions.

A long log some rows at a time, so that what is computed on the way to a sum stays small, and in the cache.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._checks import number
from ..errors import InputError
from ..logs.decision_log import DecisionLog
from ..logs.lazy import pieces
from ..times import DAY
from .answers import Refusal, brief
from .arrival import LEAST_SHARE, Arrival, Places, arrival_of, block_shares
from .lateness import seconds_of

#: Decisions whose probability of acting was smaller are ignored: the log says nothing about such items.
FLOOR = 1e-3
#: Where one band of probabilities ends and the next begins.
EDGES = np.array([1e-3, 1e-2, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99, 0.999])
#: The bound below which a log is not believed, in any of its bands.
LEAST = 1e-9
REMEDY = (
    "log every decision, passes too, with the probability of acting that it was drawn with: not P(positive), nor the "
    "probability of the action that was taken"
)


def contradiction(log: DecisionLog) -> Refusal | None:
    """Return why the actions of a log cannot have been drawn with its probabilities; None: they can.

    Examples
    --------
    >>> costs = {"miss": 5, "false_alarm": 1, "hit": 0, "probability": 0.05}
    >>> rows = [{"id": k, "act": k % 2 == 0, **costs} for k in range(400)]
    >>> print(contradiction(DecisionLog.from_rows(rows)))
    no answer: the log contradicts itself: 200 of 400 decisions with a probability of acting from 0.01 to 0.1 are ...
    """
    count, acts, expected, spread = np.zeros((4, len(EDGES) + 1))
    for some in pieces(len(log)):
        p, act = log.probability[some], log.act[some]
        band = EDGES.searchsorted(p, side="right")
        for total, weights in ((count, None), (acts, act), (expected, p), (spread, p * (1.0 - p))):
            total += np.bincount(band, weights, len(total))
    off = np.abs(acts - expected)
    unlikely = off**2 / np.maximum(2.0 * spread + 2.0 * off / 3.0, 1e-300)
    worst = int(np.argmax(unlikely))
    if unlikely[worst] <= math.log(2.0 * len(count) / LEAST):
        return None
    low, high = np.concatenate([[0.0], EDGES, [1.0]])[worst : worst + 2].tolist()
    return Refusal(
        f"the log contradicts itself: {acts[worst]:,.0f} of {count[worst]:,.0f} decisions with a probability of acting "
        f"from {low:g} to {high:g} are acts, and {brief(expected[worst])} would be expected",
        REMEDY,
    )


#: How much likelier to be seen the items of one band are than those of the next, and the labels to expect in a band.
BAND_RATIO, LEAST_EXPECTED = 4.0, 10.0


@dataclass(frozen=True)
class Support:
    """The decisions that can be spoken about, and the probability with which each was to be seen."""

    usable: NDArray[np.bool_]  #: p >= floor, and labels of its block have arrived
    share: NDArray[np.float64]  #: q: the labelled share of the acts of its block
    waiting: NDArray[np.bool_]  #: left out because labels of its block are missing, not because of p
    inclusion: NDArray[np.float64]  #: p q, with the q of its class for what was seen
    arrival: Arrival
    band: NDArray[np.int16]  #: 0 for the likeliest to be seen
    floor: float  #: on p
    contradiction: Refusal | None  #: why the recorded probabilities cannot be those of the actions, if they cannot

    @property
    def seen_rows(self) -> Places:
        """Where decisions are usable, acted on and labelled."""
        return self.arrival.known[self.usable[self.arrival.known]]

    def among(self, some: NDArray[np.bool_]) -> Support:
        """Return the same of some of the decisions, as a log of these has them."""
        here: dict[str, Any] = {
            name: getattr(self, name)[some] for name in ("usable", "share", "waiting", "inclusion", "band")
        }
        return replace(self, arrival=self.arrival.among(some), **here)

    @property
    def unsupported_share(self) -> float:
        """The share of traffic about which the log says nothing."""
        return float(1.0 - self.usable.mean()) if self.usable.size else 1.0


def check_question(log: DecisionLog, verb: str, level: float, floor: float) -> None:
    """Say what is wrong with a question to a log, if anything is."""
    if not isinstance(log, DecisionLog):
        raise InputError(
            f"{verb} takes an appletaste.DecisionLog, got {type(log).__name__}: DecisionLog.read(path) "
            "reads one, ledger.log() makes one, DecisionLog.from_columns(...) takes columns"
        )
    number("level", level, above=0.0, most=0.999)
    number("floor", floor, least=0.0, most=0.5)
    if not len(log):
        raise InputError("the log is empty: it has no decision to speak about")


def settled(log: DecisionLog) -> DecisionLog:
    """Return the decisions of blocks in which at least a fifth of the labels have arrived; if none is, the log itself.

    Blocks of rounds are left out whole, by how many labels have arrived and never by what they say or by which lane an
    item went, so the rest is a log like another. Late labels leave out the last days.

    Examples
    --------
    >>> costs = {"miss": 5, "false_alarm": 1, "hit": 0, "act": True, "probability": 0.5}
    >>> rows = [{"id": k, "label": 1 if k < 100 else None, **costs} for k in range(150)]
    >>> len(settled(DecisionLog.from_rows(rows)))
    100
    """
    kept = settled_rows(log)
    return log if kept.all() else log.where(kept)


def settled_rows(log: DecisionLog) -> NDArray[np.bool_]:
    """Return which decisions ``settled`` keeps: none of those so recent that labels of one class are still to come."""
    kept, young = block_shares(log) >= LEAST_SHARE, arrival_of(log).young
    if young is not None:
        kept &= ~young
    return kept if kept.any() else ~kept


def excluded(left_out: int) -> str:
    """Return a sentence on the decisions that ``settled`` leaves out.

    Examples
    --------
    >>> excluded(3573)
    '3,573 recent decisions are excluded: most of their labels have not arrived yet'
    """
    return f"{left_out:,} recent decisions are excluded: most of their labels have not arrived yet"


def few_labels(log: DecisionLog, support: Support) -> Refusal:
    """Return why labels of items that might have been passed are too few, with their number and what would do.

    Examples
    --------
    >>> costs = {"miss": 5, "false_alarm": 1, "hit": 0, "probability": 0.01}
    >>> rows = [{"id": k, "act": k < 9, "audit": k < 9, "label": 0 if k < 9 else None, **costs} for k in range(900)]
    >>> log = DecisionLog.from_rows(rows)
    >>> print(few_labels(log, support_of(log, 1e-3)))
    no answer: 9 labels of items that might have been passed are too few: 10 must be expected of items with about ...
    """
    p = log.probability
    might = (p >= support.floor) & (p < 1.0)
    heard = might & (support.share >= LEAST_SHARE)
    expected = np.bincount(support.band[heard], weights=(p * support.share)[heard])
    passed = np.bincount(support.band[heard & ~log.act], minlength=len(expected)) > 0
    there = float(expected[passed].max(initial=0.0))
    labels, least = int((might & log.labelled).sum()), f"{LEAST_EXPECTED:.0f}"
    counted = "1 label" if labels == 1 else f"{labels} labels"
    reason = f"{counted} of items that might have been passed {'is' if labels == 1 else 'are'} too few: "
    if there < LEAST_EXPECTED:
        alike = f"{least} must be expected of items with about the same probability of acting"
        reason += f"{alike}, and at most {math.floor(10.0 * there) / 10.0:.1f} are"
    else:
        came = support.band[might & support.usable & log.labelled]
        there = float(passed[came].sum())
        reason += f"{there:.0f} came where {least} or more were to be expected, and {least} are needed there"
    lane = "audit a share of what is passed, 2 % say, or use a policy that decides by lot, such as ts"
    if there < 1.0:
        larger = "log more decisions, wait for labels, or audit a larger share"
        return Refusal(reason, larger if log.audit.any() else lane)
    times = LEAST_EXPECTED / there
    wait = "wait for labels, " if (log.act & ~log.labelled).any() else ""
    more = f"log about {max(1, round((times - 1.0) * len(log))):,} more decisions like these{_pace(log, times - 1.0)}"
    lane = f"audit a share {math.ceil(10.0 * times) / 10.0:.1f} times as large" if log.audit.any() else lane
    return Refusal(reason, f"{wait}{more}, or {lane}")


def _pace(log: DecisionLog, times: float) -> str:
    """Return how long it takes until so many times the decisions of a log with dates have come; else nothing."""
    if log.time is None or not log.dated:
        return ""
    first, last = seconds_of(log.time[:1]).item(), seconds_of(log.time[len(log) - 1 :]).item()
    if not last > first:
        return ""
    days = math.ceil(times * (last - first) / DAY)
    return f" ({days:,} day{'' if days == 1 else 's'} at this pace)"


def support_of(log: DecisionLog, floor: float) -> Support:
    """Return which decisions a log can speak about at a floor on the probability."""
    arrival = arrival_of(log)
    size, q, p = len(log), arrival.share, log.probability
    possible = p >= max(floor, np.nextafter(0, 1))
    known = possible & (q >= LEAST_SHARE)
    inclusion, band = p * q, np.zeros(size, dtype=np.int16)
    expected = np.zeros(1)
    for some in pieces(size):
        mine, seen_with = known[some], inclusion[some][known[some]]
        place = np.floor(-np.log(seen_with) / np.log(BAND_RATIO)).astype(np.int16)
        band[some][mine] = place
        more = np.bincount(place, weights=seen_with, minlength=len(expected))
        expected = np.pad(expected, (0, len(more) - len(expected))) + more
    enough = expected >= LEAST_EXPECTED
    enough[0] = True  # the surest band: what was acted on almost always
    usable = known & enough[band]
    inclusion[arrival.known] = p[arrival.known] * arrival.seen
    return Support(usable, q, possible & ~known, inclusion, arrival, band, floor, contradiction(log))
