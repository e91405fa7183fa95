"""What a report says, as numbers: computed once, worded and drawn elsewhere."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._files import for_json
from ..drift import DriftReport, check
from ..evaluate import Estimate, Missed, Refusal, WhatIf, missed
from ..evaluate.alternatives import Acting, OwnThreshold
from ..evaluate.answers import Answer, beside, design_beside, minus, positives_among
from ..evaluate.arrival import Arrival, arrival_of
from ..evaluate.by_design import by_design
from ..evaluate.constants import Constant, better_constant
from ..evaluate.missed import missed_within
from ..evaluate.money_missed import money_missed
from ..evaluate.questions import changes
from ..evaluate.support import FLOOR, Support, settled_rows, support_of
from ..evaluate.together import Together, together
from ..evaluate.what_if import ask, ground_of, logged_cost
from ..logs import DecisionLog
from ..logs.coded import Coded, counts_of
from ..logs.lazy import pieces
from ..records.events import PENDING, STATES
from .periods import Reported, both_of, periods_of, reported, within

#: Thresholds that are asked about, as multiples of the one that the costs imply.
MULTIPLES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 6.0)
#: Thresholds that differ by less than this share are the same.
SAME = 1e-6
#: Items below which a period says nothing by itself: its amounts are those of one or two of them.
HANDFUL = 30
#: Periods that are shown by themselves, the last of them, and strata, the largest of them.
MOST = 12


@dataclass(frozen=True)
class Slice:
    """Some of the decisions: those of a month, or of a stratum."""

    name: str
    decisions: int
    acts: int
    audits: int
    labels: int
    positives: int
    precision: Answer
    saved: Answer  #: against passing everything, without recent items, most of whose labels have not arrived
    recall: Answer  #: by design
    missed: Answer  #: what the positives that were passed cost, by design
    caught: Answer  #: what the positives that were caught would have cost, had they been passed
    saved_swing: float  #: the standard deviation of ``saved`` from one draw of as many such items to the next
    caught_swing: float  #: that of ``caught``
    settled: int  #: decisions that ``saved`` and ``caught`` count
    supported: int  #: decisions that ``missed`` counts

    @property
    def at_stake(self) -> Answer:
        """What all positives would have cost if nothing had been done: those caught and those missed.

        The interval adds those of both end by end: they rest on the same labels, so that no less is safe.
        """
        return added(self.caught, self.missed)

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers for JSON."""
        found: dict[str, Any] = for_json({**vars(self), "at_stake": self.at_stake})
        return found


@dataclass(frozen=True)
class Money:
    """What some decisions come to."""

    cost: Answer  #: of what was done, relative to passing everything
    caught: Answer
    missed: Answer
    settled: int  #: decisions that the first two count
    supported: int  #: decisions that the last counts


@dataclass(frozen=True)
class Facts:
    """Everything that a report says."""

    log: DecisionLog
    level: float
    whole: Slice
    missed: Missed
    threshold: float  #: that the logged costs imply, in the middle
    by_item: bool  #: whether that differs from item to item; ``thresholds`` are then multiples of each item's own
    unsettled: int  #: recent items, most of whose labels have not arrived
    unheard: int  #: acts beside those of which the saving says nothing: no label of their lane has arrived
    thresholds: tuple[tuple[float, WhatIf], ...]
    together: Together  #: how much wider their intervals are where all of them are to hold at once
    everything: WhatIf  #: acting on every item
    period: str  #: month, week, day or block
    periods: tuple[Slice, ...]
    strata: tuple[Slice, ...]
    states: dict[str, int]
    oldest: str | None  #: the time, or the round, of the oldest decision whose label is awaited
    drift: DriftReport
    constant: Constant | None  #: what would surely have cost less than what was done
    reported: Reported  #: the days that the facts are about
    before: Slice | None = None  #: the days before, where somebody chose days
    both: Slice | None = None  #: these days and those before together, where these alone cannot say what is missed

    @property
    def shown(self) -> tuple[Slice, ...]:
        """The periods that are worth a row: without those of a handful of items, a tenth of the usual ones at most."""
        usual = float(np.median([one.decisions for one in self.periods])) if self.periods else 0.0
        least = min(HANDFUL, 0.1 * usual)
        return tuple(one for one in self.periods if one.decisions >= least)

    def when(self, item: int) -> str:
        """Return when an item of the log came, counted from 1: its day, where the log has dates."""
        time = self.log.time
        if time is None or time.dtype.kind != "U":
            return f"item {item:,}"
        return str(time[max(0, item - 1)])[:10]

    @property
    def known(self) -> bool:
        """Whether the log knows the truth, as that of a replay does."""
        return self.log.truth is not None

    def as_dict(self) -> dict[str, Any]:
        """Return everything for JSON; lists of ids are left out."""
        asked = []
        for threshold, found in self.thresholds:
            answer = {name: value for name, value in found.as_dict().items() if not name.startswith("would_")}
            asked.append({"threshold": threshold, **answer, "saving_together": self.together.widened(found.saving)})
        facts: dict[str, Any] = {
            "level": self.level,
            "whole": self.whole,
            "missed": self.missed,
            "threshold": self.threshold,
            "thresholds_are_multiples": self.by_item,
            "unsettled": self.unsettled,
            "unheard": self.unheard,
            "thresholds": asked,
            "together_factor": self.together.factor,
            "acting_on_everything": self.everything.saving,
            "period": self.period,
            "periods": self.periods,
            "strata": self.strata,
            "states": self.states,
            "oldest_pending": self.oldest,
            "alarms": self.drift.alarms,
            "before": self.before,
            "both": self.both,
        }
        return {name: for_json(part) for name, part in facts.items()}


