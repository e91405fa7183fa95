"""The score of another model: a curve whose line and ramps share a scale that is open from the start."""

import math

import numpy as np
import pytest

import appletaste as at
from appletaste.errors import OptionError
from appletaste.features.numbers import OPEN, Score
from appletaste.features.parts import average_item, parts_of
from appletaste.posteriors import Laplace
from appletaste.replays.comparators import full_information

COSTS = at.Costs(miss=5, false_alarm=1, hit=0)


def table(n=600, seed=3):
    """A model that knows the log-odds, told with a bend, and a column of noise."""
    rng = np.random.default_rng(seed)
    z = rng.normal(-1.0, 1.5, n)
    labels = (rng.random(n) < 1 / (1 + np.exp(-z))).astype(int)
    return {"risk": 1 / (1 + np.exp(-z)), "noise": rng.normal(size=n)}, labels


def test_a_probability_is_taken_by_its_log_odds():
    columns, _ = table()
    features = at.Encoder(score="risk", warm_up=600).fit(columns)
    score = features.score
    assert score.edge == pytest.approx(min(columns["risk"].min(), 1 - columns["risk"].max()) / 2)
    z = np.log(columns["risk"] / (1 - columns["risk"]))
    X = features.transform_many(columns)
    np.testing.assert_allclose(X[:, score.start], (z - z.mean()) / z.std(), atol=1e-9)
    assert features.curves[0].knots[0] < -3  # knots are log-odds, too
    assert features.names()[:3] == ["intercept", "risk", "noise"]
    assert features.groups == (0, OPEN, 0, *[OPEN] * 5)
    one_by_one = [features.transform({name: column[k] for name, column in columns.items()}) for k in range(50)]
    assert np.array_equal(one_by_one, X[:50])


def test_other_scores_are_taken_as_they_are():
    points = {"points": np.arange(300.0, 900.0)}
    features = at.Encoder(score="points", curves=True).fit(points)
    assert features.score.edge is None
    assert features.curves[0].knots[-1] > 700
    assert set(features.groups) == {0, OPEN}


def test_rounded_probabilities_are_held_half_a_step_from_the_ends():
    assert Score.edge_of(np.array([0.0, 0.01, 0.5, 1.0, np.nan])) == 0.005
    assert Score.edge_of(np.array([0.0, 1.0])) is None  # a yes or no
    assert Score.edge_of(np.array([0.2, 1.3])) is None
    assert Score.edge_of(np.array([np.nan])) is None
    score = Score("risk", True, 5.0, False, False, 0.005)
    assert score.read(0.0, ()) == pytest.approx(math.log(0.005 / 0.995))
    assert score.read(1.0, ()) == pytest.approx(math.log(0.995 / 0.005))


def test_a_missing_score_has_an_indicator_of_the_usual_scale():
    columns, _ = table()
    columns["risk"][::5] = np.nan
    features = at.Encoder(score="risk").fit(columns)
    assert features.names()[1:3] == ["risk", "risk missing"]
    assert features.groups[1:3] == (OPEN, 0)
    x = features.transform({"risk": None, "noise": 0.0})
    assert x[1] == 0.0
    assert x[2] == 1.0
    assert not x[features.curves[0].start :].any()


@pytest.mark.parametrize("values", [[0.4] * 30, [0.0, 1.0] * 15])
def test_a_score_that_cannot_bend_is_a_line_in_its_own_group(values):
    features = at.Encoder(score="risk").fit({"risk": values, "age": list(range(30))})
    assert features.curves == ()
    assert features.groups == (0, OPEN, 0)
    policy = at.policy(n_features=3, costs=COSTS, groups=features.groups)
    policy.teach(features.transform({"risk": 0.9, "age": 3}), 1)
    assert np.isfinite(policy.posterior.mean).all()


