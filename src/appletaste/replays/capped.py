"""What rules without a policy do with limited reviewers: first come first served, or the best of hindsight."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

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