def gather(
    log: DecisionLog,
    level: float = 0.9,
    period: str | None = None,
    names: Sequence[str] | None = None,
    *,
    first_day: Any = None,
    last_day: Any = None,
) -> Facts:
    """Compute all that a report says about a log; ``names`` are those of the features x, for alarms.

    With ``first_day`` and ``last_day`` the facts are about these days, and ``before`` is about the days before them.

    Examples
    --------
    >>> import appletaste as at
    >>> table = at.problem("synthetic", rounds=1000).draw(at.Key(1))
    >>> log = at.play(at.policy("greedy", n_features=5, costs=table.costs, epsilon=0.4), table)
    >>> facts = gather(log)
    >>> facts.whole.acts == int(log.act.sum()), facts.period, len(facts.periods)
    (True, 'block', 6)
    """
    given, chosen = log, reported(log, first_day, last_day)
    log = chosen.log
    found = _missed(given, chosen, level)  # says what is wrong with an empty log
    nameless = log.unchecked(id=np.broadcast_to("", len(log)))  # no id is shown, and those of a long log lie in files
    ground = ground_of(nameless, level=level)
    middle, by_item = _own(log)
    asked = tuple((t, ask(ground, OwnThreshold(t) if by_item else t)) for t in _thresholds(middle, by_item))
    shared = together(ground, [t for t, answer in asked if answer.saving], by_item)
    everything = ask(ground, Acting(np.broadcast_to(1.0, len(ground.log))))
    unsettled, arrival = ground.left_out, ground.support.arrival
    supported = round((1.0 - found.unsupported_share) * len(log))
    caught = _caught(ground.log, arrival, level)
    money = Money(ground.logged, caught, found.best[2], len(ground.log), supported)
    counted, (kind, of) = Counted(settled_rows(nameless), ground.log, arrival), periods_of(log, period)
    periods = tuple(slices(nameless, of, level, latest=True, counted=counted))
    strata = () if log.stratum is None else tuple(slices(nameless, log.stratum, level, counted=counted))
    unheard = int((ground.log.act & (arrival.share == 0.0)).sum())
    del ground, arrival, counted  # of a long log it is large, and the rest does not need it
    both = both_of(given, chosen) if isinstance(found.best[0], Refusal) else None
    waiting = log.state == PENDING
    when: NDArray[Any] = log.round if log.time is None else log.time
    return Facts(
        log=log,
        level=level,
        whole=slice_of("all", log, level, found.best[1], money),
        missed=found,
        threshold=middle,
        by_item=by_item,
        unsettled=unsettled,
        unheard=unheard,
        thresholds=asked,
        together=shared,
        everything=everything,
        period=kind,
        periods=periods,
        strata=strata,
        states={state: int((log.state == state).sum()) for state in STATES},
        oldest=str(min(when[waiting].tolist())) if waiting.any() else None,
        drift=check(log, names=names),
        constant=better_constant(nameless, level),
        reported=chosen,
        before=None if chosen.before is None else _slice(chosen.before, str(chosen.days_before), level),
        both=None if both is None else _slice(*both, level),
    )


def _missed(given: DecisionLog, chosen: Reported, level: float) -> Missed:
    """Return what was missed; where passed items were reported, all of the log says which share is."""
    if given.report is None or chosen.days is None or chosen.days_before is None:
        return missed(chosen.log, level)
    return missed_within(given, within(given.days(), chosen.days), level)


def _own(log: DecisionLog) -> tuple[float, bool]:
    """Return the median of the thresholds that costs imply, of items on which either action can pay (NaN: of none).

    And whether they differ from item to item.
    """
    found = [np.zeros(0)]
    for some in pieces(len(log)):
        saved, price = changes(log, some)
        weighed = (price > 0) & (saved < 0)
        found.append((price / (price - saved))[weighed])
    own = np.concatenate(found)
    if not len(own):
        return math.nan, False
    spread, middle = float(np.ptp(own)), float(np.median(own, overwrite_input=True))
    return middle, spread > SAME * middle


def _thresholds(middle: float, by_item: bool) -> list[float]:
    """Return what is asked about: thresholds on the chance, or multiples of each item's own."""
    asked = [] if math.isnan(middle) else [m for m in MULTIPLES if m * middle < 1.0]
    return asked if by_item else [m * middle for m in asked]


