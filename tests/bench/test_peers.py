"""The bench against other libraries: environments are what they say, adapters play, the report subtracts right."""

import math
from pathlib import Path

import numpy as np
import pytest
from bench.figures.parts import markdown
from bench.peers import real, report, tables
from bench.peers.budget import REPLICATIONS, plan, replications
from bench.peers.environments import drawn_environments
from bench.peers.picture import Point, draw, spread_out
from bench.peers.play import Run, act_all, all_environments, seed_of, table_of
from bench.peers.players import PEERS, RECOMMENDED, all_players, reference_of, registry_players, why_absent
from bench.peers.promises import promises
from bench.peers.random_environments import KINDS, draw_items, draw_random
from bench.peers.store import Store
from bench.peers.summary import mean_and_error, paired_difference, summarise

import appletaste as at
from appletaste.policies import registry

ENVIRONMENTS = {environment.name: environment for environment in drawn_environments()}
THRESHOLDS = {"i": 0.4 / 1.35, "ii": 0.7 / 1.6, "iii": 0.5, "peer": 0.3, "rare": 0.05, "correl": 0.5, "onehot": 0.6}
THRESHOLDS |= {"costly": 1.0 / 1.35, "icept": 0.4, "d50": 0.3, "long": 0.3, "nonlinear": 0.3}
THRESHOLDS |= {"mis-large": 0.3, "mis-small": 0.3, "heavy": 0.3, "d200": 0.3}
LENGTHS = {"peer": 2.0, "mis-large": 3 * 10**0.5, "mis-small": 10**0.5 / 3, "d50": 2.0, "d200": 2.0, "heavy": 2.0}


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_environments_are_what_they_say(name):
    environment = ENVIRONMENTS[name]
    table, again = environment.draw(at.Key(5)), environment.draw(at.Key(5))
    assert (table.rounds, table.n_features) == (environment.rounds, environment.features)
    assert table.costs.threshold == pytest.approx(THRESHOLDS[name])
    np.testing.assert_array_equal(table.items, again.items)
    np.testing.assert_array_equal(table.labels, again.labels)
    assert not np.array_equal(table.labels, environment.draw(at.Key(6)).labels)
    assert set(np.unique(table.labels)) <= {0, 1}
    if name in LENGTHS:
        assert np.linalg.norm(table.theta) == pytest.approx(LENGTHS[name])


def test_rewards_of_the_peer_job():
    costs = ENVIRONMENTS["peer"].draw(at.Key(0)).costs
    assert (costs.catch_gain, costs.alarm_price) == (0.7, 0.3)


def test_intercepts_and_categories():
    assert ENVIRONMENTS["rare"].draw(at.Key(1)).theta[-1] == -4.0
    assert ENVIRONMENTS["icept"].draw(at.Key(1)).theta[-1] == -2.0
    onehot = ENVIRONMENTS["onehot"].draw(at.Key(1)).items
    np.testing.assert_array_equal(onehot.sum(axis=1), 1.0)


def test_truth_of_the_nonlinear_one_is_in_no_feature():
    table = ENVIRONMENTS["nonlinear"].draw(at.Key(1))
    scores = np.log(table.chances / (1 - table.chances))
    coefficients, *_ = np.linalg.lstsq(table.items, scores, rcond=None)
    assert np.std(scores - table.items @ coefficients) > 0.2


def test_random_environments_differ_in_everything():
    drawn = [draw_random(at.Key(r)) for r in range(40)]
    assert {table.rounds for table in drawn} == {300, 1000, 3000}
    thresholds = [table.costs.threshold for table in drawn]
    assert 0.05 <= min(thresholds) < 0.2 < 0.7 < max(thresholds) <= 0.9
    assert len({table.n_features for table in drawn}) > 6
    rng = np.random.default_rng(0)
    assert all(draw_items(rng, kind, 7, 4).shape == (7, 4) for kind in KINDS)


def test_encoding_of_real_files():
    items, numeric = real.encode([["a", "b", "a"], ["1", "2.5", "-3"]])
    np.testing.assert_array_equal(items, [[1, 0, 1, 1], [0, 1, 2.5, 1], [1, 0, -3, 1]])
    np.testing.assert_array_equal(numeric, [False, False, True, False])


def test_real_files_that_are_not_there_say_so(tmp_path):
    assert all("--data" in environment.skip for environment in real.real_environments(tmp_path))


