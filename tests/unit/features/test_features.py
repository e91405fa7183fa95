"""Encoders and the maps they give: names, numbers, levels, what is missing, products, hashing, explanations, files."""

import json
import subprocess
import sys

import numpy as np
import pytest

import appletaste as at
from appletaste.errors import SaveFileError
from appletaste.features.columns import Hasher
from appletaste.features.parts import parts_of

PEOPLE = [
    {"age": 30, "income": 1.0, "job": "student"},
    {"age": 50, "income": None, "job": "retired"},
    {"age": 40, "income": 3.0, "job": None},
    {"age": 40, "income": 5.0, "job": "student"},
]


def test_names_and_vectors():
    features = at.Encoder().fit(PEOPLE)
    names = [
        *("intercept", "age", "income", "income missing"),
        *("job=retired", "job=student", "job missing", "job other"),
    ]
    assert features.names() == names
    assert features.n_features == len(names)
    X = features.transform_many(PEOPLE)
    deviation = np.sqrt(50)
    np.testing.assert_allclose(X[:, 1], [-10 / deviation, 10 / deviation, 0, 0])
    income = np.array([1.0, 3.0, 5.0])
    np.testing.assert_allclose(X[[0, 2, 3], 2], (income - 3) / income.std())
    np.testing.assert_array_equal(X[:, [0, 3, 4, 5, 6, 7]].astype(int)[1], [1, 1, 1, 0, 0, 0])
    np.testing.assert_array_equal(X[2, 4:], [0, 0, 1, 0])
    for row, x in zip(PEOPLE, X, strict=True):
        assert (features.transform(row) == x).all()
    assert "8 features from 3 columns (2 number, 1 category)" in repr(features)


def test_unseen_missing_and_far_away():
    features = at.Encoder().fit([{"age": 30, "job": "a"}, {"age": 50, "job": "b"}])
    assert features.names() == ["intercept", "age", "job=a", "job=b", "job other"]
    vector = features.transform
    # held at the edge of what was seen: 30 to 50, and with two values as much again on either side
    assert vector({"age": 1e9, "job": "never seen"}).tolist() == [1, 3, 0, 0, 1]
    assert vector({"age": -1e9, "job": 7}).tolist() == [1, -3, 0, 0, 1]
    for nothing in (None, float("nan"), "NA", "", float("inf"), -1e300):
        assert vector({"age": nothing, "job": None}).tolist() == [1, 0, 0, 0, 1]  # no column for missing: mean, other
    assert vector({"age": "50", "job": " a "}).tolist() == [1, 1, 1, 0, 0]
    assert vector({"job": "a"}).tolist() == [1, 0, 1, 0, 0]


def test_options():
    rows = {"n": [1.0, 3.0, np.nan], "c": ["a", "a", "b"]}
    plain = at.Encoder(standardise=False, intercept=False, missing_indicator=False, rare=2).fit(rows)
    assert plain.names() == ["n", "c=a", "c other"]
    assert plain.transform_many(rows).tolist() == [[1, 1, 0], [3, 1, 0], [2, 0, 1]]
    assert at.Encoder(levels=1, intercept=False).fit({"c": ["a", "b", "b"]}).names() == ["c=b", "c other"]
    assert at.Encoder(clip=None).fit({"n": [0, 2]}).transform({"n": 1e6})[1] == 1e6 - 1
    constant = at.Encoder().fit({"n": [93.994] * 7})
    assert constant.transform({"n": 93.994})[1] == 0
    assert constant.transform({"n": 93.994 * (1 + 1e-14)})[1] == 0  # rounding
    for value, side in ((94.1, 1), (2024.0, 1), (1e90, 1), (93.9, -1), (None, 0)):  # no deviation to divide by
        assert constant.transform({"n": value})[1] == side
    for wrong in (
        {"clip": 0},
        {"levels": 0},
        {"hashing": 0},
        {"warm_up": 1.5},
        {"online": 1},
        {"spare": 1, "hashing": 8},
        {"interactions": ["ab"]},
        {"interactions": [("a", "a")]},
    ):
        with pytest.raises(at.errors.OptionError, match=next(iter(wrong))):
            at.Encoder(**wrong)
    with pytest.raises(at.errors.DataError, match=r"no column 'ages' \(did you mean 'age'\?\)"):
        at.Encoder(interactions=[("ages", "job")]).fit(PEOPLE)
    assert at.Encoder(interactions=[["age", "job"]]) == at.Encoder(interactions=(("age", "job"),))


