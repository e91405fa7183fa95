"""Simulated streams: a policy at work with an audit lane and late labels, its log, and the truth it never saw."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

import appletaste as at
from appletaste.streams.loop import play_through

#: name: (floor of the audit lane, mean delay of a label in rounds, share of labels that never come)
SETTINGS: dict[str, tuple[float, float, float]] = {
    "no audit": (0.0, 0.0, 0.0),
    "audit 5 %": (0.05, 0.0, 0.0),
    "audit 5 %, late and lost labels": (0.05, 100.0, 0.05),
}
ROUNDS = 1000
#: Streams of seeds 5 to 9 were looked at when the intervals were chosen, so they cannot vouch for them. This one was
#: fixed before, and is played once.
SEED = 2027
COSTS = at.Costs(miss=1.0, false_alarm=0.3, hit=0.0)
#: Played with a lane alone, though it never draws: what people will run.
DETERMINISTIC = "voi"


@dataclass(frozen=True)
class Stream:
    """A log and what is true of it."""

    log: at.DecisionLog
    labels: np.ndarray
    gains: np.ndarray  #: what acting on each item changes


def problem(key: at.Key) -> at.problems.Table:
    """Return the items of one stream: four features and an intercept, about one positive in five."""
    return at.problem("synthetic", features=4, rounds=ROUNDS, intercept=-2.2, theta="normal", costs=COSTS).draw(key)


@cache
def players() -> dict[str, tuple[str, dict]]:
    """Return every policy of the registry that draws its actions, with the option that makes it; and ``voi`` as it is.

    Which ones draw is seen by playing: they record probabilities between 0 and 1.
    """
    found: dict[str, tuple[str, dict]] = {}
    table = problem(at.Key(0).at("who draws"))
    for info in at.list_policies():
        options = {"randomised": True} if "randomised" in info.options else {}
        if info.name == "oracle":
            continue  # knows theta, which no log has
        player = at.policy(info.name, n_features=table.n_features, costs=COSTS, **options)
        p = at.play(player, table).probability
        if ((p > 0) & (p < 1)).any():
            found[f"{info.name}, randomised" if options else info.name] = (info.name, options)
    return found | {DETERMINISTIC: (DETERMINISTIC, {})}


def cells() -> list[tuple[str, str]]:
    """Return every policy with every setting; nothing can be said of one that never draws and is never audited."""
    return [(who, how) for who in players() for how in SETTINGS if who != DETERMINISTIC or SETTINGS[how][0] > 0]


def stream(policy: str, setting: str, number: int, seed: int = SEED) -> Stream:
    """Play one stream at a desk with an audit lane; each label comes when it is due, or never."""
    floor, delay, lost = SETTINGS[setting]
    key = at.Key(seed).at("coverage", policy, setting, number)
    table = problem(key.at("problem"))
    name, options = players()[policy]
    player = at.policy(name, n_features=table.n_features, costs=COSTS, seed=int(key.at("policy").word()), **options)
    ledger = at.streams.Ledger(at.Desk(player, audit=at.Audit(floor=floor)))
    rng = key.at("arrivals").generator()
    due = np.arange(ROUNDS) + (rng.exponential(delay, ROUNDS) if delay else 0.0)
    due[rng.random(ROUNDS) < lost] = np.inf
    arrivals = due.tolist() if delay or lost else None
    play_through(ledger, table.items, table.labels.tolist(), clock=range(ROUNDS), arrivals=arrivals)
    log = ledger.log()
    gains = np.where(table.labels == 1, -COSTS.catch_gain, COSTS.alarm_price)
    return Stream(log, table.labels.astype(int), gains)
