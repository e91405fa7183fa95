"""Replays of made tables: orders, late labels, comparators, tallies, logs."""

import gc
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import appletaste as at
from appletaste.features.defaults import default_encoder
from appletaste.history.labelled import edges, read_labelled
from appletaste.policies import Learner
from appletaste.replays.comparators import known_acts, make
from appletaste.replays.tally import costs_of, tally
from appletaste.rules import Verdict
from appletaste.streams.loop import play_through, rehearse
from appletaste.streams.staffing import Staffing

COSTS = at.Costs(miss=5, false_alarm=1, hit=0)


def made(n=400, seed=1, noise=1.0):
    rng = np.random.default_rng(seed)
    x, kind = rng.normal(size=n), rng.choice(["a", "b", "c"], size=n)
    score = 2 * x + np.where(kind == "a", 1.5, -1.0) + noise * rng.logistic(size=n)
    return {"x": x, "kind": kind.tolist(), "bad": (score > 1).astype(int)}


@dataclass(frozen=True)
class Pattern:
    """Acts on a given pattern."""

    acts: tuple[bool, ...]

    def start(self, n_features, key):
        return Scribe(self.acts)


class Scribe(Learner):
    """Writes down what it is told, and after how many decisions; items are their own numbers."""

    def __init__(self, acts):
        self.acts, self.made, self.told = acts, 0, []

    def judge(self, x, costs, round_):
        return Verdict(float(self.acts[round_ - 1]), {})

    def commit(self, verdict, round_, act):
        self.made = round_

    def learn(self, observation):
        self.told.append((int(observation.x[0]), observation.label, self.made))

    def arrays(self):
        return {}

    def restore(self, arrays):
        pass


def played(acts, labels, **settings):
    """Return the ledger of a pattern that met numbered items, and what it was told."""
    n = len(labels)
    policy = at.Policy(Pattern(tuple(map(bool, acts))), n_features=1, costs=COSTS)
    ledger = at.streams.Ledger(policy)
    play_through(ledger, np.arange(float(n))[:, None], list(map(int, labels)), **settings)
    return ledger, policy.learner.told


def test_delays_are_read_and_drawn():
    assert (
        at.replays.Delay.of("500")
        == at.replays.Delay.of(500)
        == at.replays.Delay.of("fixed:500")
        == at.replays.Delay("fixed", 500.0)
    )
    assert at.replays.Delay.of(None) == at.replays.Delay("fixed", 0.0)
    key = at.Key(3)
    n = 40_000
    exponential = at.replays.Delay.of("exponential:200").draw(n, key)
    assert abs(exponential.mean() - 200) < 4 * 200 / np.sqrt(n)  # 4 standard errors
    lognormal = at.replays.Delay.of("lognormal:200,0.7").draw(n, key)
    assert abs(np.log(lognormal).mean() - np.log(200)) < 4 * 0.7 / np.sqrt(n)
    assert abs(np.log(lognormal).std() - 0.7) < 4 * 0.7 / np.sqrt(2 * n)
    assert not abs(np.log(exponential).mean() - np.log(200)) < 4 * 0.7 / np.sqrt(n)  # a mean is no median
    np.testing.assert_array_equal(at.replays.Delay.of("exponential:200").draw(5, key), exponential[:5])


@pytest.mark.parametrize("text", ["soon", "exponential", "exponential:a", "lognormal:1,2,3", "uniform:3", "-5", "inf"])
def test_delays_that_make_no_sense(text):
    with pytest.raises(at.errors.OptionError, match="delay"):
        at.replays.Delay.of(text)


def test_a_delay_of_k_lets_k_items_go_by():
    n, labels, times = 12, np.arange(12) % 2, np.arange(12.0)
    for late in (0, 1, 3):
        ledger, told = played(np.ones(n), labels, clock=times, arrivals=times + 1 + late)
        # item t is told when t + 1 + late decisions have been made
        assert told == [(t, t % 2, t + 1 + late) for t in range(n - 1 - late)]
        assert ledger.counts()["observed"] == n - 1 - late
    ledger, told = played(np.ones(n), labels, clock=times)
    assert ledger.counts()["observed"] == n
    assert told == [(t, t % 2, t + 1) for t in range(n)]


