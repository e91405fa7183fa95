"""Audit plans carried out: recall, and whether it is then known as closely and as surely as was planned."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

import appletaste as at

from .checks import LEVEL, row
from .store import Cell, keep, kept, place

MARGIN, MONTH, FOUND = 0.05, 20_000, 600
#: How the model's chances stand to the true ones.
MODELS = (
    "chances that are right",
    "chances half or double the truth",
    "chances that are right, for 4.5 points",
    "half the audits",
)
NAMES = ("recall, HT", "recall, Hájek", "missed, HT", "half-width", "off", "audits")


def month(model: str, number: int, seed: int) -> list[tuple[float, ...]]:
    """Plan on one month's chances, audit the next by the plan, and ask the meter."""
    rng = at.Key(seed).at("plans", model, number).generator()
    plan = at.plan_audit(
        rng.beta(0.3, 20, MONTH), found=FOUND, margin=0.045 if model == MODELS[2] else MARGIN, level=LEVEL
    )
    said = rng.beta(0.3, 20, MONTH)
    wrong = np.where(rng.random(MONTH) < 0.5, 0.5, 2.0) if model == MODELS[1] else 1.0
    labels = rng.random(MONTH) < np.minimum(said * wrong, 1.0)
    lane = plan.lane()
    p = np.array([lane.floor_of(None, chance) for chance in said]) * (0.5 if model == MODELS[3] else 1.0)
    act = rng.random(MONTH) < p
    # besides, the items that the policy itself acts on: the positives that acting finds, for certain
    p, act = np.append(p, np.ones(FOUND)), np.append(act, np.ones(FOUND, dtype=bool))
    labels = np.append(labels, np.ones(FOUND, dtype=bool)).astype(np.int8)
    n = len(p)
    seen = np.where(act, labels, np.nan)
    costs = {"miss": np.full(n, 5.0), "false_alarm": np.full(n, 1.0), "hit": np.zeros(n)}
    log = at.DecisionLog.from_columns({"id": np.arange(n), "act": act, "probability": p, "label": seen, **costs})
    design = at.missed(log, LEVEL).design
    missed = int(labels[~act].sum())
    truth = int(labels[act].sum()) / int(labels.sum())
    recall = design.recall
    ends = (0.5 * (recall.high - recall.low), recall.value - truth) if recall else (np.nan, np.nan)
    beside = [(v, np.nan, np.nan, np.nan) for v in (*ends, float(act.sum() - FOUND))]
    return [row(recall, truth), row(design.recall_hajek, truth), row(design.missed, missed), *beside]


def plan_cells(folder: Path, count: int, seed: int, parallel: Parallel) -> list[Cell]:
    """Return one cell for each way in which the model may stand to the truth."""
    found = []
    for model in MODELS:
        path = place(folder, "plans", model, seed)
        cell = kept(path, "plans", model, count)
        if cell is None:
            rows = np.array(parallel(delayed(month)(model, k, seed) for k in range(count)))
            cell = Cell("plans", model, NAMES, rows)
            keep(path, cell)
        found.append(cell)
    return found
