"""Reason codes, short and stable, the same in words, and the columns that say most of an item."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..costs import Costs
from ..decision import Decision, new_tuple
from ..errors import OptionError
from ..features import FeatureMap, TransformerMap
from ..features.parts import Part, average_item, level_words, parts_of
from .policy import Policy

EXPLOIT, EXPLORE, AUDIT, CAPACITY, RANDOM, PASS = "EXPLOIT", "EXPLORE", "AUDIT", "CAPACITY", "RANDOM", "PASS"
#: What each code says; logs and dashboards may rely on the codes.
REASONS = {
    EXPLOIT: "acted: acting is expected to cost less than passing",
    EXPLORE: "acted to learn: the expected cost alone says pass",
    AUDIT: "acted on by the audit lane alone",
    CAPACITY: "passed: it would be acted on, but reviews are spent or save more elsewhere",
    RANDOM: "passed by the draw: acting pays, but is done with a probability below 1",
    PASS: "passed: acting is expected to cost more than passing",
}

#: A stranger by at least this share is called one.
NOTED = 0.1
#: A value of the label below this share of the costs is rounding.
SLIGHT = 1e-9


class Reason(NamedTuple):
    """A code of ``REASONS``, and words with the numbers of this item."""

    code: str
    words: str

    def __str__(self) -> str:
        return f"{self.code}: {self.words}"


def reason_of(
    act: bool,
    probability: float,
    chance: float,
    costs: Costs,
    worth: float = math.nan,
    price: float = math.nan,
    spent: bool = False,
    audit: bool = False,
    surprising: str = "",
    stranger: float = 0.0,
) -> Reason:
    """Return why an item was acted on or passed, from what was known when it was decided.

    With mu = P(positive) acting saves s = catch_gain mu - alarm_price (1 - mu) now, and its label may be worth v more;
    ``worth`` is s + v. A pass with s + v > 0 that a budget made, by a shadow ``price`` of s + v or more or a budget
    that was ``spent``, is CAPACITY. ``surprising`` names the feature whose effect the act was to find out, and
    ``stranger`` is the share in which the labels that have arrived do not speak for the item.

    Examples
    --------
    >>> costs = Costs(miss=5, false_alarm=1, hit=0)
    >>> print(reason_of(True, 1.0, 0.1, costs, worth=0.3))
    EXPLORE: acting is expected to cost 0.9 and passing 0.5; what the label teaches is worth 0.7
    """
    acting, passing = costs.expected(True, chance), costs.expected(False, chance)
    value = 0.0 if math.isnan(worth) else worth - (passing - acting)
    compared = f"acting is expected to cost {acting:.4g} and passing {passing:.4g}"
    if stranger >= NOTED:
        compared += f" ({100 * stranger:.0f} % of the chance is doubt: labels of items like this are on their way)"
    if audit:
        return Reason(AUDIT, f"the audit lane acts on items like this with probability {probability:.3g}; {compared}")
    if act and costs.best(chance):
        return new_tuple(Reason, (EXPLOIT, compared))
    if act:
        taught = value > SLIGHT * (abs(acting) + abs(passing))
        lesson = f"what the label teaches is worth {value:.4g}" if taught else f"drawn with {_odds(probability)}"
        if taught and surprising:
            lesson += f", most of it about {surprising}: its effect may be far larger than the others"
        return Reason(EXPLORE, f"{compared}; {lesson}")
    wanted = passing - acting + value
    if wanted > 0 and not math.isnan(price) and (spent or probability == 0.0 or price >= wanted):
        instead = "reviews are used up, or kept for items to come"
        if price >= wanted:
            instead = f"one more review saves {price:.4g} elsewhere"
        return Reason(CAPACITY, f"acting would save {wanted:.4g}, {instead}")
    if costs.best(chance) and probability > 0.0:
        return Reason(RANDOM, f"{compared}; acting had {_odds(probability)}")
    return new_tuple(Reason, (PASS, compared))


def surprising_feature(why: Mapping[str, float], features: FeatureMap | TransformerMap | None) -> str:
    """Return the name of the feature that a rule looked at for a surprise; empty: it looked for none.

    Examples
    --------
    >>> surprising_feature({"surprising_feature": 2.0}, None)
    'feature 3'
    """
    if "surprising_feature" not in why:
        return ""
    place = int(why["surprising_feature"])
    return f"feature {place + 1}" if features is None else features.names()[place]


def _odds(probability: float) -> str:
    return f"probability {probability:.3g}"


def reason_for(decision: Decision, features: FeatureMap | TransformerMap | None) -> Reason | None:
    """Return the code of a decision with its words, by what was known then; None from a policy without a model.

    ``features`` made the vectors, for names.
    """
    act, probability, _, costs, _, why, audit, _, chance, worth, price, spent = decision
    if math.isnan(chance):
        return None
    surprising = surprising_feature(why, features) if "surprising_feature" in why else ""
    stranger = why.get("stranger", 0.0)
    return reason_of(act, probability, chance, costs, worth, price, spent, audit, surprising, stranger)


class Parts(NamedTuple):
    """An item taken apart, as the posterior takes it: base and parts add up to it but for columns with many levels."""

    columns: list[Part]
    base: NDArray[np.float64]
    trees: NDArray[np.float64]  #: the share of each place in the score of the trees, for columns with many levels


def parts_for(
    policy: Policy,
    features: FeatureMap | TransformerMap | None,
    x: NDArray[np.float64],
    reference: NDArray[np.float64],
    record: Mapping[str, Any] | None = None,
) -> Parts:
    """Return the parts of an item, one for each column, with its share of the score of the trees.

    ``base`` is what they are measured from: the average item, with what all items have in common in that score.
    """
    forest = policy.learner.forest
    base, trees = (None, np.zeros(len(x))) if forest is None else forest.explain(x)
    found = parts_of(features, x, reference, record, None if forest is None else trees)
    slots = set(policy.learner.slots)
    columns = [part for part in found if part.places[0] not in slots]  # named by whoever knows effects of levels
    return Parts(columns, reference if base is None else np.append(reference, base), trees)


def leading_columns(
    policy: Policy, features: FeatureMap | None, items: NDArray[np.float64], most: int = 2
) -> list[list[str]]:
    """Return the fields that say most of each of many items, the strongest first; a policy without a model names none.

    A column with the places J adds m_J'(x - r)_J to the score, with m the posterior mean and r the average item, and a
    level of a column with many levels adds its effect; what trees add is left out, since their shares take long.

    Examples
    --------
    >>> import appletaste as at
    >>> features = at.Encoder().fit([{"age": 30, "job": "chef"}, {"age": 50, "job": "pilot"}])
    >>> policy = at.policy(n_features=features.n_features, costs=at.Costs(miss=5, false_alarm=1, hit=0))
    >>> x = features.transform({"age": 50, "job": "pilot"})
    >>> policy.teach(x, 1)
    >>> leading_columns(policy, features, x[None, :], 1)
    [['age']]
    """
    try:
        belief = policy.posterior
        mean = belief.mean[: items.shape[1]]
    except OptionError:
        return [[] for _ in items]
    owners, names = _owners(features, items.shape[1])
    adds = mean * (items - average_item(features, items.shape[1], None))
    if policy.learner.slots:
        adds[:, list(policy.learner.slots)] = 0.0
        for row, x in enumerate(items):
            for effect in belief.effects(x):
                adds[row, effect.place] = effect.mean
    sums = np.zeros((len(names), len(items)))
    known = owners >= 0
    np.add.at(sums, owners[known], adds.T[known])
    size = np.abs(sums).T
    return [[names[k] for k in np.argsort(-row, kind="stable")[:most].tolist() if row[k] >= LEAST] for row in size]


def _owners(features: FeatureMap | None, width: int) -> tuple[NDArray[np.intp], list[str]]:
    """Return the field that each place of a vector belongs to, -1 for those of none or several, and all fields."""
    if features is None:
        return np.arange(width), [f"feature {place}" for place in range(1, width + 1)]
    names = list(features.fields)
    owners = np.full(width, -1)
    blocks = [(column.start, len(column.names), column) for column in features.columns if not column.hashed]
    blocks += [(curve.start, len(curve.names), curve.column) for curve in features.curves]
    for start, size, column in blocks:
        owners[start : start + size] = names.index(column.sources[0])
    return owners, names


#: How many columns are named, and the least that one of them adds to the score.
MOST, LEAST = 3, 0.005


class Wording:
    """The columns that say most of each item, in words, by what a policy believes now.

    A column with the places J adds m_J'(x - r)_J to the score, with m the posterior mean and r the average item, as in
    ``appletaste.explain``; what all items need is computed once.

    Examples
    --------
    >>> import appletaste as at
    >>> features = at.Encoder().fit([{"age": 30}, {"age": 50}])
    >>> policy = at.policy(n_features=features.n_features, costs=at.Costs(miss=5, false_alarm=1, hit=0))
    >>> x = features.transform({"age": 50})
    >>> policy.teach(x, 1)
    >>> Wording(policy, features).columns(x)
    ('age = 50 raises the chance',)
    """

    def __init__(self, policy: Policy, features: FeatureMap | TransformerMap | None) -> None:
        self._policy, self._features = policy, features
        self._mean: NDArray[np.float64] | None
        try:
            self._mean = policy.posterior.mean
            self._effects = policy.posterior.effects
        except OptionError:  # a policy without a model has no columns to name
            self._mean = None
        self._average = average_item(features, policy.n_features, None)

    def columns(self, x: NDArray[np.float64], record: dict[str, object] | None = None) -> tuple[str, ...]:
        """Return the columns that say most of an item, in words; the record, where it is known, has the exact cells."""
        if self._mean is None:
            return ()
        mean = self._mean
        found = parts_for(self._policy, self._features, x, self._average, record)
        parts = [(float(mean[part.places] @ part.values), part.words) for part in found.columns]
        for effect in self._effects(x):
            adds = effect.mean + float(mean[-1] * found.trees[effect.place])
            parts.append((adds, level_words(self._features, x, effect.place, record)[1]))
        parts.sort(key=lambda part: -abs(part[0]))
        leading = [part for part in parts[:MOST] if abs(part[0]) >= LEAST]
        return tuple(f"{words} {'raises' if adds > 0 else 'lowers'} the chance" for adds, words in leading)
