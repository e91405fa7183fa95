"""Fits forests: LightGBM grows small trees on the labels seen, fold by fold, and they become arrays."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.forests import DEPTH, FIRST_SLOT, LEAVES, SPLITS
from ..posteriors import Vector
from .forest import Forest

#: What installs the library; said once where it is missing.
INSTALL = "pip install 'appletaste[trees]'"
#: Parts of the labels, in their order, for each of which a forest is fitted without it.
FOLDS = 3
#: Trees that a forest has at most; how many it has is what is best for held-out labels.
ROUNDS, PATIENCE = 80, 8
#: Labels of the rarer kind without which nothing is fitted, and without any one fold.
RARE, RARE_OUTSIDE = 10, 5
#: The rate of a level is that of so many usual labels more than its own.
USUAL = 5.0
#: One core, no chance: the same labels give the same trees.
SETTINGS: dict[str, Any] = {
    "objective": "binary",
    "learning_rate": 0.2,
    "num_leaves": LEAVES - 1,
    "max_depth": DEPTH,
    "min_data_in_leaf": 10,
    "min_sum_hessian_in_leaf": 1.0,
    "lambda_l2": 1.0,
    "max_bin": 127,
    "use_missing": False,
    "metric": "binary_logloss",
    "deterministic": True,
    "force_col_wise": True,
    "num_threads": 1,
    "seed": 1,
    "verbosity": -1,
}


@cache
def library() -> Any:
    """Return LightGBM; None where it is missing, which is said once."""
    try:
        import lightgbm
    except (ImportError, OSError) as error:  # OSError: the library has no libgomp to run with
        reason = "" if isinstance(error, ImportError) else f" ({error})"
        warnings.warn(
            f"the policy learns without trees: LightGBM cannot be loaded{reason}; for trees: {INSTALL}, and without "
            "this message: trees=False",
            UserWarning,
            stacklevel=2,
        )
        return None
    return lightgbm


def fit(
    items: Vector,
    labels: Vector,
    weights: Vector,
    straight: NDArray[np.intp],
    places: NDArray[np.intp] | None = None,
) -> Forest | None:
    """Return a forest for each fold of the labels, fitted without it; None: there is nothing to be learnt from them.

    A fold is a run of labels in the order of learning, so that labels of one week do not speak for each other. All
    forests have as many trees as is best for the labels that each has not seen.

    Parameters
    ----------
    straight
        The places of an item that hold quantities.
    places
        Those that hold slots of levels; a forest sees the share of positives that a level has outside of its fold, and
        outside of the label's own.
    """
    n = len(items)
    places = np.zeros(0, dtype=np.intp) if places is None else places
    positives = float(labels.sum())
    fold = np.arange(n) * FOLDS // n
    inside = np.array([[labels[fold == k].sum(), (fold == k).sum()] for k in range(FOLDS)])
    outside = np.array([positives, n]) - inside
    rarer = np.minimum(outside[:, 0], outside[:, 1] - outside[:, 0])
    if min(positives, n - positives) < RARE or rarer.min() < RARE_OUTSIDE or not weights.sum() > 0.0:
        return None
    slots = _slots(items, places)
    tables = _levels(slots, labels, weights, fold)
    boosters, losses, usual = [], [], []
    for k in range(FOLDS):
        out = fold == k
        seen = np.hstack([items[:, straight], _known(slots, labels, weights, fold, k, tables[k])])
        booster, lost = _boosted(seen, labels, weights, out)
        boosters.append(booster)
        share = np.average(labels[~out], weights=weights[~out] + 1e-12)
        usual.append(-np.where(labels[out] == 1.0, np.log(share), np.log1p(-share)) @ weights[out])
        losses.append(lost * weights[out].sum())
    longest = max(map(len, losses))  # a fold that ended early stays as it was
    held_out = sum(np.append(lost, np.full(longest - len(lost), lost[-1])) for lost in losses) / weights.sum()
    rounds = int(np.argmin(held_out)) + 1
    columns = np.concatenate([straight, len(items[0]) + np.arange(len(places))]).astype(np.int64)
    trees = [_trees(booster, min(rounds, len(lost)), columns) for booster, lost in zip(boosters, losses, strict=True)]
    features, thresholds, leaves, covers = (np.concatenate(parts) for parts in zip(*trees, strict=True))
    return Forest(
        width=items.shape[1],
        labels=n,
        starts=np.cumsum([0, *(len(tree[0]) for tree in trees)]).astype(np.int64),
        features=features,
        thresholds=thresholds,
        leaves=leaves,
        covers=covers,
        places=places.astype(np.int64),
        levels=tables,
        losses=np.array([held_out[rounds - 1], sum(usual) / weights.sum()]),
    )


def _boosted(seen: Vector, labels: Vector, weights: Vector, out: NDArray[np.bool_]) -> tuple[Any, Vector]:
    """Return trees fitted to the labels that are not left out, and the loss of those that are after every tree.

    Trees add to the log-odds of the share of positives, which is not theirs to tell: to leave out labels of a time with
    many positives lowers that share, and a score that had it would tell the time.
    """
    boost, found = library(), {}  # type: Any, dict[str, Any]
    start = np.full(len(labels), _logit(np.average(labels[~out], weights=weights[~out] + 1e-12)))
    told = boost.Dataset(seen[~out], labels[~out], weight=weights[~out], init_score=start[~out])
    held = boost.Dataset(seen[out], labels[out], weight=weights[out], init_score=start[out], reference=told)
    booster = boost.train(
        SETTINGS,
        told,
        ROUNDS,
        valid_sets=[held],
        valid_names=["held"],
        callbacks=[boost.record_evaluation(found), boost.early_stopping(PATIENCE, verbose=False)],
    )
    return booster, np.array(found["held"]["binary_logloss"])


def _logit(share: float) -> float:
    return float(np.log(share) - np.log1p(-share))


def _trees(booster: Any, rounds: int, columns: NDArray[np.int64]) -> tuple[NDArray[np.int64], Vector, Vector, Vector]:
    """Return the first trees of a booster in the layout of the kernels; columns are by their places in an item."""
    told = booster.dump_model(num_iteration=rounds)["tree_info"]
    features = np.zeros((len(told), SPLITS), dtype=np.int64)
    thresholds, leaves = np.full((len(told), SPLITS), np.inf), np.zeros((len(told), LEAVES))
    covers = np.zeros((len(told), SPLITS + LEAVES))
    for t, tree in enumerate(told):
        _write(tree["tree_structure"], 0, columns, features[t], thresholds[t], leaves[t], covers[t])
        covers[t] /= covers[t, 0] or 1.0
    return features, thresholds, leaves, covers


def _write(
    node: dict[str, Any],
    at: int,
    columns: NDArray[np.int64],
    features: NDArray[np.int64],
    thresholds: Vector,
    leaves: Vector,
    covers: Vector,
) -> None:
    """Write a node and those below it; a leaf that is no deep one goes on to the left."""
    rest = columns, features, thresholds, leaves, covers
    covers[at] = node.get("internal_count", node.get("leaf_count", 1))
    if "split_feature" in node:
        features[at], thresholds[at] = columns[node["split_feature"]], node["threshold"]
        _write(node["left_child"], 2 * at + 1, *rest)
        _write(node["right_child"], 2 * at + 2, *rest)
    elif at >= SPLITS:
        leaves[at - SPLITS] = node["leaf_value"]
    else:
        _write(node, 2 * at + 1, *rest)


def _slots(items: Vector, places: NDArray[np.intp]) -> NDArray[np.int64]:
    return np.asarray(items[:, places] - FIRST_SLOT, dtype=np.int64).reshape(len(items), len(places))


def _levels(slots: NDArray[np.int64], labels: Vector, weights: Vector, fold: NDArray[np.intp]) -> Vector:
    """Return what each forest knows of each slot, [fold, column, slot]: log-odds of its labels outside of the fold.

    The last entry of a column is that of slots without a label: the log-odds of all labels outside of the fold.
    """
    last = int(slots.max(initial=-1)) + 1
    found = np.empty((FOLDS, slots.shape[1], last + 1))
    for k in range(FOLDS):
        out = fold != k
        for c in range(slots.shape[1]):
            counts = np.array(
                [np.bincount(slots[out, c], weights[out] * kind, last + 1) for kind in (labels[out], 1 - labels[out])]
            )
            found[k, c] = _log_odds(counts)
    return found


def _log_odds(counts: Vector) -> Vector:
    """Return the log-odds of levels by their weighted counts [positive or negative, level], towards those of all."""
    share = (counts[0].sum() + 0.5) / (counts.sum() + 1.0)
    return np.asarray(np.log(counts[0] + USUAL * share) - np.log(counts[1] + USUAL * (1.0 - share)))


def _known(
    slots: NDArray[np.int64], labels: Vector, weights: Vector, fold: NDArray[np.intp], k: int, table: Vector
) -> Vector:
    """Return what the forest of a fold sees of the levels of labelled items.

    Items of the fold are looked up in its table. The others were counted there, so for each of them the labels of its
    own fold are left out as well: a level enters by what is known without its own label.
    """
    seen = np.empty(slots.shape)
    for c in range(slots.shape[1]):
        seen[:, c] = table[c, slots[:, c]]
        for j in range(FOLDS):
            if j == k:
                continue
            rest = (fold != k) & (fold != j)
            counts = np.array(
                [
                    np.bincount(slots[rest, c], weights[rest] * kind, table.shape[1])
                    for kind in (labels[rest], 1 - labels[rest])
                ]
            )
            seen[fold == j, c] = _log_odds(counts)[slots[fold == j, c]]
    return seen
