"""The public data sets kept beside the checkout, or in the folder APPLETASTE_DATA: read and encoded as described."""

import os
import time
from pathlib import Path

import numpy as np
import pytest

import appletaste as at

FOLDER = Path(os.environ.get("APPLETASTE_DATA", Path(__file__).parents[4] / "shared" / "data"))
#: Rows, positives, columns, categories, levels in the whole file and, for reference, missing cells by column.
FILES = {
    "mushroom": (8124, 4208, 22, 22, 116, {"stalk-root": 2480}),
    "spambase": (4601, 1813, 57, 0, 0, {}),
    "phishing": (11055, 4898, 30, 0, 0, {}),
    "german_credit": (1000, 300, 20, 13, 54, {}),
    "bank_marketing": (41188, 4640, 19, 10, 53, {}),
}

pytestmark = pytest.mark.data


def path_of(name):
    path = FOLDER / f"{name}.csv.gz"
    if not path.exists():
        pytest.skip(f"there is no {path}: keep the data sets there, or set APPLETASTE_DATA to their folder")
    return path


def test_a_year_that_is_rare_in_the_first_rows_is_found():
    """Of the first 500 bookings 22 arrive in 2018, of the fourth tenth all; no range moves."""
    found = at.history.look(path_of("hotel_inn"), "cancelled", positive="Canceled", time="booked_on")
    assert [finding.column for finding in found.findings if finding.code == "RARE_AT_FIRST"] == ["arrival_year"]
    assert "MOVING_RANGE" not in found.codes["arrival_year"]


@pytest.mark.parametrize("name", FILES)
def test_facts(name):
    rows, positives, columns, categories, levels, missing = FILES[name]
    records = at.read_records(path_of(name), label="label")
    assert (len(records), int(records.labels.sum()), len(records.columns)) == (rows, positives, columns)
    texts = {key: column for key, column in records.columns.items() if column.dtype == object}
    assert len(texts) == categories
    assert sum(len(set(column.tolist()) - {None}) for column in texts.values()) == levels
    found = {key: sum(value is None for value in column.tolist()) for key, column in texts.items()}
    assert {key: count for key, count in found.items() if count} == missing
    assert not any(np.isnan(column).any() for key, column in records.columns.items() if key not in texts)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    "options", [{}, {"online": True, "spare": 3}, {"hashing": 64}], ids=["frozen", "online", "hashed"]
)
def test_encoded_one_by_one_as_at_once(name, options):
    records = at.read_records(path_of(name), label="label")
    encoder = at.Encoder(**options)
    features, X = encoder.fit_transform(records)
    assert X.shape == (len(records), features.n_features)
    assert np.isfinite(X).all()
    assert np.abs(X).max() <= 22  # standardised numbers within 5; hashed levels of one row may meet
    assert len(set(features.names())) == features.n_features
    again = encoder.fit(records)
    rows = list(records[500:900].rows())
    np.testing.assert_array_equal(X[500:900], [again.transform(row) for row in rows])


def test_a_large_table_is_quick():
    start = time.perf_counter()
    records = at.read_records(path_of("bank_marketing"), label="label")
    _, X = at.Encoder(warm_up=len(records)).fit_transform(records)  # every level, to have a wide one
    assert X.shape[1] >= 62
    assert time.perf_counter() - start < 10  # 0.5 s on two idle cores


def test_a_policy_learns_from_a_file():
    """Half as many poisoned as eating every mushroom would cause, and most of the good ones are eaten."""
    records = at.read_records(path_of("mushroom"), label="label")
    records = records[np.random.default_rng(1).permutation(len(records))][:2500]
    features, X = at.Encoder().fit_transform(records)
    policy = at.policy("voi", n_features=features.n_features, costs=at.Costs(miss=0, false_alarm=15, hit=-5), seed=1)
    acts = np.zeros(len(X), dtype=bool)
    for t, x in enumerate(X):
        decision = policy.decide(x)
        acts[t] = decision.act
        if decision.act:
            policy.learn(decision, int(records.labels[t]))
    late = slice(1000, None)
    assert records.labels[late][acts[late]].mean() > 0.95
    assert acts[late][records.labels[late] == 1].mean() > 0.9
