"""Streams whose labels arrive later, or get lost more often, by class or by lane; and labels of passes, *reports*."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

import appletaste as at
from appletaste.streams.loop import play_through

from .hard import FEATURES, ROUNDS, USUAL, logistic


@dataclass(frozen=True)
class Late:
    """Who plays, with which audits, how late labels of each class are on average, and how many are lost."""

    policy: str = "voi"
    audit: at.Audit = at.Audit(floor=0.05)  # noqa: RUF009
    delays: tuple[float, float] = (0.0, 0.0)  #: of negatives and of positives, in rounds
    lost: tuple[float, float] = (0.0, 0.0)  #: of negatives and of positives
    audits_lost: float = 0.0
    law: str = "exponential"


LATE = {
    "half of the audits' labels lost (o7)": Late(audits_lost=0.5),
    "40 % of positives lost, 5 % of negatives (o8)": Late(lost=(0.05, 0.4)),
    "positives 50 late, negatives 600 (o8b)": Late(delays=(600.0, 50.0)),
    "positives 600 late, negatives 50, rate (n8)": Late(delays=(50.0, 600.0), audit=at.Audit(rate=0.05)),
    "positives 600 late, negatives 50, floor (n8f)": Late(delays=(50.0, 600.0)),
    "the same, always": Late(delays=(50.0, 600.0), law="fixed"),
    "the same, and 30 % of positives lost": Late(delays=(50.0, 600.0), lost=(0.05, 0.3)),
    "both 300 late, 10 % lost": Late(delays=(300.0, 300.0), lost=(0.1, 0.1)),
    "positives 600 late, negatives 50, `ts`": Late("ts", delays=(50.0, 600.0)),
}


def late_log(name: str, number: int, seed: int) -> at.DecisionLog:
    """Play one stream in time; its log has the truth of every item."""
    how, key = LATE[name], at.Key(seed).at("late", name, number)
    rng = key.at("stream").generator()
    x, score = logistic(rng)
    labels = (rng.random(ROUNDS) < 1.0 / (1.0 + np.exp(-score))).astype(np.int8)
    means = np.where(labels == 1, how.delays[1], how.delays[0])
    due = np.arange(ROUNDS) + (means * rng.exponential(size=ROUNDS) if how.law == "exponential" else means)
    due[rng.random(ROUNDS) < np.where(labels == 1, how.lost[1], how.lost[0])] = np.inf
    policy = at.policy(how.policy, n_features=FEATURES + 1, costs=USUAL, seed=int(key.at("policy").word()))
    ledger = at.streams.Ledger(at.Desk(policy, audit=how.audit))
    clock = [float(t) for t in range(ROUNDS)]
    items = np.column_stack([np.ones(ROUNDS), x])
    play_through(
        ledger, items, labels.tolist(), clock=clock, times=clock, arrivals=due.tolist(), label_times=due.tolist()
    )
    log = replace(ledger.log(), truth=labels)
    lost = log.act & log.audit & (rng.random(ROUNDS) < how.audits_lost)
    label_time = log.label_time
    label = np.where(lost, -1, log.label).astype(np.int8)
    state = np.where(lost, "expired", log.state)
    return replace(log, label=label, state=state, label_time=np.where(lost, np.nan, label_time))
