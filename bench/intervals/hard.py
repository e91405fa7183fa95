"""Hard streams: truths that no logistic model has, drift, heavy tails, very rare positives, labels lost unequally."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

import appletaste as at
from appletaste.streams.loop import play_through

ROUNDS, FEATURES = 4000, 4
USUAL = at.Costs(miss=10.0, false_alarm=1.0, hit=0.0)
RARE = at.Costs(miss=60.0, false_alarm=1.0, hit=0.0)
#: Features are cut here, as nobody would feed raw heavy tails to a policy; what is cut away is lost to the model alone.
CUT = 8.0

#: features and true scores of a stream
Drawn = tuple[np.ndarray, np.ndarray]


def _normal(rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=(ROUNDS, FEATURES))


def logistic(rng: np.random.Generator) -> Drawn:
    """Return a truth that the model can learn: for comparison."""
    x = _normal(rng)
    return x, -3.0 + x @ (0.8 * rng.normal(size=FEATURES))


def nonlinear(rng: np.random.Generator) -> Drawn:
    """Return a truth of a product and an absolute value, of which the model sees next to nothing."""
    x = _normal(rng)
    return x, -3.6 + 1.2 * x[:, 0] * x[:, 1] + 1.2 * np.abs(x[:, 2])


def drifting(rng: np.random.Generator) -> Drawn:
    """Return a truth whose slopes change their sign halfway."""
    x = _normal(rng)
    half = np.where(np.arange(ROUNDS) < ROUNDS // 2, 1.0, -1.0)
    return x, -3.0 + half * (x @ rng.normal(size=FEATURES))


def student(rng: np.random.Generator) -> Drawn:
    """Return features of Student's t with two degrees of freedom, whose score is bent."""
    x = rng.standard_t(2, size=(ROUNDS, FEATURES))
    return x, -3.0 + 2.0 * np.tanh(x @ rng.normal(size=FEATURES))


def lognormal(rng: np.random.Generator) -> Drawn:
    """Return lognormal features, of which the score takes the sign of one and another one cut."""
    x = np.exp(_normal(rng)) - 1.6
    return x, -3.0 + np.sign(x[:, 0]) + 0.5 * np.clip(x[:, 1], -2.0, 2.0)


def rare(rng: np.random.Generator) -> Drawn:
    """Return a truth with about 0.2 % positives."""
    x = _normal(rng)
    return x, -6.7 + x @ (0.7 * rng.normal(size=FEATURES))


def audits_lost(log: at.DecisionLog, labels: np.ndarray) -> np.ndarray:
    """Return how likely each label is lost: half of the audits' are."""
    return np.where(log.audit, 0.5, 0.0)


def positives_lost(log: at.DecisionLog, labels: np.ndarray) -> np.ndarray:
    """Return how likely each label is lost: 40 % of positives, 5 % of negatives."""
    return np.where(labels == 1, 0.4, 0.05)


@dataclass(frozen=True)
class Hard:
    """How a stream is drawn, who plays it with which audit lane, and which labels are lost."""

    draw: Callable[[np.random.Generator], Drawn]
    policy: str
    floor: float
    costs: at.Costs = USUAL
    loss: Callable[[at.DecisionLog, np.ndarray], np.ndarray] | None = None


HARD = {
    "logistic, `voi`, audit 0.5 %": Hard(logistic, "voi", 0.005),
    "logistic, `voi`, audit 2 %": Hard(logistic, "voi", 0.02),
    "nonlinear, `voi`, audit 2 %": Hard(nonlinear, "voi", 0.02),
    "nonlinear, `ts`, audit 5 %": Hard(nonlinear, "ts", 0.05),
    "drift, `voi`, audit 2 %": Hard(drifting, "voi", 0.02),
    "drift, `voi`, audit 10 %": Hard(drifting, "voi", 0.10),
    "t2 features, `greedy`": Hard(student, "greedy", 0.0),
    "lognormal features, `ids`, audit 2 %": Hard(lognormal, "ids", 0.02),
    "0.2 % positive, `voi`, audit 2 %": Hard(rare, "voi", 0.02, RARE),
    "0.2 % positive, `voi`, audit 10 %": Hard(rare, "voi", 0.10, RARE),
    "half of the audits' labels lost, `voi`, audit 5 %": Hard(logistic, "voi", 0.05, loss=audits_lost),
    "half of the audits' labels lost, `ts`, audit 5 %": Hard(logistic, "ts", 0.05, loss=audits_lost),
    "positives lost, `ts`, audit 5 %": Hard(logistic, "ts", 0.05, loss=positives_lost),
}


def hard_log(name: str, number: int, seed: int) -> at.DecisionLog:
    """Play one hard stream; its log has the truth of every item."""
    how, key = HARD[name], at.Key(seed).at("hard", name, number)
    rng = key.at("stream").generator()
    x, score = how.draw(rng)
    labels = (rng.random(ROUNDS) < 1.0 / (1.0 + np.exp(-score))).astype(np.int8)
    items = np.column_stack([np.ones(ROUNDS), np.clip(x, -CUT, CUT)])
    policy = at.policy(how.policy, n_features=FEATURES + 1, costs=how.costs, seed=int(key.at("policy").word()))
    ledger = at.streams.Ledger(at.Desk(policy, audit=at.Audit(floor=how.floor)))
    play_through(ledger, items, labels.tolist())
    log = replace(ledger.log(), truth=labels)
    return log if how.loss is None else without(log, rng.random(ROUNDS) < how.loss(log, labels))


def without(log: at.DecisionLog, lost: np.ndarray) -> at.DecisionLog:
    """Return a log with some of its labels lost."""
    lost = lost & log.act
    label = np.where(lost, -1, log.label).astype(np.int8)
    return replace(log, label=label, state=np.where(lost, "expired", log.state), label_time=None)
