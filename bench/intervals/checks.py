"""What is asked of one stream: every interval that is claimed, and the truth that it should hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import appletaste as at
from appletaste.evaluate.by_design import by_design
from appletaste.evaluate.missed import FLOOR
from appletaste.evaluate.support import settled, support_of

from .streams import Stream

LEVEL = 0.9
#: Missed: Horvitz-Thompson and Hájek; recall; the model. What-if: a threshold of 0.15 and a fixed rule.
MISSED = ("missed, HT", "missed, Hájek", "recall, HT", "recall, Hájek", "missed, model")
WHAT_IF = ("threshold, IPS", "threshold, SNIPS", "threshold, DR", "rule, IPS", "rule, SNIPS", "rule, DR")
SAVING = ("threshold, saving", "rule, saving", "logged cost")
#: At least 90 % is promised of these, not 90 %: they allow for the worst.
BOUNDS = ("missed in all", "recall in all", "missed, labels missing")
CONTROL = ("control: constant p, HT", "control: constant p, IPS")
NAMES = (*MISSED, *WHAT_IF, *SAVING, *BOUNDS, *CONTROL)
BESIDE = ("unsupported", "positives")

#: value, low end, high end, truth
Row = tuple[float, float, float, float]
NOTHING = (np.nan,) * 4


def rule(x: np.ndarray) -> float:
    """Return the probability that a fixed rule of thumb acts with."""
    return 0.8 if x[0] > 0.3 else 0.1


def mislogged(log: at.DecisionLog) -> at.DecisionLog:
    """Return the log as if somebody had recorded the rate of acting instead of each probability."""
    p = np.where(log.probability < 1, log.act.mean(), log.probability)
    return replace(log, probability=p)


def row(answer: object, truth: float) -> Row:
    """Return an answer beside the truth; NaN where there is none."""
    if isinstance(answer, at.evaluate.Estimate):
        return answer.value, answer.low, answer.high, truth
    if isinstance(answer, tuple):
        return np.nan, *answer, truth
    return NOTHING


def check(stream: Stream) -> dict[str, Row]:
    """Return each interval with its truth, and a few numbers beside."""
    log, labels = stream.log, stream.labels
    support = support_of(log, FLOOR)
    missed = int(labels[support.usable & ~log.act].sum())
    caught = int(labels[support.usable & log.act].sum())
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
    if answer.label_bounds is not None:  # those are of the log as it would be with all labels in
        came = np.where(log.act, labels, -1).astype(np.int8)
        whole = support_of(replace(log, label=came, state=np.where(log.act, "observed", log.state)), FLOOR)
        found["missed, labels missing"] = row(answer.label_bounds, int(labels[whole.usable & ~log.act].sum()))
    asked = np.isin(log.id, settled(log).id)  # what_if leaves out the rest
    gains = np.where(asked, stream.gains, 0.0)
    logged = float(gains[log.act].sum())
    acting = {
        "threshold": (0.15, (log.chance >= 0.15).astype(float)),
        "rule": (rule, np.array([rule(x) for x in log.x])),
    }
    for name, (change, e) in acting.items():
        other = at.what_if(log, change, level=LEVEL)
        truth = float((e * gains).sum())
        for kind in ("ips", "snips", "dr"):
            found[f"{name}, {kind.upper()}"] = row(getattr(other, kind), truth)
        found[f"{name}, saving"] = row(other.saving, logged - truth)
        if not log.labelled[log.act].all():  # else it is known
            found["logged cost"] = row(other.logged, logged)
    wrong = mislogged(log)
    found["control: constant p, HT"] = row(by_design(wrong, support_of(wrong, FLOOR), LEVEL, FLOOR).missed, missed_all)
    control = at.what_if(wrong, 0.15, level=LEVEL)
    found["control: constant p, IPS"] = row(control.ips, float((acting["threshold"][1] * gains).sum()))
    found["unsupported"] = (answer.unsupported_share, np.nan, np.nan, np.nan)
    found["positives"] = (float(answer.design.seen_positives), np.nan, np.nan, np.nan)
    return found
