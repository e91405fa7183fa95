"""The problems as the paper states them, and in both readings of its losses."""

import numpy as np
import pytest

import appletaste as at
from appletaste.errors import InputError, OptionError
from appletaste.problems import PROBLEMS


def pooled(name, replications=40, **settings):
    tables = [at.problem(name, **settings).draw(at.Key(1).at(r)) for r in range(replications)]
    widths = {table.n_features for table in tables}
    return tables, np.concatenate([table.items for table in tables]) if len(widths) == 1 else None


def test_problem_i():
    tables, items = pooled("i")
    assert items.shape == (40 * 500, 5)
    assert abs(items.mean()) < 4 / np.sqrt(items.size)
    assert items.var() == pytest.approx(1, abs=0.02)
    thetas = np.stack([table.theta for table in tables])
    assert thetas.min() > -1
    assert thetas.max() < 1
    assert thetas.var() == pytest.approx(1 / 3, abs=0.06)
    assert tables[0].costs == at.Costs(1.0, 0.4, 0.05)


def test_problem_ii():
    tables, items = pooled("ii", 20)
    assert items.shape == (20 * 1000, 20)
    assert items.var() == pytest.approx(8, abs=0.1)
    thetas = np.stack([table.theta for table in tables])
    assert (thetas == 0).mean() == pytest.approx(0.25, abs=4 * np.sqrt(0.19 / thetas.size))
    assert tables[0].costs == at.Costs(1.0, 0.7, 0.1)


def test_problem_iii():
    tables, _ = pooled("iii", 200)
    items = np.stack([table.items[:, 0] for table in tables])
    assert items.shape == (200, 500)
    np.testing.assert_allclose(items.mean(0), np.linspace(-0.1, 0, 500), atol=5 * 0.025 / np.sqrt(200))
    assert items.std(0).mean() == pytest.approx(0.025, rel=0.01)
    # The share of items on which acting is best, which the paper's always-act precision shows.
    best = np.mean([table.best_actions.mean() for table in tables])
    assert best == pytest.approx(0.0997, abs=0.002)
    never = np.mean([table.regret_of(np.zeros(500, bool)).sum() for table in tables])
    always = np.mean([table.regret_of(np.ones(500, bool)).sum() for table in tables])
    assert never == pytest.approx(0.39, abs=0.02)
    assert always == pytest.approx(12.9, abs=0.1)


def test_tuning_and_dimension():
    tables, _ = pooled("tuning", 200, rounds=750)
    assert {table.n_features for table in tables} == {3, 5, 10, 20}
    alarms = np.array([table.costs.false_alarm for table in tables])
    assert 0.5 <= alarms.min() < 0.55
    assert 0.9 < alarms.max() <= 0.95
    assert tables[0].rounds == 750
    variances = np.array([table.items.var() for table in tables])
    assert variances.mean() == pytest.approx(1, abs=0.35)
    _, printed = pooled("dimension", 10, features=16)
    _, constant = pooled("dimension", 10, features=16, scaling="constant")
    assert printed.var() == pytest.approx(1 / 4, rel=0.03)
    assert constant.var() == pytest.approx(1 / 16, rel=0.03)


def test_labels_follow_their_chances():
    tables, _ = pooled("i", 40)
    chances = np.concatenate([table.chances for table in tables])
    labels = np.concatenate([table.labels for table in tables])
    z = (labels - chances).sum() / np.sqrt((chances * (1 - chances)).sum())
    assert abs(z) < 4
    wrong = np.clip(chances + 0.03, 0, 1)
    assert abs((labels - wrong).sum() / np.sqrt((wrong * (1 - wrong)).sum())) > 4
    np.testing.assert_allclose(tables[0].chances, 1 / (1 + np.exp(-tables[0].items @ tables[0].theta)))


def test_only_as_run_gives_the_papers_always_act_precision():
    """Table 1 has 0.74 for policies that always act: the share of best actions, 0.75 as run and 0.27 as printed."""
    share = {}
    for reading in ("as-run", "as-printed"):
        tables, _ = pooled("i", 100, reading=reading)
        share[reading] = np.mean([table.best_actions.mean() for table in tables])
    assert abs(share["as-run"] - 0.74) < 0.03
    assert abs(share["as-printed"] - 0.74) > 0.3


def test_synthetic():
    costs = at.Costs(5, 1, 0)
    settings = {"features": 3, "rounds": 50, "context_variance": 4.0, "intercept": -2.0, "theta": "normal"}
    table = at.problem("synthetic", theta_scale=0.1, costs=costs, **settings).draw(at.Key(1))
    assert table.items.shape == (50, 4)
    assert (table.items[:, -1] == 1).all()
    assert table.theta[-1] == -2
    assert np.abs(table.theta[:3]).max() < 0.5
    assert table.costs == costs


def test_regret_is_the_cost_above_the_best(rng):
    table = at.problem("i", rounds=30).draw(at.Key(2))
    acts = rng.random(30) < 0.5
    expected = [table.costs.regret(bool(act), p) for act, p in zip(acts, table.chances, strict=True)]
    np.testing.assert_allclose(table.regret_of(acts), expected, atol=1e-12)
    assert table.regret_of(table.best_actions).sum() == 0


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("iv", {}, "there is no problem 'iv'"),
        ("i", {"features": 3}, "no setting 'features'"),
        ("i", {"reading": "upside-down"}, "reading is one of"),
        ("i", {"rounds": 0}, "rounds"),
        ("dimension", {"features": 0}, "features"),
        ("dimension", {"scaling": "none"}, "scaling"),
        ("synthetic", {"theta": "cauchy"}, "theta"),
        ("synthetic", {"context_variance": -1}, "context_variance"),
        ("synthetic", {"features": 0}, "features"),
    ],
)
def test_mistakes(name, settings, message):
    with pytest.raises(OptionError, match=message):
        at.problem(name, **settings).draw(at.Key(1))


def test_tables_are_checked():
    with pytest.raises(InputError, match="table needs"):
        at.problems.Table("x", np.ones((3, 2)), np.ones(2), np.ones(3, np.int8), at.Costs(1, 1, 0))


def test_every_problem_draws_the_same_table_from_the_same_key():
    for name in PROBLEMS:
        one, two = (at.problem(name).draw(at.Key(9).at("x")) for _ in range(2))
        assert (one.items == two.items).all()
        assert (one.labels == two.labels).all()
