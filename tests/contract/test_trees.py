"""What holds for every policy holds for one with trees: saving, copies, batches, late labels, levels, reasons."""

import copy

import numpy as np
import pytest

import appletaste as at
from appletaste.errors import OptionError, SaveFileError
from appletaste.policies.learner import decode

from ..players import assert_same, state_of
from .entries import COSTS, act_on
from .entries import run as play

pytest.importorskip("lightgbm")

ENTRIES = [
    ("voi", {}),
    ("voi", {"randomised": True}),
    ("voi", {"half_life": 400}),
    ("voi", {"ahead": "lindy"}),
    ("ts", {}),
    ("ids", {}),
    ("ids-traditional", {}),
    ("levels", {}),
    ("wide", {}),
]
every = pytest.mark.parametrize(("name", "options"), ENTRIES, ids=[f"{name}{options}" for name, options in ENTRIES])


def crossed(n, seed=4, levels=0, width=3):
    rng = np.random.default_rng(seed)
    items = np.column_stack([np.ones(n), rng.normal(size=(n, width - 1))])
    score = 4 * np.sign(items[:, 1] * items[:, 2])
    if levels:
        shop = rng.integers(0, levels, n)
        items = np.column_stack([items, 2.0**40 + shop])
        score += rng.normal(0, 1, levels)[shop]
    return items, (rng.random(n) < 1 / (1 + np.exp(-score))).astype(int)


def made(name, options, n=700):
    """Return a policy, and items and labels in which trees join on the way."""
    if name == "levels":
        given = {"groups": (0, 0, 0, 1_000_000), **options}
        return at.policy("voi", n_features=4, costs=COSTS, seed=5, trees=True, **given), *crossed(n, levels=40)
    if name == "wide":
        return at.policy("voi", n_features=300, costs=COSTS, seed=5, trees=True), *crossed(n, width=300)
    return at.policy(name, n_features=3, costs=COSTS, seed=5, **options), *crossed(n)


@every
def test_saved_and_copied_it_continues_bit_for_bit(name, options, tmp_path):
    policy, items, labels = made(name, options)
    play(policy, items[:500], labels[:500])
    assert policy.learner.forest is not None
    policy.save(tmp_path / "policy.at")
    again, copied = at.load(tmp_path / "policy.at"), copy.deepcopy(policy)
    for other in (again, copied):
        assert_same(state_of(other), state_of(policy))
    wanted = play(policy, items[500:], labels[500:])
    assert play(again, items[500:], labels[500:]) == wanted
    assert play(copied, items[500:], labels[500:]) == wanted
    assert_same(state_of(again), state_of(policy))


@every
def test_many_at_once_are_one_by_one(name, options):
    one, items, labels = made(name, options)
    many = made(name, options)[0]
    for player in (one, many):
        play(player, items[:500], labels[:500])
    by_itself = [one.decide(x) for x in items[500:600]]
    together = many.decide_many(items[500:600])
    assert [d.act for d in together] == [d.act for d in by_itself]
    np.testing.assert_array_equal([d.probability for d in together], [d.probability for d in by_itself])


@every
def test_an_item_that_was_decided_before_trees_joined_is_learnt_after(name, options):
    policy, items, labels = made(name, options)
    early = act_on(policy, items[0])
    play(policy, items[1:500], labels[1:500])
    assert policy.learner.forest is not None
    policy.learn(early, int(labels[0]))
    assert np.isfinite(policy.chance(items[1]))


@pytest.mark.parametrize("name", ["voi", "ts", "levels"])
def test_changed_labels_end_where_the_right_ones_do(name):
    given = {} if name == "ts" else {"vigilance": 0.0}  # an alarm is not taken back
    wrong, items, labels = made(name, given)
    right = made(name, given)[0]
    start = 300
    while start < 680 and (wrong.learner.forest is None or wrong.learner._next - wrong.learner.belief.labels.n < 25):
        play(wrong, items[start : start + 1], labels[start : start + 1])
        start += 1
    play(right, items[300:start], labels[300:start])
    some = slice(start, start + 20)
    decisions = [act_on(wrong, x) for x in items[some]]
    others = [act_on(right, x) for x in items[some]]
    for decision, other, label in zip(decisions, others, labels[some], strict=True):
        wrong.learn(decision, 1 - int(label))
        right.learn(other, int(label))
    before = wrong.chance(items[0])
    wrong.revise([(decision, int(label)) for decision, label in zip(decisions, labels[some], strict=True)])
    assert wrong.learner.forest.sha256 == right.learner.forest.sha256  # none was due in between
    assert wrong.chance(items[0]) == pytest.approx(right.chance(items[0]), abs=1e-9)
    assert wrong.chance(items[0]) != before


def test_late_labels_are_awaited():
    policy, items, labels = made("voi", {}, n=900)
    player, waiting = at.streams.Awaiting(policy), []
    for x, label in zip(items, labels, strict=True):
        decision = player.play(x, COSTS, None, None)
        if decision.act:
            waiting.append((decision, int(label)))
        if len(waiting) > 20:  # trees wait for labels that are later
            player.learn(*waiting.pop(0))
    assert policy.learner.forest is not None
    acted = [policy.chance(x) for x in items[:200]]
    assert np.corrcoef(acted, labels[:200])[0, 1] > 0.8


@pytest.mark.parametrize("name", ["voi", "levels"])
def test_reasons_are_by_column_and_add_up(name):
    policy, items, labels = made(name, {})
    play(policy, items, labels)
    for x in items[:50]:
        found = at.explain(policy, x)
        total = found.base + sum(part.value for part in found.contributions)
        assert total == pytest.approx(found.score, abs=1e-9)
        assert len(found.contributions) <= len(x)


def test_settings_of_pairs_are_gone_and_said_to_be():
    with pytest.raises(SaveFileError, match="pairs or a stacked score, which are gone"):
        decode({"kind": "Widened", "widening": {"kind": "Pairs", "units": []}}, {})


@pytest.mark.parametrize("name", ["pg-ts", "adf-voi", "ucb", "greedy"])
def test_policies_that_take_no_trees_say_so(name):
    with pytest.raises(OptionError, match="trees"):
        at.policy(name, n_features=3, costs=COSTS, trees=True)
