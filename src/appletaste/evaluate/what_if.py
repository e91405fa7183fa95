"""What if: the cost of another policy, threshold or cost sheet on a logged stream, or why the log cannot say."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..costs import Costs
from ..logs.decision_log import DecisionLog, Log, opened
from .alternatives import Change, Floats, acting_probabilities
from .answers import Answer, Estimate, Refusal, brief
from .missed import FLOOR
from .savings import Question, saving_of
from .support import Support, check_question, excluded, settled, support_of
from .truths import beside, cost_of_acting
from .weighting import Errors, Seen, doubly_robust, effective_sample_size, ips, snips, weighted_sum

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
    change: Change,
    *,
    costs: Costs | None = None,
    level: float = 0.9,
    floor: float = FLOOR,
    learn: bool = False,
) -> WhatIf:
    """Estimate what another policy, threshold on ``chance`` or cost sheet would have cost on the logged stream.

    ``change`` is a Policy (asked as it stands, or learning along with ``learn=True``), a function of the features that
    returns P(act), a number (act from that chance on) or ``Costs`` (act where these say so, and price by them);
    ``costs`` prices any of them by another sheet. Costs are relative to passing everything, which needs no label of a
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
    log = opened(log)
    check_question(log, "what_if", level, floor)
    sheet = change if isinstance(change, Costs) and costs is None else costs
    whole, log = len(log), settled(log)
    log = log if sheet is None else log.priced(sheet)
    asked = acting_probabilities(log, change, learn)
    e = np.zeros(len(log)) if isinstance(asked, Refusal) else asked
    support = support_of(log, floor)
    acts = float(e.sum())
    weights = (e / np.maximum(support.inclusion, 1e-300))[support.seen]
    unsupported = float(e[~support.usable].sum()) / acts if acts > 0 else 0.0
    size = effective_sample_size(weights)
    refusal = asked if isinstance(asked, Refusal) else _refuse(e, unsupported, _expected_size(log, support, e))
    answers: tuple[Answer, Answer, Answer]
    question = Question(log, support, e)
    answers = (refusal, refusal, refusal) if refusal is not None else _estimate(question, level)
    logged, best = _logged(log, support, level), answers[2] or answers[0]
    truth, done = cost_of_acting(log, e), cost_of_acting(log, log.act)
    saving = saving_of(question, best, logged, bool(answers[2]), level)
    return WhatIf(
        ips=beside(answers[0], truth),
        snips=beside(answers[1], truth),
        dr=beside(answers[2], truth),
        logged=beside(logged, done),
        saving=beside(saving, None if truth is None or done is None else done - truth),
        acts=acts,
        logged_acts=int(log.act.sum()),
        effective_sample_size=size,
        largest_weight=float(weights.max(initial=0.0)),
        unsupported_share=unsupported,
        would_act=log.id[~log.act & (e >= 0.5)],
        would_pass=log.id[log.act & (e < 0.5)] if not isinstance(asked, Refusal) else log.id[:0],
        decisions=len(log),
        left_out=whole - len(log),
    )


def _expected_size(log: DecisionLog, support: Support, e: Floats) -> float:
    """Return to how many labels, equally weighted, those to be expected on the alternative's unsure acts are worth.

    (sum e)^2 / sum e^2 / (p q) over items with p < 1 (Kish 1965): known before any label, so that refusing by it
    chooses no outcome. Infinite where the log was sure to act wherever the alternative does.
    """
    unsure = support.usable & (log.probability < 1) & (e > 0)
    chosen, seen = e[unsure], log.probability[unsure] * support.share[unsure]
    return float(chosen.sum() ** 2 / (chosen**2 / seen).sum()) if unsure.any() else math.inf


def _above(share: float, limit: float) -> str:
    """Return a share in per cent, with as many digits as tell it from the limit."""
    digits = next((n for n in range(15) if f"{share:.{n}%}" != f"{limit:.{n}%}"), 15)
    return f"{share:.{digits}%}"


def _refuse(e: Floats, unsupported: float, size: float) -> Refusal | None:
    remedy = "log a randomised policy, or an audit lane, for a while"
    if e.sum() == 0:
        return None  # passing everything costs 0 more than passing everything
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


def _estimate(question: Question, level: float) -> tuple[Answer, Answer, Answer]:
    support, e = question.support, question.acting
    if e.sum() == 0:
        nothing = Estimate(0.0, 0.0, 0.0, level, "none: passing everything is what costs are relative to")
        return nothing, nothing, nothing
    chosen = support.seen
    gain, supported, guess = question.log.relative_cost[chosen], question.supported, question.guess
    m = np.zeros(len(e)) if guess is None else guess
    seen, rest = Seen(gain, e[chosen], support.inclusion[chosen], m[chosen], question.sway[chosen]), question.open(m)
    errors = Errors(seen, rest)
    least, middle, most = question.beyond()

    def widened(answer: Estimate) -> Estimate:
        return replace(answer, value=answer.value + middle, low=answer.low + least, high=answer.high + most)

    dr: Answer = Refusal("the log does not record the model's chance for every item", "log chance")
    if guess is not None:
        dr = widened(doubly_robust(seen, rest, errors, float((supported * guess).sum()), level))
    return widened(ips(seen, errors, level)), widened(snips(seen, errors, float(supported.sum()), level)), dr


def _logged(log: DecisionLog, support: Support, level: float) -> Answer:
    """Return what the logged decisions cost: known once labels have arrived, weighted by 1 / q while some have not."""
    if not log.act.any():
        return Estimate(0.0, 0.0, 0.0, level, "none: nothing was acted on")
    known = log.labelled & (support.share > 0)
    if not known.any():
        return Refusal("no label has arrived yet", "wait for labels")
    gain, q = log.relative_cost[known], support.arrival.seen[known]
    value = weighted_sum(gain, q)
    assumes = "labels that have not arrived are missing at random within a block of rounds"
    sway = support.arrival.sway(np.where(known, np.where(known, log.relative_cost, 0.0), 0.0))
    spread = float(np.sqrt((gain**2 * (1 - q) / q**2).sum() + sway**2))
    reach = NormalDist().inv_cdf(0.5 + 0.5 * level) * spread
    return Estimate(value, value - reach, value + reach, level, assumes)
