"""Streams of records: the map, the roles of columns, formulas of costs, and a desk made from a history."""

import numpy as np
import pytest

import appletaste as at
from appletaste.errors import ConflictError, InputError

RNG = np.random.default_rng(4)
PAST = [
    {
        "order": f"o{k}",
        "placed": f"2024-01-{1 + k % 28:02d}T10:00:00",
        "amount": float(np.round(RNG.gamma(2, 50), 2)),
        "country": ["de", "fr", "pl"][k % 3],
        "fraud": int(RNG.random() < 0.3),
    }
    for k in range(120)
]
NEW = {"order": "n1", "placed": "2024-03-01T12:00:00", "amount": 80.0, "country": "fr"}


def begun(store="memory", **settings):
    """A stream from a history."""
    made = at.streams.from_history(
        PAST,
        "fraud",
        costs={"miss": "amount*0.9+15", "false_alarm": 6, "hit": 4},
        id="order",
        time="placed",
        stratum="country",
        capacity="5/day",
        audit="20%",
        teach=True,
    )
    return made.create(store, "orders", **{"seed": 3, **settings})


def test_columns_with_a_role_say_what_was_not_said(tmp_path):
    stream = begun(tmp_path / "shop.db")
    answer = stream.decide(NEW)
    case = stream.find("n1")
    assert (case.entry.time, case.entry.stratum) == ("2024-03-01T12:00:00", "fr")
    assert case.entry.decision.costs.miss == 0.9 * 80 + 15
    assert stream.decide(dict(NEW)).json() == answer.json()
    for change in ({"amount": 81.0}, {"country": "de"}):
        with pytest.raises(ConflictError, match="about another item"):
            stream.decide({**NEW, **change})
    with pytest.raises(InputError, match="colour"):
        stream.decide({**NEW, "order": "n2", "colour": "red"})
    with pytest.raises(InputError, match="amount"):
        stream.decide({**NEW, "order": "n2", "amount": "much"})
    stream.close()
    stream = at.Stream.open(tmp_path / "shop.db", "orders")
    assert stream.decide(NEW).json() == answer.json()
    assert at.explain(stream, "n1").contributions
    assert {part.column for part in at.explain(stream, "n1").contributions} >= {"amount", "country"}
    stream.verify()
    stream.close()


def test_what_the_history_taught_is_there_from_the_first_decision():
    stream = begun(seed=None)
    assert len(stream.player.policy.learner.arrays()["labels"]) == len(PAST)
    assert stream.player.policy.seed > 2**64  # a secret one


def test_the_caps_of_the_desk_hold(tmp_path):
    stream = begun(tmp_path / "shop.db")
    rows = [{**NEW, "order": f"d{k}", "amount": 900.0} for k in range(30)]
    acts = sum(answer.act for answer in stream.decide_many(rows))
    stream.close()
    stream = at.Stream.open(tmp_path / "shop.db", "orders")
    acts += sum(stream.decide({**NEW, "order": f"late{k}", "amount": 900.0}).act for k in range(30))
    assert acts == 5
    stream.verify()
    stream.close()


def test_a_map_of_another_width_and_a_policy_that_has_decided_are_refused():
    policy = at.policy(n_features=4, costs=at.Costs(5, 1, 0))
    with pytest.raises(InputError, match="the policy takes 4"):
        at.Stream.create("memory", "orders", policy, features=at.Encoder().fit([{"age": 1}, {"age": 3}]))
    policy.decide([1.0, 2.0, 3.0, 4.0])
    with pytest.raises(InputError, match="has made 1 decisions"):
        at.Stream.create("memory", "orders", policy)


def test_a_record_without_a_map_and_a_vector_without_costs_are_refused():
    plain = at.Stream.create("memory", "orders", at.policy(n_features=2, costs=at.Costs(5, 1, 0)))
    with pytest.raises(InputError, match="no map from columns to features"):
        plain.decide({"age": 3})
    stream = begun()
    with pytest.raises(InputError, match="formulas over columns"):
        stream.decide(np.zeros(stream.player.policy.n_features), id="a", time="2024-03-01")
    with pytest.raises(InputError, match="formulas over columns"):
        stream.set_costs(at.Costs(5, 1, 0))
