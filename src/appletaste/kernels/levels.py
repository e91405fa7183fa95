"""An effect for each level, learnt by messages, and what the label of an item with levels is worth.

A random effect for each level of a column with many levels, beside a dense Gaussian (docs/curves.md, *Many levels*).

The score of an item is z = x'theta + sum over columns c of u_cl, l being its level there. Belief is a product: N(m, V)
for theta, and N(u, v) for every level on its own, so that memory is a few numbers for each. What the labels say of a
level is a Gaussian factor exp(h u - S u^2 / 2), the product of one *message* for each of its labels; with the scale of
its column, u ~ N(0, tau^2) before any label, v = 1 / (S + 1 / tau^2) and the mean is h v.

A message comes from moment matching (``gaussian.adf_step``) against the *cavity*, the belief without the message it
replaces (expectation propagation: Minka 2001). The dense part sees the same label with the levels averaged over,

    E sigma(x'theta + N(f, s)) ~ sigma(k x'theta + k f),    k = 1 / sqrt(1 + pi s / 8)    (MacKay 1992),

which is a logistic likelihood of the item k x with the offset k f. So its labels are stored that way, with the offset
as one more feature whose coefficient is 1, and whatever renews a Gaussian at the mode renews this one.

What a label is worth where items have levels that come again: the value of ``kernels.value``, level by level.

Items that share a level l share its effect, and a label moves it by its variance v_l. So a label also saves, per round,

    w sum over columns of p_l e_l v_l^2,

with p_l how often the level will come and e_l the mean of (e / v) over the items that had it. A level seen k times in
t rounds comes with probability (k - D) / t, D = (N1 + 1) / (N1 + 2 N2 + 2) with N1 and N2 the levels seen once and
twice (the discount of Kneser & Ney 1995, by leaving one out as Good 1953): one sight is little evidence of a second.
"""

from __future__ import annotations

import math

from ..features.levels import FIRST
from ._jit import Blocks, Indices, Matrix, Vector, kernel
from .gaussian import MODE, VARIED, adf_step, move, score_item
from .linear import BLOCK
from .logistic import sigmoid
from .value import AHEAD, EAGERNESS, FORGETTING, SHARED, acting, forms, remember, service

# Entries of ``effects`` [slot, column, 3]: S, h and the number of labels. Slots beyond the array have none.
PRECISION, SHIFT, COUNT = 0, 1, 2
# Rows of ``parts`` [3, columns], what is found of one item: its slots, u and v.
SLOT, EFFECT, VARIANCE = 0, 1, 2
#: How far a message that is computed again moves to its new value: sites that all move at once may swing.
DAMPING = 0.7
#: The least share of a dense variance that one label may have made: beyond it rounding speaks.
LEAST_SHARE = 0.1


@kernel
def look_up(x: Vector, places: Indices, effects: Blocks, scales: Vector, pending: Matrix, parts: Matrix) -> None:
    """Write the slots of an item, and mean and variance of the effects there; ``pending`` is precision on its way."""
    for c in range(places.size):
        slot = int(x[places[c]] - FIRST)
        precision, shift = 1.0 / scales[c], 0.0
        if slot < effects.shape[0]:
            precision += effects[slot, c, PRECISION]
            shift = effects[slot, c, SHIFT]
        parts[SLOT, c], parts[EFFECT, c] = slot, shift / precision
        if slot < pending.shape[0]:
            precision += pending[slot, c]
        parts[VARIANCE, c] = 1.0 / precision


@kernel
def score_levels(
    x: Vector,
    kept: Indices,
    places: Indices,
    effects: Blocks,
    scales: Vector,
    pending: Matrix,
    belief: Matrix,
    z: Vector,
    parts: Matrix,
) -> tuple[float, float]:
    """Return mean and variance of the score of x; leave V z in its row of the belief, z and the parts in theirs."""
    look_up(x, places, effects, scales, pending, parts)
    for j in range(kept.size):
        z[j] = x[kept[j]]
    z[kept.size] = 0.0
    mean, variance = score_item(z, belief)
    for c in range(places.size):
        mean += parts[EFFECT, c]
        variance += parts[VARIANCE, c]
    return mean, variance


