"""What stands above the table of a replay where never or always acting costs no more than a policy."""

import json

import numpy as np
import pytest

import appletaste as at
from appletaste.policies import PolicySpec
from appletaste.replays import sweep
from appletaste.replays.verdict import DRAWS, LOSES, WINS, Standing

COSTS = at.Costs(miss=5.0, false_alarm=1.0, hit=0.0)
CARELESS = PolicySpec("greedy", {"epsilon": 0.5})  #: passes every other item by a coin


def table(rows=1500, seed=1):
    """A stream of which half is positive, so that always acting is no bad rule; x tells, a year is rare at first."""
    rng = np.random.default_rng(seed)
    x, later = rng.normal(size=rows), np.arange(rows) > 700
    year = np.where(later | (rng.random(rows) < 0.02), 2018.0, 2017.0)
    return {"x": x, "year": year, "bad": (rng.random(rows) < 1 / (1 + np.exp(-3 * x))).astype(int)}


@pytest.mark.parametrize(
    ("saved", "se", "verdict"),
    [(-5, 2, LOSES), (-4, 2, DRAWS), (4, 2, DRAWS), (5, 2, WINS), (0, 0, DRAWS), (-0.1, 0, LOSES)],
)
def test_a_difference_within_two_standard_errors_is_a_draw(saved, se, verdict):
    assert Standing("always", saved, se).verdict == verdict


def test_a_policy_that_wins_has_no_first_line():
    result = at.replay(table(), "bad", costs=COSTS, shuffles=3)
    assert result.verdict is None
    assert str(result).startswith(result.title)
    assert repr(result).startswith(f"<ReplayResult: {result.title}")
    against = result.as_dict()["voi"]["against_constant"]
    assert (against["constant"], against["verdict"]) == ("always", WINS)
    assert against["saved"] == pytest.approx(result.saved("voi", "always").mean)
    assert against["se"] == pytest.approx(result.saved("voi", "always").se)
    assert result.as_dict()["always"]["against_constant"] is None


def test_every_policy_that_loses_is_named_and_the_best_one_counts():
    result = at.replay(table(), "bad", costs=COSTS, shuffles=3, policies=["voi", CARELESS])
    cost = {name: f"{result[name].cost_per_1000.mean:.4g}" for name in ("voi", "always")}
    lost, saved = CARELESS.label, result.saved(CARELESS.label, "always")
    assert result.verdict == (
        f"always acting costs {cost['always']} for 1,000 items, {lost} {result[lost].cost_per_1000.mean:.4g} "
        f"({-saved.mean:.4g} more, standard error {saved.se:.4g}): do not go live with {lost} on this stream. "
        f"voi costs less, {cost['voi']}"
    )
    assert str(result).splitlines()[:2] == [result.verdict, result.title]
    assert repr(result).startswith(f"<ReplayResult: {result.verdict}; {result.title}")


def test_where_all_lose_it_says_what_to_try(tmp_path):
    """In an order what is known to help, one thing after another; of a shuffled file only what may be wrong with it."""
    played = {"costs": COSTS, "policies": [CARELESS], "order": "as is"}
    result = at.replay(table(), "bad", **played)
    assert f"more): do not go live with {CARELESS.label} on this stream. Try scales that" in result.verdict
    assert "encoder={'online': True}, or leave out what was rare at first, drop=['year']; play" in result.verdict
    result.save(tmp_path, pictures=False)
    assert json.loads((tmp_path / "manifest.json").read_text())["verdict"] == result.verdict
    again = at.replay(table(), "bad", **played, encoder={"online": True}).verdict
    assert "Try straight lines, encoder={'online': True, 'curves': False}; play" in again
    last = at.replay(table(), "bad", **played, encoder={"online": True, "curves": False}).verdict
    assert last.endswith("Let the policy forget with half_life, or leave out columns that move with time")
    shuffled = at.replay(table(), "bad", costs=COSTS, policies=[CARELESS], shuffles=2).verdict
    assert shuffled.endswith("Are the label, the costs and the columns the right ones?")
    short = at.replay(
        table(rows=400), "bad", **played
    ).verdict  # nothing comes after the rows that scales are fitted on
    assert short.endswith("Are the label, the costs and the columns the right ones?")


def test_the_price_of_learning_is_told_apart():
    """A policy that loses to never by what it paid at first, and is better by then, says so."""
    rng, rows = np.random.default_rng(1), 700
    x = rng.normal(size=(rows, 6))
    sure = (x[:, 0] > 1.8).astype(int)
    found = {f"x{k}": x[:, k] for k in range(6)} | {"bad": sure}
    result = at.replay(found, "bad", costs=at.Costs(miss=3.0, false_alarm=2.0, hit=0.0), order="as is")
    assert result["voi"].cost_per_1000.mean > result["never"].cost_per_1000.mean
    assert ". In the second half alone voi costs " in result.verdict
    assert ": learning is what was dear, and a longer file would say more. Try scales" in result.verdict
    lost = at.replay(table(), "bad", costs=COSTS, policies=[CARELESS], order="as is").verdict
    assert "second half" not in lost


def test_acting_on_everything_is_a_draw_with_always():
    costs = at.Costs(miss=1e6, false_alarm=1.0, hit=0.0)
    result = at.replay(table(), "bad", costs=costs, order="as is", encoder={"online": True})
    assert result["voi"].act_rate == 1.0
    cost = f"{result['always'].cost_per_1000.mean:.4g}"
    said = f"always acting costs {cost} for 1,000 items, voi {cost}: a draw, since the difference is within 2 standard"
    assert result.verdict.startswith(said)
    assert "do not go live" not in result.verdict


def test_one_order_has_the_error_of_its_stretches():
    """A single pass has no standard error over passes; two hundred stretches of it tell a draw from a loss."""
    result = at.replay(table(), "bad", costs=COSTS, order="as is", policies=[CARELESS])
    against = result.as_dict()[CARELESS.label]["against_constant"]
    items, lost = 1500, result[CARELESS.label].curves[0] - result["always"].curves[0]
    assert against["saved"] == pytest.approx(-1000 * lost[-1] / items)
    spread = np.diff(lost, prepend=0.0).std()
    assert against["se"] == pytest.approx(1000 * spread * np.sqrt(200) / items)
    assert against["verdict"] == LOSES


def test_always_at_a_desk_acts_while_there_are_reviews():
    result = at.replay(table(), "bad", costs=COSTS, order="as is", policies=[CARELESS], capacity="90%")
    assert result.verdict.startswith("always acting as long as there are reviews costs ")


def test_a_sweep_says_it_of_every_factor_where_a_constant_wins():
    found = sweep(table(), "bad", costs=COSTS, policies=[CARELESS], shuffles=2, factors=[0.02, 1.0])
    never, always, tries = found.verdicts
    assert never.startswith("miss x0.02: never acting costs ")
    assert always.startswith("miss x1: always acting costs ")
    assert all(f"do not go live with {CARELESS.label} on this stream" in line for line in (never, always))
    assert tries == "Are the label, the costs and the columns the right ones?"
    assert str(found).splitlines()[:3] == found.verdicts
    assert found.as_dict()["verdicts"] == found.verdicts
    assert sweep(table(), "bad", costs=COSTS, shuffles=2, factors=[1.0]).verdicts == []
