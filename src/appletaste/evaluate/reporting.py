"""Labels of passes, *reports*: how many there are of those missed, how late they come, and what they say of a window.

A passed positive is reported (a chargeback, a complaint) with chance r, after a delay with the law F; an audit ends in
an act, so nobody sees whether the audited item would have been reported. Both are known of the log as a whole: F by the
product limit for reports that the end of the log cuts off (``lateness``), and r by comparing reports with audits,

    r = R / H,        R = sum over reports v / F(age),        H = what audits say of the same passes (``by_design``),

with v = 1, or the money in an item: then r is the share of the money. For a window of the log, a month say, r comes
from all *other* decisions, so that its error and that of the window's audits are independent. There are two estimates,

    A = H of the window,        B = sum over its reports v / (r F(age)),        C = w A + (1 - w) B,

where w = var B / (var A + var B) with var A = k C and var B = a C + b C^2, so that the luck of the window does not
choose the weight. B is found as A is: each report stands for a geometric number of positives that were not reported,
with the chance r F, whose error is in it (``stand_ins``). Over the whole log r is made of the same audits, and B is A.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..logs.decision_log import DecisionLog
from ..times import DAY, instant, is_day
from .answers import Answer, Estimate, Refusal, beside, brief, per_cent, positives_among
from .arrival import TIMED, by_round
from .by_design import ByDesign, drawn, recall_of
from .lateness import LEAST, LEAST_TIMED, Lateness, of_another_clock, seconds_of
from .money_missed import Values, drawn_money, in_misses
from .stand_ins import DRAWS, Floats, generator, interval
from .support import Support

Chosen = NDArray[np.bool_]
#: Items of which a smaller share of reports can have come are too young for reports to speak of.
LEAST_HEARD = 0.05
#: The largest standard error of log F that is gone by.
MOST_UNSURE = 0.5
#: Positives that audits found outside the window, below which nobody knows which share is reported.
LEAST_FOUND = 5
#: The share of a window's passes that may be too young: they are taken to be like the others.
MOST_YOUNG = 0.2
#: How often, in all looks at logs with a constant rate, reports are set aside because it seems to have moved.
FALSE_ALARMS = 0.01
#: Standard errors by which the number of reports differs before it is spoken of: one look in a thousand by chance.
SURE = 3.3
#: Parts of the log that are held against each other.
BLOCKS = 8
ASSUMES = "of passed positives the same share is reported in the window as in the rest of the log, equally late"


@dataclass(frozen=True)
class Reporting:
    """What a log says of the labels that came for passed items."""

    reports: int  #: of positives
    rate: Answer  #: the share of passed positives that are ever reported
    negatives: int  #: passed items reported as negative: "it was me"
    negative_rate: Answer  #: the share of passed negatives that are
    half_after: float | None  #: half of the reports of positives come within so many seconds, or units of the clock
    moved: Moved | None  #: the rate does not look constant

    def __str__(self) -> str:
        if isinstance(self.rate, Refusal):
            return f"{self.reports:,} reports of passed items: {self.rate}"
        lines = [
            f"{self.reports:,} reports of passed positives; of those missed are ever reported: {_share(self.rate)}"
        ]
        if isinstance(self.negative_rate, Estimate):
            lines.append(
                f"{self.negatives:,} passed items reported as negative; of the passed negatives: "
                f"{_share(self.negative_rate)}"
            )
        return "\n".join(lines + ([] if self.moved is None else [str(self.moved)]))

    def as_dict(self) -> dict[str, Any]:
        """Return the answers for JSON."""
        return {
            "reports": self.reports,
            "rate": self.rate.as_dict(),
            "negatives": self.negatives,
            "negative_rate": self.negative_rate.as_dict(),
            "half_after": self.half_after,
            "moved": None if self.moved is None else self.moved.as_dict(),
        }


class Moved(NamedTuple):
    """Reports and audits say that another share is reported than before."""

    before: float
    since: float
    round: int  #: where the share looks most different from before
    p: float  #: how often a constant rate looks as uneven

    def __str__(self) -> str:
        return (
            f"the share of missed positives that is reported has moved: about {per_cent(min(self.before, 1.0))} before "
            f"round {self.round:,}, {per_cent(min(self.since, 1.0))} since (a constant share looks so uneven "
            f"{100 * self.p:.2g} times in 100). Reports are not used: has the way to complain changed?"
        )

    def as_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return self._asdict()


@dataclass(frozen=True)
class WithReports:
    """What was missed in a window of a log by audits and reports together, and which of the two says it."""

    missed: Answer
    recall: Answer
    money: Answer  #: what the missed positives cost
    share: float | None  #: of what is known of the number missed, that carried by reports
    alone: Answer  #: missed, by reports alone
    reporting: Reporting
    doubt: str = ""  #: what to ask before this is believed

    @property
    def carried(self) -> str:
        """Which of the two says it."""
        if self.share is None:
            return ""
        return f"reports carry {per_cent(self.share)} of it, audits {per_cent(1.0 - self.share)}"

    def as_dict(self) -> dict[str, Any]:
        """Return the answers for JSON."""
        shown = {name: getattr(self, name).as_dict() for name in ("missed", "recall", "money", "alone", "reporting")}
        return {**shown, "share": self.share, "doubt": self.doubt}


def _share(answer: Estimate) -> str:
    ends = f"{100 * answer.level:.0f} % interval {per_cent(answer.low)} to {per_cent(answer.high)}"
    return f"{per_cent(answer.value)} ({ends})"


class Law(NamedTuple):
    """F at the age of each decision, and the standard error of its logarithm."""

    shares: Floats
    errors: Floats
    half_after: float | None = None

    @property
    def old(self) -> Chosen:
        """Which decisions are old enough to be spoken of."""
        return np.asarray((self.shares >= LEAST_HEARD) & (self.errors <= MOST_UNSURE))

    def among(self, some: Chosen) -> Law:
        """Return the same of some of the decisions."""
        return self._replace(shares=self.shares[some], errors=self.errors[some])


def law_of(log: DecisionLog, label: int = 1, least: int = LEAST) -> Law | Refusal:
    """Return how many reports of a class have come by the age of each decision, of those that ever come."""
    if log.report is None or log.time is None or log.report_time is None:
        return Refusal(
            "reports without times say nothing of those that are still to come",
            "give decisions and reports their times",
        )
    decided, told = seconds_of(log.time), seconds_of(log.report_time)
    if log.dated:
        told = np.where(of_another_clock(decided, told), np.nan, told)
    mine = log.report == label
    timed = mine & ~np.isnan(told)
    if timed.sum() < max(least, TIMED * float(mine.sum())):
        return Refusal(
            f"{int(timed.sum())} reports with a time are too few to say how late reports are: {least} are needed",
            "wait for more, or give each report the time at which it came",
        )
    ends = [decided, told] if log.label_time is None else [decided, told, seconds_of(log.label_time)]
    ages = max(float(np.nanmax(one)) for one in ends if not np.isnan(one).all()) - decided
    law = Lateness.of(np.maximum(told[timed] - decided[timed], 0.0), ages[timed])
    half = law.delays[law.shares[1:] >= 0.5]
    return Law(law.within(ages), law.error(ages), float(half[0]) if len(half) else None)


class Part(NamedTuple):
    """Some decisions of a log: what can be said of them by audits, and by reports."""

    log: DecisionLog
    support: Support
    law: Law

    @classmethod
    def of(cls, log: DecisionLog, support: Support, law: Law, some: Chosen) -> Part:
        """Return some of the decisions."""
        return cls(log.where(some), support.among(some), law.among(some))

    @property
    def passes(self) -> NDArray[np.intp]:
        """Where items were passed about which audits can speak."""
        return np.flatnonzero(self.support.usable & ~self.log.act)

    def reports(self, label: int = 1) -> NDArray[np.intp]:
        """Where such items were reported."""
        assert self.log.report is not None
        passes = self.passes
        return np.asarray(passes[self.log.report[passes] == label])


class Rate(NamedTuple):
    """The share of what was missed that is ever reported, with draws; ``z``: by how many errors F is off in each."""

    value: float
    draws: Floats
    z: Floats


def ones(log: DecisionLog, rows: Any) -> Floats:
    """Return 1 for each of some rows: the value of an item where items are counted."""
    return np.ones(len(log.act[rows]))


def rate_of(part: Part, values: Values, rng: np.random.Generator, z: Floats) -> Rate:
    """Return r of a part of a log, by what its audits say was missed there."""
    total, missed = drawn_money(part.log, part.support, values, rng)
    rows = part.reports()
    f, v = part.law.shares[rows], values(part.log, rows)
    found = float((v / f).sum())
    rate = min(1.0, found / total) if total > 0.0 else 1.0
    heard = _noisy(v, f, rate, part.law.errors[rows], rng, z)
    return Rate(rate, np.clip(heard / np.maximum(missed, 1e-9 * max(found, 1e-300)), 1e-6, 1.0), z)


def _noisy(v: Floats, f: Floats, rate: float, errors: Floats, rng: np.random.Generator, z: Floats) -> Floats:
    """Return draws of sum v / F, as it would be in the mean: that items are reported by chance, and F has an error."""
    found = float((v / f).sum())
    if found <= 0.0:
        return np.full(DRAWS, 1e-300)
    spread = max(float((v**2 * (1.0 - min(rate, 1.0) * f) / f**2).sum()), 1e-9 * found**2)
    off = float((v * errors / f).sum()) / found
    return np.asarray(rng.gamma(found**2 / spread, spread / found, DRAWS) * np.exp(-off * z))


def by_reports(part: Part, values: Values, rate: Rate, rng: np.random.Generator) -> tuple[float, Floats]:
    """Return what was missed in a part of a log by its reports alone, with draws."""
    rows, law = part.reports(), part.law
    f, e, v = law.shares[rows], law.errors[rows], values(part.log, rows)
    draws = np.full(DRAWS, float(v.sum()))
    near = np.column_stack([v, np.round(50.0 * np.log(f))])
    for one in _alike(near):
        chance = _chance(rate, f[one].mean(), e[one].mean())
        draws += v[one[0]] * rng.negative_binomial(len(one), chance)
    passes = part.passes
    likely = np.abs(values(part.log, passes)) * law.shares[passes]
    if likely.sum() > 0.0:  # one more, that nobody reported, with probability one half
        like = passes[rng.choice(len(passes), DRAWS, p=likely / likely.sum())]
        extra = rng.negative_binomial(1, _chance(rate, law.shares[like], law.errors[like]))
        draws += values(part.log, like) * extra * (rng.random(DRAWS) < 0.5)
    return float((v / f).sum() / rate.value), draws


def _alike(rows: Floats) -> list[NDArray[np.intp]]:
    """Return places of equal rows, together."""
    if not len(rows):
        return []
    which = np.unique(rows, axis=0, return_inverse=True)[1].ravel()
    order = np.argsort(which, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(which[order])) + 1)


def _chance(rate: Rate, f: Any, error: Any) -> Floats:
    """Return draws of the chance that a positive is reported by now."""
    return np.asarray(np.clip(rate.draws * np.minimum(f * np.exp(rate.z * error), 1.0), 1e-6, 1.0))


class Together(NamedTuple):
    """An estimate of audits and reports with draws, and the weight of the reports."""

    value: float
    draws: Floats
    weight: float
    alone: tuple[float, Floats]  #: by reports


def together(window: Part, past: Part, values: Values, name: str, audited: bool = True) -> Together:
    """Return what was missed in a window, by its audits and by its reports; ``past`` says which share is reported."""
    rng = generator(f"reports {name}")
    rate = rate_of(past, values, rng, rng.standard_normal(DRAWS))
    old = window.law.old
    known = Part.of(*window, old)
    audits, audit_draws = drawn_money(known.log, known.support, values, rng)
    told, told_draws = by_reports(known, values, rate, rng)
    weight = 1.0
    if audited:
        unseen, spread = _noise_of_audits((known, past), values)
        luck, lasting = _noise_of_reports(known, past, values, rate)
        amount = told
        for _ in range(3):
            amount = max(amount, unseen, 1e-300)
            by_them = luck * amount + lasting * amount**2
            weight = spread * amount / max(spread * amount + by_them, 1e-300)
            amount = (1.0 - weight) * audits + weight * told
    value = (1.0 - weight) * audits + weight * told
    draws = np.maximum((1.0 - weight) * audit_draws + weight * told_draws, 0.0)
    passes = window.passes
    each, young = np.abs(values(window.log, passes)), ~old[passes]
    if young.any():  # they are taken to be like the others
        more = float(each[young].sum()) / max(float(each[~young].sum()), 1e-300)
        usual = float((each**2).sum()) / max(float(each.sum()), 1e-300)
        draws = draws * (1.0 + more) + np.sqrt(more * draws * usual) * rng.standard_normal(DRAWS)
        value, told, told_draws = value * (1.0 + more), told * (1.0 + more), told_draws * (1.0 + more)
    return Together(value, np.maximum(draws, 0.0), weight, (told, told_draws))


def _noise_of_audits(parts: tuple[Part, ...], values: Values) -> tuple[float, float]:
    """Return what a positive counts, and the variance of what audits find for so much that was missed."""
    total = square = variance = 0.0
    for part in parts:
        rows = part.support.seen_rows
        rows = rows[part.log.label[rows] == 1]
        means, v = (1.0 - part.log.probability[rows]) / part.support.inclusion[rows], values(part.log, rows)
        total, square = total + float((v * means).sum()), square + float((v**2 * means).sum())
        variance += float((v**2 * means * (1.0 + means)).sum())
    return (square / total, variance / total) if total > 0.0 else (1e-300, 1e-300)


def _noise_of_reports(window: Part, past: Part, values: Values, rate: Rate) -> tuple[float, float]:
    """Return the variance of an estimate by reports for so much that was missed, and that for its square."""
    rows, part = window.reports(), window
    if not len(rows):
        rows, part = past.reports(), past
    f, v = part.law.shares[rows], values(part.log, rows)
    q = np.maximum(rate.value * f, 1e-6)
    total = max(float((v / q).sum()), 1e-300)
    luck = float((v**2 * (1.0 - q) / q**2).sum()) / total
    inverse = 1.0 / rate.draws
    off = float((v * part.law.errors[rows] / q).sum()) / total
    return luck, float(inverse.var() / inverse.mean() ** 2) + off**2


def reporting(log: DecisionLog, support: Support, level: float) -> Reporting | None:
    """Return what a log says of the labels of its passes; None: there are none.

    Examples
    --------
    >>> import appletaste as at
    >>> from appletaste.evaluate.support import support_of
    >>> table = at.problem("i", rounds=400).draw(at.Key(1))
    >>> log = at.play(at.policy("greedy", n_features=5, costs=table.costs, epsilon=0.4), table)
    >>> reporting(log, support_of(log, 1e-3), 0.9) is None
    True
    """
    if log.report is None:
        return None
    passed = ~log.act
    counts = [int((passed & (log.report == label)).sum()) for label in (0, 1)]
    if not sum(counts):
        return None
    law = law_of(log)
    if isinstance(law, Refusal):
        return Reporting(counts[1], law, counts[0], law, None, None)
    rng = generator("reporting")
    whole = Part.of(log, support, law, law.old & support.usable)
    refused = _too_few(whole)
    if refused is not None:
        return Reporting(counts[1], refused, counts[0], refused, law.half_after, None)
    z = rng.standard_normal(DRAWS)
    rate = rate_of(whole, ones, rng, z)
    assumes = "reports of passed items come with one chance, equally late; actions were drawn as recorded"
    told = Estimate(rate.value, *interval(rate.draws, level), level, assumes)
    negative = _negative_rate(log, support, whole, level, counts[0], rng)
    return Reporting(counts[1], told, counts[0], negative, law.half_after, moved(whole))


def _too_few(part: Part) -> Refusal | None:
    """Return why nobody knows which share is reported; None: it can be told."""
    seen = part.support.seen_rows
    found = int(((part.log.label[seen] == 1) & (part.log.probability[seen] < 1.0)).sum())
    if found < LEAST_FOUND:
        return Refusal(
            f"{found} positives that might have been passed were found outside the window: {LEAST_FOUND} are needed to "
            "say which share is reported",
            "wait, or audit a larger share of what is passed",
        )
    return None


def _negative_rate(
    log: DecisionLog, support: Support, whole: Part, level: float, count: int, rng: np.random.Generator
) -> Answer:
    """Return the share of passed negatives that are ever reported as such."""
    law = law_of(log, 0, LEAST_TIMED)
    if isinstance(law, Refusal):
        return law if count else Refusal("no passed item was reported as negative")
    part = Part.of(log, support, law, law.old & support.usable)
    rows, f = part.reports(0), part.law.shares[part.reports(0)]
    if not len(rows):
        return Refusal("no passed item was reported as negative where audits can speak")
    passes = len(part.passes)
    missed, draws = drawn_money(part.log, part.support, ones, rng)
    z = rng.standard_normal(DRAWS)
    rate = float((1.0 / f).sum()) / max(passes - missed, 1.0)
    heard = _noisy(np.ones(len(rows)), f, rate, part.law.errors[rows], rng, z)
    shares = np.clip(heard / np.maximum(passes - draws, 1.0), 0.0, 1.0)
    return Estimate(min(rate, 1.0), *interval(shares, level), level, "passed negatives are reported with one chance")


def moved(part: Part) -> Moved | None:
    """Return where the share that is reported looks other than before; None: it looks constant.

    The log is cut into eight blocks. If r is constant, audits find the share (1 / k) / (1 / k + r F) of all positives
    that audits or reports show in a block, k being how many a found one stands for. The largest standardised sum over
    the last blocks is held against that of 4,000 logs with a constant r; one in two hundred is as uneven.
    """
    log, order = part.log, by_round(part.log)
    rank = np.arange(len(log))
    if order is not None:
        rank[order] = np.arange(len(log))
    block = rank * BLOCKS // max(len(log), 1)
    seen = part.support.seen_rows
    seen = seen[(log.label[seen] == 1) & (log.probability[seen] < 1.0)]
    means = (1.0 - log.probability[seen]) / part.support.inclusion[seen]
    each = float((means * (1.0 + means)).sum()) / max(float(means.sum()), 1e-300)
    rows, passes = part.reports(), part.passes
    found = np.bincount(block[seen], weights=means, minlength=BLOCKS) / max(each, 1e-300)
    heard = np.bincount(block[rows], minlength=BLOCKS).astype(np.float64)
    there = np.bincount(block[passes], minlength=BLOCKS)
    shares = np.bincount(block[passes], weights=part.law.shares[passes], minlength=BLOCKS) / np.maximum(there, 1)
    if not found.sum() or not heard.sum():
        return None
    rate = float((1.0 / part.law.shares[rows]).sum()) / (each * float(found.sum()))
    by_audit = (1.0 / each) / (1.0 / each + rate * np.maximum(shares, 1e-6))
    total = found + heard
    largest, at = _uneven(found[None], heard[None], by_audit)
    rng = generator("moved")
    luck = rng.poisson(total * by_audit, (DRAWS, BLOCKS)), rng.poisson(total * (1.0 - by_audit), (DRAWS, BLOCKS))
    p = (1.0 + float((_uneven(*luck, by_audit)[0] >= largest[0]).sum())) / (1.0 + DRAWS)
    if p >= 0.5 * FALSE_ALARMS:
        return None
    cut = int(at[0])
    halves = [
        float((heard[some] / np.maximum(shares[some], 1e-6)).sum()) / max(each * float(found[some].sum()), 1e-300)
        for some in (slice(cut), slice(cut, None))
    ]
    return Moved(halves[0], halves[1], int(log.round[block == cut].min()), p)


def _uneven(found: Any, heard: Any, by_audit: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Return the largest standardised sum over the last blocks, and the first of these: [log]."""
    total = found + heard
    odds = by_audit / (1.0 - by_audit)
    for _ in range(2):  # the share that fits each log
        scale = (found.sum(axis=1) + 0.5) / ((total * odds / (1.0 + odds)).sum(axis=1) + 0.5)
        share = np.clip(by_audit[None] * scale[:, None], 1e-9, 1.0 - 1e-9)
        odds = share / (1.0 - share)
    off = (found - total * share)[:, ::-1].cumsum(axis=1)[:, ::-1]
    spread = (total * share * (1.0 - share))[:, ::-1].cumsum(axis=1)[:, ::-1]
    whole = spread[:, :1]
    variance = np.maximum(spread * (1.0 - spread / np.maximum(whole, 1e-300)), 1e-9)
    z = np.where(
        variance > 1e-6, np.abs(off - off[:, :1] * spread / np.maximum(whole, 1e-300)) / np.sqrt(variance), 0.0
    )
    return z[:, 1:].max(axis=1), 1 + z[:, 1:].argmax(axis=1)


