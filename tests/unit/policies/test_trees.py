"""Trees in the policy: fitted without a label's own fold, in where labels speak for them, kept right."""

import sys
from dataclasses import replace

import msgspec
import numpy as np
import pytest

import appletaste as at
from appletaste.errors import SaveFileError
from appletaste.policies import boosting, trees
from appletaste.policies.forest import KEPT, Forest

from ...contract.entries import act_on
from ...players import assert_same, state_of

boost = pytest.importorskip("lightgbm")
COSTS = at.Costs(miss=1.0, false_alarm=0.5, hit=0.0)


def crossed(n=900, seed=2):
    """Items whose two numbers say nothing each, and all together."""
    rng = np.random.default_rng(seed)
    items = np.column_stack([np.ones(n), rng.normal(size=(n, 2))])
    labels = (rng.random(n) < 1 / (1 + np.exp(-4 * np.sign(items[:, 1] * items[:, 2])))).astype(int)
    return items, labels


def straight(n=900, seed=2):
    rng = np.random.default_rng(seed)
    items = np.column_stack([np.ones(n), rng.normal(size=(n, 3))])
    return items, (rng.random(n) < 1 / (1 + np.exp(1.0 - items[:, 1:].sum(1)))).astype(int)


def taught(items, labels, **options):
    policy = at.policy("voi", n_features=items.shape[1], costs=COSTS, seed=1, **options)
    for x, label in zip(items, labels, strict=True):
        policy.teach(x, int(label))
    return policy


# ---- what is fitted


def test_a_label_is_scored_by_trees_that_have_not_seen_its_fold():
    """Labels that are pure chance: trees that knew them by heart would tell them, held-out ones cannot."""
    rng = np.random.default_rng(3)
    items, labels = rng.normal(size=(1000, 5)), rng.integers(0, 2, 1000).astype(float)
    forest = boosting.fit(items, labels, np.ones(1000), np.arange(5))
    score = forest.longer_many(items, 1000)[:, -1]
    by_heart = forest.longer_many(items)[:, -1]
    assert abs(np.corrcoef(score, labels)[0, 1]) < 3 / np.sqrt(1000)
    assert np.corrcoef(by_heart, labels)[0, 1] > 0.2  # the control


def test_a_level_enters_without_its_own_label():
    """Every level has two labels, by chance and of one fold: other folds know nothing of them."""
    rng = np.random.default_rng(4)
    slots = np.repeat(np.arange(500), 2)
    labels = rng.integers(0, 2, 1000).astype(float)
    items = np.column_stack([np.ones(1000), boosting.FIRST_SLOT + slots])
    places = np.array([1])
    fold = np.arange(1000) * boosting.FOLDS // 1000
    told = boosting._slots(items, places)
    tables = boosting._levels(told, labels, np.ones(1000), fold)
    for k in range(boosting.FOLDS):
        known = boosting._known(told, labels, np.ones(1000), fold, k, tables[k])[:, 0]
        assert abs(np.corrcoef(known, labels)[0, 1]) < 0.1
    counted = boosting._log_odds(np.array([np.bincount(slots, labels, 500), np.bincount(slots, 1 - labels, 500)]))
    assert np.corrcoef(counted[slots], labels)[0, 1] > 0.6  # the control: own labels counted


def test_levels_that_matter_together_are_found():
    """Positive are items of which both levels are of the kind that is often positive, and only those."""
    rng = np.random.default_rng(5)
    slots = rng.integers(0, 20, (3000, 2))
    labels = (rng.random(3000) < np.where((slots % 2).all(axis=1), 0.9, 0.1)).astype(float)
    items = np.column_stack([np.ones(3000), boosting.FIRST_SLOT + slots])
    found = boosting.fit(items, labels, np.ones(3000), np.array([0]), np.array([1, 2]))
    assert found.losses[0] < 0.55 < found.losses[1]


def test_the_same_labels_give_the_same_trees():
    items, labels = crossed()
    one, two = (boosting.fit(items, labels.astype(float), np.ones(len(items)), np.arange(3)) for _ in range(2))
    assert one.packed == two.packed
    assert one.sha256 == two.sha256


@pytest.mark.parametrize("labels", [np.zeros(500), np.ones(500), np.arange(500) < 9, np.arange(500) < 250])
def test_nothing_is_fitted_to_labels_of_one_kind_few_or_sorted(labels):
    rng = np.random.default_rng(1)
    found = boosting.fit(rng.normal(size=(500, 2)), labels.astype(float), np.ones(500), np.arange(2))
    assert found is None or labels.sum() == 250  # sorted: each fold is of one kind, what is outside is of both