def test_costs_of_real_files():
    thresholds = {file.name: round(file.costs.threshold, 3) for file in real.FILES}
    expected = {"german_credit": 0.167, "spambase": 0.9, "mushroom": 0.75, "phishing": 0.75, "bank_marketing": 0.111}
    assert thresholds == expected


@pytest.mark.filterwarnings("ignore")  # what the libraries say to each other
@pytest.mark.parametrize("name", [player.name for player in PEERS])
def test_peers_play_fifty_rounds(name):
    player = all_players()[name]
    if why := why_absent(player):
        pytest.skip(f"{why}: make bench ARGS=peers installs it")
    table = at.problem("i", rounds=50).draw(at.Key(3))
    acts = act_all(player.make(table.n_features, table.costs, 7, table.rounds), table)
    assert acts.shape == (50,)
    assert acts.sum() > 0


def test_every_policy_of_the_registry_plays():
    names = {player.settings["name"] for player in registry_players()}
    assert names == {info.name for info in at.list_policies()} - {"oracle"}
    table = at.problem("i", rounds=20).draw(at.Key(3))
    for player in registry_players():
        assert act_all(player.make(5, table.costs, 7, 20), table).shape == (20,)


def test_the_horizon_is_known_only_to_those_that_say_so():
    known = {player.name: player for player in registry_players()}
    assert all(name.endswith("-T") == player.knows_horizon for name, player in known.items())


def test_a_label_is_shown_only_after_an_act():
    class Spy:
        def __init__(self):
            self.told = []

        def decide(self, x):
            return bool(x[0] > 0)

        def learn(self, x, act, label):
            self.told.append((act, label))

    table = at.problem("i", rounds=30).draw(at.Key(1))
    spy = Spy()
    acts = act_all(spy, table)
    assert [act for act, _ in spy.told] == acts.tolist()
    assert all((label is None) != act for act, label in spy.told)


def test_all_players_meet_the_same_table():
    one, two = table_of("i", 3, Path()), table_of("i", 3, Path())
    assert one is two
    assert seed_of("a", "i", 0) != seed_of("b", "i", 0)
    assert 1 <= seed_of("a", "i", 0) < 2**31


def test_a_player_that_raises_is_recorded(monkeypatch):
    def broken(*_):
        raise RuntimeError("no such luck")

    monkeypatch.setattr("bench.peers.players.Configuration.make", broken)
    assert Run("i", "never", 0, Path()).play()["error"] == "RuntimeError: no such luck"


def line(environment, player, replication, regret, acts=10):
    return {"environment": environment, "player": player, "replication": replication, "regret": regret, "acts": acts}


def example(reference="never"):
    """Ours plays four replications, one peer the first two."""
    players = {name: all_players()[name] for name in ("never", "always", "vw-bag", "bb-ids")}
    lines = [line("i", "never", r, regret) for r, regret in enumerate([10.0, 20.0, 30.0, 40.0])]
    lines += [line("i", "vw-bag", 0, 13.0, acts=2), line("i", "vw-bag", 1, 27.0)]
    lines += [line("i", "bb-ids", r, 50.0) for r in range(4)]
    return summarise(lines, players, reference)


def test_paired_differences():
    assert paired_difference({0: 13.0, 1: 27.0, 9: 0.0}, {0: 10.0, 1: 20.0, 5: 1.0}) == (5.0, 2.0)
    assert math.isnan(mean_and_error([])[0])
    cell = example().cells["i"]["vw-bag"]
    assert (cell.count, cell.mean, cell.difference, cell.difference_se) == (2, 20.0, 5.0, 2.0)
    assert cell.ratio == pytest.approx(40 / 30)  # the reference's mean over the common two, not over all four
    assert cell.locked == 1


def test_best_peer_and_promises():
    summary = example()
    assert summary.best_peer("i") == "vw-bag"
    assert summary.to_best_peer("i", "never") == pytest.approx(0.75)
    assert summary.to_best_peer("i", "bb-ids") == pytest.approx(2.0 / (4 / 3))
    assert summary.verdict("i", "never") == "won"  # 5 lower, with a standard error of 2
    assert summary.score("never") == (1, 0, 0)
    assert summary.score("vw-bag") == (0, 0, 1)  # a peer meets the reference
    assert [promise.kept for promise in promises(summary)] == [True] * 4
    worse = summarise([line("i", "never", 0, 12.0), line("i", "vw-bag", 0, 10.0)], summary.players, "never")
    assert [promise.kept for promise in promises(worse)] == [False] * 4
    assert "+20 %" in promises(worse)[1].found


