"""Strangers: items of a kind whose labels are on their way, and of which those that have arrived say little.

Where labels are late, those that arrive first are of another kind than the rest: bookings at short notice, say. A model
of these speaks with confidence of the others, too, and no width of the posterior tells that it has no right to. An item
is a stranger if what waits is more like it than what is known. With v = x'Vx, v_w the same once the labels on their way
are seen, and u the mean over features of ((x_j - m_j) / (s_j + 0.05))^2, by mean and deviation of the items known (u_k)
and of those that wait (u_w), n_k and n_w in number,

    o = min(1, n_w / n_k) (v - v_w) / v_w max(0, (u_k / u_w)^4 - 1),    g = (o / (1 + o))^5

is the share in which an item is a stranger. Nothing is known of a stranger: its chance is 1/2, as it was before the
first label, and the chance of an item is (1 - g) p + g / 2. Means and deviations are those of 100 items more, which are
like all of both crowds: few items differ from many by chance. Powers and pseudo-items were chosen on two hotels
(docs/decisions/0020).

A ``crowd`` [2, d + 1] is the sums of the items in it, those of their squares, and behind the first their number.
"""

from __future__ import annotations

import math

from ._jit import Blocks, Matrix, Vector, kernel, part
from .gaussian import variance_of
from .linear import BLOCK

#: How far unlikeness counts, and how near to certain it must be.
STEEP, SURE = 4, 5
#: A deviation that is added to that of every feature: one that was constant would make anything unlike.
LEAST_SPREAD = 0.05
#: Items like all of both crowds that are counted in with each of them.
PSEUDO_ITEMS = 100.0


@kernel
def join(x: Vector, crowd: Matrix) -> None:
    """Count an item in."""
    d = x.size
    for j in range(d):
        crowd[0, j] += x[j]
        crowd[1, j] += x[j] * x[j]
    crowd[0, d] += 1.0


@kernel
def join_many(items: Matrix, crowd: Matrix) -> None:
    """Count many items in."""
    for k in range(items.shape[0]):
        join(items[k], crowd)


@kernel
def join_labels(features: Blocks, first: int, end: int, crowd: Matrix) -> None:
    """Count in the items of labels from the first to before the end, as ``Labels`` stores them."""
    d = features.shape[1]
    for k in range(first, end):
        for j in range(d):
            x = features[k // BLOCK, j, k % BLOCK]
            crowd[0, j] += x
            crowd[1, j] += x * x
    crowd[0, d] += end - first


@part
def away(x: float, total: float, squares: float, n: float) -> float:
    """Return the squared distance of a value to those with these sums, in their deviations."""
    mean = total / n
    distance = (x - mean) / (math.sqrt(max(squares / n - mean * mean, 0.0)) + LEAST_SPREAD)
    return distance * distance


@kernel
def strange(x: Vector, variance: float, awaited: float, known: Matrix, waiting: Matrix) -> float:
    """Return g from the variance of the score, from that with the labels on their way seen, and from the crowds."""
    d = x.size
    labels, rest = known[0, d], waiting[0, d]
    if labels == 0.0 or rest == 0.0 or awaited <= 0.0 or variance <= awaited:
        return 0.0
    far = near = 0.0
    more = PSEUDO_ITEMS / (labels + rest)
    for j in range(d):
        total, squares = more * (known[0, j] + waiting[0, j]), more * (known[1, j] + waiting[1, j])
        far += away(x[j], known[0, j] + total, known[1, j] + squares, labels + PSEUDO_ITEMS)
        near += away(x[j], waiting[0, j] + total, waiting[1, j] + squares, rest + PSEUDO_ITEMS)
    if far <= near or near <= 0.0:
        return 0.0
    odds = min(1.0, rest / labels) * (variance - awaited) / awaited * ((far / near) ** STEEP - 1.0)
    return float((1.0 - 1.0 / (1.0 + odds)) ** SURE)


@kernel
def strange_item(x: Vector, belief: Matrix, awaited: float, known: Matrix, waiting: Matrix) -> float:
    """Return g of an item, with the variance of its score from the belief."""
    return strange(x, variance_of(x, belief), awaited, known, waiting)