def test_older_labels_count_less():
    items, labels = crossed(1200)
    turned = np.concatenate([1 - labels[:600], labels[600:]]).astype(float)
    recent = 0.5 ** ((1200 - np.arange(1200)) / 100)
    score = boosting.fit(items, turned, recent, np.arange(3)).longer_many(items)[:, -1]
    assert np.corrcoef(score, labels)[0, 1] > 0.7


# ---- what labels speak for


def test_trees_join_where_columns_work_together_and_nowhere_else():
    assert taught(*crossed()).learner.forest is not None
    joined = sum(taught(*straight(500, seed)).learner.forest is not None for seed in range(20))
    assert joined <= 2


def test_without_evidence_decisions_are_those_without_trees_bit_for_bit():
    items, labels = straight(600)
    one, two = (taught(items, labels, **given) for given in ({}, {"trees": False}))
    assert one.learner.forest is None
    assert one.learner._next > 600 * 0.9  # forests were fitted, and left
    assert (one.learner.belief.mean == two.learner.belief.mean).all()
    assert (one.learner.belief.covariance == two.learner.belief.covariance).all()
    for x in items[:50]:
        assert one.probability(x) == two.probability(x)


def test_evidence_against_quadrature():
    """The Bayes factor of a coefficient N(0, t) against 0 is near the integral that it stands for."""
    rng = np.random.default_rng(6)
    x, f = rng.normal(size=(400, 1)), rng.normal(size=400)
    y = (rng.random(400) < 1 / (1 + np.exp(-x[:, 0] - 0.4 * f))).astype(float)
    found = trees.evidence(x, y, np.ones(400), f, np.zeros(1), np.ones(1), np.zeros(1))

    def log_joint(a, b):
        z = x[:, 0] * a + f * b
        return float(y @ z - np.logaddexp(0, z).sum()) - a * a / 2

    grid, steps = np.linspace(-3, 4, 281), np.linspace(-3, 3, 241)
    table = np.array([[log_joint(a, b) for a in grid] for b in steps])
    top = table.max()
    alone = np.log(np.exp([log_joint(a, 0.0) - top for a in grid]).sum())
    along = np.log(np.exp(table - top).sum(axis=1))  # over a, at each b
    total = 0.0
    for t, share in zip(trees.SCALES, trees.OPENED, strict=True):
        prior = np.exp(-(steps**2) / (2 * t)) / np.sqrt(2 * np.pi * t)
        total += share * float((prior * np.exp(along - alone)).sum() * (steps[1] - steps[0]))
    assert found == pytest.approx(np.log(total), abs=0.6)
    assert found > trees.EVIDENCE


# ---- labels that change, and forgetting


def test_a_corrected_label_is_learnt_with_the_score_it_had():
    items, labels = crossed()
    policy = taught(items, labels)
    learner = policy.learner
    forest, before, held = learner.forest, learner.belief.mean.copy(), learner.belief.labels.revised({})[0].copy()
    learner.revise({k: 1 - int(labels[k]) for k in range(0, 900, 9)})
    assert learner.forest is forest
    assert (learner.belief.labels.revised({})[0] == held).all()
    assert learner.belief.mean[-1] < before[-1]  # a ninth of the labels contradicts the trees
    learner.revise({k: int(labels[k]) for k in range(0, 900, 9)})
    np.testing.assert_allclose(learner.belief.mean, before, rtol=1e-9)


def test_trees_that_were_fitted_before_a_correction_are_not_current():
    policy = taught(*crossed())
    found = policy.learner.fitting().run()
    assert policy.learner.is_current(found)
    policy.learner.revise({0: 0})
    assert not policy.learner.is_current(found)


def test_trees_leave_when_labels_no_longer_speak_for_them():
    items, labels = crossed(3000)
    labels[800:] = np.random.default_rng(8).integers(0, 2, 2200)
    policy, there = at.policy("voi", n_features=3, costs=COSTS, half_life=200), []
    for x, label in zip(items, labels, strict=True):
        policy.learn(act_on(policy, x), int(label))
        there.append(policy.learner.forest is not None)
    assert there[799]
    assert not there[-1]
    assert len(policy.learner.belief.mean) == 3


@pytest.mark.parametrize("half_life", [None, 400.0])
def test_a_posterior_with_trees_is_that_of_the_longer_items(half_life):
    items, labels = crossed(1000)
    policy = taught(items, labels, half_life=half_life)
    learner = policy.learner
    assert learner.forest is not None
    assert len(learner.belief.mean) == 4
    assert policy.chance(np.array([1.0, 1.5, 1.5])) > 0.9 > 0.1 > policy.chance(np.array([1.0, 1.5, -1.5]))