@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 9), st.integers(0, 1), st.integers(0, 2)), min_size=1, max_size=40)
)
def test_labels_are_learnt_once_when_due_and_in_order(rows):
    """Whatever the delays and the ticks of the clock: each label at most once, never early, never late."""
    acts, late, labels, ticks = (np.array(column) for column in zip(*rows, strict=True))
    times = np.cumsum(ticks).astype(float)
    due = times + late
    ledger, found = played(acts, labels, clock=times, arrivals=due)
    told = [t for t, _, _ in found]
    assert len(set(told)) == len(told)
    assert all(acts[t] and label == labels[t] for t, label, _ in found)
    for t, _, decided in found:
        first = next(s for s in range(t + 1, len(rows)) if due[t] <= times[s])
        assert decided == first
    waited = {t for t in range(len(rows)) if acts[t] and not any(due[t] <= times[s] for s in range(t + 1, len(rows)))}
    assert set(told) | waited == set(np.flatnonzero(acts))
    assert [d for _, d in sorted((decided, due[t]) for t, _, decided in found)] == [due[t] for t in told]
    observed = [int(name) - 1 for name in ledger if ledger[name].state == "observed"]
    assert observed == sorted(told)


def test_a_yardstick_is_told_of_passes_too():
    """Each label at its time, whoever acted; a policy is told of its acts alone."""
    times = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    for sees_all in (False, True):
        acts, told = [1, 0, 1, 0, 0, 1], []
        rehearse(
            range(6), lambda t, x, acts=acts: bool(acts[x]), told.append, times, [t + 2.0 for t in times], sees_all
        )
        assert told == ([0, 1, 2, 3] if sees_all else [0, 2])
        told.clear()
        rehearse(range(6), lambda t, x, acts=acts: bool(acts[x]), told.append, sees_all=sees_all)
        assert told == (list(range(6)) if sees_all else [0, 2, 5])


def test_a_rehearsal_leaves_the_garbage_collector_as_it_was():
    seen = []
    rehearse(range(3), lambda t, x: seen.append(gc.isenabled()) is None, lambda k: None)
    assert seen == [False] * 3
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError):
        rehearse(range(3), lambda t, x: bool(1 / 0), lambda k: None)
    assert gc.isenabled()


def test_without_delay_it_is_deciding_and_learning_in_turn():
    table = at.problem("i", rounds=120).draw(at.Key(4))
    log = at.play(at.policy("ts", n_features=5, costs=table.costs, seed=2), table)
    policy = at.policy("ts", n_features=5, costs=table.costs, seed=2)
    for t in range(120):
        decision = policy.decide(table.items[t])
        assert (decision.act, decision.probability) == (log.act[t], log.probability[t])
        if decision.act:
            policy.learn(decision, int(table.labels[t]))
            assert log.label[t] == table.labels[t]


def test_comparators_cost_what_they_must():
    labels = np.array([1, 0, 0, 1, 0], dtype=np.int8)
    costs = at.Costs(miss=3, false_alarm=2, hit=-1, correct_pass=0.5)
    spent = {name: costs_of(known_acts(name, labels, costs), labels, costs).sum() for name in ("never", "always")}
    assert spent == {"never": 3 * 2 + 0.5 * 3, "always": -1 * 2 + 2 * 3}
    best = costs_of(known_acts("oracle", labels, costs), labels, costs)
    every = [costs_of(np.array([a] * 5), labels, costs) for a in (False, True)]
    np.testing.assert_array_equal(best, np.minimum(*every))
    assert known_acts("voi", labels, costs) is None


def test_tallies_add_up():
    rng = np.random.default_rng(2)
    labels, acts = (rng.random((2, 137)) < 0.4).astype(np.int8)
    found = tally(acts.astype(bool), labels, COSTS, 1.0, bought=int(acts.sum()), learnt=3)
    sizes = np.diff(edges(137, 10))
    assert sizes.sum() == 137
    assert set(sizes) == {13, 14}
    assert found.cost == pytest.approx((found.block_costs * sizes).sum() / 1000)
    assert found.acts == pytest.approx((found.block_acts * sizes).sum())
    assert found.positives == pytest.approx((found.block_positives * sizes).sum())
    assert found.curve[-1] == pytest.approx(found.cost)
    assert found.precision == found.hits / found.acts
    assert found.recall == found.hits / found.positives
    small = tally(np.array([True]), np.array([1], dtype=np.int8), COSTS, 1.0, 1, 1)
    assert len(small.block_costs) == 1


