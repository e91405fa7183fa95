"""Columns that stay open: which do, what a slot is, and that their memory has a bound."""

import numpy as np
import pytest

import appletaste as at
from appletaste.features.levels import FIRST, LAST, OWN, SHARED, SLOTS, Open


def shops(n, first=0):
    return [f"shop {k}" for k in range(first, first + n)]


def test_a_column_stays_open_if_the_warm_up_cannot_have_met_its_levels():
    few, many = ["card", "cash"] * 100, [f"shop {k // 2}" for k in range(200)]
    rare = ["card"] * 160 + shops(40)  # 41 levels, but one row in five has one of its own
    table = {"paid": few, "shop": many, "rare": rare}
    features = at.Encoder(many=True).fit(table)
    assert [name for name, group in zip(features.names(), features.groups, strict=True) if group == SLOTS] == [
        "shop (level)",
        "rare (level)",
    ]
    assert features.grouped
    assert features.changes
    assert SLOTS not in at.Encoder().fit(table).groups
    assert SLOTS not in at.Encoder(many=True, hashing=8).fit(table).groups
    crossed = at.Encoder(many=True, interactions=[("shop", "paid")]).fit(table)
    assert crossed.groups.count(SLOTS) == 1
    assert not at.Encoder(many=True).fit({"paid": few}).grouped


def test_levels_join_as_they_come_and_asking_changes_nothing():
    features = at.Encoder(many=True).fit({"shop": shops(60)})
    asked = [features.transform({"shop": "new"}, update=False)[1] for _ in range(2)]
    assert asked[0] == asked[1]
    assert FIRST < asked[0] <= FIRST + SHARED
    found = [features.transform({"shop": shop})[1] for shop in ("new", "shop 0", "newer", "new", None)]
    assert found == [FIRST + SHARED + k for k in (61, 1, 62, 61)] + [FIRST]
    known = features.transform({"shop": "new"}, update=False)[1]
    assert known == found[0]


def test_one_by_one_and_a_table_give_the_same_slots():
    table = {"shop": [*shops(60), *shops(40, first=50), None], "age": list(range(101))}
    encoder = at.Encoder(many=True, warm_up=55)
    features, X = encoder.fit_transform(table)
    again = encoder.fit(table)
    records = [{"shop": shop, "age": age} for shop, age in zip(table["shop"], table["age"], strict=True)]
    singles = [again.transform(record, update=k >= 55) for k, record in enumerate(records)]
    assert np.array_equal(X, np.array(singles))
    assert features.header() == {**again.header(), "made": features.made}
    assert np.array_equal(features.transform_many(table, sparse=True, update=False).toarray(), X)


def test_memory_has_a_bound():
    """Beyond 10,000 levels the rest share slots: the map keeps no more names, and no slot is beyond the last."""
    column = Open("shop", shops(OWN - 1))
    slots = [column.encode(level, update=True)[0][1] for level in shops(500, first=OWN - 1)]
    assert slots[0] == LAST
    assert len(column.numbered) == OWN
    assert all(FIRST < slot <= FIRST + SHARED for slot in slots[1:])
    assert len(set(slots[1:])) > SHARED / 2
    assert column.encode("shop 20000", update=True) == column.encode("shop 20000", update=True)
    assert column.words(np.array([LAST]), None, known=False) == f"shop = shop {OWN - 1}"
    assert column.words(np.array([FIRST + 1]), None, known=False) == "shop is another level"
    assert at.Encoder(many=True, warm_up=20_000).fit({"shop": shops(12_000)}).columns[0].numbered.keys() == set(
        shops(OWN)
    )


def test_what_is_no_level_is_refused():
    features = at.Encoder(many=True).fit({"shop": shops(60)})
    with pytest.raises(at.errors.DataError, match="shop"):
        features.transform({"shop": [1]})
    with pytest.raises(at.errors.OptionError, match="many must be true or false"):
        at.Encoder(many=1)


def test_nothing_is_taken_from_a_later_row():
    shop = [*shops(60), *shops(40, first=50)]
    _, X = at.Encoder(many=True, warm_up=55).fit_transform({"shop": shop})
    for k in (56, 80, 99):
        _, other = at.Encoder(many=True, warm_up=55).fit_transform({"shop": [*shop[:k], *shops(100 - k, first=900)]})
        assert np.array_equal(X[:k], other[:k])