@pytest.mark.parametrize(
    ("settings", "fitting", "said"),
    [
        ({"score": "job"}, {}, "not a column of numbers"),
        ({"score": "rsk"}, {}, "risk"),
        ({"score": 3}, {}, "the name of a column"),
        ({"score": "risk"}, {"drop": ["risk"]}, "no feature as well"),
        ({"score": "risk"}, {"label": "risk"}, "no feature as well"),
    ],
)
def test_what_cannot_be_a_score_is_refused(settings, fitting, said):
    with pytest.raises(Exception, match=said) as told:
        at.Encoder(**settings).fit({"risk": [0.1, 0.2], "job": ["a", "b"]}, **fitting)
    assert isinstance(told.value, at.errors.AppleTasteError)


@pytest.mark.parametrize("online", [False, True])
def test_saved_and_restored(tmp_path, online):
    columns, _ = table()
    features = at.Encoder(score="risk", online=online).fit(columns)
    features.save(tmp_path / "map")
    back = at.FeatureMap.load(tmp_path / "map")
    assert back.groups == features.groups
    record = {"risk": 0.93, "noise": 0.2}
    assert np.array_equal(back.transform(record), features.transform(record))
    assert back.continues(features)


def test_one_number_and_the_words_of_the_score():
    columns, labels = table()
    features, X = at.Encoder(score="risk").fit_transform(columns)
    policy = at.policy(n_features=X.shape[1], costs=COSTS, groups=features.groups)
    for x, label in zip(X, labels, strict=True):
        policy.teach(x, int(label))
    record = {"risk": 0.93, "noise": 0.2}
    found = at.explain(policy, record, features)
    assert [part.words for part in found.contributions] == ["risk = 0.93", "noise = 0.2"]
    assert found.base + sum(part.value for part in found.contributions) == pytest.approx(found.score)
    parts = parts_of(features, features.transform(record), average_item(features, X.shape[1]))
    assert parts[0].words == "risk = 0.93"


def test_the_scale_is_open_before_the_first_label_and_closes_on_noise():
    columns, labels = table()
    features, X = at.Encoder(score="risk", curves=True).fit_transform(columns)
    place = features.curves[0].start
    smooth = features.curves[1].start
    belief = Laplace(groups=features.groups, adaptive=True).start(X.shape[1], at.Key(1))
    assert belief.covariance[place, place] > 0.5 > 0.1 > belief.covariance[smooth, smooth]
    noise = Laplace(groups=features.groups, adaptive=True).start(X.shape[1], at.Key(1))
    coin = np.random.default_rng(5).integers(0, 2, len(X))
    for x, label, toss in zip(X, labels, coin, strict=True):
        belief.learn(x, int(label))
        noise.learn(x, int(toss))
    assert 1.0 / belief._prior[place, place] > 0.2
    assert 1.0 / noise._prior[place, place] < 0.1


def test_replay_takes_the_score_says_how_and_pays():
    columns, labels = table(n=1500)
    stream = {**columns, "bad": labels}
    costs = at.Costs(miss=1, false_alarm=1, hit=0)
    with_score = at.replay(stream, "bad", costs=costs, score="risk", shuffles=2, policies=["voi", "pg-ts"])
    without = at.replay(stream, "bad", costs=costs, drop=["risk"], shuffles=2)
    assert any("by its log-odds" in note for note in with_score.notes)
    assert not any("log-odds" in note for note in without.notes)
    assert with_score["voi"].cost_per_1000.mean < 0.8 * without["voi"].cost_per_1000.mean
    assert with_score["pg-ts"].cost_per_1000.mean < 0.9 * without["voi"].cost_per_1000.mean  # it meets the line


def test_a_score_that_is_the_label_is_named_as_a_leak():
    columns, labels = table()
    result = at.replay({**columns, "copy": labels, "bad": labels}, "bad", costs=COSTS, score="copy", shuffles=1)
    assert any("alone tells the label" in note and "'copy'" in note for note in result.notes)


def test_a_score_is_one_feature_to_the_rule():
    groups = (0, OPEN, 0, OPEN, OPEN)
    assert at.policy(n_features=5, costs=COSTS, groups=groups).method.rule.features == 3
    assert full_information(5, COSTS, 0, groups).n_features == 5


def test_a_score_names_a_column_of_a_table():
    with pytest.raises(OptionError, match="score="):
        at.replay(np.zeros((4, 2)), np.array([0, 1, 0, 1]), costs=COSTS, score="risk")
