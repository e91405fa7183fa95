"""Curves: ramps beside a number, the same cell by cell and at once, saved, explained by column."""

import numpy as np
import pytest

import appletaste as at
from appletaste.features.numbers import Number
from appletaste.features.parts import average_item, parts_of
from appletaste.features.ramps import Curve

AMOUNTS = np.array([0.0] * 60 + np.geomspace(1.0, 1000.0, 40).tolist())


def table(rng, n=200):
    return {
        "age": rng.normal(40, 10, n).round(1),
        "amount": rng.permutation(np.resize(AMOUNTS, n)),
        "grade": rng.integers(1, 4, n).astype(float),
        "flag": rng.integers(0, 2, n).astype(float),
        "job": rng.choice(["chef", "pilot"], n),
    }


def bare(name="amount"):
    return Number(name, True, 5.0, False, False)


def test_ramps_are_what_the_formula_says():
    curve = Curve.fit(bare(), AMOUNTS, knots=6)
    knots, r = np.array(curve.knots), curve.reference
    assert knots[0] == 0.0
    assert r == 0
    assert curve.jumps
    for v in (-5.0, 0.0, 0.3, 17.0, 400.0, 1e6, float(knots[3])):
        u = np.interp(v, knots, np.arange(len(knots)))
        expected = [np.clip(u - j if j >= r else j + 1 - u, 0, 1) for j in range(len(knots) - 1)]
        found = np.zeros(len(knots) - 1)
        for place, height in curve.encode(v):
            found[place] = height * np.sqrt(curve.size)
        np.testing.assert_allclose(found, expected, atol=1e-12)
    assert curve.encode(float("nan")) == []
    columns = np.column_stack([heights for _, heights in curve.encode_column(AMOUNTS)])
    assert (columns**2).sum(axis=1).mean() == pytest.approx(1.0)  # tau^2 is the variance that a curve adds


def test_a_reference_in_the_middle_has_ramps_to_both_sides():
    curve = Curve.fit(bare(), np.array([1.0, 2.0, 2.0, 2.0, 3.0]), knots=6)
    assert curve.reference == 1
    assert not curve.jumps  # few values are codes, not a jump
    assert curve.encode(2.0) == []
    assert [place for place, _ in curve.encode(1.0)] == [0]
    assert [place for place, _ in curve.encode(9.0)] == [1]


def test_two_values_cannot_bend():
    assert Curve.fit(bare(), np.array([0.0, 1.0, 1.0, np.nan]), knots=6) is None


def test_cell_by_cell_is_the_column_bit_for_bit(rng):
    curve = Curve.fit(bare(), AMOUNTS, knots=6)
    values = np.concatenate([rng.normal(100, 300, 200), curve.knots, [np.nan, 1e90, -1e90]])
    column = np.zeros((len(values), len(curve.names)))
    for places, heights in curve.encode_column(values):
        column[np.arange(len(values)), places] += heights
    for row, value in zip(column, values.tolist(), strict=True):
        single = np.zeros(len(curve.names))
        for place, height in curve.encode(value):
            single[place] += height
        assert single.tolist() == row.tolist()


def test_the_vector_knows_its_groups(rng):
    plain, bent = (at.Encoder(curves=curves).fit(table(rng)) for curves in (False, True))
    groups = np.array(bent.groups)
    assert plain.groups == (0,) * plain.n_features
    assert [curve.column.name for curve in bent.curves] == ["age", "amount", "grade"]
    assert (groups == 0).sum() == plain.n_features
    assert set(groups) == {0, 1, -2, 3}  # amounts are mostly 0, and jump
    assert len(set(bent.names())) == bent.n_features
    many = at.Encoder(curves=True).fit({f"c{k}": rng.normal(size=50) for k in range(41)})
    assert {len(curve.knots) for curve in many.curves} == {4}
    assert {len(curve.knots) for curve in bent.curves} == {6, 3}


def test_one_record_is_a_row_of_the_table_and_a_saved_map_goes_on(rng, tmp_path):
    columns = table(rng)
    columns["age"][3] = np.nan
    features = at.Encoder(curves=True, interactions=[("age", "job")], online=True, hashing=5).fit(columns)
    features.save(tmp_path / "map")
    back = at.FeatureMap.load(tmp_path / "map")
    assert back.groups == features.groups
    assert back.continues(features)
    other = at.Encoder(curves=True, interactions=[("age", "job")], online=True, hashing=5)
    assert not back.continues(other.fit({**columns, "age": columns["age"] + 1.0}))
    rows = [{name: column[k] for name, column in columns.items()} for k in range(30)]
    singles = np.array([features.transform(row) for row in rows])
    assert back.transform_many(rows).tolist() == singles.tolist()
    dense = features.transform_many(rows, update=False)
    assert features.transform_many(rows, sparse=True, update=False).toarray().tolist() == dense.tolist()


def test_explanations_are_one_number_for_each_column(rng):
    features = at.Encoder(curves=True).fit(table(rng))
    record = {"age": 61.0, "amount": 250.0, "grade": 3.0, "flag": 1.0, "job": "chef"}
    x, theta = features.transform(record), rng.normal(size=features.n_features)
    for item in (record, x):
        told = features.explain(item, theta)
        assert sorted(name for name, _ in told) == ["age", "amount", "flag", "grade", "intercept", "job=chef"]
        assert sum(part for _, part in told) == pytest.approx(x @ theta)
    reference = average_item(features, len(x))
    parts = parts_of(features, x, reference, record)
    assert [part.column for part in parts] == ["age", "amount", "grade", "flag", "job"]
    total = reference @ theta + sum(part.values @ theta[part.places] for part in parts)
    assert total == pytest.approx(x @ theta)
