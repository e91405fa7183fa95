"""``play`` and ``play_many`` are ``see``, ``draw`` and ``commit`` to the bit, for every policy and around one."""

import numpy as np
import pytest

import appletaste as at

from ..players import assert_same, decided, state_of
from . import test_curves, test_levels
from .entries import COSTS, every, make, stream

AROUND = {
    "policy": lambda policy: policy,
    "awaiting": at.streams.Awaiting,
    "desk": lambda policy: at.Desk(at.streams.Awaiting(policy), at.Budget(share=0.5, window=20), at.Audit(floor=0.2)),
}
around = pytest.mark.parametrize("around", AROUND.values(), ids=AROUND)


def assert_plays_alike(new, items, labels, late=9):
    """Play as step by step: item by item, and in runs of one to nine items that share their costs."""
    assert_plays_many_alike(new, items, labels, late)
    assert_plays_one_alike(new, items, labels, late)


def assert_plays_many_alike(new, items, labels, late):
    """Play two players, one by ``play_many`` where it can and one step by step, with labels between the runs."""
    one, other, sizes = new(), new(), np.random.default_rng(1)
    k, waiting, sheets = 0, [], (one.policy.costs, at.Costs(miss=2.0, false_alarm=0.5, hit=0.1))
    while k < len(items):
        run, sheet = items[k : k + sizes.integers(1, 10)], sheets[k % 7 == 0]
        before, again = state_of(one), one.policy.round
        many = one.play_many(list(run), sheet)
        if many is None:
            assert one.policy.round == again
            assert_same(state_of(one), before)
            many = [one.play(run[0], sheet, float(k), "new")]
        run = run[: len(many)]
        steps = [other.settle(other.see(x, sheet, float(k + j), "new", 0.0)) for j, x in enumerate(run)]
        assert [decided(made) for made in many] == [decided(made) for made in steps]
        waiting += [(k + j, made, int(labels[k + j])) for j, made in enumerate(many) if made.act]
        k += len(run)
        while waiting and waiting[0][0] <= k - late:
            settle_label((one, other), *waiting.pop(0))
    assert_same(state_of(one), state_of(other))
    assert one.policy.round == len(items)


def settle_label(players, place, asked, value):
    """Let a label arrive; one in five never does."""
    for player in players:
        if place % 5:
            player.learn(asked, value)
        else:
            player.give_up(asked)


def assert_plays_one_alike(new, items, labels, late):
    """Play two players, one by ``play`` and one step by step; labels arrive late."""
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
            settle_label((one, other), *waiting.pop(0))
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
@pytest.mark.parametrize("kind", ["curves", "levels", "trees", "wide"])
def test_longer_items(around, kind):
    if kind == "curves":
        _, _, items, labels = test_curves.made("voi", {})
        make_one = lambda: test_curves.made("voi", {})[0]  # noqa: E731
    elif kind == "levels":
        _, _, items, labels = test_levels.made("voi")
        make_one = lambda: test_levels.made("voi")[0]  # noqa: E731
    elif kind == "trees":  # they join after some hundred labels, so that items become longer on the way
        rng = np.random.default_rng(2)
        items = np.column_stack([np.ones(900), rng.normal(size=(900, 2))])
        labels = (rng.random(900) < 1 / (1 + np.exp(-3 * items[:, 1] * items[:, 2]))).astype(int)
        make_one = lambda: at.policy("voi", n_features=3, costs=COSTS, trees=True)  # noqa: E731
    else:
        items, labels = stream(300, n=150)
        make_one = lambda: at.policy("voi", n_features=300, costs=COSTS)  # noqa: E731
    assert_plays_alike(lambda: around(make_one()), np.ascontiguousarray(items), labels)


def runs(player, items, labels, size=20):
    """Play all items in runs, and return how many of them were played together; every second label arrives."""
    together = start = 0
    while start < len(items):
        run = items[start : start + size]
        made = player.play_many(list(run), COSTS) or [player.play(run[0], COSTS, None, None)]
        together += len(made) if len(made) > 1 else 0
        for k, decision in enumerate(made):
            if decision.act and k % 2:
                player.learn(decision, int(labels[start + k]))
        start += len(made)
    return together


@pytest.mark.parametrize(
    ("name", "options", "around", "together"),
    [
        ("voi", {}, "policy", 200),
        ("voi", {}, "awaiting", 198),  # but for the first two: nothing is awaited, and then it must be computed
        ("voi", {"randomised": True}, "awaiting", 198),
        ("voi", {"surprises": 0}, "policy", 0),
        ("voi", {"half_life": 50}, "policy", 0),
        ("ts", {}, "policy", 0),
        ("voi", {}, "desk", 0),
    ],
)
def test_what_is_played_together(name, options, around, together):
    items, labels = stream(3, n=200)
    assert runs(AROUND[around](at.policy(name, n_features=3, costs=COSTS, **options)), items, labels) == together


def test_a_belief_carries_on_to_the_last_round_of_a_run(monkeypatch):
    items, _ = stream(3, n=20)
    policy, rounds = at.policy("voi", n_features=3, costs=COSTS), []
    monkeypatch.setattr(policy.learner.belief, "commit", rounds.append)
    assert len(policy.play_many(list(items), COSTS)) == 20
    assert rounds == [20]


@pytest.mark.parametrize("around", [AROUND["policy"], AROUND["awaiting"]])
def test_features_so_large_that_sums_overflow(around):
    """What acting is worth is no number then, and what acting saves now takes its place, as item by item."""
    items, labels = stream(3)
    for scale in (1e15, 1e50, 1e99):
        assert_plays_alike(lambda: around(make("voi", {})), scale * items, labels)


def test_surprises_are_told_as_one_by_one():
    """An indicator that is new gets a second look, and the decision says at which feature."""
    rng = np.random.default_rng(4)
    items = np.column_stack([np.ones(600), rng.normal(size=600), rng.random(600) < 0.04])
    labels = (rng.random(600) < np.where(items[:, 2] > 0, 0.9, 0.05)).astype(int)
    policy = at.policy("voi", n_features=3, costs=at.Costs(miss=4, false_alarm=1, hit=0))
    seen = 0
    for start in range(0, 600, 20):
        made = policy.play_many(list(items[start : start + 20]), policy.costs)
        seen += sum("surprising_feature" in decision.why for decision in made)
        for k, decision in enumerate(made):
            if decision.act:
                policy.learn(decision, int(labels[start + k]))
    assert seen > 0
    assert_plays_alike(
        lambda: at.streams.Awaiting(at.policy("voi", n_features=3, costs=at.Costs(miss=4, false_alarm=1, hit=0))),
        items,
        labels,
    )
