"""Budgets and audit lanes: settings, the shadow price, and what a decision records."""

import numpy as np
import pytest

import appletaste as at
from appletaste.errors import InputError, OptionError
from appletaste.streams.audit import Lane
from appletaste.streams.spending import Pace

from ...contract.entries import COSTS, ENTRIES, IDS, make, run, stream


class Plain:
    """A desk in the place of a policy."""

    def __init__(self, desk):
        self.decide, self.learn = desk.decide, desk.learn


@pytest.mark.parametrize(("name", "options"), ENTRIES, ids=IDS)
def test_without_budget_and_lane_a_desk_changes_nothing(name, options):
    items, labels = stream(3)
    plain = run(make(name, options), items, labels)
    desk = run(Plain(at.Desk(make(name, options))), items, labels)
    assert [row[:2] for row in desk] == [row[:2] for row in plain]
    wide = at.Desk(make(name, options), at.Budget(share=1.0, window=5), at.Audit(floor=0.0))
    assert [row[:2] for row in run(Plain(wide), items, labels)] == [row[:2] for row in plain]


def test_the_lane_raises_the_probability_to_its_floor_and_says_so():
    items, _ = stream(3, n=400)
    lane = at.Audit(floor=0.05, strata={"often": 0.5})
    audited, plain = at.Desk(make("ts", {}), audit=lane), make("ts", {})
    for x in items[:40]:
        for who in (audited, plain):
            who.teach(x, int(x.sum() > 0))
    audits = 0
    for k, x in enumerate(items):
        stratum = "often" if k % 2 else None
        decision, other = audited.decide(x, stratum=stratum), plain.decide(x)
        assert decision.probability == max(other.probability, 0.5 if k % 2 else 0.05)
        assert decision.audit == (decision.act and not other.act)
        audits += decision.audit
    assert audits > 10


def test_an_exhausted_lane_has_no_floor():
    lane = at.Audit(floor=1.0, budget=at.Budget(share=0.5, window=2))
    desk = at.Desk(make("never", {}), audit=lane)
    decisions = [desk.decide(np.ones(3)) for _ in range(6)]
    assert [d.probability for d in decisions] == [1.0, 0.0] * 3
    assert [d.audit for d in decisions] == [True, False] * 3


def test_floors_by_chance():
    lane = at.Audit(edges=(0.1, 0.3), floors=(0.01, 0.05, 0.2), strata={"own": 0.4})
    assert [lane.floor_of(None, chance) for chance in (0.05, 0.1, 0.2, 0.9)] == [0.01, 0.01, 0.05, 0.2]
    assert lane.floor_of("own", 0.9) == 0.4
    assert lane.floor_of("other", float("nan")) == 0.0


def paced(items, acts, worths, **settings):
    """A budget after some items, of which every so manyth was an act."""
    pace = Pace(at.Budget(**settings))
    for k in range(items):
        pace.note(None, acts(k), worths(k))
    return pace


def rate_of(pace, now=None, audits=0.0):
    """The share of the items to come that the policy can act on, read off its prices among worths 0 .. 1."""
    probe = Pace(pace.budget)
    probe.restore({**pace.arrays(), "worths": np.arange(10_000) / 10_000})
    return 1.0 - probe.price(now, audits)


def test_the_shadow_price_is_a_quantile_of_recent_worths():
    pace = paced(100, lambda k: k % 10 == 9, lambda k: float(k % 50), share=0.1, window=100, recent=100)
    assert pace.room(None) == 0
    assert pace.price(None) == 45.0  # at its pace: nine of the hundred are ahead, 46 .. 49 twice and 45
    quiet = paced(100, lambda k: False, lambda k: -1.0, share=0.1, window=100)
    assert quiet.outlook(None) == (10, True, 0.0)


def test_a_share_is_paced_from_the_first_item():
    """Nothing is known of the first item; the second has to be worth more, and so on until ten have been seen."""
    pace = Pace(at.Budget(share=0.1, window=100))
    assert pace.outlook(None) == (10, True, 0.0)
    pace.note(None, True, 3.0)
    pace.note(None, False, 1.0)
    assert pace.price(None) == 3.0
    for _ in range(10):
        pace.note(None, False, 2.0)
    assert pace.price(None) == 2.0
    assert rate_of(Pace(pace.budget)) == pytest.approx(0.1, abs=1e-3)