def inside(log: DecisionLog, since: Any, until: Any) -> Chosen:
    """Return which decisions were made in a window; its ends are in it, and a day is a whole one.

    Examples
    --------
    >>> row = {"act": False, "probability": 0.5, "miss": 5, "false_alarm": 1, "hit": 0}
    >>> log = DecisionLog.from_rows([{"id": k, "time": f"2024-06-0{k}T10:00", **row} for k in (1, 2, 3)])
    >>> inside(log, "2024-06-02", None).tolist(), inside(log, None, "2024-06-02").tolist()
    ([False, True, True], [True, True, False])
    """
    if log.time is None:
        raise InputError("the log has no times, so nothing can be said of a part of it: leave out since and until")
    times = seconds_of(log.time)
    chosen = np.ones(len(log), dtype=bool)
    for end, given in ((0, since), (1, until)):
        if given is None:
            continue
        if isinstance(given, str) != log.dated:
            raise InputError(
                f"the times of the log are {'dates' if log.dated else 'numbers'}, and the window begins or ends at "
                f"{given!r}: give it in their form"
            )
        moment = instant(given)
        assert moment is not None
        if end:
            chosen &= times < moment + DAY if isinstance(given, str) and is_day(given) else times <= moment
        else:
            chosen &= times >= moment
    if not chosen.any():
        raise InputError("no decision of the log is in the window: give another since or until")
    return chosen


