"""The loop of a replay: decide on each item in turn, learn each label once, when it is due."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from ..decision import Decision
from .players import Player
from .vectors import Matrix


@dataclass(frozen=True)
class Path:
    """What a player did on a stream, item by item."""

    acts: NDArray[np.bool_]
    probabilities: NDArray[np.float64]
    chances: NDArray[np.float64]  #: the model's P(positive) at the time, NaN where it has none
    learnt: NDArray[np.int64]  #: how many labels had been learnt before each decision
    observed: NDArray[np.bool_]  #: whether its label was learnt before the end
    audits: NDArray[np.bool_]  #: whether it was acted on by the audit lane alone


def play_late(
    player: Player,
    items: Matrix,
    labels: NDArray[np.int8],
    times: NDArray[np.float64],
    due: NDArray[np.float64] | None,
    sees_all: bool = False,
) -> Path:
    """Let a player meet every item in turn; a label is learnt before the first decision at or after it is due.

    Labels that are due together are learnt in the order of ``due``, ties in the order of the items; those not due
    before the last decision are never learnt. ``due=None``: every label at once, before the next item. ``sees_all``:
    labels of passed items too, which no policy has; it is for comparison.
    """
    n = len(items)
    acts, observed, audits = (np.zeros(n, dtype=bool) for _ in range(3))
    probabilities, chances, learnt = np.empty(n), np.full(n, np.nan), np.zeros(n, dtype=np.int64)
    truth, clock = labels.tolist(), times.tolist()
    arrivals = None if due is None else due.tolist()
    waiting: list[tuple[float, int]] = []
    pending: dict[int, Decision] = {}
    count = 0
    decide, learn = player.decide, player.learn
    for t in range(n):
        now = clock[t]
        while waiting and waiting[0][0] <= now:
            _, earlier = heappop(waiting)
            learn(pending.pop(earlier), truth[earlier])
            observed[earlier] = True
            count += 1
        learnt[t] = count
        decision = decide(items[t], now)
        acts[t], probabilities[t], audits[t] = decision.act, decision.probability, decision.audit
        chances[t] = decision.why.get("chance_positive", np.nan)
        if not decision.act:
            if not sees_all:
                continue
            decision = decision._replace(act=True)
        if arrivals is None:
            learn(decision, truth[t])
            observed[t] = True
            count += 1
        else:
            heappush(waiting, (arrivals[t], t))
            pending[t] = decision
    return Path(acts, probabilities, chances, learnt, observed, audits)
