"""Why, in a few words for each item: the code of the decision, and the columns that say most."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..errors import OptionError
from ..features.parts import average_item, level_words
from ..policies.reasons import parts_for
from .ledger import Ledger

#: How many columns are named, and the least that one of them adds to the score.
MOST, LEAST = 3, 0.005


class Wording:
    """The words for the items of one ledger, by what is believed now.

    A column with the places J adds m_J'(x - r)_J to the score, with m the posterior mean and r the mean item of the
    ledger, as in ``appletaste.explain``; what all items need is computed once.

    Examples
    --------
    >>> import appletaste as at
    >>> features = at.Encoder().fit([{"age": 30}, {"age": 50}])
    >>> ledger = at.Ledger(at.policy(n_features=features.n_features, costs=at.Costs(miss=5, false_alarm=1, hit=0)))
    >>> ledger.saved_as(None, features)
    >>> for id, age in (("a", 30), ("b", 50)):
    ...     _ = ledger.decide(features.transform({"age": age}), id=id)
    >>> _ = ledger.label("b", 1)
    >>> Wording(ledger).columns(ledger["b"].decision.x)
    ('age = 50 raises the chance',)
    """

    def __init__(self, ledger: Ledger) -> None:
        self._features, width, self._policy = ledger.features, ledger.policy.n_features, ledger.policy
        self._mean: NDArray[np.float64] | None
        try:
            self._mean = ledger.policy.posterior.mean
            self._effects = ledger.policy.posterior.effects
        except OptionError:  # a policy without a model has no columns to name
            self._mean = None
        total = sum((entry.decision.x for _, entry in ledger.entries.items()), np.zeros(width))
        self._average = average_item(self._features, width, [total / len(ledger)] if len(ledger) else None)

    def columns(self, x: NDArray[np.float64], record: dict[str, object] | None = None) -> tuple[str, ...]:
        """Return the columns that say most of an item, in words; the record, where it is known, has the exact cells."""
        if self._mean is None:
            return ()
        found = parts_for(self._policy, self._features, x, self._average, record)
        parts = [(float(self._mean[part.places] @ part.values), part.words) for part in found]
        for effect in self._effects(x):
            parts.append((effect.mean, level_words(self._features, x, effect.place, record)[1]))
        parts.sort(key=lambda part: -abs(part[0]))
        leading = [part for part in parts[:MOST] if abs(part[0]) >= LEAST]
        return tuple(f"{words} {'raises' if adds > 0 else 'lowers'} the chance" for adds, words in leading)