def window_of(log: DecisionLog, since: str | None, until: str | None) -> dict[str, Any]:
    """Return the ends of a window, given as texts, in the form of the times of a log.

    Examples
    --------
    >>> row = {"act": False, "probability": 0.5, "miss": 5, "false_alarm": 1, "hit": 0}
    >>> window_of(DecisionLog.from_rows([{"id": "a", "time": 3.0, **row}]), "2", None)
    {'since': 2.0}
    """
    found: dict[str, Any] = {}
    for name, given in (("since", since), ("until", until)):
        if given is not None:
            try:
                found[name] = given if log.dated or log.time is None else float(given)
            except ValueError:
                raise InputError(f"the times of the log are numbers, and {name} is {given!r}: give a number") from None
    return found


def with_reports(
    log: DecisionLog, support: Support, chosen: Chosen, design: ByDesign, level: float
) -> WithReports | None:
    """Say what was missed in a window by audits and reports together; None: nothing was reported.

    ``log`` and ``support`` are those of all decisions, ``chosen`` says which are in the window and ``design`` what
    audits say of it.
    """
    found = reporting(log, support, level)
    if found is None:
        return None
    law = law_of(log)
    refused = _refused(log, support, chosen, design, found, law)
    if refused is not None or isinstance(law, Refusal):
        why = found.rate if refused is None else refused
        return WithReports(why, why, why, None, why, found)
    window, past = Part.of(log, support, law, chosen), Part.of(log, support, law, ~chosen & law.old & support.usable)
    audited = isinstance(design.missed, Estimate)
    count = together(window, past, ones, "count", audited)
    odd = _disagree(design, count, window)
    if odd is not None:
        return WithReports(odd, odd, odd, None, odd, found)
    assumes = f"{ASSUMES}; actions were drawn as recorded"
    passes = len(window.passes)
    draws = np.minimum(count.draws, passes)
    missed = Estimate(min(count.value, float(passes)), *interval(draws, level), level, assumes)
    alone = Estimate(count.alone[0], *interval(np.minimum(count.alone[1], passes), level), level, assumes)
    caught = drawn(window.log, window.support, generator("caught"))
    recall = recall_of(caught.caught, count.value, caught.caught_draws, draws, level, passes)
    truth = positives_among(log, chosen & support.usable & ~log.act)
    hit = positives_among(log, chosen & support.usable & log.act)
    if truth is not None and hit is not None:
        recall = beside(recall, hit / (hit + truth) if hit + truth else 1.0)
    return WithReports(
        beside(missed, truth), recall, _money(window, past, missed, level, audited), count.weight,
        beside(alone, truth), found, _doubt(window, past),
    )  # fmt: skip


