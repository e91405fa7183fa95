"""Ids that need no look: what is said to be new never is there, whatever came before."""

import random
from itertools import pairwise

import pytest

from appletaste.records.stores.sqlite_stream import KEPT, LAST, Gaps


def neighbours(ids, low):
    """Return the id behind another one."""
    return min((one for one in ids if one > low), default=LAST)


@pytest.mark.parametrize("seed", range(20))
def test_nothing_that_is_there_is_said_to_be_new(seed):
    """Sources that number their ids, others at random, in groups, against a set that knows all."""
    chance = random.Random(seed)
    gaps, there = Gaps(), set()
    gaps.open("")
    count = {f"source {k}": 0 for k in range(chance.choice([1, 3, 12]))}
    unknown = total = 0
    for _ in range(120):
        group = []
        for _ in range(chance.randrange(1, 20)):
            source = chance.choice([*count])
            count[source] += 1
            fresh = f"{source}-{count[source]:06d}" if chance.random() < 0.9 else f"{chance.getrandbits(32):08x}"
            group.append(fresh)
        asked = [*group, *chance.sample(sorted(there), min(5, len(there)))]
        outside = gaps.outside(asked)
        assert not there & ({*asked} - {*outside})  # what is there is always looked for
        strange = gaps.outside(group)
        gaps.taken(group)
        assert [*gaps.outside(group)] == group
        if chance.random() < 0.1:  # the write is rolled back
            continue
        there |= {*group}
        if strange:
            gaps.open(max(strange), neighbours(there, max(strange)))
        spans = sorted(gaps._gaps)
        assert all(high <= low for (_, high), (low, _) in pairwise(spans))
        assert len(spans) <= KEPT
        unknown, total = unknown + len(strange), total + len(group)
    if len(count) <= 3:
        assert unknown < 0.5 * total


def test_a_gap_ends_at_its_ends():
    gaps = Gaps()
    gaps.open("b", "d")
    assert gaps.outside(["a", "b", "b ", "c", "d", "d "]) == ["a", "b", "d", "d "]
    gaps.taken(["c"])
    assert gaps.outside(["b ", "c", "c "]) == ["b ", "c"]
    gaps.open("x")
    assert gaps.outside(["\U0010ffff" * 256, "w"]) == ["w"]
