"""Numbers that may be looked at every day: intervals that hold on all days at once, and what that costs in width.

An interval of 90 % misses one time in ten if somebody looks once. Whoever looks every day meets, sooner or later, a day
on which it misses. The error of an estimate from a log, sum C (A / p - 1), is a martingale as decisions come, whatever
the policy learns. With s its standard error after n decisions, tightest at ``planned`` decisions,

    |error| <= s sqrt(((v + 1) / v) log((v + 1) / a^2)),    v = v* n / planned,    a = 1 - level,

holds at all n at once with the level, as decisions become many (Robbins 1970; Waudby-Smith et al. 2024, asymptotic
confidence sequences). v* makes the factor least at ``planned``. Every end is stretched about its value by the ratio of
that to the quantile of a single look, which keeps the shape of the interval.
"""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist

from .._checks import number
from .answers import Answer, Refusal


def stretch_daily(decisions: float, planned: float, level: float = 0.9) -> float:
    """Return how many times as wide an interval is that may be looked at every day.

    Examples
    --------
    >>> [round(stretch_daily(n, 10_000), 2) for n in (1_000, 10_000, 100_000)]
    [2.18, 1.68, 1.82]
    """
    number("decisions", decisions, above=0.0)
    number("planned", planned, above=0.0)
    number("level", level, above=0.0, most=0.999)
    out = 1.0 - level
    v = _tightest(out) * decisions / planned
    return math.sqrt((v + 1.0) / v * math.log((v + 1.0) / out**2)) / NormalDist().inv_cdf(0.5 + 0.5 * level)


def _tightest(out: float) -> float:
    """Return the v at which ((v + 1) / v) log((v + 1) / a^2) is least: there v = log((v + 1) / a^2)."""
    v = 1.0
    for _ in range(100):
        v = math.log((v + 1.0) / out**2)
    return v


def daily(
    answer: Answer, decisions: float, planned: float | None = None, least: float = -math.inf, most: float = math.inf
) -> Answer:
    """Return an answer whose interval may be looked at every day; ``planned`` is where it is tightest (none: now).

    ``planned`` must be the same on every day, or the promise is lost: the decisions of a month, say. No end goes below
    ``least`` or above ``most``.

    Examples
    --------
    >>> from appletaste.evaluate import Estimate
    >>> print(daily(Estimate(100.0, 80.0, 130.0, 0.9, "honest probabilities"), 10_000, 10_000))
    100 (90 % interval 66.4 to 150.4)
    """
    if isinstance(answer, Refusal):
        return answer
    wide = stretch_daily(decisions, decisions if planned is None else planned, answer.level)
    low, high = (answer.value + wide * (end - answer.value) for end in (answer.low, answer.high))
    return replace(
        answer, low=max(low, least), high=min(high, most), assumes=f"{answer.assumes}; holds on all days at once"
    )