def _doubt(window: Part, past: Part) -> str:
    """Return a sentence where items are reported more, or less, often than elsewhere by more than 3.3 standard errors.

    Fewer may be missed, or fewer of them reported. Audits of a window are seldom enough to tell; then only people can.
    """
    counts, heard = [], []
    for part in (window, past):
        counts.append(float(len(part.reports())))
        heard.append(float(part.law.shares[part.passes].sum()))
    if min(heard) <= 0.0:
        return ""
    usual = counts[1] * heard[0] / heard[1]
    off = 2.0 * (
        math.sqrt(counts[0] + 0.375) - math.sqrt(usual + 0.375)
    )  # of counts, as good as normal (Anscombe 1948)
    if abs(off) < SURE * math.sqrt(1.0 + heard[0] / heard[1]):
        return ""
    ratio = counts[0] / usual
    more, missed = ("more", "more are missed") if ratio > 1.0 else ("less", "fewer are missed")
    return (
        f"passed items are reported {more} often than in the rest of the log, {ratio:.2f} times as often: {missed}, or "
        f"{more.replace('less', 'fewer')} of them are reported. The numbers take it for the first: has the way to "
        "complain changed?"
    )


def _money(window: Part, past: Part, count: Estimate, level: float, audited: bool) -> Answer:
    """Return what the positives missed in a window cost."""
    worth = in_misses(window.log, window.passes)
    first = float(worth[0]) if len(worth) else 0.0
    if (worth < 0.0).any():
        return Refusal("some items cost less if they are missed than nothing: reports say nothing of such a sum")
    if (worth == first).all():
        answer = Estimate(first * count.value, first * count.low, first * count.high, level, count.assumes)
    else:
        found = together(window, past, in_misses, "money", audited)
        answer = Estimate(found.value, *interval(found.draws, level), level, count.assumes)
    truth = window.log.truth
    return beside(answer, None if truth is None else float(worth[truth[window.passes] == 1].sum()))