def test_a_replay_beats_never_and_always_and_is_repeatable():
    result = at.replay(made(), "bad", costs=COSTS, policies=["voi", "ts"], shuffles=3, seed=5)
    assert list(result) == ["voi", "ts", "never", "always", "oracle", "full-information", "booster, all labels"]
    cost = {name: result[name].cost_per_1000.mean for name in result}
    assert cost["oracle"] < cost["full-information"] < min(cost["never"], cost["always"])
    assert cost["oracle"] < cost["voi"] < min(cost["never"], cost["always"])
    assert result["never"].cost_per_1000.se == 0  # a shuffle changes nothing for it
    assert result["voi"].cost_per_1000.se > 0
    assert result["full-information"].labels == 400
    assert result["voi"].labels == pytest.approx(400 * result["voi"].act_rate)
    assert result.saved("voi", "always").mean == pytest.approx(cost["always"] - cost["voi"])
    again = at.replay(made(), "bad", costs=COSTS.outcomes(), policies=["ts"], shuffles=3, seed=5)
    np.testing.assert_array_equal(again["ts"].costs_per_1000, result["ts"].costs_per_1000)  # other policies or not
    other = at.replay(made(), "bad", costs=COSTS, policies=["ts"], shuffles=3, seed=6)
    assert (other["ts"].costs_per_1000 != result["ts"].costs_per_1000).any()
    assert "voi" in str(result)
    assert "400 items" in repr(result)


def test_jobs_change_no_number():
    one = at.replay(made(), "bad", costs=COSTS, shuffles=2)
    two = at.replay(made(), "bad", costs=COSTS, shuffles=2, jobs=2)
    for name in one:
        np.testing.assert_array_equal(one[name].costs_per_1000, two[name].costs_per_1000)


def test_nothing_is_learnt_from_what_is_late():
    """With labels later than the stream is long, voi and full information know nothing, and say so in their counts."""
    result = at.replay(made(), "bad", costs=COSTS, shuffles=2, delay=400)
    assert all(t.learnt == 0 for t in result["voi"].tallies + result["full-information"].tallies)
    prompt = at.replay(made(), "bad", costs=COSTS, shuffles=2, delay=0)
    late = at.replay(made(), "bad", costs=COSTS, shuffles=2, delay="lognormal:20,1")
    assert all(t.learnt == t.labels for t in prompt["voi"].tallies)
    assert all(0 < t.learnt < t.labels for t in late["voi"].tallies)


def test_the_order_of_the_file_and_of_time():
    table = made()
    plain = at.replay(table, "bad", costs=COSTS, order="as is")
    assert plain.passes == 1
    assert np.isnan(plain["voi"].cost_per_1000.se)
    table["day"] = [f"2024-01-{1 + k // 20:02d}" for k in range(400)]
    back = {name: list(column)[::-1] for name, column in table.items()}
    timed = at.replay(back, "bad", costs=COSTS, time="day", delay=2, log="voi")
    assert "in the order of time" in timed.title
    stream = read_labelled(back, "bad", time="day")
    assert "day" not in stream.records.columns
    assert (np.diff(stream.times) >= 0).all()
    assert stream.times.max() - stream.times.min() == 19 * 86400.0  # seconds
    log = timed.log
    assert log.time[0] == "2024-01-01T00:00:00"  # dates are dates again
    days = np.array([int(time[8:10]) - 1 for time in log.time])
    np.testing.assert_array_equal(log.labelled, log.act & (days + 2 <= 19) & (np.arange(400) < 399))
    whole_file = at.replay(table, "bad", costs=COSTS, order="as is", drop=["day"])
    assert whole_file["voi"].cost_per_1000.mean == plain["voi"].cost_per_1000.mean


def test_the_log_is_what_the_first_pass_wrote():
    asked = {"costs": COSTS, "policies": ["ts"], "shuffles": 2, "delay": 30}
    result = at.replay(made(), "bad", log="ts", stratum="kind", **asked)
    log = result.log
    assert len(log) == len(set(log.id)) == 400
    assert log.act.sum() == result["ts"].tallies[0].acts
    assert log.labelled.sum() == result["ts"].tallies[0].learnt
    assert set(log.stratum) == {"a", "b", "c"}
    assert set(log.policy) == {"ts"}
    assert log.x.shape[0] == 400
    assert (log.label[~log.act] == -1).all()
    assert at.replay(made(), "bad", **asked).log is None
    for name in ("oracle", "voi"):
        with pytest.raises(at.errors.OptionError, match="log names the policy of this replay"):
            at.replay(made(), "bad", log=name, **asked)
    with pytest.raises(at.errors.DataError, match="no column"):
        at.replay(made(), "bad", stratum="colour", **asked)


