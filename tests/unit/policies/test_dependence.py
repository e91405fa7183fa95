"""What trees add by column, against the definition: averages over items, and second differences for pairs."""

import numpy as np
import pytest

import appletaste as at
from appletaste.reports.model import model_from, told_of
from appletaste.reports.model_page import as_html
from appletaste.reports.model_pictures import Scale, picture

pytest.importorskip("lightgbm")
COSTS = at.Costs(miss=1, false_alarm=0.5, hit=0)


@pytest.fixture(scope="module")
def crossed():
    """A policy of records in which two columns matter together, one by itself, and one not at all."""
    rng, n = np.random.default_rng(5), 900
    table = {
        "a": rng.normal(10, 2, n),
        "b": rng.normal(0, 1, n),
        "job": rng.choice(["chef", "pilot"], n),
        "idle": rng.normal(size=n),
    }
    score = 4 * np.sign((table["a"] - 10) * table["b"]) + 1.5 * (table["job"] == "pilot") - 0.7
    labels = (rng.random(n) < 1 / (1 + np.exp(-score))).astype(int)
    features, items = at.Encoder(curves=True).fit_transform(table)
    policy = at.policy(n_features=features.n_features, costs=COSTS, groups=features.groups, seed=3)
    for x, label in zip(items, labels, strict=True):
        policy.teach(x, int(label))
    assert policy.learner.forest is not None
    return policy, features, items


def test_what_trees_add_is_the_mean_over_items_from_the_typical_value(crossed):
    policy, features, items = crossed
    found, forest, weight = policy.curves(features), policy.learner.forest, policy.posterior.mean[-1]
    some = items[np.linspace(0, 899, 100).astype(int)]
    curve, place = found["a"], features.names().index("a")

    def scores(value):
        row = features.transform({"a": value, "b": 0.0, "job": "chef", "idle": 0.0}, update=False)
        changed = some.copy()
        changed[:, place] = row[place]
        return forest.longer_many(changed)[:, -1]

    for k in (0, 20, len(curve.values) - 1):
        added = weight * (scores(curve.values[k]) - scores(curve.typical))
        assert curve.trees.mean[k] == pytest.approx(added.mean(), abs=1e-9)
        assert curve.trees.low[k] == pytest.approx(np.quantile(added, 0.1), abs=1e-9)
        assert curve.trees.high[k] == pytest.approx(np.quantile(added, 0.9), abs=1e-9)


def test_columns_that_work_together_are_the_strongest_pair_and_come_first(crossed):
    policy, features, _ = crossed
    found = policy.curves(features)
    assert {found.pairs[0].one, found.pairs[0].two} == {"a", "b"}
    assert found.pairs[0].strength > 5 * max([pair.strength for pair in found.pairs[1:]], default=0.0)
    assert {column.name for column in found.columns[:2]} == {"a", "b"}
    assert found["a"].moves > 1.0 > found["idle"].moves


def test_the_base_is_the_score_of_the_typical_item(crossed):
    policy, features, _ = crossed
    found = policy.curves(features)
    record = {column.name: column.typical for column in found}
    x = features.transform({"a": record["a"], "b": record["b"], "job": record["job"], "idle": record["idle"]})
    assert found.base == pytest.approx(policy.posterior.score(x).mean, abs=1e-9)
    assert found.base_spread == pytest.approx(np.sqrt(policy.posterior.score(x).variance), rel=1e-6)


def test_the_page_says_and_draws_what_trees_add(crossed):
    policy, features, _ = crossed
    model = model_from(policy, features, by_item=False)
    page = as_html(model, "crossed")
    assert "Columns that trees take together" in page
    assert "a × b".replace(" × ", "&nbsp;×&nbsp;") in page or "b&nbsp;×&nbsp;a" in page
    assert 'class="trees" points' in page
    assert "Trees add" in told_of(model.curves["a"])
    drawn = picture(model.curves["job"], Scale.of(list(model.curves)))
    assert ('class="eight"' in drawn) == (model.curves["job"].trees is not None)
    told = model.as_dict()
    assert told["pairs"][0]["strength"] > 0.5
    assert len(told["columns"][0]["trees"]["mean"]) == len(told["columns"][0]["values"])


def test_without_trees_nothing_is_said_of_them():
    features = at.Encoder().fit({"a": [1.0, 2.0, 3.0]})
    policy = at.policy(n_features=features.n_features, costs=COSTS, groups=None)
    model = model_from(policy, features, by_item=False)
    assert model.curves["a"].trees is None
    assert model.as_dict()["pairs"] == []
    assert "what trees add" not in as_html(model, "plain")
