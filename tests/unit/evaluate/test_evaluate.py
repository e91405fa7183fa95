"""What was missed and what-if: known answers, refusals, and bounds."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import appletaste as at
from appletaste.evaluate import stand_ins, weights
from appletaste.evaluate.arrival import labelled_shares
from appletaste.evaluate.support import support_of
from appletaste.evaluate.weights import effective_sample_size

from ...made import made_log

COSTS = at.Costs(miss=1.0, false_alarm=0.3, hit=0.0)


def coin_log(n=400, p=0.25, rate=0.2, seed=1, known=1.0):
    """A policy that acts by a coin, or by one for each item, on labels that do not depend on anything."""
    rng = np.random.default_rng(seed)
    labels, x = (rng.random(n) < rate).astype(np.int8), rng.standard_normal((n, 2))
    acts = rng.random(n) < p
    table = at.problems.Table("coin", x, np.full(n, rate), labels, COSTS)
    seen = rng.random(n) < known
    return made_log(table, acts, np.full(n, p), chance=np.full(n, rate), known=seen), labels


def test_equal_probabilities_give_the_mid_p_interval_of_the_negative_binomial():
    log, _ = coin_log()
    count = int((log.label == 1).sum())
    answer = at.missed(log).design.missed
    assert answer.value == pytest.approx(count * 3)
    values = np.arange(2000)
    mid = 0.5 * (stats.nbinom.cdf(values, count, 0.25) + stats.nbinom.cdf(values, count + 1, 0.25))
    # the ends are quantiles of 4000 draws: within a step or two of the exact ones
    assert abs(answer.low - values[np.searchsorted(mid, 0.05)]) <= 3
    assert abs(answer.high - values[np.searchsorted(mid, 0.95)]) <= 4


def test_no_more_can_have_been_missed_than_was_passed():
    log, _ = coin_log(rate=1.0)
    passes, found = int((~log.act).sum()), at.missed(log).design
    assert 3 * int(log.act.sum()) > passes  # what the seen ones stand for
    assert found.missed.value == found.missed.high == passes
    assert found.recall.value == pytest.approx(log.act.mean())


def test_what_was_sure_to_be_seen_is_spoken_about_however_few_there_are():
    log, _ = coin_log(n=400, p=np.where(np.arange(400) < 5, 1.0, 0.2))
    assert support_of(log, 1e-3).usable[:5].all()
    few, _ = coin_log(n=400, p=np.where(np.arange(400) < 5, 0.01, 0.2))
    assert not support_of(few, 1e-3).usable[:5].any()  # a band in which hardly a label is to be expected


def test_recall_goes_with_missed():
    log, _ = coin_log()
    found = at.missed(log).design
    count = int((log.label == 1).sum())
    assert found.recall.value == pytest.approx(count / (count + found.missed.value))
    assert found.recall.low == pytest.approx(count / (count + found.missed.high), rel=0.02)


def test_gathered_probabilities_make_the_same_sums(monkeypatch):
    means = np.random.default_rng(2).uniform(0.1, 20, 3000)
    sums = stand_ins.geometric_sums(means, 4000, np.random.default_rng(3))
    variance = float((means * (1 + means)).sum())
    assert abs(sums.mean() - means.sum()) < 5 * math.sqrt(variance / 4000)
    assert abs(sums.var() / variance - 1) < 0.15  # 5 standard errors of a variance from 4000 draws


def test_labels_that_are_out_are_allowed_for_and_bounded():
    log, _ = coin_log(n=4000, known=0.6)
    full, _ = coin_log(n=4000)
    partly, whole = at.missed(log), at.missed(full)
    assert abs(partly.design.missed.value - whole.design.missed.value) < 0.3 * whole.design.missed.value
    assert partly.design.missed.high - partly.design.missed.low > whole.design.missed.high - whole.design.missed.low
    low, high = partly.label_bounds
    assert low < partly.design.missed.low < partly.design.missed.high < high
    assert whole.label_bounds is None


def test_rounds_whose_labels_are_out_are_left_out():
    log, _ = coin_log(n=2000)
    late = log.act & (log.round > 1000)
    log = replace(log, label=np.where(late, -1, log.label).astype(np.int8), state=np.where(late, "pending", log.state))
    found = at.missed(log)
    assert 0.4 < found.waiting_share < 0.6
    assert labelled_shares(log)[:900].min() == 1.0


def test_a_deterministic_log_is_refused():
    table = at.problem("i").draw(at.Key(1))
    log = at.play(at.policy("voi", n_features=5, costs=table.costs), table)
    found = at.missed(log)
    assert not found.design.missed
    assert "certainty" in found.design.missed.reason
    assert found.unsupported_share == pytest.approx((~log.act).mean())
    assert found.total_bounds is None
    assert "no answer" in str(found)


def test_small_probabilities_are_not_spoken_about():
    log, _ = coin_log(n=1000, p=np.where(np.arange(1000) < 500, 0.002, 0.25))
    found = at.missed(log)
    assert found.unsupported_share == pytest.approx(0.5)
    _, high = found.total_bounds
    assert high >= found.design.missed.high + found.unsupported_passes - 1e-9
    assert support_of(log, 1e-3).band.max() >= 4


@pytest.mark.parametrize(
    "logged",
    [
        lambda log, p: np.full(len(log), 0.05),  # a rate that somebody set once
        lambda log, p: np.where(log.act, p, 1 - p),  # the probability of the action that was taken
        lambda log, p: np.clip(0.5 * p, 0.01, 1),  # P(positive), say
    ],
)
def test_a_log_whose_acts_contradict_its_probabilities_gets_no_answer(logged):
    p = np.random.default_rng(3).uniform(0.05, 0.9, 2000)
    log, _ = coin_log(n=2000, p=p)
    honest = at.missed(log)
    assert honest.design.missed
    assert honest.model
    assert at.what_if(log, lambda x: 1.0).best
    wrong = replace(log, probability=logged(log, p))
    found = at.missed(wrong)
    for answer in (found.design.missed, found.design.recall, found.model, found.money.cost):
        assert "contradicts itself" in answer.reason
    other = at.what_if(wrong, lambda x: 1.0)
    assert "contradicts itself" in other.best.reason
    assert not other.saving
    assert other.logged  # needs no probability


def audited_log(audits, n=1400, days=28):
    """Acts for certain, and audits in two bands of probabilities, in neither of which ten labels are to be expected."""
    p = np.select([np.arange(n) % 4 == 0, np.arange(n) % 8 == 1], [1.0, 0.016], 0.009)
    act = p == 1.0
    act[np.flatnonzero(~act)[:: (n - n // 4) // audits][:audits]] = True
    table = at.problems.Table("audits", np.ones((n, 1)), np.zeros(n), (np.arange(n) % 3 == 0).astype(np.int8), COSTS)
    log = made_log(table, act, p, audit=act & (p < 1))
    seconds = np.datetime64("2024-06-01T00:00:00") + (np.arange(n) * days * 86400 // n).astype("timedelta64[s]")
    return replace(log, time=seconds.astype(str))


@pytest.mark.parametrize("audits", [7, 9, 11])
def test_labels_that_are_too_few_are_counted_all_and_what_would_do_is_said(audits):
    found = at.missed(audited_log(audits))
    for answer in (found.design.missed, found.design.recall, found.model, found.money.cost):
        assert f"{audits} labels of items that might have been passed are too few" in answer.reason
        assert "at most 7.8 are" in answer.reason  # 875 items of 0.009: 7.875
    remedy = found.model.remedy
    assert "log about 378 more decisions like these (8 days at this pace)" in remedy
    assert "audit a share 1.3 times as large" in remedy
    assert not at.missed(audited_log(16)).model
    assert at.missed(audited_log(16, n=1400 + 384)).model  # as the remedy says
    waiting = audited_log(audits)
    waiting = replace(
        waiting,
        label=np.where(np.arange(1400) == 0, -1, waiting.label).astype(np.int8),
        state=np.where(np.arange(1400) == 0, "pending", waiting.state),
    )
    assert at.missed(waiting).model.remedy.startswith("wait for labels, log about ")


def test_labels_that_were_expected_and_did_not_come_are_counted():
    log, _ = coin_log(n=60, p=0.2, seed=1)
    acts = np.arange(60) % 10 == 0
    few = replace(
        log, act=acts, label=np.where(acts, 0, -1).astype(np.int8), state=np.where(acts, "observed", "never_due")
    )
    answer = at.missed(few).design.missed
    assert "6 labels of items that might have been passed are too few: 6 came where 10 or more" in answer.reason
    assert "log about 40 more decisions like these, or audit a share of what is passed" in answer.remedy


def test_other_refusals():
    log, _ = coin_log(n=20)
    assert f"{log.labelled.sum()} labels of items that might have been passed are too few" in str(at.missed(log))
    none = replace(log, label=np.full(20, -1, dtype=np.int8), state=np.where(log.act, "expired", "never_due"))
    assert "no label has arrived yet" in at.missed(none).design.missed.reason
    log, _ = coin_log(rate=0.0)
    found = at.missed(log).design
    assert found.missed.low == found.missed.value == 0 < found.missed.high
    assert "no positive" in found.recall.reason
    with pytest.raises(at.errors.InputError, match="DecisionLog"):
        at.missed([1])
    with pytest.raises(at.errors.OptionError, match="level"):
        at.missed(log, level=1.5)


def test_the_model_answers_by_features_by_chances_or_not_at_all():
    table = at.problem("i").draw(at.Key(1))
    policy = at.policy("ts", n_features=5, costs=table.costs)
    log = replace(at.play(policy, table), chance=table.chances)
    truth = int(table.labels[~log.act].sum())
    for given in (None, policy, at.policy("pg-ts", n_features=5, costs=table.costs)):
        answer = at.missed(log, 0.99, policy=given).model
        assert answer.low <= answer.value <= answer.high
        if given is not None and given.name == "ts":
            assert answer.covers(truth)
    bare = replace(log, x=None)
    assert at.missed(bare, 0.99).model.covers(truth)
    assert not at.missed(replace(bare, chance=None)).model
    assert "no features" in at.missed(bare, policy=policy).model.reason
    assert "no posterior" in at.missed(log, policy=at.policy("greedy", n_features=5, costs=table.costs)).model.reason
    assert abs(at.missed(log).model_surprise) < 4


def test_what_if_weights_by_hand():
    log, _ = coin_log()
    found = at.what_if(log, lambda x: 0.5)
    acted = log.label[log.act]
    change = np.where(acted == 1, -1.0, 0.3)
    assert found.ips.value == pytest.approx(0.5 * change.sum() / 0.25)
    assert found.snips.value == pytest.approx(200 * change.mean())
    guess = 0.3 * 0.8 - 0.2
    assert found.dr.value == pytest.approx(200 * guess + 0.5 * (change - guess).sum() / 0.25)
    assert found.effective_sample_size == pytest.approx(log.act.sum())
    assert found.logged.value == pytest.approx(change.sum())
    assert found.saving.value == pytest.approx(found.logged.value - found.dr.value)
    assert len(found.would_act) == (~log.act).sum()
    assert "effective sample size" in str(found)


def test_what_was_done_is_priced_exactly():
    """The logged policy itself, asked as certain where it acted for certain, has no error."""
    n = 100
    table = at.problems.Table("sure", np.ones((n, 1)), np.full(n, 0.5), (np.arange(n) % 2).astype(np.int8), COSTS)
    acts = np.arange(n) < 60
    log = made_log(table, acts, acts.astype(float))
    found = at.what_if(replace(log, x=acts[:, None].astype(float)), lambda x: float(x[0]))
    assert found.ips.low == found.ips.high == pytest.approx(30 * 0.3 - 30)


def test_costs_and_thresholds():
    log, _ = coin_log()
    assert at.what_if(log, 0.1).acts == 400
    assert at.what_if(log, 0.3).best.value == 0.0
    dear = at.Costs(miss=1.0, false_alarm=0.9, hit=0.0)
    assert at.what_if(log, dear).acts == 0
    cheap = at.what_if(log, at.Costs(miss=2.0, false_alarm=0.3, hit=0.0))
    assert cheap.acts == 400
    assert cheap.ips.value < at.what_if(log, 0.1).ips.value


def test_what_if_refuses():
    log, _ = coin_log()
    assert "chance" in at.what_if(replace(log, chance=None), 0.5).best.reason
    assert "no features" in at.what_if(replace(log, x=None), lambda x: 1.0).best.reason
    found = at.what_if(coin_log(p=np.where(np.arange(400) < 200, 1e-5, 0.25))[0], 0.1)
    assert "50 % of the alternative's acts" in found.ips.reason
    assert found.unsupported_share == pytest.approx(0.5)
    assert at.what_if(coin_log(rate=0.01)[0], lambda x: 1.0).ips  # few positives widen, and do not refuse
    tilted = replace(log, x=np.where(np.arange(400) < 12, 1.0, 0.0)[:, None])
    assert "the equivalent of only" in at.what_if(tilted, lambda x: float(x[0])).ips.reason
    with pytest.raises(at.errors.InputError, match=r"in \[0, 1\]"):
        at.what_if(log, 1.5)
    with pytest.raises(at.errors.InputError, match="probabilities"):
        at.what_if(log, lambda x: 2.0)
    with pytest.raises(at.errors.InputError, match="what_if takes"):
        at.what_if(log, "ts")


def test_a_policy_is_asked_and_left_as_it_was():
    table = at.problem("i").draw(at.Key(1))
    log = at.play(at.policy("greedy", n_features=5, costs=table.costs, epsilon=0.5), table)
    for learn in (False, True):
        policy = at.policy("ts", n_features=5, costs=table.costs)
        found = at.what_if(log, policy, learn=learn)
        assert found.ips
        assert policy.round == 0
        assert policy.probability(table.items[0]) == at.policy("ts", n_features=5, costs=table.costs).probability(
            table.items[0]
        )


def test_effective_sample_size():
    assert effective_sample_size(np.ones(7)) == 7
    assert effective_sample_size(np.array([1.0, 0.0])) == 1
    assert effective_sample_size(np.zeros(2)) == 0


def test_missed_by_stratum_is_missed_of_each_stratum():
    table = at.problem("synthetic", rounds=1500, intercept=-1.0).draw(at.Key(9))
    played = at.play(at.policy("greedy", n_features=table.n_features, costs=table.costs, epsilon=0.3), table)
    strata = np.where(table.items[:, 1] > 0, "new", np.where(table.items[:, 2] > 0, "old", ""))
    log = replace(played, stratum=strata)
    found = at.missed(log, by="stratum")
    assert list(found) == ["", "new", "old"]
    for name, answer in found.items():
        mine = strata == name
        alone = at.missed(log.where(mine))
        assert answer.design == alone.design
        assert (answer.decisions, answer.passes) == (mine.sum(), (mine & ~log.act).sum())
        assert answer.model != alone.model  # fitted to more labels
        truth = table.labels[mine & ~log.act].sum()
        assert answer.design.missed.covers(truth)
        assert answer.as_dict().keys() == alone.as_dict().keys()
    assert list(at.missed(log, by="policy")) == ["greedy"]
    assert at.missed(log, by="policy")["greedy"].as_dict() == at.missed(log).as_dict()
    with pytest.raises(at.errors.InputError, match="by is 'stratum' or 'policy'"):
        at.missed(log, by="age")
    with pytest.raises(at.errors.InputError, match="the log has no stratum"):
        at.missed(played, by="stratum")


def rare_looks(rng, n=400):
    """A log of items looked at with probability 0.1, all negative so far, and 12 positives sure to be seen."""
    act = np.append(rng.random(n) < 0.1, np.ones(12, dtype=bool))
    labels = np.append(np.zeros(n), np.ones(12)).astype(np.int8)
    p = np.append(np.full(n, 0.1), np.ones(12))
    table = at.problems.Table("t", np.ones((n + 12, 1)), np.zeros(n + 12), labels, at.Costs(1.0, 0.3, 0.0))
    return made_log(table, act, p, chance=np.full(n + 12, 0.2))


def test_what_if_allows_for_items_that_none_of_the_seen_stands_for():
    """No positive was seen at p = 0.1, yet one may be there, and nine more like it: the lower end is lower for it."""
    log = rare_looks(np.random.default_rng(2))
    found = at.what_if(log, lambda x: 1.0)
    seen = int((log.act & (log.probability < 1)).sum())
    assert found.ips.value == pytest.approx(0.3 * 10 * seen - 12)
    lone = 0.3 * np.sqrt(seen * 90.0)  # the standard error from the seen negatives alone
    assert found.ips.low < found.ips.value - 1.8 * lone
    assert found.ips.high > found.ips.value + 1.4 * lone


def test_one_more_is_there_half_the_time_and_like_an_item_of_its_kind():
    rng = np.random.default_rng(4)
    band, weight = np.array([0, 0, 1, 1]), np.array([0.0, 0.5, 0.2, 0.2])
    like, count = stand_ins.one_more(weight.__getitem__, band, lambda rows: np.full(rows.shape, 50.0), 4000, rng)
    assert like.shape == count.shape == (2, 4000)
    assert set(like[0]) == {1}
    assert set(like[1]) == {2, 3}
    assert abs((count[0] > 0).mean() - 0.5 * 50 / 51) < 4 * 0.5 / np.sqrt(4000)
    assert stand_ins.one_more(np.zeros(4).__getitem__, band, np.ones_like, 10, rng)[1].shape == (0, 10)


def test_what_was_sure_to_be_seen_stands_for_itself():
    drawn = stand_ins.stand_ins(np.array([0.0, 3.0]), 20_000, np.random.default_rng(5))
    assert (drawn[0] == 0).all()
    assert abs(drawn[1].mean() - 3) < 4 * np.sqrt(12 / 20_000)
    assert abs(drawn[1].var() / 12 - 1) < 0.1


def test_items_beyond_those_drawn_count_as_normal(monkeypatch):
    rng = np.random.default_rng(6)
    act, labels = rng.random(1500) < 0.3, (rng.random(1500) < 0.3).astype(np.int8)
    table = at.problems.Table("t", np.ones((1500, 1)), np.zeros(1500), labels, at.Costs(1.0, 0.3, 0.0))
    log = made_log(table, act, np.full(1500, 0.3))
    all_drawn = at.what_if(log, lambda x: 1.0).ips
    monkeypatch.setattr(weights, "MOST_DRAWN", 100)
    some = at.what_if(log, lambda x: 1.0).ips
    width = all_drawn.high - all_drawn.low
    assert some.value == all_drawn.value
    assert abs(some.low - all_drawn.low) < 0.06 * width
    assert abs(some.high - all_drawn.high) < 0.06 * width
    monkeypatch.setattr(weights.Errors, "limits", lambda *_: (0.0, 0.0))  # control: without errors it is no interval
    assert at.what_if(log, lambda x: 1.0).ips.low == pytest.approx(all_drawn.value)


def test_a_plan_of_audits_from_a_log():
    """What the log says is what somebody would count from it; what it cannot say is said."""
    log, _ = coin_log()
    plan, found = at.plan_audit(log), int((log.label == 1).sum())
    recall = at.missed(log).design.recall
    assert plan.recall == recall.value
    assert plan.recall_interval == (recall.low, recall.high)
    assert sum(plan.missed) == pytest.approx(found * (1 / recall.value - 1))
    assert plan.left_out == 0
    bare = replace(log, probability=log.act.astype(float))  # nothing is said by design, and the chances are right
    assert at.plan_audit(bare) == at.plan_audit(log.chance[~log.act], found=found)
    assert at.plan_audit(bare).recall_interval is None
    assert at.plan_audit(log, items=1_000_000).recall == pytest.approx(plan.recall)
    unseen = replace(log, label=np.full(400, -1, dtype=np.int8), state=np.where(log.act, "pending", "never_due"))
    everything = log.where(log.act)
    for wrong, options, message in (
        (log, {"found": 3}, "leave out found"),
        (log.chance, {}, "or chances and found"),
        (replace(log, chance=None), {}, "does not record the model's chance"),
        (unseen, {}, "no positive has been seen"),
        (everything, {}, "no passed item"),
        (log.where(np.zeros(400, dtype=bool)), {}, "the log is empty"),
    ):
        with pytest.raises(at.errors.InputError, match=message):
            at.plan_audit(wrong, **options)


@pytest.mark.parametrize("factor", [0.05, 0.3, 3.0])
def test_a_plan_of_audits_agrees_with_missed_where_the_model_is_wrong(factor):
    rng = np.random.default_rng(8)
    chance = rng.beta(1, 4, 4000)
    log, _ = coin_log(n=4000, p=np.where(chance > 0.4, 1.0, 0.05), rate=chance)
    log = replace(log, chance=np.clip(factor * chance, 0.0, 1.0))
    recall = at.missed(log).design.recall
    plan = at.plan_audit(log)
    assert recall.low <= plan.recall <= recall.high
    passed = sum(plan.missed)
    assert plan.recall == pytest.approx((log.label == 1).sum() / ((log.label == 1).sum() + passed))
    assert all(missed <= items for missed, items in zip(plan.missed, plan.items, strict=True))
    bare = replace(log, probability=log.act.astype(float))
    with pytest.raises(at.errors.InputError, match=r"(?s)(more|fewer) positives than .*standard errors.*2 % say"):
        at.plan_audit(bare)


def test_a_plan_puts_audits_where_positives_were_seen_whatever_the_model_says():
    low = np.arange(4000) % 2 == 0
    log, _ = coin_log(n=4000, p=0.1, rate=np.where(low, 0.3, 0.02))
    plan = at.plan_audit(replace(log, chance=np.where(low, 0.02, 0.3)))
    assert plan.edges == (0.02,)
    assert plan.missed[0] > 5 * plan.missed[1]
    assert plan.floors[0] > 2 * plan.floors[1]


def test_a_plan_where_no_audit_found_a_positive_keeps_within_the_interval():
    chance = np.where(np.arange(2000) % 10 == 0, 0.9, 0.3)
    log, _ = coin_log(n=2000, p=np.where(chance > 0.5, 1.0, 0.05), rate=np.where(chance > 0.5, 0.9, 0.0))
    log = replace(log, chance=chance)
    recall = at.missed(log).design.recall
    assert recall.value == 1.0
    assert at.plan_audit(log).recall == recall.low < 1.0  # the chances say that far more is missed


def test_recent_decisions_without_labels_are_left_out_of_what_if():
    log, _ = coin_log(n=1600)
    recent = log.act & (np.arange(1600) >= 1200)
    late = replace(
        log, label=np.where(recent, -1, log.label).astype(np.int8), state=np.where(recent, "pending", log.state)
    )
    found = at.what_if(late, 0.1)
    assert 300 < found.left_out <= 400
    assert found.decisions + found.left_out == 1600
    early = at.what_if(late.where(np.arange(1600) < found.decisions), 0.1)
    assert {**early.as_dict(), "left_out": found.left_out} == found.as_dict()
    first = f"{found.left_out} recent decisions are excluded: most of their labels have not arrived yet"
    assert str(found).splitlines()[0] == first
    assert "excluded" not in str(early)