def test_only_the_warm_up_is_looked_at():
    rows = {"n": [0.0, 2.0, 1000.0, -50.0], "c": ["a", "b", "c", "d"]}
    features = at.Encoder(warm_up=2).fit(rows)
    assert features.names() == ["intercept", "n", "c=a", "c=b", "c other"]
    assert features.transform_many(rows)[:, 1].tolist() == [-1, 1, 3, -3]
    assert features.transform_many(rows).tolist() == features.transform_many(rows).tolist()


def test_numbers_are_held_within_what_was_seen():
    """A score is linear: what leaves the range, or was constant, must not carry it away."""
    seen = np.random.default_rng(1).uniform(0.0, 1.0, 500)
    features = at.Encoder().fit({"n": seen, "year": np.full(500, 2015.0), "none": np.full(500, np.nan)})
    wide = np.ptp(seen) * (1 + 1 / 499)
    for value, held in ((seen.max(), seen.max()), (1.5, seen.min() + wide), (-9.0, seen.max() - wide), (0.5, 0.5)):
        x = features.transform({"n": value, "year": 2015, "none": None})
        assert x[1] == pytest.approx((held - seen.mean()) / seen.std())
    years = [features.transform({"n": 0.5, "year": year, "none": 7})[1:].tolist() for year in (2014, 2015, 2016, 2024)]
    assert [row[1] for row in years] == [-1, 0, 1, 1]
    assert [row[2:] for row in years] == [[0, 0]] * 4  # a number never seen says only that it is there
    assert at.Encoder(clip=None).fit({"n": seen}).transform({"n": 1e6})[1] > 1e6
    words = parts_of(features, features.transform({"n": 9, "year": 2024}), np.zeros(5))
    assert [part.words for part in words][1:3] == [f"n = {seen.min() + wide:.6g} or beyond", "year is above 2015"]


def test_a_range_that_runs_on():
    encoder = at.Encoder(online=True, warm_up=2)
    features, X = encoder.fit_transform({"n": [1.0, 1.0, 4.0, 40.0]})
    assert X[2, 1] == 1  # constant so far: above
    high = 4.0 + 3.0 / 2  # three values seen, 1 to 4
    assert X[3, 1] == pytest.approx((high - 2.0) / np.std([1, 1, 4]))
    assert features.arrays()["statistics"].tolist() == [[4, 1, 42, 3**2 + 39**2, 0, 39]]


def test_online_statistics_and_spare_levels():
    rows = {"n": [0.0, 2.0, 4.0, 4.0], "c": ["a", "b", "c", "c"]}
    features, X = at.Encoder(online=True, spare=2, warm_up=2).fit_transform(rows)
    names = features.names()
    assert names[2:] == ["c=a", "c=b", "c=c", "c (free 1)", "c other"]
    assert X[:2, 1].tolist() == [-1, 1]
    assert X[2, 1] == 3  # by the two before it
    assert X[3, 1] == pytest.approx((4 - 2) / np.std([0, 2, 4]))
    assert [names[2 + np.argmax(x[2:])] for x in X] == ["c=a", "c=b", "c other", "c=c"]
    asked = features.transform({"n": 9, "c": "new"}, update=False)
    assert (asked == features.transform({"n": 9, "c": "new"})).all()  # asking changed nothing
    assert "c=new" in features.names()
    assert features.transform({"n": 9, "c": "newer"})[-1] == 1  # no place is free any more
    assert features.n_features == len(features.names()) == 7


