"""What if: the cost of another policy, threshold or cost sheet on a logged stream, or why the log cannot say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..costs import Costs
from ..costs_by_item import CostsByItem
from ..logs.decision_log import DecisionLog, Log, opened
from .alternatives import Change, acting_probabilities
from .answers import Answer, Estimate, Refusal, beside, brief, cost_of_acting
from .arrival import Arrival
from .missed import FLOOR
from .questions import Question, changed
from .support import Support, check_question, excluded, settled, support_of
from .weights import (
    Draws,
    Errors,
    Noise,
    Seen,
    doubly_robust,
    effective_sample_size,
    ips,
    saving_of,
    snips,
    weighted_sum,
)

#: The share of the alternative's acts on items with no support, beyond which there is no answer.
TOLERATED = 0.05
#: Labels to be expected, as equally weighted ones, on acts of the alternative that the log was not sure to make.
LEAST_EFFECTIVE = 10.0


@dataclass(frozen=True)
class WhatIf:
    """What another way to decide would have cost, relative to passing everything, on the logged stream (a sum).

    Where the alternative acts on a few items that the log cannot speak about, intervals are widened by the most that
    those can cost or save.
    """

    ips: Answer
    snips: Answer
    dr: Answer
    logged: Answer  #: what the logged decisions cost, relative to passing everything
    saving: Answer  #: what the alternative saves against that: logged - best (``savings``)
    acts: float  #: the expected number of acts of the alternative
    logged_acts: int
    effective_sample_size: float
    largest_weight: float  #: most items that a single seen one stands for
    unsupported_share: float  #: of the alternative's acts, those on items that the log cannot speak about
    would_act: NDArray[np.str_]  #: ids of passed items that the alternative acts on (probability at least one half)
    would_pass: NDArray[np.str_]  #: ids of acted items that it passes
    decisions: int  #: that were asked about
    left_out: int = 0  #: recent decisions beside those: most of their labels have not arrived yet

    @property
    def best(self) -> Answer:
        """The doubly robust answer, or IPS where the log has no chances."""
        return self.dr if self.dr else self.ips

    def __str__(self) -> str:
        acts = f"{brief(self.acts)} acts instead of {self.logged_acts:,}, on {self.decisions:,} decisions"
        return "\n".join(
            [
                *([excluded(self.left_out)] if self.left_out else []),
                f"cost relative to passing everything: {self.best}",
                f"saving against what was done: {self.saving}",
                f"{acts}; effective sample size {self.effective_sample_size:.0f}, "
                f"{self.unsupported_share:.1%} of the alternative's acts unsupported".replace("%", " %"),
                f"{len(self.would_act):,} passed items would be acted on, {len(self.would_pass):,} acted items passed",
            ]
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the answers for JSON."""
        found: dict[str, Any] = {
            name: getattr(self, name).as_dict() for name in ("ips", "snips", "dr", "logged", "saving")
        }
        found |= {name: getattr(self, name) for name in ("acts", "logged_acts", "effective_sample_size")}
        found |= {
            name: getattr(self, name) for name in ("largest_weight", "unsupported_share", "decisions", "left_out")
        }
        return found | {"would_act": self.would_act.tolist(), "would_pass": self.would_pass.tolist()}


def what_if(
    log: Log,
    change: Change | Mapping[str, Any],
    *,
    costs: Costs | CostsByItem | Mapping[str, Any] | None = None,
    level: float = 0.9,
    floor: float = FLOOR,
    learn: bool = False,
) -> WhatIf:
    """Estimate what another policy, threshold on ``chance`` or cost sheet would have cost on the logged stream.

    ``change`` is a Policy (asked as it stands, or learning along with ``learn=True``), a function of the features that
    returns P(act), a number (act from that chance on), ``OwnThreshold(1.5)`` (act from 1.5 times the threshold on that
    the costs of each item imply) or ``Costs`` (act where these say so, and price by them); ``costs`` prices any of them
    by another sheet. Either may be formulas over what each item costs in the log, ``{"miss": "2*miss", "false_alarm":
    "false_alarm", "hit": "hit"}``. Costs are relative to passing everything, which needs no label of a
    passed item (``weighting`` has the formulas). Rounds of which most labels have not arrived are left out, and counted
    in ``left_out``. An alternative that was itself fitted to this log's labels is not judged fairly by it. Refused, by
    what is known before any label: more than 5 % of its acts on items without support, or fewer than 10 labels to be
    expected, as equally weighted ones, on its acts that the log was not sure to make.

    Examples
    --------
    >>> import appletaste as at
    >>> table = at.problem("synthetic", rounds=2000).draw(at.Key(1))
    >>> log = at.play(at.policy("greedy", n_features=5, costs=table.costs, epsilon=0.4), table)
    >>> found = at.what_if(log, lambda x: float(x[0] > 0))
    >>> acts = table.items[:, 0] > 0
    >>> truth = (table.costs.alarm_price * (1 - table.labels) - table.costs.catch_gain * table.labels)[acts].sum()
    >>> found.ips.covers(truth)
    True
    """
    change = CostsByItem.of(change) if isinstance(change, Mapping) else change
    sheet = change if isinstance(change, Costs | CostsByItem) and costs is None else costs
    return ask(ground_of(log, sheet, level, floor), change, learn)


@dataclass(frozen=True)
class Ground:
    """What all questions to a log have in common, so that many can be asked of a long one."""

    log: DecisionLog  #: without the decisions most of whose labels have not arrived
    as_logged: DecisionLog  #: the same with the costs that were logged, which formulas speak of
    support: Support
    logged: Answer  #: what the logged decisions cost, relative to passing everything
    level: float
    left_out: int  #: decisions of the whole log beside these

    @cached_property
    def noise(self) -> Noise:
        """The random numbers of every answer."""
        return Noise(len(self.support.seen_rows))