def test_features_are_fitted_on_the_warm_up_of_each_order():
    """Another future, the same beginning: the decisions on the beginning stay as they are."""
    one = made(n=700)
    two = {name: np.array(column, dtype=object) for name, column in made(n=700).items()}
    two["x"][550:] = 1000.0
    two["kind"][550:] = "new"
    first, second = (at.replay(t, "bad", costs=COSTS, order="as is", log="voi").log.chance for t in (one, two))
    np.testing.assert_array_equal(first[:550], second[:550])
    assert (first[550:] != second[550:]).any()


def test_the_default_encoder_keeps_room_where_time_has_an_order():
    records = read_labelled(made(), "bad").records
    assert default_encoder(records, shuffled=True) == at.Encoder()
    assert default_encoder(records, shuffled=False) == at.Encoder(spare=8)
    many = {**{f"c{k}": ["a", "b"] for k in range(100)}, "bad": [0, 1]}
    assert default_encoder(read_labelled(many, "bad").records, shuffled=False).spare == 1
    numbers = {"x": [1.0, 2.0], "bad": [0, 1]}
    assert default_encoder(read_labelled(numbers, "bad").records, shuffled=False) == at.Encoder()


def test_settings_change_the_default_encoder_and_an_encoder_replaces_it():
    def used(given, **more):
        return at.replay(made(), "bad", costs=COSTS, order="as is", encoder=given, policies=["ts"], **more).plan.encoder

    assert used({"online": True}) == at.Encoder(spare=8, curves=True, many=True, online=True)
    assert used({"curves": False}) == at.Encoder(spare=8, many=True)
    assert used({"hashing": 16}) == at.Encoder(curves=True, many=True, hashing=16)  # which has room for every level
    assert used({}) == used(None)
    assert used(at.Encoder(online=True)) == at.Encoder(online=True)
    with pytest.raises(at.errors.OptionError, match="encoder= has no setting 'onlin'; there are standardise, clip"):
        used({"onlin": True})
    with pytest.raises(at.errors.OptionError, match="a matrix holds vectors already"):
        at.replay(np.ones((4, 2)), [0, 1, 0, 1], costs=COSTS, encoder={"online": True})


def test_a_scikit_learn_transformer_in_the_encoders_place():
    from sklearn.preprocessing import StandardScaler

    table = {name: column for name, column in made().items() if name != "kind"}
    result = at.replay(table, "bad", costs=COSTS, shuffles=1, encoder=StandardScaler())
    assert result["voi"].cost_per_1000.mean < result["never"].cost_per_1000.mean


def test_records_and_flipped_labels():
    records = at.read_records(made(), label="bad")
    assert at.replay(records, costs=COSTS, shuffles=1)["never"].cost_per_1000.mean == pytest.approx(
        5000 * records.labels.mean()
    )
    flipped = at.replay(records, costs=COSTS, shuffles=1, flip_label=True, drop=["kind"])
    assert flipped["never"].cost_per_1000.mean == pytest.approx(5000 * (1 - records.labels.mean()))


class Half(at.streams.Awaiting):
    """A wrapper that lets only every second item be acted on: what a budget would do."""

    def see(self, *item):
        prospect = super().see(*item)
        return prospect if self.policy.round % 2 else prospect._replace(probability=0.0)


def half(policy, setting):
    assert setting.items == 400
    return Half(policy)


def test_a_wrapper_goes_around_policies_and_not_around_comparators():
    plain = at.replay(made(), "bad", costs=COSTS, shuffles=1)
    held = at.replay(made(), "bad", costs=COSTS, shuffles=1, wrap=half)
    assert held["voi"].act_rate <= 0.5 < plain["voi"].act_rate
    assert held["full-information"].act_rate == plain["full-information"].act_rate