def test_nothing_is_counted_of_a_record_that_is_refused():
    features = at.Encoder(online=True).fit([{"a": 1, "b": 2}, {"a": 2, "b": 5}])
    before = features.arrays()["statistics"].copy()
    with pytest.raises(at.errors.DataError, match="column 'b' takes numbers, got 'many'; give None"):
        features.transform({"a": 3, "b": "many"})
    with pytest.raises(at.errors.DataError, match="row 1: column 'b' holds numbers, got 'many'"):
        features.transform_many([{"a": 3, "b": 1}, {"a": 3, "b": "many"}])
    assert (features.arrays()["statistics"] == before).all()
    with pytest.raises(
        at.errors.InputError, match=r"the record has no column of this map: it has c; the map reads a, b"
    ):
        features.transform({"c": 3})
    with pytest.raises(at.errors.InputError, match="a record is a dict"):
        features.transform([1, 2])
    with pytest.raises(at.errors.DataError, match="no column 'b'"):
        features.transform_many({"a": [1]})


def test_interactions():
    rows = {"n": [0.0, 2.0, np.nan], "m": [1.0, 3.0, 2.0], "c": ["a", "b", "a"]}
    features, X = at.Encoder(interactions=[("n", "m"), ("n", "c")]).fit_transform(rows)
    names = features.names()
    at_ = {name: X[:, k] for k, name in enumerate(names)}
    for one, two in (("n", "m"), ("n missing", "m"), ("n", "c=a"), ("n missing", "c=a"), ("n", "c other")):
        np.testing.assert_array_equal(at_[f"{one} × {two}"], at_[one] * at_[two])
    assert ([features.transform(row) for row in at.read_records(rows).rows()] == X).all()


def test_hashing():
    rows = {"n": [0.0, 2.0], "c": ["a", "b"], "d": ["x", None]}
    features = at.Encoder(hashing=64, interactions=[("c", "d"), ("n", "c"), ("c", "n")]).fit(rows)
    assert features.n_features == 2 + 64
    assert features.names()[-1] == "hashed 63"
    hasher = Hasher(64)
    expected = np.zeros(66)
    expected[:2] = 1.0
    for token in ("c=new", "d missing", "c=new × d missing", "n × c=new", "c=new × n"):
        expected[2 + hasher.place(token)] += 1.0
    record = {"n": 2.0, "c": "new", "d": None}
    assert (features.transform(record) == expected).all()
    assert (features.transform_many([record])[0] == expected).all()
    theta = np.arange(66.0)
    named = dict(features.explain(record, theta))
    assert named["c=new × d missing"] == 2 + hasher.place("c=new × d missing")
    assert sum(named.values()) == pytest.approx(features.transform(record) @ theta)
    assert all(name.startswith(("hashed", "n", "int")) for name, _ in features.explain(expected, theta))


def test_any_text_is_a_level():
    odd = ["\ud800", "\x00", "é", "a=b", "日本", "x" * 10000]  # a lone surrogate can come out of JSON
    for encoder in (at.Encoder(), at.Encoder(hashing=8)):
        features = encoder.fit({"c": odd})
        again = at.FeatureMap.restore(json.loads(json.dumps(features.header())), features.arrays())
        assert (again.transform_many({"c": odd}) == features.transform_many({"c": odd})).all()


def test_hashing_forgets_rather_than_fill_the_memory(monkeypatch):
    monkeypatch.setattr(Hasher, "LARGEST_MEMORY", 3)
    hasher = Hasher(1000)
    places = [hasher.place(f"user={k}") for k in range(10)]
    assert len(hasher.known) <= 3
    assert places == [hasher.place(f"user={k}") for k in range(10)]


def test_explanations_add_up_to_the_score():
    features = at.Encoder(interactions=[("age", "job")]).fit(PEOPLE)
    theta = np.linspace(-1, 2, features.n_features)
    for row in PEOPLE:
        x = features.transform(row)
        shares = features.explain(x, theta)
        assert sum(share for _, share in shares) == pytest.approx(x @ theta)
        assert shares == features.explain(row, theta)
        assert sorted(shares, key=lambda share: -abs(share[1])) == shares
    with pytest.raises(at.errors.InputError, match="theta must have"):
        features.explain(PEOPLE[0], [1.0])
    with pytest.raises(at.errors.InputError, match="an item must have"):
        features.explain([1.0], theta)