# ---- labels that come late


def decided_late(items, labels, wait, policy=None, **options):
    """Act on every item, and learn its label so many items later; the last labels at the end."""
    policy = policy or at.policy("voi", n_features=3, costs=COSTS, seed=1, **options)
    made = []
    for k in range(len(items) + wait):
        if k < len(items):
            decision = policy.decide(items[k])
            policy.enact(decision, True)
            made.append(decision._replace(act=True))
        if k >= wait:
            policy.learn(made[k - wait], int(labels[k - wait]))
    return policy


def test_labels_of_items_decided_beside_others_do_not_bring_trees_in():
    items, labels = crossed(800)
    assert decided_late(items[:400], labels[:400], wait=0).learner.forest is not None
    late = decided_late(items[:400], labels[:400], wait=400)
    assert late.learner.forest is None  # all labels came when all items were decided
    assert late.learner._next > 400 * 0.9  # forests were fitted, and left
    assert decided_late(items[400:], labels[400:], 0, late).learner.forest is not None  # items since then speak


def test_late_labels_that_deny_what_those_beside_the_others_say_are_believed():
    """A third of the latest run is of items to come, and they are pure chance; the control is told when all came."""
    items, labels = crossed(900)
    labels[800:] = np.random.default_rng(3).integers(0, 2, 100)
    decided = np.arange(1, 901)
    learnt = np.where(decided <= 800, 800, decided)
    heard = trees.heard_where_late(np.column_stack([decided, learnt]))
    assert (np.flatnonzero(heard) == np.arange(799, 900)).all()
    score = np.sign(items[:, 1] * items[:, 2])
    told = (items, labels.astype(float), np.ones(900), score, trees.Fitted(np.zeros(3), np.ones(3), np.zeros(3)))
    assert trees.held_out(*told) > 50.0
    assert trees.held_out(*told, heard) < 0.0
    again = crossed(900)[1].astype(float)
    assert trees.held_out(items, again, *told[2:], heard) > 50.0


def test_trees_in_use_stay_where_no_label_has_a_say_and_leave_where_those_that_have_deny_them():
    items, labels = crossed(1000)
    policy = decided_late(items[:500], labels[:500], 0, vigilance=0.0)
    assert policy.learner.forest is not None
    silent = policy.learner.fitting()
    everyone = np.zeros(500, dtype=bool)
    assert replace(silent, heard=everyone).run().forest is not None
    chance = silent.table.values[:500].copy()
    chance[400:] = np.random.default_rng(3).integers(0, 2, 100)
    policy.learner.revise({k: int(label) for k, label in enumerate(chance)})
    heard = np.arange(500) >= 400
    assert policy.learner.fitting().run().forest is not None  # the control: two fifths of the run speak for them
    assert replace(policy.learner.fitting(), heard=heard).run().forest is None


@pytest.mark.parametrize(("wait", "alike"), [(0, True), (5, True), (300, False)])
def test_labels_that_come_promptly_are_weighed_as_ever_to_the_bit(wait, alike, monkeypatch):
    items, labels = crossed(900)
    one = decided_late(items, labels, wait)
    monkeypatch.setattr(trees, "heard_where_late", lambda rounds: None)
    two = decided_late(items, labels, wait)
    assert (state_of(one) == state_of(two)) is alike


def test_labels_are_late_where_a_fifth_of_the_latest_run_is_of_items_decided_beside_the_others():
    rounds = np.column_stack([np.arange(1, 301)] * 2)
    assert trees.heard_where_late(rounds) is None
    assert trees.heard_where_late(np.zeros((300, 2), dtype=np.int64)) is None  # taught from a history
    for late, found in [(20, None), (21, 79)]:
        rounds[199, 1] = 201 + late
        heard = trees.heard_where_late(rounds)
        assert found == (None if heard is None else heard.sum())


