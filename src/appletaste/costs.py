"""What each outcome costs, and what that says about acting.

With P(positive) = p an act costs ``false_alarm (1-p) + hit p`` and a pass ``miss p + correct_pass (1-p)``.
Their difference is ``alarm_price - (alarm_price + catch_gain) p``, so two numbers decide everything.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from .errors import CostsError

OUTCOMES = ("miss", "false_alarm", "hit", "correct_pass")
#: Sums and products of costs stay finite below this size.
LARGEST = 1e100
FORMULAS = (
    ". A formula over columns gives costs by item: replay takes formulas, and for one item "
    "CostsByItem(...).of_item(record) gives decide(x, costs=...)"
)


@dataclass(frozen=True, slots=True)
class Costs:
    """What a miss, a false alarm, a hit and a correct pass cost (negative = gain).

    The paper's losses as its experiments ran them: miss = l10 = 1, false_alarm = l01, hit = l11.

    Examples
    --------
    >>> costs = Costs(miss=1.0, false_alarm=0.4, hit=0.05)
    >>> round(costs.threshold, 4)
    0.2963
    >>> costs.best(0.2), costs.best(0.5)
    (False, True)
    """

    miss: float
    false_alarm: float
    hit: float
    correct_pass: float = 0.0
    #: What acting on a negative costs more than passing it.
    alarm_price: float = field(init=False, repr=False, compare=False)
    #: What acting on a positive saves against passing it.
    catch_gain: float = field(init=False, repr=False, compare=False)
    #: Acting pays if and only if P(positive) >= threshold = alarm_price / (alarm_price + catch_gain); it is infinite
    #: where acting never pays and minus infinity where it always does.
    threshold: float = field(init=False, repr=False, compare=False)
    #: The same threshold on the score z = x'theta: its logit.
    score_threshold: float = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._complete()
        if self.catch_gain <= 0:
            raise CostsError(f"acting never pays: need hit < miss, got hit={self.hit:g}, miss={self.miss:g}")
        if self.alarm_price <= 0:
            raise CostsError(
                f"passing never pays: need false_alarm > correct_pass, got false_alarm={self.false_alarm:g}, "
                f"correct_pass={self.correct_pass:g}"
            )

    @classmethod
    def of(cls, given: SomeCosts) -> Costs:
        """Return costs as they are, or from a mapping of outcomes.

        Examples
        --------
        >>> Costs.of({"miss": 5, "false_alarm": 1, "hit": 0}).threshold
        0.16666666666666666
        """
        if isinstance(given, Costs):
            return given
        return cls(**outcomes_in(given))

    @classmethod
    def of_item(cls, miss: float, false_alarm: float, hit: float, correct_pass: float = 0.0) -> Costs:
        """Return costs for one item, where acting may never pay (too small an amount) or always pay.

        Examples
        --------
        >>> Costs.of_item(miss=3, false_alarm=5, hit=5).threshold   # reviewing costs 5, at most 3 is at stake
        inf
        """
        costs = object.__new__(cls)
        for name, value in zip(OUTCOMES, (miss, false_alarm, hit, correct_pass), strict=True):
            object.__setattr__(costs, name, value)
        costs._complete()
        if costs.alarm_price < 0 and costs.catch_gain < 0:
            raise CostsError(
                "acting pays only on negatives: need hit <= miss or false_alarm >= correct_pass; "
                "are the labels swapped?"
            )
        return costs

    def _complete(self) -> None:
        """Check the four numbers and derive the others, once: decisions read them all the time."""
        for name in OUTCOMES:
            value = getattr(self, name)
            try:
                number = float(value)
            except (TypeError, ValueError):
                told = f"{name} must be a number, got {value!r}"
                raise CostsError(told + (FORMULAS if isinstance(value, str) else "")) from None
            if not abs(number) < LARGEST:
                raise CostsError(f"{name} must be finite and below {LARGEST:g} in size, got {number:g}")
            object.__setattr__(self, name, number)
        self._derive()

    def _derive(self) -> None:
        price, gain = self.false_alarm - self.correct_pass, self.miss - self.hit
        if price > 0 and gain > 0:
            threshold, score_threshold = price / (price + gain), math.log(price) - math.log(gain)
        else:  # nothing to weigh: one action is never worse
            threshold = score_threshold = math.inf if price > 0 or gain < 0 else -math.inf
        _put_price(self, price)
        _put_gain(self, gain)
        _put_threshold(self, threshold)
        _put_score_threshold(self, score_threshold)

    def charged(self, price: float) -> Costs:
        """Return these costs with a price on acting, whatever the label: what else a review could save.

        It adds ``price`` to ``hit`` and ``false_alarm``. Where even a negative pays for its review nothing is charged
        that would make a negative look better than a positive.

        Examples
        --------
        >>> Costs(miss=5, false_alarm=1, hit=0).charged(2.0)
        Costs(miss=5.0, false_alarm=3.0, hit=2.0, correct_pass=0.0)
        """
        if price == 0.0:
            return self
        if self.alarm_price + price < 0.0:
            price = min(price, max(self.catch_gain, 0.0))
        charged = _new(Costs)  # not by of_item: these numbers have been checked, and every decision asks
        _put_miss(charged, self.miss)
        _put_false_alarm(charged, self.false_alarm + price)
        _put_hit(charged, self.hit + price)
        _put_correct_pass(charged, self.correct_pass)
        charged._derive()
        return charged

    def outcomes(self) -> dict[str, float]:
        """Return the four numbers that were given, by name."""
        return {name: getattr(self, name) for name in OUTCOMES}

    def expected(self, act: bool, chance: float) -> float:
        """Return the expected cost mu(a, theta) of an action when P(positive) = chance (eq. lossfun)."""
        if act:
            return self.false_alarm * (1 - chance) + self.hit * chance
        return self.miss * chance + self.correct_pass * (1 - chance)

    def best(self, chance: float) -> bool:
        """Return whether acting is the cheaper action (alpha_t; a tie acts)."""
        return chance >= self.threshold

    def regret(self, act: bool, chance: float) -> float:
        """Return the expected cost of an action above that of the best one."""
        return self.expected(act, chance) - min(self.expected(True, chance), self.expected(False, chance))

    def incurred(self, act: bool, label: int) -> float:
        """Return the cost of an action on an item whose label is known."""
        return self.expected(act, float(label))


_new = object.__new__
#: What fills the slots of costs that are being made, in half the time of ``object.__setattr__``.
_put_miss, _put_false_alarm, _put_hit, _put_correct_pass = (vars(Costs)[name].__set__ for name in OUTCOMES)
_put_price, _put_gain, _put_threshold, _put_score_threshold = (
    vars(Costs)[name].__set__ for name in ("alarm_price", "catch_gain", "threshold", "score_threshold")
)


def outcomes_in(given: object) -> dict[str, Any]:
    """Return a mapping of outcomes as a dict, or say what is missing in it, or too much.

    Examples
    --------
    >>> outcomes_in({"miss": 5, "hit": 0})
    Traceback (most recent call last):
    ...
    appletaste.errors.CostsError: costs must be Costs(...), or miss, false_alarm, hit and, if not 0, correct_pass in ...
    """
    if not isinstance(given, Mapping) or not {*OUTCOMES[:3]} <= {*given} <= {*OUTCOMES}:
        raise CostsError(
            f"costs must be Costs(...), or miss, false_alarm, hit and, if not 0, correct_pass in a dict; got {given!r}"
        )
    return dict(given)


#: Costs, or what they are by outcome: ``{"miss": 5, "false_alarm": 1, "hit": 0}``.
SomeCosts: TypeAlias = Costs | Mapping[str, float]