@pytest.mark.parametrize("options", [{}, {"hashing": 32, "interactions": [("age", "job")]}, {"intercept": False}])
def test_sparse_is_the_same(options):
    features = at.Encoder(**options).fit(PEOPLE)
    X = features.transform_many(PEOPLE, sparse=True)
    assert X.format == "csr"
    assert X.nnz == np.count_nonzero(X.toarray())
    assert (X.toarray() == features.transform_many(PEOPLE)).all()
    _, Y = at.Encoder(online=True, warm_up=2, **options).fit_transform(PEOPLE, sparse=True)
    assert (Y.toarray() == at.Encoder(online=True, warm_up=2, **options).fit_transform(PEOPLE)[1]).all()


def test_sparse_without_scipy_says_what_to_install(monkeypatch):
    features = at.Encoder(online=True).fit(PEOPLE)
    before = features.arrays()["statistics"].tolist()
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    with pytest.raises(at.errors.MissingExtraError, match=r"pip install 'appletaste\[sparse\]'"):
        features.transform_many(PEOPLE, sparse=True)
    assert features.arrays()["statistics"].tolist() == before


def test_saved_files(tmp_path):
    features = at.Encoder(online=True, spare=1).fit(PEOPLE)
    path = tmp_path / "people.features"
    features.save(path)
    again = at.FeatureMap.load(path)
    assert again.encoder == features.encoder
    assert again.names() == features.names()
    json.dumps(features.header(), allow_nan=False)
    for content in (b"", b"text", path.read_bytes()[:300]):
        path.write_bytes(content)
        with pytest.raises(SaveFileError, match="not a readable appletaste feature map"):
            at.FeatureMap.load(path)
    header = {**features.header(), "columns": [{"kind": "odd", "name": "a"}]}
    with pytest.raises(ValueError, match="odd"):
        at.FeatureMap.restore(header, features.arrays())
    with pytest.raises(SaveFileError, match="save format 1"):
        at.FeatureMap.restore({**features.header(), "format": 1}, features.arrays())
    at.policy("never", n_features=2, costs=at.Costs(1, 0.4, 0.05)).save(path)
    with pytest.raises(SaveFileError):
        at.FeatureMap.load(path)


def test_a_map_is_saved_with_its_policy_and_both_continue_bit_for_bit(costs, tmp_path):
    features = at.Encoder(online=True).fit(PEOPLE)
    policy = at.policy("voi", n_features=features.n_features, costs=costs, seed=1)
    rows = [{"age": 20 + k, "income": k % 7, "job": "student" if k % 3 else "chef"} for k in range(60)]

    def run(policy, features, rows):
        decisions = []
        for row in rows:
            decision = policy.decide(features.transform(row))
            if decision.act:
                policy.learn(decision, int(row["age"] > 50))
            decisions.append((decision.act, decision.probability, decision.x.tolist()))
        return decisions

    run(policy, features, rows[:30])
    path = tmp_path / "stream"
    policy.save(path, features=features)
    restored = run(at.load(path), at.FeatureMap.load(path), rows[30:])
    assert restored == run(policy, features, rows[30:])
    policy.save(path)
    with pytest.raises(SaveFileError, match="not a readable appletaste feature map"):
        at.FeatureMap.load(path)
    with pytest.raises(at.errors.InputError, match="vectors of 8 features, the policy takes 2"):
        at.policy("never", n_features=2, costs=costs).save(path, features=features)


WITHOUT_EXTRAS = """
import sys
for name in ("narwhals", "pandas", "polars", "pyarrow", "scipy", "sklearn"):
    sys.modules[name] = None
import appletaste as at
records = at.read_records(sys.argv[1], label="label")
features, X = at.Encoder(interactions=[("age", "job")]).fit_transform(records)
features.save(sys.argv[1] + ".features")
print(X.shape, len(features.names()))
assert "numba" not in sys.modules
"""


def test_nothing_but_numpy_is_needed(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("age,job,label\n1,a,0\n2,b,1\n")
    found = subprocess.run([sys.executable, "-c", WITHOUT_EXTRAS, path], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "(2, 8) 8"