@dataclass(frozen=True)
class Counted:
    """The decisions of a log that amounts count, without recent ones, and how their labels arrive."""

    rows: NDArray[np.bool_]  #: where they are in the log
    log: DecisionLog
    arrival: Arrival

    @classmethod
    def of(cls, log: DecisionLog) -> Counted:
        """Return what amounts of a log count."""
        rows = settled_rows(log)
        done = log if rows.all() else log.where(rows)
        return cls(rows, done, arrival_of(done))

    def among(self, some: NDArray[np.bool_]) -> Counted:
        """Return those among some of the decisions, so that the amounts of all parts come to that of the whole."""
        inside = some[self.rows]
        return Counted(self.rows[some], self.log.where(inside), self.arrival.among(inside))


def slices(
    log: DecisionLog,
    names: Coded | NDArray[np.str_],
    level: float,
    latest: bool = False,
    counted: Counted | None = None,
) -> Sequence[Slice]:
    """Return the decisions of each name by themselves, in the order of names; of many the largest, or the last."""
    counts, counted = counts_of(names), Counted.of(log) if counted is None else counted
    kept = list(counts)[-MOST:] if latest else sorted(sorted(counts, key=lambda name: -counts[name])[:MOST])
    places = ((name, np.asarray(names == name)) for name in kept)
    return [_slice(log.where(some), name, level, counted.among(some)) for name, some in places]


def _slice(part: DecisionLog, name: str, level: float, counted: Counted | None = None) -> Slice:
    support = support_of(part, FLOOR)
    design = design_beside(by_design(part, support, level, FLOOR), part, support)
    done = Counted.of(part) if counted is None else counted
    lost = money_missed(part, support, level, design.missed).cost
    cost, caught = logged_cost(done.log, done.arrival, level), _caught(done.log, done.arrival, level)
    if not len(done.log):
        cost = caught = Refusal("most of the labels of these items have not arrived yet", "wait for labels")
    money = Money(cost, caught, lost, len(done.log), _usable(support))
    return slice_of(name.strip(), part, level, design.recall, money)


def _usable(support: Support) -> int:
    return round((1.0 - support.unsupported_share) * len(support.usable))


def _caught(done: DecisionLog, arrival: Arrival, level: float) -> Answer:
    """Return what was caught: if a miss were all that costs, what was done would save that."""
    nothing = np.broadcast_to(0.0, len(done))
    alone = done.unchecked(false_alarm=nothing, hit=nothing, correct_pass=nothing)
    return minus(logged_cost(alone, arrival, level))


def slice_of(name: str, log: DecisionLog, level: float, recall: Answer, money: Money) -> Slice:
    """Return the numbers of one slice."""
    labels, positives = int(log.labelled.sum()), int((log.label == 1).sum())
    acts, hits = int(log.act.sum()), positives_among(log, log.act)
    return Slice(
        name=name,
        decisions=len(log),
        acts=acts,
        audits=int(log.audit.sum()),
        labels=labels,
        positives=positives,
        precision=beside(share(positives, labels, level), None if hits is None else hits / max(acts, 1)),
        saved=minus(money.cost),
        recall=recall,
        missed=money.missed,
        caught=money.caught,
        saved_swing=_swing(log.relative_cost[log.labelled]),
        caught_swing=_swing(log.miss[log.label == 1]),
        settled=money.settled,
        supported=money.supported,
    )


def _swing(amounts: NDArray[np.float64]) -> float:
    """Return the standard deviation of a sum of so many amounts if their number is Poisson."""
    return math.sqrt(float((amounts**2).sum()))


def added(one: Answer, other: Answer) -> Answer:
    """Return the sum of two answers, their intervals added end by end; a refusal if one is."""
    if isinstance(one, Refusal) or isinstance(other, Refusal):
        return one if isinstance(one, Refusal) else other
    ends = (one.value + other.value, one.low + other.low, one.high + other.high)
    truth = None if one.truth is None or other.truth is None else one.truth + other.truth
    return Estimate(*ends, other.level, other.assumes, truth)


def share(count: int, total: int, level: float) -> Answer:
    """Return a share with Wilson's interval (1927), which holds for small counts too.

    Examples
    --------
    >>> print(share(9, 30, 0.9))
    0.3 (90 % interval 0.1837 to 0.4494)
    """
    if not total:
        return Refusal("no label has arrived yet", "wait for labels")
    p, z = count / total, NormalDist().inv_cdf(0.5 + 0.5 * level)
    middle = (p + z * z / (2 * total)) / (1 + z * z / total)
    half = z / (1 + z * z / total) * math.sqrt(p * (1 - p) / total + (z / (2 * total)) ** 2)
    return Estimate(
        p, max(0.0, middle - half), min(1.0, middle + half), level, "items acted on later are like the labelled ones"
    )