def test_a_win_takes_two_standard_errors_and_more_than_one_replication():
    """Means differ by 5 each time; what differs is how sure that is."""
    players = {name: all_players()[name] for name in ("voi", "vw-bag")}

    def verdict(differences):
        lines = [line("i", "voi", r, 10.0) for r in range(len(differences))]
        lines += [line("i", "vw-bag", r, 10.0 + away) for r, away in enumerate(differences)]
        return summarise(lines, players, "voi").verdict("i", "voi")

    assert verdict([5.0, 5.0, 5.1, 4.9]) == "won"
    assert verdict([-5.0, -5.0, -5.1, -4.9]) == "lost"
    assert verdict([25.0, -15.0, 25.0, -15.0]) == "drawn"
    assert verdict([5.0]) == "drawn"
    assert verdict([0.0, 0.0]) == "drawn"


def test_relative_regret_is_over_common_tables():
    players = {name: all_players()[name] for name in ("vw-bag", "bb-ids", "never")}
    lines = [line("random", "vw-bag", r, 1.0) for r in range(3)] + [line("random", "bb-ids", r, 3.0) for r in range(2)]
    found = summarise([*lines, line("random", "never", 0, 99.0)], players, "vw-bag").relative_regret()
    assert found["vw-bag"] == (0.5, 0.0, 2.0, 2)
    assert "never" not in found


def test_the_recommended_one_is_the_reference_where_it_exists():
    assert reference_of(["bb-ids", RECOMMENDED, "ids"]) == RECOMMENDED
    assert reference_of(["pg-ts", "pg-ids-traditional"]) == "pg-ids-traditional"
    assert registry.RECOMMENDED == RECOMMENDED


def test_slow_players_play_the_first_replications_of_fast_ones():
    players = all_players()
    runs = plan([ENVIRONMENTS["i"]], [players["never"], players["bb-ids"]], Path(), most=20)
    numbers = {name: [run.replication for run in runs if run.player == name] for name in ("never", "bb-ids")}
    assert numbers["never"] == list(range(20))
    assert numbers["bb-ids"] == list(range(REPLICATIONS["i"][1]))
    assert replications(ENVIRONMENTS["long"], players["pg-ts"]) == 0


def test_a_bench_resumes(tmp_path):
    players = {"never": all_players()["never"]}
    runs = plan([ENVIRONMENTS["iii"]], players.values(), Path(), most=3)
    store = Store(tmp_path, players)
    store.add(runs[0].play())
    with (tmp_path / "results.jsonl").open("a") as file:
        file.write('{"environment": "iii", "pla')  # killed while writing
    again = Store(tmp_path, players)
    assert again.missing(runs) == runs[1:]
    assert len(again.lines(runs)) == 1


def test_the_report_is_written(tmp_path):
    summary = example()
    environments = all_environments(tmp_path)
    latencies = {"vw-bag": {"p50": 30.0}, "never": {"p50": 2.0, "p99": 3.0, "mean": 2.1}}
    whole = report.Report(summary, latencies, environments, summary.players, {"river-linucb": "river is not here"}, [])
    report.write(whole, tmp_path)
    page = (tmp_path / "index.html").read_text()
    assert "prefers-color-scheme: dark" in page
    assert "river is not here" in page
    assert "5.00 ± 2.00" in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")
    found = report.figures(whole)
    assert "vw-bag 20.0 ± 7.0 (2)" in markdown(found["tables"])
    assert "| 25.0 ± 6.5 | -5.00 ± 2.00 | 0.75 | won ✓ |" in markdown(found["tables"])  # never, and always did not play
    assert (found["won"], found["drawn"], found["lost"], found["single"]) == ("1", "0", "0", "vw-bag")


def test_numbers_in_tables():
    assert tables.with_error(12.345, 0.678) == "12.3 ± 0.7"
    assert tables.with_error(math.nan, 1.0) == "-"


def test_labels_of_the_picture_do_not_overlap():
    heights = spread_out([100.0, 101.0, 102.0, 400.0])
    assert min(np.diff(heights)) >= 12.0
    picture = draw(
        [Point("voi", "appletaste", 10.0, 0.7, True), Point("bb-ids", "bayesianbandits", 900.0, 1.2)], "x", "y"
    )
    assert picture.count("<circle") == 2
