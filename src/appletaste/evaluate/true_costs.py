"""What another policy would have cost without the errors of those who label, from second looks drawn by lot.

A label y of somebody with sensitivity s and specificity c is 1 with chance a + b times the truth, a = 1 - c and
b = s + c - 1. So y* = (y - a) / b has the truth as its mean, whatever the item. Acting on an item changes its cost by
g = alarm_price - K y, K = alarm_price + catch_gain, which is linear in y; with y* in the place of y it is

    g* = (alarm_price + K a / b) - (K / b) y:

that of the same label under another cost sheet. What ``what_if`` makes of the log under that sheet has no errors in it
(Rogan & Gladen 1978), for every way to weigh. It is linear in u = a / b and v = 1 / b, so three answers give that for
all pairs (s, c) that the second looks allow. How many labels happen to be wrong is a matter of chance as well: with
weights w it adds sum_i w_i^2 K_i^2 (c (1 - c) or s (1 - s)) / b^2 to the variance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..costs import Costs
from ..costs_by_item import CostsByItem
from ..logs.decision_log import Log
from ..streams import Audit, Budget
from ..streams.lots import SecondLook
from ..streams.staffing import Share
from .agreement import READINGS, Agreement, Reading, agreement, errors_of, spread_of, useless
from .alternatives import Change, OwnThreshold
from .answers import Answer, Estimate, Refusal
from .stand_ins import DRAWS, Floats, generator, interval
from .support import FLOOR
from .what_if import Ground, acting, answer_of, as_asked, ground_of, logged_cost


@dataclass(frozen=True)
class TrueWhatIf:
    """What an alternative costs, and saves against what was done, without the errors of the labels."""

    cost: Answer  #: of the alternative, relative to passing everything
    logged: Answer  #: of what was done, relative to passing everything
    saving: Answer  #: of the alternative against what was done
    agreement: Agreement

    def __str__(self) -> str:
        return (
            f"cost of the alternative, without errors of labels: {self.cost}\n"
            f"cost of what was done: {self.logged}\nsaved: {self.saving}"
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the answers for JSON."""
        return {name: getattr(self, name).as_dict() for name in ("cost", "logged", "saving", "agreement")}


def what_if_without_errors(
    log: Log,
    looks: Sequence[SecondLook],
    change: Change | Mapping[str, Any] | None = None,
    *,
    threshold: float | OwnThreshold | None = None,
    capacity: Share | Budget | None = None,
    audit: Share | Audit | None = None,
    costs: Costs | CostsByItem | Mapping[str, Any] | None = None,
    level: float = 0.9,
    reading: Reading = "truth",
    floor: float = FLOOR,
) -> TrueWhatIf:
    """Say what another policy would have cost without the errors of the labels, from second looks drawn by lot.

    What would be otherwise is said as to ``what_if``. Assumes that s and c are the same for all acts. Refused
    where ``what_if`` is, and where s + c may be as little as 1.

    Examples
    --------
    >>> import appletaste as at
    >>> table = at.problem("synthetic", rounds=3000).draw(at.Key(1))
    >>> log = at.play(at.policy("greedy", n_features=5, costs=table.costs, epsilon=0.4), table)
    >>> ids = log.id[log.labelled][:400]
    >>> looks = [SecondLook(i, y, y, False, "", "", 0.1) for i, y in zip(ids, log.label[log.labelled][:400].tolist())]
    >>> found = what_if_without_errors(log, looks, lambda x: float(x[0] > 0))
    >>> found.cost.covers(at.what_if(log, lambda x: float(x[0] > 0)).ips.value)
    True
    """
    asked, sheet = as_asked(change, threshold, capacity, audit, costs)
    ground, told = ground_of(log, sheet, level, floor), agreement(looks, level, reading)
    refused = useless(told)
    if refused is not None:
        return TrueWhatIf(refused, refused, refused, told)
    drawn, e = errors_of(list(looks), reading), acting(ground, asked)
    assert not isinstance(drawn, Refusal)  # or it is refused already
    s, c = drawn
    span = np.maximum(s + c - 1.0, 1e-3)
    points, middle = np.array([(1.0 - c) / span, 1.0 / span]), (float(s.mean()), float(c.mean()))
    centre = points.mean(axis=1)
    found = _at(ground, e, *centre)
    corners = [_at(ground, e, *corner) for corner in ((0.0, 1.0), (1.0, 1.0), (0.0, 2.0))]
    answers: list[Answer] = []
    rng = generator("what if without errors")
    for k, answer in enumerate(found):
        others = [corner[k] for corner in corners]
        refusal = next((one for one in (answer, *others) if isinstance(one, Refusal)), None)
        if refusal is not None:
            answers.append(refusal)
            continue
        base, more, steeper = (one.value for one in others if isinstance(one, Estimate))
        shift = (points - centre[:, np.newaxis]).T @ np.array([more - base, steeper - base])
        luck = _luck(ground, e, k, middle, float(centre[1]))
        draws = spread_of(answer, rng) + shift + luck * rng.standard_normal(DRAWS)
        assert isinstance(answer, Estimate)
        assumes = f"{answer.assumes}; second looks were drawn by lot; {READINGS[reading]}"
        answers.append(Estimate(float(np.median(draws)), *interval(draws, level), level, assumes))
    return TrueWhatIf(answers[0], answers[1], answers[2], told)


def _at(ground: Ground, asked: Floats | Refusal, u: float, v: float) -> tuple[Answer, Answer, Answer]:
    """Return cost, logged cost and saving under the cost sheet of u = a / b and v = 1 / b."""
    log = ground.log
    price, both = log.alarm_price, log.alarm_price + log.catch_gain
    sheet = {
        "false_alarm": log.correct_pass + price + u * both,
        "miss": log.hit + v * both - price - u * both,
        "truth": None,
    }
    other = log.unchecked(**sheet)
    told = answer_of(replace(ground, log=other, logged=logged_cost(other, ground.support.arrival, ground.level)), asked)
    return (told.ips if isinstance(told.dr, Refusal) else told.dr), told.logged, told.saving


def _luck(ground: Ground, asked: Floats | Refusal, which: int, errors: tuple[float, float], v: float) -> float:
    """Return the deviation that comes of how many labels happen to be wrong, for cost, logged cost or saving."""
    log, rows, (s, c) = ground.log, ground.support.seen_rows, errors
    e = np.zeros(len(rows)) if isinstance(asked, Refusal) else asked[rows]
    p = ground.support.inclusion[rows]
    squares = (e**2 / p, np.ones(len(rows)), (1.0 - e) ** 2 + (1.0 - p) / p * e**2)[which]
    weights = squares * (log.alarm_price + log.catch_gain)[rows] ** 2
    if not weights.sum() > 0.0:
        return 0.0
    called = float(weights @ (log.label[rows] == 1)) / float(weights.sum())
    share = min(max((called - (1.0 - c)) * v, 0.0), 1.0)
    return v * float(np.sqrt(weights.sum() * (share * s * (1.0 - s) + (1.0 - share) * c * (1.0 - c))))
