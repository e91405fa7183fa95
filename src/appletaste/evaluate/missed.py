"""The missed-risk meter: how many positives were passed, three ways, or why the log cannot say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from .._files import for_json
from ..errors import InputError
from ..logs.coded import counts_of
from ..logs.decision_log import DecisionLog, Log, opened
from ..pages.page import html_part
from ..policies import Policy
from .agreement import warning
from .answers import (
    Answer,
    Estimate,
    Refusal,
    beside,
    brief,
    design_beside,
    known_truth,
    positives_among,
)
from .by_design import ASSUMES, ByDesign, by_design
from .by_model import by_model, fitted, surprise
from .constants import Constant, better_constant
from .groups import ByGroup, Values, missed_by
from .money_missed import MoneyMissed, money_missed
from .reporting import WithReports, inside, with_reports
from .support import FLOOR, check_question, support_of

#: Columns whose values can be asked about one by one.
PARTS = ("stratum", "policy")
#: Standard errors from which on labels that arrive unequally are spoken of.
NOTICED = 3.0


@dataclass(frozen=True)
class Missed:
    """What a log says about the positives that were passed. Answers are an ``Estimate`` or a ``Refusal``."""

    decisions: int
    passes: int
    floor: float
    design: ByDesign  #: the supported part: Horvitz-Thompson and Hájek, with recall
    model: Answer  #: all passed items, by the model and calibrated on labels of items that might have been passed
    model_surprise: float  #: how far seen labels are from the model's chances, in standard errors
    unsupported_share: float  #: of all decisions, those the log says nothing about
    unsupported_passes: int  #: the passed ones of them
    waiting_share: float  #: of all decisions, those left out because most labels of their rounds have not arrived
    total_bounds: tuple[float, float] | None  #: positives among all passes, the unsupported ones anything at all
    recall_bounds: tuple[float, float] | None
    label_bounds: tuple[float, float] | None  #: Horvitz-Thompson, if all missing labels were negative, or positive
    money: MoneyMissed  #: what the positives that were passed come to, by design
    unequal_arrival: float = 0.0  #: by how many standard errors labels of likelier items arrive more, or less, often
    truth: float | None = None  #: positives among all passes, where the log knows, as that of a replay does
    with_reports: WithReports | None = None  #: by audits and reports together, where passed items were reported
    constant: Constant | None = None  #: acting on every item, or passing every item, where that surely costs less

    def __str__(self) -> str:
        lines = [
            *([] if self.constant is None else [str(self.constant)]),
            f"{self.decisions:,} decisions, {self.passes:,} passes",
            *self._numbers(),
            f"missed, by the model: {self.model}",
            f"the log says nothing about {self.unsupported_share:.1%} of the traffic".replace("%", " %"),
        ]
        if self.total_bounds is not None and self.unsupported_passes:
            low, high = self.total_bounds
            ends = self.money.cost_bounds
            cost = "" if ends is None else f"; their cost: between {brief(ends[0])} and {brief(ends[1])}"
            truth = "" if self.truth is None else f"; {known_truth(brief(self.truth))}"
            lines.append(
                f"counting the part the log cannot see: between {brief(low)} and {brief(high)} positives passed"
                f"{truth}{cost}"
            )
        doubt = warning(self.best[0], self.passes - self.unsupported_passes)
        lines += [doubt] if doubt else []
        if self.label_bounds is not None:
            low, high = self.label_bounds
            lines.append(f"whatever the missing labels say: between {brief(low)} and {brief(high)} missed, by design")
        if abs(self.unequal_arrival) >= NOTICED:
            how = "less" if self.unequal_arrival < 0 else "more"
            lines.append(
                f"labels of items with a high chance arrive {how} often than others: are positives reported another "
                "way? The answers allow for that as far as the log can tell"
            )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return what ``print`` says, for a notebook."""
        return html_part(str(self).splitlines())

    @property
    def best(self) -> tuple[Answer, Answer, Answer]:
        """What was missed, recall and what it cost: by audits and reports together where both speak, else by design."""
        told = self.with_reports
        if told is not None and isinstance(told.missed, Estimate):
            return told.missed, told.recall, told.money
        return self.design.missed, self.design.recall, self.money.cost

    def _numbers(self) -> list[str]:
        """Return the lines about what was missed, recall and money, each with one interval."""
        told = self.with_reports
        if told is not None and isinstance(told.missed, Estimate):
            return [
                f"missed, audits and reports: {told.missed}; {told.carried}",
                f"recall, audits and reports: {told.recall}",
                f"money missed:         {told.money}",
                *([told.doubt] if told.doubt else []),
                *str(told.reporting).splitlines(),
            ]
        reports = [] if told is None else str(told.reporting).splitlines()
        if told is not None and isinstance(told.missed, Refusal) and isinstance(told.reporting.rate, Estimate):
            reports = [line for line in reports if line not in told.missed.reason]
            reports.append(f"reports are not used: {str(told.missed).removeprefix('no answer: ')}")
        return [
            f"missed, by design:    {self.design.missed}",
            f"recall, by design:    {self.design.recall}",
            *self._money(),
            *reports,
        ]

    def _money(self) -> list[str]:
        """Return the lines about money; a refusal was said of the count already."""
        if isinstance(self.money.cost, Refusal):
            return []
        return [
            f"money missed:         {self.money.cost}",
            f"acting would save:    {self.money.saving}",
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return the answers for JSON."""
        answers = ("missed", "missed_hajek", "recall", "recall_hajek")
        shares = ("unsupported_share", "unsupported_passes", "waiting_share")
        own = ("decisions", "passes", "floor", *shares, "model_surprise", "unequal_arrival")
        found: dict[str, Any] = {name: getattr(self, name) for name in own}
        found |= {f"design_{name}": getattr(self.design, name).as_dict() for name in answers}
        bounds = {"total_bounds": self.total_bounds, "label_bounds": self.label_bounds}
        found |= {"model": self.model.as_dict(), "money": self.money.as_dict()}
        found |= {} if self.truth is None else {"truth": self.truth}
        found |= {} if self.with_reports is None else {"with_reports": self.with_reports.as_dict()}
        found |= {"constant": None if self.constant is None else for_json(self.constant._asdict())}
        return found | {name: ends and list(ends) for name, ends in bounds.items()}


@overload
def missed(
    log: Log,
    level: float = 0.9,
    *,
    floor: float = FLOOR,
    policy: Policy | None = None,
    by: None = None,
    since: Any = None,
    until: Any = None,
) -> Missed: ...
@overload
def missed(  # type: ignore[overload-overlap]
    log: Log,
    level: float = 0.9,
    *,
    floor: float = FLOOR,
    policy: Policy | None = None,
    by: str,
    since: Any = None,
    until: Any = None,
) -> dict[str, Missed]: ...
@overload
def missed(
    log: Log, level: float = 0.9, *, floor: float = FLOOR, policy: Policy | None = None, by: Values
) -> ByGroup: ...
def missed(
    log: Log,
    level: float = 0.9,
    *,
    floor: float = FLOOR,
    policy: Policy | None = None,
    by: str | Values | None = None,
    since: Any = None,
    until: Any = None,
) -> Missed | dict[str, Missed] | ByGroup:
    """Say how many positives were passed, and what recall is: by design, by the model, and for how much of the traffic.

    The log may be the name of a file, or of a folder of files (``DecisionLog.scan``), or a data frame with the columns
    of a log, in which a label that is None or NaN is missing.

    Design-based answers concern the *supported* part: items whose probability of acting was at least ``floor``, in
    rounds whose labels have arrived. There M = sum over seen positives of (1 - p) / (p q) (Horvitz & Thompson 1952;
    Hájek 1971), with intervals that allow for policies that learn and for few positives (``stand_ins``). The whole gets
    bounds: the unsupported passes may all be positive, or none. ``money`` is what the missed positives come to by the
    costs of each item (``money_missed``). ``constant`` says so where always or never acting would surely have cost less
    than what was done, and comes first in print. ``policy``: its posterior, once it has learnt, gives
    the model-based answer instead of the logged chances.

    ``by="stratum"`` (or ``"policy"``) answers for each stratum by itself, in a dict; items without one are under "".
    The design-based answers look at nothing outside their stratum; the model is fitted to the whole log. With one value
    for each decision, or values by id, ``by`` gives any other groups: a ``ByGroup``, whose intervals hold together
    (``evaluate.missed_by``).

    ``since`` and ``until`` (dates, or numbers where the times of the log are numbers; both included) ask about a part
    of the log. Which labels are late, and which share of missed positives is reported, is known from all of it. Where
    passed items were reported, ``with_reports`` has one interval by audits and reports together (``reporting``).

    Examples
    --------
    >>> import appletaste as at
    >>> table = at.problem("i").draw(at.Key(1))
    >>> log = at.play(at.policy("greedy", n_features=5, costs=table.costs, epsilon=0.4), table)
    >>> at.missed(log).design.missed.covers(int(table.labels[~log.act].sum()))
    True
    >>> certain = at.play(at.policy(n_features=5, costs=table.costs), table)
    >>> print(at.missed(certain).design.missed)
    no answer: every passed item was passed with certainty, or nearly: no log of that can say what was missed; ...
    """
    log = opened(log)
    check_question(log, "missed", level, floor)
    windowed = since is not None or until is not None
    if by is not None and not isinstance(by, str):
        if windowed:
            raise InputError("groups are of the whole log: leave out since and until, or give a log of these days")
        return missed_by(log, by, level, floor)
    if by is not None:
        return _apart(log, by, level, floor, policy, since, until)
    return missed_within(log, inside(log, since, until) if windowed else None, level, floor, policy)


def missed_within(
    log: DecisionLog,
    chosen: NDArray[np.bool_] | None = None,
    level: float = 0.9,
    floor: float = FLOOR,
    policy: Policy | None = None,
) -> Missed:
    """Say what was missed among some decisions of a log, what is late and what is reported being known from all of it.

    Examples
    --------
    >>> import appletaste as at
    >>> table = at.problem("i", rounds=4000).draw(at.Key(1))
    >>> log = at.play(at.policy("greedy", n_features=5, costs=table.costs, epsilon=0.4), table)
    >>> missed_within(log, log.round > 2000).decisions
    2000
    """
    whole, everywhere = log, support_of(log, floor)
    support = everywhere
    if chosen is not None:
        log, support = whole.where(chosen), everywhere.among(chosen)
    design = by_design(log, support, level, floor)
    unsupported = int((~support.usable & ~log.act).sum())
    total, recall = _whole(log, design, unsupported)
    passed_positives = positives_among(log, ~log.act)
    share, waiting = support.unsupported_share, float(support.waiting.mean())
    return Missed(
        decisions=len(log),
        passes=int((~log.act).sum()),
        floor=floor,
        design=design_beside(design, log, support),
        model=beside(by_model(log, support, level, policy), passed_positives),
        model_surprise=surprise(log),
        unsupported_share=share,
        unsupported_passes=unsupported,
        waiting_share=waiting,
        total_bounds=total,
        recall_bounds=recall,
        label_bounds=_label_bounds(log, floor, level),
        money=money_missed(log, support, level, design.missed),
        unequal_arrival=support.arrival.unequal,
        truth=passed_positives,
        constant=better_constant(log, level, floor),
        with_reports=with_reports(
            whole, everywhere, np.ones(len(whole), dtype=bool) if chosen is None else chosen, design, level
        ),
    )


def _apart(
    log: DecisionLog, by: str, level: float, floor: float, policy: Policy | None, since: Any, until: Any
) -> dict[str, Missed]:
    """Return an answer for each value of a column."""
    if by not in PARTS:
        raise InputError(f"by is {' or '.join(map(repr, PARTS))}, got {by!r}")
    names = getattr(log, by)
    if names is None:
        raise InputError(f"the log has no {by}: give each item one when it is decided, decide(..., {by}=...)")
    if policy is None and log.x is not None and log.labelled.any():
        policy = fitted(log, log.x[log.labelled])
    asked: dict[str, Any] = {"floor": floor, "policy": policy, "since": since, "until": until}
    return {name: missed(log.where(names == name), level, **asked) for name in counts_of(names)}


def _whole(
    log: DecisionLog, design: ByDesign, unsupported: int
) -> tuple[tuple[float, float] | None, tuple[float, float] | None]:
    """Return bounds for all passes: the interval of the supported part, and anything at all for the rest."""
    if isinstance(design.missed, Refusal):
        return None, None
    low, high = design.missed.low, design.missed.high + unsupported
    known = float((log.label == 1).sum())
    out = float((log.act & ~log.labelled).sum())  # acts whose label is missing: none or all of them positive
    recall = (
        known / (known + high) if known else 0.0,
        (known + out) / (known + out + low) if known + out + low else 1.0,
    )
    return (low, high), recall


def _label_bounds(log: DecisionLog, floor: float, level: float) -> tuple[float, float] | None:
    """Return the Horvitz-Thompson interval's ends if every missing label were negative, and if positive."""
    out = log.act & ~log.labelled
    if not out.any():
        return None
    ends = []
    for label in (0, 1):
        labels = np.where(out, label, log.label).astype(np.int8)
        filled = log.unchecked(label=labels)  # nobody below looks at states
        answer = by_design(filled, support_of(filled, floor), level, floor).missed
        if not isinstance(answer, Estimate):
            return None
        ends.append(answer)
    return ends[0].low, ends[1].high


__all__ = ["ASSUMES", "Missed", "missed"]
