"""What audits at a rate will show after a week, a month and a year of a stream like the one that was logged."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..logs.decision_log import DecisionLog
from ..streams.audit import EVEN, LEAST_COST, Bill
from ..streams.staffing import Share, lane_of
from ..times import DAY, instant
from .questions import changes

#: Positives that audits must be expected to find: with fewer, no interval around their number is to be trusted.
LEAST_FOUND = 10.0
#: How far ahead, in days, where the log has dates; and in decisions, where it has none.
SPANS = (("a week", 7.0), ("a month", 30.0), ("a year", 365.0))
LENGTHS = (10_000, 100_000, 1_000_000)

Floats = NDArray[np.float64]


class Ahead(NamedTuple):
    """What audits are expected to have shown by then."""

    after: str
    passed: float  #: items that the policy passes, audited ones included
    audits: float
    found: float  #: positives that the audits find
    margin: float | None  #: recall is known to so much; None: fewer than ten positives are to be expected


class Outlook(NamedTuple):
    """Audits as a lane makes them, and what these show by and by."""

    rate: float  #: of what is passed, the share that is audited
    ahead: tuple[Ahead, ...]


def outlook_of(
    log: DecisionLog, audit: Share, recall: float, level: float, missed: Floats, places: NDArray[np.intp]
) -> Outlook | None:
    """Return what audits at a rate will show, where strata of passed items hold so many positives; None: no audits.

    To first order the standard error of recall is R (1 - R) sd(M^) / M, and M^ has the variance sum M_h (1 / f_h - 1)
    (``plan_audit``). The floors f_h are those of a ``Lane``: a quarter of the rate everywhere, the rest in proportion
    to sqrt(chance / cost). After k times the log both M and the variance are k times as large. ``places`` is the
    stratum of each passed item, an audited one not among them.
    """
    lane = lane_of(audit)
    if lane is None or log.chance is None:
        return None
    would = np.flatnonzero(~log.act | log.audit)
    chance = np.asarray(log.chance[would])
    positive, negative = (np.asarray(one) for one in changes(log, would))
    gain, alarm = np.maximum(-positive, 0.0), np.maximum(negative, 0.0)
    rate = max(lane.rate, lane.floor)
    if lane.spend:
        saved, lost = changes(log, slice(None))
        every = np.asarray(log.chance[:])
        known = ~np.isnan(every)
        bill = Bill.of(every[known], -saved[known], lost[known], (~log.act | log.audit)[known].astype(np.float64))
        rate = min(rate, bill.affords(lane.spend))
    passed = ~log.act[would]
    cost = np.maximum(alarm * (1.0 - chance) - gain * chance, LEAST_COST * np.maximum(alarm, 1e-300))
    use = np.sqrt(chance / cost)[passed]
    sizes = np.bincount(places, minlength=len(missed))
    mean = np.bincount(places, weights=use, minlength=len(missed)) / np.maximum(sizes, 1)
    floors = np.minimum(rate * (EVEN + (1.0 - EVEN) * mean / float(use.mean())), 1.0) if rate else np.zeros(len(missed))
    total, found = float(missed.sum()), float((missed * floors).sum())
    variance = float((missed * (1.0 / np.maximum(floors, 1e-300) - 1.0)).sum())
    quantile = NormalDist().inv_cdf(0.5 + 0.5 * level)
    ahead = []
    for name, times in _spans(log):
        enough = times * found >= LEAST_FOUND and total > 0.0
        margin = quantile * recall * (1.0 - recall) * math.sqrt(variance / times) / total if enough else None
        many = times * len(would)
        ahead.append(Ahead(name, many, times * float((sizes * floors).sum()), times * found, margin))
    return Outlook(rate, tuple(ahead))


def _spans(log: DecisionLog) -> list[tuple[str, float]]:
    """Return how far ahead, in words and in times the length of the log."""
    if log.time is not None and log.dated:
        first, last = instant(log.time[0]), instant(log.time[len(log) - 1])
        if first is not None and last is not None and last - first >= DAY:
            days = (last - first) / DAY
            return [(name, long / days) for name, long in SPANS]
    return [(f"{long:,} decisions", long / len(log)) for long in LENGTHS]
