"""What is asked of one stream, and whether each interval covers the truth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import appletaste as at
from appletaste.evaluate.meter import FLOOR
from appletaste.evaluate.support import support_of

from .streams import COSTS, Stream

#: Missed: Horvitz-Thompson and Hájek; recall; the model. What-if: a threshold of 0.15 and a fixed rule.
MISSED = ("missed, HT", "missed, Hájek", "recall, HT", "recall, Hájek", "missed, model")
WHAT_IF = ("threshold, IPS", "threshold, SNIPS", "threshold, DR", "rule, IPS", "rule, SNIPS", "rule, DR")
CONTROL = ("control: constant p, HT", "control: constant p, IPS")
LEVEL = 0.9


def rule(x: np.ndarray) -> float:
    """Return the probability that a fixed rule of thumb acts with."""
    return 0.8 if x[0] > 0.3 else 0.1


def mislogged(log: at.DecisionLog) -> at.DecisionLog:
    """Return the log as if somebody had recorded the rate of acting instead of each probability."""
    p = np.where(log.probability < 1, log.act.mean(), log.probability)
    return replace(log, probability=p)


def check(stream: Stream) -> dict[str, float]:
    """Return, for each interval, 1 (covers), 0 (does not) or NaN (refused); and a few numbers beside."""
    log, labels = stream.log, stream.labels
    found: dict[str, float] = {}

    def note(name: str, answer: object, truth: float) -> None:
        found[name] = float(answer.covers(truth)) if isinstance(answer, at.Estimate) else np.nan

    usable = support_of(log, FLOOR).usable
    missed = int(labels[usable & ~log.act].sum())
    caught = int(labels[usable & log.act].sum())
    answer = at.missed(log, LEVEL)
    note("missed, HT", answer.design.missed, missed)
    note("missed, Hájek", answer.design.missed_hajek, missed)
    recall = caught / max(1, caught + missed)
    note("recall, HT", answer.design.recall, recall)
    note("recall, Hájek", answer.design.recall_hajek, recall)
    note("missed, model", answer.model, int(labels[~log.act].sum()))
    acting = {
        "threshold": (0.15, (log.chance >= 0.15).astype(float)),
        "rule": (rule, np.array([rule(x) for x in log.x])),
    }
    for name, (change, e) in acting.items():
        other = at.what_if(log, change, level=LEVEL)
        truth = float((e * stream.gains).sum())
        for kind in ("ips", "snips", "dr"):
            note(f"{name}, {kind.upper()}", getattr(other, kind), truth)
    wrong = mislogged(log)
    note("control: constant p, HT", at.missed(wrong, LEVEL).design.missed, int(labels[~log.act].sum()))
    control = at.what_if(wrong, 0.15, level=LEVEL)
    note("control: constant p, IPS", control.ips, float((acting["threshold"][1] * stream.gains).sum()))
    if isinstance(answer.design.missed, at.Estimate):
        found |= {"truth": missed, "estimate": answer.design.missed.value}
        found["width"] = answer.design.missed.high - answer.design.missed.low
        found["below"] = float(missed < answer.design.missed.low)
    found["unsupported"] = answer.unsupported_share
    found["positives"] = float(answer.design.seen_positives)
    found["whole"] = np.nan
    if answer.total_bounds is not None:
        found["whole"] = float(answer.total_bounds[0] <= labels[~log.act].sum() <= answer.total_bounds[1])
    return found


__all__ = ["CONTROL", "COSTS", "LEVEL", "MISSED", "WHAT_IF", "check"]