def test_notes_on_the_order():
    table = made()
    by_label = np.argsort(table["bad"], kind="stable")
    ordered = {name: [list(column)[k] for k in by_label] for name, column in table.items()}
    assert "sorted by its label" in at.replay(ordered, "bad", costs=COSTS, order="as is").notes[0]
    assert at.replay(ordered, "bad", costs=COSTS, shuffles=1).notes == ()
    almost = {name: column[5:] + column[:5] for name, column in ordered.items()}
    assert "changes along the file" in at.replay(almost, "bad", costs=COSTS, shuffles=1).notes[0]
    assert at.replay(table, "bad", costs=COSTS, shuffles=1).notes == ()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"order": "sorted"}, "order='shuffled' and order='as is'"),
        ({"order": "as is", "shuffles": 3}, "leave out shuffles=3"),
        ({"shuffles": -1}, "shuffles"),
        ({"policies": "voi"}, "policies is a list"),
        ({"policies": ["nope"]}, "no policy 'nope'"),
        ({"policies": ["voi", "voi"]}, "listed twice"),
        ({"policies": [at.policies.PolicySpec("never", {"x": 1})]}, "no options"),
        ({"policies": [at.policies.PolicySpec("voi", {"size": 1})]}, "no option 'size'"),
        ({"costs": {"miss": 1}}, "miss, false_alarm, hit and"),
        ({"drop": "kind"}, "drop is a list"),
        ({"drop": ["colour"]}, "no column 'colour'"),
        ({"time": "bad"}, "both the label and the time"),
        ({"time": "kind"}, "ISO 8601"),
        ({"label": None}, "label column"),
    ],
)
def test_mistakes(options, sentence):
    with pytest.raises(at.errors.InputError, match=sentence):
        at.replay(made(), **{"label": "bad", "costs": COSTS, **options})


def test_a_desk_with_late_labels_does_not_buy_the_same_knowledge_twice():
    """It keeps in mind what is on its way: the labels that it buys are others, and with none late they are the same."""
    rng = np.random.default_rng(1)
    X, theta = rng.normal(size=(1500, 6)), rng.normal(size=6)
    table = {f"x{k}": X[:, k] for k in range(6)}
    table["bad"] = (rng.random(1500) < 1 / (1 + np.exp(3 - X @ theta))).astype(int)
    staffing = Staffing.of("20%", None)
    for delay, alike in ((300, False), (None, True)):
        dressed = at.replay(table, "bad", costs=COSTS, shuffles=3, delay=delay, capacity="20%")["voi"].cost_per_1000
        plain = at.replay(table, "bad", costs=COSTS, shuffles=3, delay=delay, wrap=partial(forgetful, staffing))
        assert (dressed.mean == plain["voi"].cost_per_1000.mean) is alike
        assert dressed.mean <= plain["voi"].cost_per_1000.mean


def forgetful(staffing, policy, setting):
    """A desk as if no label were late."""
    return staffing(policy, replace(setting, late=False))


def test_labels_that_come_before_the_end_are_counted_and_a_day_is_a_day():
    """50 items late: that of item t is there before item t + 51, so those of the last 51 items are not."""
    x = np.random.default_rng(1).normal(size=300)
    table = {"x": x, "bad": (x > 0.5).astype(int)}
    costs = {"miss": 5, "false_alarm": 1, "hit": 0}
    late = at.replay(table, "bad", costs=costs, delay=50, order="as is")
    assert [late["always"].tallies[0].learnt, late["never"].tallies[0].learnt] == [249, 0]
    assert late["full-information"].tallies[0].learnt == 249
    days = [f"2024-05-{1 + t // 30:02d}" for t in range(300)]
    daily = at.replay({**table, "day": days}, "bad", costs=costs, time="day", capacity="4/day")
    assert 20 < daily["voi"].tallies[0].acts <= 40
    for one in late.policies.values():
        assert one.curves[0, -1] == one.tallies[0].cost
        assert one.curves.shape == (1, len(late.points))


def test_a_policy_that_needs_a_horizon_is_told_the_length_of_the_stream():
    costs = at.Costs(miss=5, false_alarm=1, hit=0)
    assert make(at.policies.PolicySpec("suplogistic", {}), 2, 300, costs, seed=0).method.horizon == 300
    assert make(at.policies.PolicySpec("suplogistic", {"horizon": 40}), 2, 300, costs, seed=0).method.horizon == 40
