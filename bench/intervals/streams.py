"""Simulated streams: a policy at work with an audit lane and late labels, its log, and the truth it never saw."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import appletaste as at
from appletaste.kernels.random import uniform_at

#: Every stochastic policy of the registry, with the options that make it draw.
POLICIES: dict[str, tuple[str, dict]] = {
    "ts": ("ts", {}),
    "pg-ts": ("pg-ts", {}),
    "exact-ts": ("exact-ts", {}),
    "voi, randomised": ("voi", {"randomised": True}),
    "ucb, randomised": ("ucb", {"randomised": True}),
    "greedy, epsilon 0.1": ("greedy", {"epsilon": 0.1}),
    "pg-ids": ("pg-ids", {}),
    "ids": ("ids", {}),
}
#: name: (floor of the audit lane, mean delay of a label in rounds, share of labels that never come)
SETTINGS: dict[str, tuple[float, float, float]] = {
    "no audit": (0.0, 0.0, 0.0),
    "audit 5 %": (0.05, 0.0, 0.0),
    "audit 5 %, late and lost labels": (0.05, 100.0, 0.05),
}
ROUNDS = 1000
#: Not 5: on streams of that seed the rules of ``support`` and ``stand_ins`` were chosen, so they cannot vouch for them.
SEED = 6
COSTS = at.Costs(miss=1.0, false_alarm=0.3, hit=0.0)


@dataclass(frozen=True)
class Stream:
    """A log and what is true of it."""

    log: at.DecisionLog
    labels: np.ndarray
    gains: np.ndarray  #: what acting on each item changes
    chances: np.ndarray


def stream(policy: str, setting: str, number: int, seed: int = SEED) -> Stream:
    """Play one stream; an audit lane of floor f makes the probability of acting max(p, f), and that is logged."""
    floor, delay, lost = SETTINGS[setting]
    key = at.Key(seed).at("coverage", policy, setting, number)
    table = at.problem("synthetic", features=4, rounds=ROUNDS, intercept=-2.2, theta="normal", costs=COSTS).draw(
        key.at("problem")
    )
    name, options = POLICIES[policy]
    player = at.policy(name, n_features=table.n_features, costs=COSTS, seed=int(key.at("policy").word()), **options)
    rng = key.at("arrivals").generator()
    due = np.arange(ROUNDS) + (rng.exponential(delay, ROUNDS) if delay else 0.0)
    due[rng.random(ROUNDS) < lost] = np.inf
    word = player._action_key
    acts, audits = np.zeros(ROUNDS, dtype=bool), np.zeros(ROUNDS, dtype=bool)
    probabilities, chance = np.empty(ROUNDS), np.full(ROUNDS, np.nan)
    waiting: list[tuple[float, at.Decision, int]] = []
    for t in range(ROUNDS):
        for late in [entry for entry in waiting if entry[0] < t]:
            player.learn(late[1], late[2])
        waiting = [entry for entry in waiting if entry[0] >= t]
        belief = player._learner.belief
        chance[t] = belief.score(table.items[t], t + 1).outlook(COSTS).chance
        decision = player.decide(table.items[t])
        probabilities[t] = max(decision.probability, floor)
        # the policy acted if u < p; the lane acts besides if p <= u < floor: one uniform serves both
        acts[t] = bool(uniform_at(word, t + 1) < probabilities[t])
        audits[t] = acts[t] and not decision.act
        if acts[t] and np.isfinite(due[t]):
            shown = decision if decision.act else decision._replace(act=True)
            waiting.append((due[t], shown, int(table.labels[t])))
            if not delay:
                player.learn(shown, int(table.labels[t]))
                waiting.pop()
    trace = at.Trace(acts, probabilities, table.regret_of(acts))
    known = due < ROUNDS
    log = at.DecisionLog.from_trace(table, trace, policy=policy, chance=chance, known=known, audit=audits)
    gains = np.where(table.labels == 1, -COSTS.catch_gain, COSTS.alarm_price)
    return Stream(log, table.labels.astype(int), gains, table.chances)