def test_a_window_knows_which_acts_leave_it_soon():
    """Ten acts in a hundred items: in the next forty all leave or none does, and what is spent comes back then."""
    full = {"share": 0.1, "window": 100}
    assert rate_of(paced(99, lambda k: k < 10, float, **full)) == pytest.approx(9.9 / 40, abs=1e-3)
    assert rate_of(paced(99, lambda k: k >= 89, float, **full)) == pytest.approx(0.0, abs=1e-3)
    assert rate_of(paced(99, lambda k: k < 5, float, **full)) == pytest.approx(9.9 / 40, abs=1e-3)
    half = paced(49, lambda k: k < 5, float, **full)  # at its pace, though all at once
    assert rate_of(half) == pytest.approx((9.9 - 5 - 5 + 4) / 40, abs=1e-3)


def test_no_policy_spends_a_window_at_once():
    """One that pays no heed to prices gets a quarter ahead of its pace, or two standard deviations, and no further."""
    desk = at.Desk(make("always", {}), at.Budget(share=0.1, window=400))
    acts = np.cumsum([desk.decide(np.ones(3)).act for _ in range(400)])
    planned = 0.1 * (399 - np.arange(400))
    assert (acts <= 40 - np.minimum(0.75 * planned, planned - 2 * np.sqrt(planned)).clip(0) + 1).all()
    assert acts[39] < 20
    assert acts[-1] == 40


def test_a_day_is_planned_from_the_days_before():
    budget = at.Budget(per_day=4, day=10.0)
    pace = Pace(budget)
    for k in range(40):
        pace.note(k / 4, k < 4, float(k))  # 40 items on day 0, four acts
    assert pace.room(9.9) == 0
    assert pace.room(10.0) == 4
    assert rate_of(pace, 10.0) == pytest.approx(4 / 40, abs=1e-3)
    for k in range(20):
        pace.note(10.0 + k / 4, False, 0.0)
    assert rate_of(pace, 15.0) == pytest.approx(4 / 20, abs=1e-3)  # half of a usual day has passed without an act
    with pytest.raises(OptionError, match="time of every item"):
        pace.room(None)


def test_a_time_in_another_unit_has_no_cap_of_its_own():
    desk = at.Desk(make("always", {}), at.Budget(per_day=1))
    assert desk.decide(np.ones(3), time="2024-01-01").act
    for wrong in (1704067260000.0, 20240101):
        with pytest.raises(InputError, match=r"looks like (milliseconds|dates)"):
            desk.decide(np.ones(3), time=wrong)
    assert not desk.decide(np.ones(3), time=1704067260.0).act
    assert desk.decide(np.ones(3), time="2044-01-01").act  # far, and a date


def test_an_item_of_a_day_before_changes_what_a_day_is_planned_from():
    """It may be looked at on its day, and decided after the first look at an item of the next one."""
    budget = at.Budget(per_day=4, day=10.0)
    pace, again = Pace(budget), Pace(budget)
    for k in range(20):
        pace.note(k / 4, False, float(k))
    pace.outlook(10.0)
    for k in range(20):
        pace.note(5.0 + k / 8, False, float(k))
    again.restore(pace.arrays())
    assert pace.outlook(10.0) == again.outlook(10.0)


def test_a_first_day_goes_on_as_fast_as_it_began():
    pace = Pace(at.Budget(per_day=5, day=100.0))
    for k in range(21):
        pace.note(float(k), False, 0.0)  # one item in each unit of time
    assert rate_of(pace, 20.0) == pytest.approx(5 / 84, abs=1e-3)
    together = Pace(at.Budget(per_day=5, day=100.0))
    for _ in range(19):
        together.note(7.0, False, 0.0)
    assert rate_of(together, 7.0) == pytest.approx(5 / 20, abs=1e-3)  # as many again


def test_a_day_is_planned_from_seven_days_and_may_be_busier_than_they_were():
    pace = Pace(at.Budget(per_day=4, day=10.0))
    for day, items in enumerate([1000, *[40] * 7]):
        for k in range(items):
            pace.note(10.0 * day + 5 * k / items, False, 0.0)
    assert rate_of(pace, 80.0) == pytest.approx(4 / 40, abs=1e-3)  # the busy day is eight days ago
    for k in range(60):
        pace.note(80.0 + k / 10, k == 0, 0.0)
    # more than a usual day has come, and a tenth is still expected
    assert rate_of(pace, 89.0) == pytest.approx(3 / 4, abs=1e-3)
    assert rate_of(pace, 89.0, audits=0.25) == pytest.approx(1 / 4, abs=1e-3)  # one audit to expect, and its root


