"""Strangers: the formula, and what it does to a stream whose first labels are of another kind."""

import numpy as np
import pytest

import appletaste as at
from appletaste.kernels import strangers
from appletaste.policies.reasons import reason_for
from appletaste.streams.saving import rebuild_player

from ...players import assert_same, state_of

COSTS = at.Costs(miss=10, false_alarm=1, hit=0)


def crowd_of(items):
    crowd = np.zeros((2, items.shape[1] + 1))
    strangers.join_many(np.ascontiguousarray(items), crowd)
    return crowd


def by_hand(x, variance, awaited, known, waiting):
    """The formula of the module, in NumPy."""
    both = np.vstack([known, waiting])

    def unlike(items):
        n = len(items)
        mean = (items.sum(axis=0) + 100 * both.mean(axis=0)) / (n + 100)
        square = ((items**2).sum(axis=0) + 100 * (both**2).mean(axis=0)) / (n + 100)
        return np.mean(((x - mean) / (np.sqrt(square - mean**2) + 0.05)) ** 2)

    odds = min(1, len(waiting) / len(known)) * (variance - awaited) / awaited
    odds *= max(0, (unlike(known) / unlike(waiting)) ** 4 - 1)
    return (odds / (1 + odds)) ** 5


@pytest.mark.parametrize("apart", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("waiting", [5, 300, 900])
def test_the_formula(rng, apart, waiting):
    known, others = rng.normal(size=(400, 6)), rng.normal(size=(waiting, 6)) + apart * np.eye(6)[2]
    found = []
    for x in rng.normal(size=(50, 6)) + apart * np.eye(6)[2]:
        found.append(strangers.strange(x, 2.0, 0.5, crowd_of(known), crowd_of(others)))
        assert found[-1] == pytest.approx(by_hand(x, 2.0, 0.5, known, others), rel=1e-9, abs=1e-15)
    assert (max(found) > 0.2) == (apart > 0 and waiting > 5)  # few that wait, or alike ones, make nobody a stranger


def test_nobody_is_a_stranger_where_nothing_is_known_or_waits(rng):
    items, nobody = crowd_of(rng.normal(size=(50, 3))), np.zeros((2, 4))
    x = np.array([9.0, 0.0, 0.0])
    assert strangers.strange(x, 2.0, 0.5, nobody, items) == 0.0
    assert strangers.strange(x, 2.0, 0.5, items, nobody) == 0.0
    assert strangers.strange(x, 0.5, 0.5, items, items) == 0.0
    assert strangers.strange(x, 2.0, 0.0, items, items) == 0.0


def two_kinds(n, seed):
    """Two kinds of items, of which the second comes from the middle on: rarely bad at first sight, and often in truth.

    A feature that the labels of the first kind speak of, and that of the kind. Labels of the second arrive late, first
    those that are fine.
    """
    rng = np.random.default_rng(seed)
    kind = (np.arange(n) > n // 3) & (rng.random(n) < 0.5)
    long = rng.random(n) < 0.7
    score = -3.0 + 1.2 * rng.normal(size=n)
    risk = np.where(kind & long, 1.5, score)
    labels = (rng.random(n) < 1 / (1 + np.exp(-risk))).astype(int)
    X = np.column_stack([np.ones(n), score + 3.0, kind, rng.normal(size=(n, 3))])
    arrivals = np.arange(n) + np.where(kind & long, 900.0, 20.0)
    return X, labels, arrivals


def cost(X, labels, arrivals, strange):
    policy = at.policy("voi", n_features=X.shape[1], costs=COSTS, seed=3)
    ledger = at.streams.Ledger(at.streams.Awaiting(policy, strangers=strange))
    clock = np.arange(len(X), dtype=float)
    at.streams.loop.play_through(ledger, X, labels.tolist(), clock=clock.tolist(), arrivals=arrivals.tolist())
    acts = np.array([entry.decision.act for _, entry in ledger.entries.items()])
    return np.where(acts, np.where(labels == 1, COSTS.hit, COSTS.false_alarm), np.where(labels == 1, COSTS.miss, 0))


def test_doubt_saves_where_the_first_labels_are_of_another_kind():
    """8 streams, paired: more than 3 standard errors cheaper; with labels at once nothing changes at all."""
    saved = []
    for seed in range(8):
        X, labels, arrivals = two_kinds(3000, seed)
        saved.append(np.mean(cost(X, labels, arrivals, False) - cost(X, labels, arrivals, True)))
        prompt = np.arange(len(X)) + 0.5
        np.testing.assert_array_equal(cost(X, labels, prompt, False), cost(X, labels, prompt, True))
    assert np.mean(saved) > 3 * np.std(saved, ddof=1) / np.sqrt(8)


@pytest.fixture
def in_doubt():
    """A player with labels of two kinds on their way, an item of each kind."""
    X, labels, _ = two_kinds(1200, 1)
    player = at.streams.Awaiting(at.policy("voi", n_features=6, costs=COSTS, seed=5))
    for x, label in zip(X[:300], labels[:300], strict=True):
        decision = player.decide(x)
        if decision.act:
            player.learn(decision, int(label))
    for x in X[500:800]:
        player.decide(x)
    return player, X[800:900]


def test_items_together_are_decided_as_one_by_one(in_doubt):
    player, items = in_doubt
    other = rebuild_player(player.header(), player.arrays())
    assert max(player.look(x).why.get("stranger", 0.0) for x in items) > 0.3
    together = []
    while len(together) < len(items):
        together += other.play_many([np.ascontiguousarray(x) for x in items[len(together) :]], COSTS)
    for x, two in zip(items, together, strict=True):
        one = player.decide(x)
        assert (one.act, one.probability, one.chance, one.worth, one.why) == (
            two.act,
            two.probability,
            two.chance,
            two.worth,
            two.why,
        )
    assert_same(state_of(player), state_of(other))


def test_a_stream_of_old_knows_no_strangers(in_doubt):
    player, items = in_doubt
    header = player.header()
    assert header.pop("strangers") is True
    old = rebuild_player(header, {name: array for name, array in player.arrays().items() if "crowd" not in name})
    assert all("stranger" not in old.look(x).why for x in items)
    assert "strangers" not in old.header()
    assert not any("crowd" in name for name in old.arrays())


def test_what_is_strange_is_in_the_chance(in_doubt):
    player, items = in_doubt
    plain = rebuild_player({**player.header(), "strangers": False}, player.arrays())
    for x in items:
        one, other = player.look(x), plain.look(x)
        share = one.why.get("stranger", 0.0)
        assert one.chance == pytest.approx((1 - share) * other.chance + share / 2, rel=1e-12)
        price = COSTS.alarm_price - (COSTS.alarm_price + COSTS.catch_gain) * one.chance
        assert one.why["price_of_acting"] == pytest.approx(price, rel=1e-9)


def test_a_reason_says_so(in_doubt):
    player, items = in_doubt
    shares = [player.look(x).why.get("stranger", 0.0) for x in items]
    strange, usual = items[int(np.argmax(shares))], items[int(np.argmin(shares))]
    told = f"{100 * max(shares):.0f} % of the chance is doubt: labels of items like this are on their way"
    assert told in at.explain(player, strange).reason.words
    assert told in reason_for(player.decide(strange), None).words
    assert "doubt" not in at.explain(player, usual).reason.words
