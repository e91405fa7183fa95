"""What a label is worth where items have levels that come again: the value of ``kernels.value``, level by level.

Items that share a level l share its effect, and a label moves it by its variance v_l. So a label also saves, per round,

    w sum over columns of p_l e_l v_l^2,

with p_l how often the level will come and e_l the mean of (e / v) over the items that had it. A level seen k times in
t rounds comes with probability (k - D) / t, D = N1 / (N1 + 2 N2) with N1 and N2 the levels seen once and twice (the
discount of Kneser & Ney 1995, by leaving one out as Good 1953): one sight is little evidence of a second.
"""

from __future__ import annotations

from ._jit import kernel
from .levels import SLOT, VARIANCE
from .types import Blocks, Matrix, Vector
from .value import AHEAD, EAGERNESS, FORGETTING, SHARED, acting, forms, remember, service

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