def test_room_is_kept_for_the_audits_to_expect():
    """A floor of 1/16 and 64 items: 4 audits in a cap of 16, a tenth of a chance that they are 1.66 ahead."""
    share = paced(63, lambda k: k % 4 == 0, float, share=0.25, window=64)
    assert share.outlook(None)[:2] == (0, False)
    share = paced(63, lambda k: k % 4 == 0 and k < 56, float, share=0.25, window=64)
    assert share.outlook(None)[:2] == (2, True)
    assert share.outlook(None, 1 / 16)[:2] == (2, True)
    share.note(None, True, 0.0)  # one more, and the first leaves
    share.note(None, True, 0.0)
    assert share.outlook(None, 1 / 16)[:2] == (1, False)
    assert share.outlook(None)[:2] == (1, True)
    aside = np.log(0.1) / np.log(0.25)
    fresh = Pace(share.budget)
    assert rate_of(fresh, None, 1 / 16) == pytest.approx((16 - aside / 2) / 64 - 1 / 16, abs=1e-3)


def test_audits_of_a_lane_with_a_budget_of_its_own_are_not_the_desk_s():
    half = at.Budget(share=0.5, window=4)
    desk = at.Desk(make("always", {}), half, at.Audit(floor=1.0, budget=half))
    decisions = [desk.decide(np.ones(3)) for _ in range(12)]
    assert [d.audit for d in decisions] == [False, False, True, True] * 3
    assert all(d.act for d in decisions)


@pytest.mark.parametrize("items", [5, 40, 99, 100, 173])
def test_what_was_spent_is_restored_and_goes_on_alike(items):
    rng = np.random.default_rng(1)
    pace, again = (Pace(at.Budget(share=0.2, per_day=9, day=30.0, window=100, recent=20)) for _ in range(2))
    for k in range(items):
        pace.note(float(k), rng.random() < 0.1, rng.random())
    again.restore(pace.arrays())
    for k in range(items, items + 150):
        assert again.outlook(float(k), 0.02) == pace.outlook(float(k), 0.02)
        act, worth = rng.random() < 0.1, rng.random()
        for one in (pace, again):
            one.note(float(k), act, worth)
    for name, kept in pace.arrays().items():
        assert np.array_equal(kept, again.arrays()[name])


def prospects(chances, desk):
    """Items with these chances, as a desk would see them."""
    seen = desk.look(np.ones(3))
    return [seen._replace(chance=c, worth=COSTS.catch_gain * c - COSTS.alarm_price * (1 - c)) for c in chances]


def test_a_rate_is_the_mean_of_floors_that_follow_use_over_cost():
    """Twice sqrt(chance / cost), twice what is above a quarter of the rate; and the mean is the rate."""
    desk = at.Desk(make("never", {}))
    items = prospects(np.random.default_rng(1).beta(1, 20, size=4000), desk)
    lane = Lane(at.Audit(rate=0.04))
    assert lane.floor(items[0], 0.0) == 0.04  # nothing to compare with yet
    floors = []
    for one in items:
        floors.append(lane.floor(one, 0.1))
        lane.note(one, 0.1)
    floors = np.array(floors[500:])
    assert floors.min() >= 0.01
    assert abs(floors.mean() - 0.04) < 4 * floors.std() / np.sqrt(len(floors))
    likely, unlikely, sure = prospects([0.2, 0.05, 1.0], desk)
    above = [lane.floor(one, 0.1) - 0.01 for one in (likely, unlikely)]
    mean = lane.arrays()["means"][2]
    use = [(one.chance + 0.1 * mean) / (0.1 - one.worth) for one in (likely, unlikely)]
    assert above[0] / above[1] == pytest.approx(np.sqrt(use[0] / use[1]))
    assert lane.floor(sure, 0.1) > 5 * lane.floor(likely, 0.1)  # the budget is spent, or the policy would act on it
    assert Lane(at.Audit(floor=0.03, rate=0.04, strata={"new": 0.5})).floor(likely._replace(stratum="new"), 0.1) == 0.5


