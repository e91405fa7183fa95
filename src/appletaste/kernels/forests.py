"""Small trees, as arrays: their score of an item, and the part of each column in the score (docs/trees.md).

A tree has ``DEPTH`` levels and all of them: split s sends an item on to split 2 s + 1 where its value is at most the
threshold, else to 2 s + 2. A branch that ended earlier goes on with thresholds of infinity.

    features, thresholds [tree, SPLITS]      which place of an item a split looks at, and where it splits
    leaves [tree, LEAVES]                    what a tree adds to the log-odds
    covers [tree, SPLITS + LEAVES]           the share of the labels that came to a split, and to a leaf
    starts [fold + 1]                        the trees of a fold are those from its start to the next one

There are as many forests as folds, each fitted without the labels of its fold. A place that holds the slot of a level
is looked up: ``levels`` [fold, column, slot] is what each forest knows of the slot, its last entry that of slots that
nobody knew, and ``places`` are the places of these columns. So a split looks at an item with ``d`` values and, behind
them, one for each column of levels.
"""

from __future__ import annotations

from ._jit import Indices, Matrix, Vector, Walk, kernel, part

DEPTH = 4
SPLITS, LEAVES = 2**DEPTH - 1, 2**DEPTH
#: Where log-odds end, and by what they are divided: a usual score is then about 1 in size.
END, UNIT = 5.0, 2.5
#: What an item holds for slot 0 (``features.levels.FIRST``).
FIRST_SLOT = 2.0**40


@part
def look_up(x: Vector, fold: int, places: Indices, levels: Walk, seen: Vector) -> None:
    """Write behind the values of an item what the forest of a fold knows of its levels."""
    d, last = x.size, levels.shape[2] - 1
    for c in range(places.size):
        slot = min(max(x[places[c]] - FIRST_SLOT, 0.0), float(last))
        seen[d + c] = levels[fold, c, int(slot)]


@part
def total(seen: Vector, first: int, end: int, features: Indices, thresholds: Matrix, leaves: Matrix) -> float:
    """Return the sum of the leaves that an item comes to in the trees from the first to before the end."""
    found = 0.0
    for t in range(first, end):
        at = 0
        for _ in range(DEPTH):
            at = 2 * at + 1 + (not seen[features[t, at]] <= thresholds[t, at])
        found += leaves[t, at - SPLITS]
    return found


@part
def in_units(log_odds: float) -> float:
    """Return log-odds as the value of a feature."""
    return min(max(log_odds, -END), END) / UNIT


@kernel
def lengthen(
    x: Vector,
    fold: int,
    places: Indices,
    levels: Walk,
    starts: Indices,
    features: Indices,
    thresholds: Matrix,
    leaves: Matrix,
    seen: Vector,
    longer: Vector,
) -> None:
    """Write an item with its score behind: that of the forest of a fold, or of fold -1, the mean of all forests."""
    d = x.size
    for j in range(d):
        seen[j] = longer[j] = x[j]
    first, end = fold, fold + 1
    if fold < 0:
        first, end = 0, starts.size - 1
    found = 0.0
    for k in range(first, end):
        look_up(x, k, places, levels, seen)
        found += total(seen, starts[k], starts[k + 1], features, thresholds, leaves)
    longer[d] = in_units(found / (end - first))


@kernel
def lengthen_labelled(
    items: Matrix,
    labels: int,
    places: Indices,
    levels: Walk,
    starts: Indices,
    features: Indices,
    thresholds: Matrix,
    leaves: Matrix,
    seen: Vector,
    longer: Matrix,
) -> None:
    """Write items with their scores behind: label i of those fitted on has the forest of its fold, later ones all."""
    folds = starts.size - 1
    for i in range(items.shape[0]):
        fold = i * folds // labels if i < labels else -1
        lengthen(items[i], fold, places, levels, starts, features, thresholds, leaves, seen, longer[i])


@part
def shapley_weight(others: int, size: int) -> float:
    """Return s! (m - 1 - s)! / m! for a coalition of s among m - 1 others."""
    found = 1.0 / (others + 1)
    for k in range(size):
        found *= (k + 1.0) / (others - k)
    return found


@kernel
def explain(
    x: Vector,
    places: Indices,
    levels: Walk,
    starts: Indices,
    features: Indices,
    thresholds: Matrix,
    leaves: Matrix,
    covers: Matrix,
    seen: Vector,
    path: Matrix,
    parts: Vector,
) -> float:
    """Write the part of each place in the mean log-odds of an item, and return what all items have in common.

    Path-dependent Shapley values (Lundberg et al. 2020). A leaf v with the columns J on its path is the game

        f(S) = v product over j in S of z_j, product over j not in S of w_j,

    z_j being 1 where the item takes all splits of the path that look at j, and w_j the share of the labels at these
    splits that do. A path has ``DEPTH`` columns at most, so that the games are summed as they are written.
    ``path`` [4, DEPTH + 1] is room: of each column of a path its number, z and w, and sums over coalitions by size.
    """
    d, folds = x.size, starts.size - 1
    for j in range(d):
        seen[j], parts[j] = x[j], 0.0
    base = 0.0
    for fold in range(folds):
        look_up(x, fold, places, levels, seen)
        for t in range(starts[fold], starts[fold + 1]):
            for leaf in range(LEAVES):
                if covers[t, SPLITS + leaf] <= 0.0:
                    continue
                columns, at, share = 0, SPLITS + leaf, 1.0
                while at > 0:
                    above = (at - 1) // 2
                    ratio = covers[t, at] / covers[t, above]
                    left = seen[features[t, above]] <= thresholds[t, above]
                    takes = 1.0 if left == (at == 2 * above + 1) else 0.0
                    share *= ratio
                    k = 0
                    while k < columns and path[0, k] != features[t, above]:
                        k += 1
                    if k == columns:
                        path[0, k], path[1, k], path[2, k] = features[t, above], 1.0, 1.0
                        columns += 1
                    path[1, k] *= takes
                    path[2, k] *= ratio
                    at = above
                value = leaves[t, leaf] / folds
                base += value * share
                for k in range(columns):
                    change = path[1, k] - path[2, k]
                    if change == 0.0:
                        continue
                    # e_s = sum over coalitions of s others of their product, by multiplying (w + z u) out
                    path[3, 0], others = 1.0, 0
                    for i in range(columns):
                        if i == k:
                            continue
                        others += 1
                        path[3, others] = 0.0
                        for s in range(others, -1, -1):
                            below = path[3, s - 1] if s > 0 else 0.0
                            path[3, s] = path[3, s] * path[2, i] + below * path[1, i]
                    found = 0.0
                    for s in range(others + 1):
                        found += shapley_weight(others, s) * path[3, s]
                    column = int(path[0, k])
                    parts[column if column < d else places[column - d]] += value * change * found
    return base