def _refused(
    log: DecisionLog, support: Support, chosen: Chosen, design: ByDesign, found: Reporting, law: Law | Refusal
) -> Refusal | None:
    """Return why reports say nothing of a window; None: they do."""
    if isinstance(found.rate, Refusal):
        return found.rate
    if support.contradiction is not None:
        return support.contradiction
    if found.moved is not None:
        return Refusal(str(found.moved), "ask for a log that begins where the share moved")
    assert isinstance(law, Law)
    rest = ~chosen & law.old & support.usable
    if not rest.any():
        return Refusal(
            "which share is reported is known from the audits of this very log, so reports add nothing to all of it",
            "ask for a part of it, since a day: a month, say",
        )
    few = _too_few(Part.of(log, support, law, rest))
    if few is not None:
        return few
    passes = chosen & support.usable & ~log.act
    if not passes.any():
        return design.missed if isinstance(design.missed, Refusal) else Refusal("nothing was passed in the window")
    young = float((passes & ~law.old).sum()) / float(passes.sum())
    if young > MOST_YOUNG:
        return Refusal(
            f"{per_cent(young)} of the passed items of the window are so young that hardly any report can have come",
            "wait, or ask for a window that ends earlier",
        )
    return None


def _disagree(design: ByDesign, count: Together, window: Part) -> Refusal | None:
    """Return that audits and reports of the window speak of different numbers, which one time in 200 they would."""
    if not isinstance(design.missed, Estimate) or not design.seen_positives:
        return None
    audits = drawn(window.log, window.support, generator("disagree")).missed_draws
    other = generator("disagree by reports").permutation(count.alone[1])
    below = float((audits < other).mean())
    if min(below, 1.0 - below) >= 0.25 * FALSE_ALARMS:
        return None
    return Refusal(
        f"audits say {brief(design.missed.value)} and reports {brief(count.alone[0])} of the same window: another "
        "share seems to be reported than before, so reports are not used",
        "find out whether the way to complain has changed",
    )