@pytest.mark.parametrize("half_life", [None, 400.0])
def test_rounds_stay_in_step_with_labels_whatever_happens_to_them(half_life, tmp_path):
    items, labels = crossed(1500)
    policy = at.policy("voi", n_features=3, costs=COSTS, seed=1, half_life=half_life)

    def in_step():
        learner = policy.learner
        rounds, kept = learner._label_rounds(), policy.rounds.arrays()["rounds"]
        assert len(rounds) == learner.belief.labels.n
        assert (rounds[:, 0] == kept[learner._forgotten :]).all()
        assert (rounds[:, 1] >= rounds[:, 0]).all()
        assert rounds.max() <= policy.round == learner._round

    policy.learn_history(items[:50], labels[:50])
    assert "trees.rounds" not in policy.arrays()
    made = []
    for k in range(50, 620):  # each label comes twenty items late
        if k < 600:
            made.append(act_on(policy, items[k]))
        if k >= 70:
            policy.learn(made[k - 70], int(labels[k - 20]))
    in_step()
    policy.decide_many(items[600:620])
    policy.teach(items[0], int(labels[0]))
    in_step()
    policy.revise([(made[k], None) for k in range(3, 500, 60)] + [(made[1], 1)])
    in_step()
    policy.save(tmp_path / "policy.at")
    policy = at.load(tmp_path / "policy.at")
    in_step()
    for x, label in zip(items[620:], labels[620:], strict=True):  # the opposite holds now
        policy.learn(act_on(policy, x), 1 - int(label))
    assert bool(policy.learner.changes) == (half_life is None)
    in_step()


def test_a_policy_from_before_rounds_were_kept_hears_all_labels_it_had():
    items, labels = crossed(800)
    policy = decided_late(items[:400], labels[:400], wait=400)
    assert "trees.rounds" in policy.learner.arrays()
    assert policy.learner.fitting().run().forest is None
    arrays = policy.learner.arrays()
    del arrays["trees.rounds"]
    arrays["trees.next"] = arrays["trees.next"][:2]
    policy.learner.restore(arrays)
    assert policy.learner.fitting().run().forest is not None
    with pytest.raises(ValueError, match="do not fit"):
        policy.learner.restore({**arrays, "trees.rounds": np.zeros((399, 2), dtype=np.int64)})


# ---- the library


def test_without_the_library_a_policy_learns_and_says_what_to_install_once(monkeypatch, recwarn):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    boosting.library.cache_clear()
    try:
        items, labels = crossed(500)
        policy, other = taught(items, labels), taught(items, labels, trees=False)
    finally:
        boosting.library.cache_clear()
    said = [str(warning.message) for warning in recwarn if "trees" in str(warning.message)]
    assert len(said) == 1
    assert boosting.INSTALL in said[0]
    assert policy.learner.forest is None
    assert policy.chance(items[0]) == other.chance(items[0])


def test_a_kept_forest_needs_no_library(monkeypatch, tmp_path):
    items, labels = crossed()
    policy = taught(items, labels)
    policy.save(tmp_path / "policy.at")
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    again = at.load(tmp_path / "policy.at")
    assert_same(state_of(again), state_of(policy))
    assert again.chance(items[3]) == policy.chance(items[3])


# ---- reading


def forest_of(**changes):
    items, labels = crossed()
    told = msgspec.msgpack.decode(boosting.fit(items, labels.astype(float), np.ones(len(items)), np.arange(3)).packed)
    for name, change in changes.items():
        if name in told:
            told[name] = change
        else:  # one of its arrays: a number in the place of the first
            shape, kept = told["arrays"][name]
            values = np.frombuffer(kept, dtype=KEPT[name][0]).copy()
            values[0] = change
            told["arrays"][name] = [shape, values.tobytes()]
    return msgspec.msgpack.encode(told)


def test_bytes_that_are_no_forest_are_refused():
    whole = forest_of()
    assert Forest.read(whole).packed == whole
    wrong = [
        b"",
        whole[:-3],
        whole[: len(whole) // 2],
        b"\x80\x04N.",
        forest_of(format=99),
        forest_of(width=0),
        forest_of(width=2),  # splits look beyond the item
        forest_of(labels=-1),
        forest_of(starts=1),
        forest_of(features=3),
        forest_of(features=-1),
        forest_of(thresholds=np.nan),
        forest_of(leaves=np.inf),
        forest_of(covers=-0.5),
    ]
    for kept in wrong:
        with pytest.raises(SaveFileError, match="no model of trees"):
            Forest.read(kept)


def test_whatever_byte_is_changed_a_forest_is_refused_or_has_another_name():
    whole = forest_of()
    name, rng = Forest.read(whole).sha256, np.random.default_rng(1)
    refused = 0
    for place in rng.integers(0, len(whole), 300):
        changed = whole[:place] + bytes([whole[place] ^ int(rng.integers(1, 256))]) + whole[place + 1 :]
        try:
            found = Forest.read(changed)
        except SaveFileError:
            refused += 1
            continue
        assert found.sha256 != name
        assert np.isfinite(found.longer(np.array([1.0, 0.3, -0.2]))).all()
    assert refused > 5