def ground_of(
    log: Log, costs: Costs | CostsByItem | Mapping[str, Any] | None = None, level: float = 0.9, floor: float = FLOOR
) -> Ground:
    """Return what questions to a log rest on, priced by another cost sheet if there is one."""
    log = opened(log)
    check_question(log, "what_if", level, floor)
    whole, log = len(log), settled(log)
    as_logged, log = log, log if costs is None else log.priced(CostsByItem.of(costs))
    support = support_of(log, floor)
    return Ground(log, as_logged, support, logged_cost(log, support.arrival, level), level, whole - len(log))


def ask(ground: Ground, change: Change, learn: bool = False) -> WhatIf:
    """Answer one question, as ``what_if`` does."""
    log, support = ground.log, ground.support
    asked = acting_probabilities(ground.as_logged if isinstance(change, CostsByItem) else log, change, learn)
    e = np.zeros(len(log)) if isinstance(asked, Refusal) else asked
    question = Question(log, support, e)
    refusal = asked if isinstance(asked, Refusal) else _refuse(question)
    answers: tuple[Answer, Answer, Answer]
    draws = None if refusal is not None or not question.totals.acts else ground.noise.about(question)
    answers = (refusal, refusal, refusal) if refusal is not None else _estimate(question, draws, ground.level)
    best, seen = answers[2] or answers[0], support.seen_rows
    weights = e[seen] / support.inclusion[seen]
    truth, done = cost_of_acting(log, e), cost_of_acting(log, log.act)
    saving = saving_of(question, best, ground.logged, bool(answers[2]), draws)
    return WhatIf(
        ips=beside(answers[0], truth),
        snips=beside(answers[1], truth),
        dr=beside(answers[2], truth),
        logged=ground.logged,
        saving=beside(saving, None if truth is None or done is None else done - truth),
        acts=question.totals.acts,
        logged_acts=int(log.act.sum()),
        effective_sample_size=effective_sample_size(weights),
        largest_weight=float(weights.max(initial=0.0)),
        unsupported_share=question.unsupported_share,
        would_act=log.id[~log.act & (e >= 0.5)],
        would_pass=log.id[log.act & (e < 0.5)] if not isinstance(asked, Refusal) else log.id[:0],
        decisions=len(log),
        left_out=ground.left_out,
    )


def _above(share: float, limit: float) -> str:
    """Return a share in per cent, with as many digits as tell it from the limit."""
    digits = next((n for n in range(15) if f"{share:.{n}%}" != f"{limit:.{n}%}"), 15)
    return f"{share:.{digits}%}"


def _refuse(question: Question) -> Refusal | None:
    remedy = "for a while, audit more of what is passed, or use a policy that acts by lot, such as ts"
    unsupported, size = question.unsupported_share, question.expected_size
    if question.totals.acts == 0:
        return None  # passing everything costs 0 more than passing everything
    if question.support.contradiction is not None:
        return question.support.contradiction
    if unsupported > TOLERATED:
        return Refusal(
            f"{_above(unsupported, TOLERATED)} of the alternative's acts are on items that the log (nearly) never acts "
            f"on, or whose labels have not arrived; at most {TOLERATED:.0%} are allowed".replace("%", " %"),
            remedy,
        )
    if size < LEAST_EFFECTIVE:
        return Refusal(
            f"the log is expected to hold the equivalent of only {size:.1f} labels on items that the alternative acts "
            f"on and that might have been passed; {LEAST_EFFECTIVE:.0f} are needed",
            remedy,
        )
    return None


def _estimate(question: Question, draws: Draws | None, level: float) -> tuple[Answer, Answer, Answer]:
    if draws is None:
        nothing = Estimate(0.0, 0.0, 0.0, level, "none: passing everything is what costs are relative to")
        return nothing, nothing, nothing
    support, totals = question.support, question.totals
    rows, arrival = support.seen_rows, support.arrival
    m = question.guess(rows) if totals.has_guess else np.zeros(len(rows))
    sway = arrival.pull[support.usable[arrival.known]] / question.log.probability[rows]
    seen = Seen(changed(question.log, rows), question.acting[rows], support.inclusion[rows], m, sway)
    errors = Errors(seen, draws)
    least, middle, most = question.beyond()

    def widened(answer: Estimate) -> Estimate:
        return replace(answer, value=answer.value + middle, low=answer.low + least, high=answer.high + most)

    dr: Answer = Refusal("the log does not record the model's chance for every item", "log chance")
    if totals.has_guess:
        dr = widened(doubly_robust(seen, errors, totals.guessed, level))
    return widened(ips(seen, errors, level)), widened(snips(seen, errors, question.supported, level)), dr


def logged_cost(log: DecisionLog, arrival: Arrival, level: float) -> Answer:
    """Return what the logged decisions cost: known once labels have arrived, weighted by 1 / q while some have not."""
    if not log.act.any():
        return Estimate(0.0, 0.0, 0.0, level, "none: nothing was acted on")
    known, q = arrival.known, arrival.seen
    if not len(known):
        return Refusal("no label has arrived yet", "wait for labels")
    gain = changed(log, known)
    value = weighted_sum(gain, q)
    assumes = "labels that have not arrived are missing at random within a block of rounds"
    spread = float(np.hypot(np.sqrt((gain**2 * (1 - q) / q**2).sum()), arrival.sway(gain)))
    reach = NormalDist().inv_cdf(0.5 + 0.5 * level) * spread
    return beside(Estimate(value, value - reach, value + reach, level, assumes), cost_of_acting(log, log.act))