def test_audits_that_must_pay_cost_no_more_than_their_share():
    """At each price of a false alarm: a hundredth of the better constant's cost, a hundredth of the passes at most."""
    chances = np.random.default_rng(4).beta(1, 20, size=4000)
    rates = []
    for alarm in (0.02, 0.3, 4.0):
        costs = at.Costs(miss=1.0, false_alarm=alarm, hit=0.0)
        seen = at.Desk(at.policy("never", n_features=3, costs=costs)).look(np.ones(3))
        lane, floors = Lane(at.Audit.of("auto")), []
        assert lane.floor(seen._replace(chance=0.1, worth=0.1 - 0.9 * alarm), 0.0) == 0.01
        for c in chances:
            one = seen._replace(chance=c, worth=c - alarm * (1 - c), probability=float(c > alarm / (1 + alarm)))
            floors.append(lane.floor(one, 0.0))
            lane.note(one, 0.0)
        passed = chances <= alarm / (1 + alarm)
        price = np.where(passed, alarm * (1 - chances) - chances, 0.0)[500:]
        better = min(chances[500:].mean(), alarm * (1 - chances[500:]).mean())
        spent = np.array(floors[500:]) * price
        assert spent.mean() < 0.01 * better + 3 * spent.std() / np.sqrt(len(spent))
        rates.append(np.array(floors)[500:][passed[500:]].mean())
        again = Lane(lane.audit)
        again.restore(lane.arrays())
        assert again.floor(one, 0.0) == lane.floor(one, 0.0)
    assert rates[0] > 0.007  # cheap: the rate itself, or what there is to spend
    assert rates[1] < 0.5 * rates[0]
    assert rates[2] < 0.25 * rates[1]


def test_audits_that_must_pay_take_a_tenth_of_a_share_at_most():
    """Else the usual lane would be refused, or take all reviews, where reviews are few."""
    policy = make("voi", {})
    assert Lane(at.Audit.of("auto"), 0.005).mean == pytest.approx(0.0005)
    with pytest.raises(OptionError, match="whole review budget"):
        at.Desk(policy, at.Budget(share=0.005), at.Audit(rate=0.01))
    desk = at.Desk(policy, at.Budget(share=0.005), at.Audit.of("auto"))
    items = np.random.default_rng(1).normal(size=(4000, 3))
    assert 10 < sum(desk.decide(x).act for x in items) <= 20


def test_a_lane_whose_audits_must_pay_says_what_it_is():
    lane = at.Audit.of("auto")
    assert at.Audit.from_settings(lane.settings()) == lane
    assert "spend" not in at.Audit(rate=0.02).settings()  # or records of old would be others
    with pytest.raises(OptionError, match="the most that may be audited"):
        at.Audit(spend=0.01)
    for none in ("0", "0%", "0.0", "0.00%"):
        assert at.Audit.of(none) is None


def test_what_a_policy_acts_on_is_no_part_of_the_rate():
    lane, one = Lane(at.Audit(rate=0.04)), prospects([0.3], at.Desk(make("never", {})))[0]
    before = lane.arrays()["means"].tolist()
    lane.note(one._replace(probability=1.0), 0.0)
    assert lane.arrays()["means"].tolist() == before
    lane.note(one, 0.0)
    again = Lane(lane.audit)
    again.restore(lane.arrays())
    assert again.floor(one, 0.0) == lane.floor(one, 0.0) == pytest.approx(0.04)


def test_without_a_model_all_items_have_the_rate():
    desk = at.Desk(make("never", {}), audit=at.Audit(rate=0.3))
    assert {desk.decide(np.ones(3)).probability for _ in range(50)} == {0.3}


def test_a_quiet_day_is_not_filled():
    """Items that are surely not worth it leave the quota unused, and the price is nothing."""
    costs = at.Costs(miss=1.0, false_alarm=1.0, hit=0.0)
    policy = at.policy("voi", n_features=1, costs=costs)
    for _ in range(300):
        policy.teach([1.0], 0)
    desk = at.Desk(policy, at.Budget(per_day=50, day=100.0))
    decisions = [desk.decide([1.0], time=float(t)) for t in range(200)]
    assert sum(d.act for d in decisions) == 0
    assert desk.shadow_price == 0.0


