"""How late labels arrive: not at all, by a fixed time, or by a random time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._checks import number
from ..errors import OptionError
from ..keys import Key

#: The laws of a delay, and how each is written.
FORMS = {"fixed": "fixed:500", "exponential": "exponential:MEAN", "lognormal": "lognormal:MEDIAN,SIGMA"}


@dataclass(frozen=True)
class Delay:
    """The law of the time between an action and its label, in items or in the units of a time column.

    ``fixed``: always ``scale``. ``exponential``: D ~ Exp with mean ``scale``. ``lognormal``: D = scale exp(sigma Z),
    Z ~ N(0, 1), so that half of the labels arrive within ``scale``.

    Examples
    --------
    >>> Delay.of("lognormal:200,1.0")
    Delay(law='lognormal', scale=200.0, sigma=1.0)
    >>> Delay.of(500)
    Delay(law='fixed', scale=500.0, sigma=1.0)
    """

    law: str = "fixed"
    scale: float = 0.0
    sigma: float = 1.0

    def __post_init__(self) -> None:
        if self.law not in FORMS:
            raise OptionError(f"there is no delay {self.law!r}; there are 500, {', '.join(FORMS.values())}")
        object.__setattr__(self, "scale", number("the delay", self.scale, least=0.0))
        object.__setattr__(self, "sigma", number("sigma of the delay", self.sigma, least=0.0))

    @staticmethod
    def of(given: Delay | float | str | None) -> Delay:
        """Return a delay from a number, from text such as ``exponential:200``, or the delay itself."""
        if isinstance(given, Delay):
            return given
        if given is None:
            return Delay()
        if not isinstance(given, str):
            return Delay("fixed", given)
        law, colon, rest = given.partition(":")
        if not colon:
            law, rest = ("fixed", given) if law not in FORMS else (law, "")
        try:
            numbers = [float(part) for part in rest.split(",")]
        except ValueError:
            numbers = []
        if not 1 <= len(numbers) <= (2 if law == "lognormal" else 1):
            raise OptionError(f"a delay is 500, {', '.join(FORMS.values())}; got {given!r}")
        return Delay(law, *numbers)

    def draw(self, count: int, key: Key) -> NDArray[np.float64]:
        """Return the delays of ``count`` items; a delay does not depend on what is done with its item."""
        if self.law == "exponential":
            return self.scale * key.generator().exponential(size=count)
        if self.law == "lognormal":
            return self.scale * np.exp(self.sigma * key.generator().standard_normal(count))
        return np.full(count, self.scale)
