"""What a policy is measured against: never, always, today's rule, hindsight, and a learner that sees every label.

What rules without a policy do with limited reviewers: first come first served, or the best of hindsight.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from ..costs import Costs
from ..costs_by_item import CostColumns
from ..history.labelled import Groups
from ..policies import Bayesian, Policy, PolicySpec, find, policy
from ..posteriors import Gaussian, Laplace
from ..rules import EpsilonGreedy
from ..streams import Budget


def within(
    budget: Budget | None, wanted: NDArray[np.intp], items: int, times: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Return who is acted on where those ``wanted`` are served in turn, as far as the caps of a budget go.

    Wanted in the order of time this is first come first served. In the order of their value it is a perfect ranking:
    with a cap on each day no choice is better; with a share of any window none is better where all are worth the same,
    since an act that is moved forward leaves all later windows their room.

    Examples
    --------
    >>> within(Budget(share=0.5, window=4), np.array([0, 1, 2, 5]), 6, np.arange(6.0))
    array([ True,  True, False, False, False,  True])
    """
    acts = np.zeros(items, dtype=bool)
    if budget is None:
        acts[wanted] = True
        return acts
    spent, days = np.zeros(items, dtype=np.int32), Counter[int]()  # acts in the window that begins at each item
    today = None if budget.per_day is None else [budget.day_of(now).number for now in times.tolist()]
    for k in wanted.tolist():
        if today is not None and days[today[k]] >= budget.most_of(today[k]):
            continue
        if budget.share is not None:
            windows = spent[max(k - budget.window + 1, 0) : k + 1]
            if windows.max() >= budget.most:
                continue
            windows += 1
        if today is not None:
            days[today[k]] += 1
        acts[k] = True
    return acts


FULL_INFORMATION = "full-information"
BOOSTER = "booster, all labels"
TODAY = "today"
#: Shown in every replay, after the policies; today's rule where there is one, and the booster where it is installed.
COMPARATORS = ("never", "always", TODAY, "oracle", FULL_INFORMATION, BOOSTER)


def known_acts(
    name: str,
    labels: NDArray[np.int8],
    costs: Costs | CostColumns,
    *,
    times: NDArray[np.float64] | None = None,
    budget: Budget | None = None,
    today: NDArray[np.bool_] | None = None,
) -> NDArray[np.bool_] | None:
    """Return what never, always, today's rule and the oracle do, without playing; None for whoever has to be played.

    The oracle acts on a label c iff cost(act, c) < cost(pass, c): on the positives, where that pays. With a budget the
    others are served first come first served, and the oracle takes the items that save most (``within``).

    Examples
    --------
    >>> known_acts("oracle", np.array([0, 1], dtype=np.int8), Costs(miss=5, false_alarm=1, hit=0))
    array([False,  True])
    """
    items = len(labels)
    if name == "oracle":
        saved = np.where(labels == 1, costs.catch_gain, -costs.alarm_price)
        wanted = np.argsort(-saved, kind="stable")[: int((saved > 0.0).sum())]
    elif name in ("never", "always"):
        wanted = np.arange(items if name == "always" else 0)
    elif name == TODAY and today is not None:
        wanted = np.flatnonzero(today)
    else:
        return None
    return within(budget, wanted, items, np.arange(items, dtype=np.float64) if times is None else times)


def full_information(n_features: int, costs: Costs, seed: int, groups: Groups = None) -> Policy:
    """Return Bayesian logistic regression that acts on what it believes; it is to be taught every label.

    It is the posterior of ``voi`` and acts iff P(positive) >= threshold, with no need to explore.
    """
    method = Bayesian(Laplace(Gaussian(), skew=True, adaptive=True, groups=groups), EpsilonGreedy(0.0))
    return Policy(method, n_features=n_features, costs=costs, seed=seed, name=FULL_INFORMATION)


def make(entry: PolicySpec, n_features: int, items: int, costs: Costs, seed: int, groups: Groups = None) -> Policy:
    """Return the policy of an entry; the horizon of one that cannot do without is the length of the stream."""
    if entry.name == FULL_INFORMATION:
        return full_information(n_features, costs, seed, groups)
    options = dict(entry.options)
    if groups is not None:
        options.setdefault("groups", groups)
    if find(entry.name).options.get("horizon") is not None:
        options.setdefault("horizon", max(2, items))
    return policy(entry.name, n_features=n_features, costs=costs, seed=seed, **options)