def test_settings_are_checked():
    for wrong in (
        {},
        {"per_day": -1},
        {"per_day": 2.5},
        {"share": 1.5},
        {"share": 0.001, "window": 100},
        {"share": 0.1, "window": 0},
        {"per_day": 1, "day": 0.0},
        {"per_day": 1, "recent": 1},
        {"per_day": at.streams.Calendar((1,) * 7), "day": 10.0},
    ):
        with pytest.raises(OptionError):
            at.Budget(**wrong)
    for wrong in (
        {"floor": 1.5},
        {"strata": {"a": -1}},
        {"strata": {1: 0.5}},  # a saved file would have "1"
        {"edges": (float("nan"),), "floors": (0.1, 0.2)},
        {"edges": ("a",), "floors": (0.1, 0.2)},
        {"edges": (0.1,), "floors": (0.1,)},
        {"budget": 5},
        {"rate": 2.0},
    ):
        with pytest.raises(OptionError):
            at.Audit(**wrong)
    with pytest.raises(OptionError, match="give one of them"):
        at.Audit(rate=0.1, edges=(0.1,), floors=(0.1, 0.2))
    with pytest.raises(OptionError, match="ascend"):
        at.Audit(edges=(0.2, 0.1), floors=(0.1, 0.1, 0.1))
    with pytest.raises(InputError, match="needs a policy"):
        at.Desk("voi")
    with pytest.raises(InputError, match="Budget"):
        at.Desk(make("voi", {}), budget=0.1)
    assert COSTS.charged(0.0) is COSTS


def test_a_price_never_turns_labels_around():
    always = at.Costs.of_item(miss=1, false_alarm=-5, hit=0)
    assert always.charged(2.0).threshold == -np.inf
    assert COSTS.charged(10.0).threshold == np.inf
    assert COSTS.charged(0.1).alarm_price == pytest.approx(0.5)


def test_plans_of_audits_are_checked():
    for wrong in ([], [0.5, 1.5], [0.0, 0.0], [[0.1]], ["a"], [float("nan")]):
        with pytest.raises(InputError):
            at.plan_audit(wrong, found=10)
    for options in ({"found": 0}, {"margin": 0.9}, {"level": 1.0}, {"strata": 0}, {"doubt": -1}, {"items": 0}):
        with pytest.raises(InputError):
            at.plan_audit([0.1, 0.2], **{"found": 1, **options})
    everyone = at.plan_audit([0.02] * 100, found=5)
    assert everyone.floors == pytest.approx((1.0,))  # two are missed: nothing but looking at all tells
    large = at.plan_audit([0.02] * 100, found=5, items=1_000_000)
    assert large.audits < 0.05 * 1_000_000
    assert large.margin <= 0.05 + 1e-9
    assert large.lane().floors == large.floors
    assert large.recall == pytest.approx(everyone.recall)  # in ten thousand times the items, as many times are found


def test_doubt_is_a_share_of_the_mean_chance():
    chances = [0.001] * 9000 + [0.2] * 1000
    plan = at.plan_audit(chances, found=300, strata=4, doubt=0.5)
    mean = np.mean(chances)
    assert plan.missed == pytest.approx((9000 * (0.001 + 0.5 * mean) / 1.5, 1000 * (0.2 + 0.5 * mean) / 1.5))
    assert sum(plan.missed) == pytest.approx(209.0)


def test_a_policy_leaves_room_for_the_audits_of_a_shared_budget():
    """Audits are in the cap, hardly one finds it reached, and what the policy gives up for them has a price."""
    items, labels = stream(3, n=1500)
    desk = at.Desk(make("voi", {}), at.Budget(share=0.1, window=200), at.Audit(floor=0.04))
    dearer, floors, made = 0, [], []
    for x, label in zip(items, labels, strict=True):
        alone = desk._acts.price(None)
        decision = desk.decide(x)
        assert decision.why["shadow_price"] == desk.shadow_price >= alone
        dearer += desk.shadow_price > alone
        floors.append(decision.probability)
        made.append(decision.act)
        if decision.act:
            desk.learn(decision, label)
    assert dearer > 100
    assert np.mean(np.array(floors) < 0.04) < 0.05
    assert max(sum(made[k : k + 200]) for k in range(1301)) <= 20
    with pytest.raises(OptionError, match=r"audits at rate 0\.1 would use the whole review budget \(share=0\.1\)"):
        at.Desk(make("voi", {}), at.Budget(share=0.1), at.Audit(rate=0.1))
