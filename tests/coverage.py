"""Streams whose truth is known, and every interval that is claimed about their logs, beside that truth."""

from dataclasses import replace

import numpy as np

import appletaste as at
from appletaste.evaluate.by_design import by_design
from appletaste.evaluate.missed import FLOOR
from appletaste.evaluate.support import support_of

LEVEL, ROUNDS, AUDITED = 0.9, 1000, 0.05
COSTS = at.Costs(miss=1.0, false_alarm=0.3, hit=0.0)
#: Missed: Horvitz-Thompson and Hájek; recall; the model. What-if: a threshold of 0.15 and a fixed rule.
MISSED = ("missed, HT", "missed, Hájek", "recall, HT", "recall, Hájek", "missed, model")
WHAT_IF = ("threshold, IPS", "threshold, SNIPS", "threshold, DR", "rule, IPS", "rule, SNIPS", "rule, DR")
SAVING = ("threshold, saving", "rule, saving", "logged cost")
#: At least 90 % is promised of these, not 90 %: they allow for the worst.
BOUNDS = ("missed in all", "recall in all", "missed, labels missing")
CONTROL = ("control: constant p, HT", "control: constant p, IPS")
#: A label takes 100 rounds on average, and one in twenty never arrives.
LATE = {"delay": 100.0, "lost": 0.05}


def play(key, delay=0.0, lost=0.0):
    """Play one stream of Thompson sampling with an audit lane; return its log and all labels.

    Four features and an intercept, about one positive in five; each label arrives when it is due, or never.
    """
    drawn = at.problem("synthetic", features=4, rounds=ROUNDS, intercept=-2.2, theta="normal", costs=COSTS)
    table = drawn.draw(key.at("problem"))
    policy = at.policy("ts", n_features=table.n_features, costs=COSTS, seed=int(key.at("policy").word()))
    ledger = at.streams.Ledger(at.Desk(policy, audit=at.Audit(floor=AUDITED)))
    rng = key.at("arrivals").generator()
    due = np.arange(ROUNDS) + (rng.exponential(delay, ROUNDS) if delay else 0.0)
    due[rng.random(ROUNDS) < lost] = np.inf
    for t in range(ROUNDS + 1):  # the last time only for what is due by then
        for id_ in [id_ for id_ in ledger.pending if due[int(id_)] < t]:
            ledger.label(id_, int(table.labels[int(id_)]))
        if t < ROUNDS:
            ledger.decide(table.items[t], id=str(t))
    return ledger.log(), table.labels.astype(int)


def rule(x):
    """Return the probability that a fixed rule of thumb acts with."""
    return 0.8 if x[0] > 0.3 else 0.1


def mislogged(log):
    """Return the log as if somebody had recorded the rate of acting instead of each probability."""
    return replace(log, probability=np.where(log.probability < 1, log.act.mean(), log.probability))


def row(answer, truth):
    """Return value, low end, high end and truth; None where the question was refused."""
    if isinstance(answer, at.evaluate.Estimate):
        return answer.value, answer.low, answer.high, truth
    return (np.nan, *answer, truth) if isinstance(answer, tuple) else None


def check(log, labels):
    """Return each interval with its truth."""
    gains = np.where(labels == 1, -COSTS.catch_gain, COSTS.alarm_price)
    support = support_of(log, FLOOR)
    missed, caught = (int(labels[support.usable & side].sum()) for side in (~log.act, log.act))
    missed_all, caught_all = int(labels[~log.act].sum()), int(labels[log.act].sum())
    answer = at.missed(log, LEVEL)
    recall = caught / max(1, caught + missed)
    found = {
        "missed, HT": row(answer.design.missed, missed),
        "missed, Hájek": row(answer.design.missed_hajek, missed),
        "recall, HT": row(answer.design.recall, recall),
        "recall, Hájek": row(answer.design.recall_hajek, recall),
        "missed, model": row(answer.model, missed_all),
        "missed in all": row(answer.total_bounds, missed_all),
        "recall in all": row(answer.recall_bounds, caught_all / max(1, caught_all + missed_all)),
    }
    if answer.label_bounds is not None:  # those are of the log as it would be had all labels arrived
        came = np.where(log.act, labels, -1).astype(np.int8)
        whole = support_of(replace(log, label=came, state=np.where(log.act, "observed", log.state)), FLOOR)
        found["missed, labels missing"] = row(answer.label_bounds, int(labels[whole.usable & ~log.act].sum()))
    logged = float(gains[log.act].sum())
    acting = {"threshold": (0.15, (log.chance >= 0.15).astype(float)), "rule": (rule, np.array(list(map(rule, log.x))))}
    for name, (change, e) in acting.items():
        other, truth = at.what_if(log, change, level=LEVEL), float((e * gains).sum())
        for kind in ("ips", "snips", "dr"):
            found[f"{name}, {kind.upper()}"] = row(getattr(other, kind), truth)
        found[f"{name}, saving"] = row(other.saving, logged - truth)
        if not log.labelled[log.act].all():  # else it is known
            found["logged cost"] = row(other.logged, logged)
    wrong = mislogged(log)
    found["control: constant p, HT"] = row(by_design(wrong, support_of(wrong, FLOOR), LEVEL, FLOOR).missed, missed_all)
    control = at.what_if(wrong, 0.15, level=LEVEL)
    found["control: constant p, IPS"] = row(control.ips, float((acting["threshold"][1] * gains).sum()))
    return found


def answers(streams, seed=11, **arrivals):
    """Return all answered rows of each interval over many streams, [answers, (value, low, high, truth)]."""
    asked = [check(*play(at.Key(seed).at("coverage", str(arrivals), k), **arrivals)) for k in range(streams)]
    names = {name for found in asked for name in found}
    return {name: np.array([found[name] for found in asked if found.get(name) is not None]) for name in names}