@kernel
def learn_levels(
    x: Vector,
    label: float,
    kept: Indices,
    places: Indices,
    effects: Blocks,
    scales: Vector,
    pending: Matrix,
    belief: Matrix,
    raw: Blocks,
    scaled: Blocks,
    labels: Vector,
    sites: Matrix,
    n: int,
    z: Vector,
    parts: Matrix,
) -> None:
    """Take in one label and store it as label n: theta moves along V z, each effect by its own variance."""
    mean, variance = score_levels(x, kept, places, effects, scales, pending, belief, z, parts)
    labels[n] = label
    for j in range(kept.size):
        raw[n // BLOCK, j, n % BLOCK] = z[j]
        if z[j] != raw[0, j, 0]:
            belief[VARIED, j] = 1.0
    pull, shrink = adf_step(mean, variance, label, 1.0, 0.0, 1.0)
    move(belief, pull, shrink)
    for c in range(places.size):
        sites[n, 3 * c] = parts[SLOT, c]
        effects[int(parts[SLOT, c]), c, COUNT] += 1.0
    tell(n, pull, shrink, 1.0, effects, sites, parts)
    store(n, raw, scaled, sites, parts)


@kernel
def tell(k: int, pull: float, shrink: float, damping: float, effects: Blocks, sites: Matrix, parts: Matrix) -> None:
    """Replace the messages of label k by those that take u, v of the parts to u + pull v, v - shrink v^2."""
    for c in range(parts.shape[1]):
        u, v = parts[EFFECT, c], parts[VARIANCE, c]
        rest = max(1.0 - shrink * v, 1e-12)
        more = damping * (max(shrink, 0.0) / rest - sites[k, 3 * c + 1])
        moved = damping * ((pull + u * shrink) / rest - sites[k, 3 * c + 2])
        effect = effects[int(parts[SLOT, c]), c]
        effect[PRECISION] = max(effect[PRECISION] + more, 0.0)
        effect[SHIFT] += moved
        sites[k, 3 * c + 1] += more
        sites[k, 3 * c + 2] += moved


@kernel
def store(k: int, raw: Blocks, scaled: Blocks, sites: Matrix, parts: Matrix) -> None:
    """Store label k as the dense part sees it: the item and the offset, both times k = 1 / sqrt(1 + pi s / 8)."""
    spread = offset = 0.0
    for c in range(parts.shape[1]):
        offset += parts[EFFECT, c]
        spread += parts[VARIANCE, c]
    last = sites.shape[1] - 2
    sites[k, last] = 1.0 / math.sqrt(1.0 + math.pi * spread / 8.0)
    sites[k, last + 1] = sites[k, last] * offset
    write_scaled(k, raw, scaled, sites)


@kernel
def write_scaled(k: int, raw: Blocks, scaled: Blocks, sites: Matrix) -> None:
    """Write item k as the dense part sees it, from the item as it came."""
    d, last = raw.shape[1], sites.shape[1] - 2
    for j in range(d):
        scaled[k // BLOCK, j, k % BLOCK] = sites[k, last] * raw[k // BLOCK, j, k % BLOCK]
    scaled[k // BLOCK, d, k % BLOCK] = sites[k, last + 1]


@kernel
def revisit(
    k: int,
    settled: bool,
    effects: Blocks,
    scales: Vector,
    belief: Matrix,
    raw: Blocks,
    scaled: Blocks,
    labels: Vector,
    sites: Matrix,
    z: Vector,
    parts: Matrix,
) -> None:
    """Compute the messages of label k again, against what all other labels say by now.

    Where a renewal of the dense part is under way (not ``settled``) the items that it goes over are left as they are.
    """
    d, last, columns = raw.shape[1], sites.shape[1] - 2, parts.shape[1]
    for j in range(d):
        z[j] = raw[k // BLOCK, j, k % BLOCK]
    z[d] = 0.0
    mean, variance = score_item(z, belief)
    mode = 0.0
    for j in range(d):
        mode += z[j] * belief[MODE, j]
    # The dense part without this label: its site at the mode has the precision t and the pull k (y - p) there.
    scale = sites[k, last]
    p = sigmoid(scale * mode + sites[k, last + 1])
    told = scale * scale * p * (1.0 - p)
    rest = max(1.0 - told * variance, LEAST_SHARE)
    mean = (mean - variance * (told * mode + scale * (labels[k] - p))) / rest
    variance /= rest
    for c in range(columns):
        slot = int(sites[k, 3 * c])
        precision = effects[slot, c, PRECISION] - sites[k, 3 * c + 1] + 1.0 / scales[c]
        precision = max(precision, 1.0 / scales[c])
        u = (effects[slot, c, SHIFT] - sites[k, 3 * c + 2]) / precision
        parts[SLOT, c], parts[EFFECT, c], parts[VARIANCE, c] = slot, u, 1.0 / precision
        mean += u
        variance += 1.0 / precision
    pull, shrink = adf_step(mean, variance, labels[k], 1.0, 0.0, 1.0)
    tell(k, pull, shrink, DAMPING, effects, sites, parts)
    if settled:
        store(k, raw, scaled, sites, parts)


@kernel
def revisit_some(
    first: int,
    count: int,
    n: int,
    settled: bool,
    effects: Blocks,
    scales: Vector,
    belief: Matrix,
    raw: Blocks,
    scaled: Blocks,
    labels: Vector,
    sites: Matrix,
    z: Vector,
    parts: Matrix,
) -> int:
    """Compute messages of so many labels again, in turn from the first on; return which one is next."""
    for _ in range(min(count, n)):
        if first >= n:
            first = 0
        revisit(first, settled, effects, scales, belief, raw, scaled, labels, sites, z, parts)
        first += 1
    return first


@kernel
def learn_scales(effects: Blocks, grid: Vector, usual: Vector, logs: Vector, scales: Vector) -> None:
    """Set tau^2 of each column to its mean over a grid, given what its labels say of the levels.

    The evidence of tau^2 = t is log L(t) = sum over levels of -1/2 log(1 + t S) + 1/2 h^2 t / (1 + t S) (MacKay 1992).
    """
    for c in range(scales.size):
        for j in range(grid.size):
            logs[j] = usual[j]
        for slot in range(effects.shape[0]):
            if effects[slot, c, COUNT] > 0.0:
                said, square = effects[slot, c, PRECISION], effects[slot, c, SHIFT] * effects[slot, c, SHIFT]
                for j in range(grid.size):
                    grown = 1.0 + grid[j] * said
                    logs[j] += 0.5 * (square * grid[j] / grown - math.log(grown))
        top = logs[0]
        for j in range(1, grid.size):
            top = max(top, logs[j])
        total = mass = 0.0
        for j in range(grid.size):
            weight = math.exp(logs[j] - top)
            mass += weight
            total += weight * grid[j]
        scales[c] = total / mass


@kernel
def expect_levels(
    x: Vector,
    kept: Indices,
    places: Indices,
    effects: Blocks,
    scales: Vector,
    pending: Matrix,
    awaited: Matrix,
    z: Vector,
    parts: Matrix,
    gains: Vector,
) -> None:
    """Shrink V, and add to the pending precisions, as a label at x will; write what was added for each column."""
    mean, variance = score_levels(x, kept, places, effects, scales, pending, awaited, z, parts)
    p = sigmoid(mean / math.sqrt(1.0 + math.pi * variance / 8.0))
    weight = p * (1.0 - p)
    shrink = weight / (1.0 + weight * variance)
    move(awaited, 0.0, shrink)
    for c in range(places.size):
        gains[c] = shrink / max(1.0 - shrink * parts[VARIANCE, c], 1e-12)
        pending[int(parts[SLOT, c]), c] += gains[c]


# Entries of ``seen`` [slot, column, 3]: how often a level came, the means of its boundaries and of what labels told.
TIMES, BOUNDARY, INFLOW = 0, 1, 2
# Rows of ``once`` [2, columns]: the number of levels that came once, and twice.
ONCE, TWICE = 0, 1


@kernel
def coming(times: float, once: float, twice: float, round_: float) -> float:
    """Return how often a level comes that came so many times, the present item among them."""
    return max(times - (once + 1.0) / (once + 2.0 * twice + 2.0), 0.0) / round_


@kernel
def weigh_levels(
    round_: int,
    variance: float,
    regret_pass: float,
    regret_act: float,
    chance: float,
    slope: float,
    direction: Vector,
    parts: Matrix,
    memory: Matrix,
    seen: Blocks,
    once: Matrix,
    settings: Vector,
) -> tuple[float, float, float, float, float, float]:
    """Return what ``value.weigh`` does for an item with levels; the item itself counts before it is judged."""
    columns = parts.shape[1]
    ahead = settings[AHEAD] != SHARED
    boundary_form, inflow = forms(memory, direction, ahead)
    dense = variance
    for c in range(columns):
        slot, v = int(parts[SLOT, c]), parts[VARIANCE, c]
        dense -= v
        if ahead and slot < seen.shape[0]:
            often = coming(seen[slot, c, TIMES] + 1.0, once[ONCE, c], once[TWICE, c], round_)
            inflow += often * seen[slot, c, INFLOW] * v * v
    share, told, boundary, horizon = service(round_, variance, regret_pass, regret_act, chance, slope, inflow, settings)
    dense = max(dense, 0.0)
    gain = (1.0 - share) * boundary_form + share * boundary * dense * dense
    for c in range(columns):
        slot, v, times, before = int(parts[SLOT, c]), parts[VARIANCE, c], 1.0, 0.0
        if slot < seen.shape[0]:
            times, before = seen[slot, c, TIMES] + 1.0, seen[slot, c, BOUNDARY]
        newest = settings[FORGETTING] / (times - 1.0 + settings[FORGETTING])
        mean = before + newest * (boundary - before)
        gain += coming(times, once[ONCE, c], once[TWICE, c], round_) * mean * v * v
    value = settings[EAGERNESS] * horizon * told * gain
    price = regret_act - regret_pass
    return acting(price, value, regret_act + regret_pass, settings), price, value, share, boundary, told


@kernel
def remember_levels(
    z: Vector,
    slots: Vector,
    act: bool,
    memory: Matrix,
    seen: Blocks,
    once: Matrix,
    settings: Vector,
    share: float,
    boundary: float,
    inflow: float,
) -> None:
    """Take an item into the memory, as it was weighed; all its slots have room in ``seen``."""
    remember(z, act, memory, settings, share, boundary, inflow)
    for c in range(slots.size):
        level = seen[int(slots[c]), c]
        times = level[TIMES] + 1.0
        level[TIMES] = times
        if times == 1.0:
            once[ONCE, c] += 1.0
        elif times == 2.0:
            once[ONCE, c] -= 1.0
            once[TWICE, c] += 1.0
        elif times == 3.0:
            once[TWICE, c] -= 1.0
        newest = settings[FORGETTING] / (times - 1.0 + settings[FORGETTING])
        level[BOUNDARY] += newest * (boundary - level[BOUNDARY])
        level[INFLOW] += newest * ((inflow if act else 0.0) - level[INFLOW])
