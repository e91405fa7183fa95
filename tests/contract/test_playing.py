"""``play`` is ``see``, ``draw`` and ``commit`` to the bit, for every policy and for what stands around one."""

import numpy as np
import pytest

import appletaste as at

from ..players import assert_same, decided, state_of
from . import test_curves, test_levels
from .entries import COSTS, every, make, stream

AROUND = {
    "policy": lambda policy: policy,
    "awaiting": at.Awaiting,
    "desk": lambda policy: at.Desk(at.Awaiting(policy), at.Budget(share=0.5, window=20), at.Audit(floor=0.2)),
}
around = pytest.mark.parametrize("around", AROUND.values(), ids=AROUND)


def assert_plays_alike(new, items, labels, late=9):
    """Play two players, one by ``play`` and one step by step; labels arrive late, one in five never."""
    one, other = new(), new()
    costs, waiting = one.policy.costs, []
    for k, (x, label) in enumerate(zip(items, labels, strict=True)):
        sheet = costs if k % 7 else at.Costs(miss=2.0, false_alarm=0.5, hit=0.1)
        decision = one.play(x, sheet, float(k), "new")
        steps = other.settle(other.see(x, sheet, float(k), "new", 0.0))
        assert decided(decision) == decided(steps)
        if decision.act:
            waiting.append((k, decision, int(label)))
        while waiting and waiting[0][0] <= k - late:
            place, asked, value = waiting.pop(0)
            for player in (one, other):
                if place % 5:
                    player.learn(asked, value)
                else:
                    player.give_up(asked)
    assert_same(state_of(one), state_of(other))
    assert one.policy.round == len(items)


@around
@every
def test_every_policy(name, options, around):
    items, labels = stream(3)
    assert_plays_alike(lambda: around(make(name, options)), items, labels)


@around
@pytest.mark.parametrize("options", [{"half_life": "20s"}, {"half_life": "20s", "randomised": True}])
def test_a_policy_that_forgets_by_the_time(around, options):
    items, labels = stream(3)
    assert_plays_alike(lambda: around(make("voi", options)), items, labels)
    player = around(make("voi", options))
    with pytest.raises(at.errors.OptionError, match="every item needs a time"):
        player.play(items[0], COSTS, None, None)
    assert player.policy.round == 0


@around
@pytest.mark.parametrize("kind", ["curves", "levels", "pairs", "wide"])
def test_longer_items(around, kind):
    if kind == "curves":
        _, _, items, labels = test_curves.made("voi", {})
        make_one = lambda: test_curves.made("voi", {})[0]  # noqa: E731
    elif kind == "levels":
        _, _, items, labels = test_levels.made("voi")
        make_one = lambda: test_levels.made("voi")[0]  # noqa: E731
    elif kind == "pairs":  # found after 250 labels, so that items become longer on the way
        rng = np.random.default_rng(2)
        items = np.column_stack([np.ones(900), rng.normal(size=(900, 2))])
        labels = (rng.random(900) < 1 / (1 + np.exp(-3 * items[:, 1] * items[:, 2]))).astype(int)
        make_one = lambda: at.policy("voi", n_features=3, costs=COSTS, pairs=[[[1]], [[2]]])  # noqa: E731
    else:
        items, labels = stream(300, n=150)
        make_one = lambda: at.policy("voi", n_features=300, costs=COSTS)  # noqa: E731
    assert_plays_alike(lambda: around(make_one()), np.ascontiguousarray(items), labels)
