"""What must hold for every table: no look at the future, one by one as at once, running as batch, saved as carried."""

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import appletaste as at

NUMBERS = st.one_of(st.none(), st.integers(-1000, 1000), st.floats(-1e6, 1e6), st.sampled_from(["", "NA", "7", "-0.5"]))
ANY_NUMBERS = st.one_of(NUMBERS, st.floats(), st.booleans(), st.sampled_from([" 3 ", "inf", "1e400", 10**400]))
LEVELS = st.one_of(st.none(), st.sampled_from(["a", "b", "c", "?", " d ", ""]), st.integers(0, 3), st.booleans())
ROWS = st.lists(
    st.fixed_dictionaries({}, optional={"n": NUMBERS, "m": ANY_NUMBERS, "c": LEVELS, "d": LEVELS}), min_size=1
)
ENCODERS = st.builds(
    lambda online, spare, hashing, **rest: at.Encoder(
        online=online, spare=0 if hashing else spare, hashing=hashing, **rest
    ),
    online=st.booleans(),
    spare=st.integers(0, 2),
    hashing=st.sampled_from([None, None, 3, 16]),
    standardise=st.booleans(),
    clip=st.sampled_from([None, 0.5, 5.0]),
    levels=st.integers(1, 4),
    rare=st.integers(1, 2),
    missing_indicator=st.booleans(),
    intercept=st.booleans(),
    interactions=st.sampled_from([(), (("n", "m"),), (("n", "c"), ("d", "c"))]),
    warm_up=st.integers(1, 6),
)
KINDS = {"numbers": ["n", "m"], "categories": ["c", "d"]}


def table(rows):
    columns = {name: [row.get(name) for row in rows] for name in "nmcd"}
    return at.read_records(columns, **KINDS)


@given(ENCODERS, ROWS, ROWS, ROWS)
def test_no_vector_depends_on_what_comes_after_it(encoder, first, one_future, another):
    first = (first * encoder.warm_up)[: max(len(first), encoder.warm_up)]
    features, X = encoder.fit_transform(table(first + one_future))
    others, Y = encoder.fit_transform(table(first + another))
    assert features.n_features == others.n_features
    np.testing.assert_array_equal(X[: len(first)], Y[: len(first)])


@given(ENCODERS, ROWS, ROWS)
def test_one_by_one_is_as_at_once_and_every_number_is_usable(encoder, first, rest):
    features, again = encoder.fit(table(first)), encoder.fit(table(first))
    X = features.transform_many(table(rest))
    assert X.shape == (len(rest), features.n_features) == (len(rest), len(features.names()))
    assert np.isfinite(X).all()
    # a record that lacks a column is counted; one that holds nothing there is not
    one_by_one = [again.transform({**dict.fromkeys("nmcd"), **row}) for row in rest]
    np.testing.assert_array_equal(X, one_by_one)
    np.testing.assert_array_equal(features.arrays()["statistics"], again.arrays()["statistics"])
    assert features.header() == again.header()
    np.testing.assert_array_equal(
        features.transform_many(table(rest), sparse=True, update=False).toarray(),
        features.transform_many(table(rest), update=False),
    )


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=60), st.integers(1, 20))
def test_running_statistics_are_those_of_the_batch(values, warm_up):
    records = at.read_records({"n": np.array(values)})
    features, X = at.Encoder(online=True, clip=None, warm_up=warm_up).fit_transform(records)
    count, shift, total, _, low, high = features.arrays()["statistics"][0]
    assert count == len(values)
    assert (low, high) == (min(np.array(values) - shift), max(np.array(values) - shift))
    np.testing.assert_allclose(shift + total / count, np.mean(values), rtol=1e-9, atol=1e-9 * np.ptp(values))
    for row in range(warm_up, len(values)):
        seen = np.array(values[:row])
        if np.std(seen) > 1e-4 * (np.ptp(values) + abs(seen).max()):
            expected = (values[row] - seen.mean()) / seen.std()
            np.testing.assert_allclose(X[row, 1], expected, rtol=1e-5, atol=1e-5)


@given(ENCODERS, ROWS, ROWS, ROWS)
@settings(max_examples=50)
def test_a_saved_map_continues_bit_for_bit(encoder, first, before, after):
    features = encoder.fit(table(first))
    features.transform_many(table(before))
    with tempfile.TemporaryDirectory() as folder:
        features.save(Path(folder) / "map")
        restored = at.FeatureMap.load(Path(folder) / "map")
    assert restored.encoder == encoder
    assert restored.names() == features.names()
    np.testing.assert_array_equal(restored.transform_many(table(after)), features.transform_many(table(after)))
    assert restored.header() == features.header()


@given(ENCODERS, ROWS)
def test_asking_changes_nothing_and_tells_the_truth(encoder, rows):
    features = encoder.fit(table(rows))
    for row in rows:
        record = {"n": None, **row}
        before = features.header(), features.arrays()["statistics"].tolist()
        asked = features.transform(record, update=False)
        assert before == (features.header(), features.arrays()["statistics"].tolist())
        np.testing.assert_array_equal(asked, features.transform(record))


@given(ENCODERS, ROWS, st.integers(0, 2**32 - 1))
def test_explanations_add_up(encoder, rows, seed):
    features = encoder.fit(table(rows))
    theta = np.random.default_rng(seed).normal(size=features.n_features)
    record = {"n": None, **rows[-1]}
    x = features.transform(record, update=False)
    for item in (x, record):
        shares = [share for _, share in features.explain(item, theta)]
        np.testing.assert_allclose(sum(shares), x @ theta, rtol=1e-9, atol=1e-9 * np.abs(x * theta).max(initial=1.0))
