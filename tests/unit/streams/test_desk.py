"""Budgets and audit lanes: settings, the shadow price, and what a decision records."""

import numpy as np
import pytest

import appletaste as at
from appletaste.errors import InputError, OptionError
from appletaste.streams.budget import Spending

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


def test_the_shadow_price_is_a_quantile_of_recent_worths():
    spending = Spending(at.Budget(share=0.1, window=100, recent=100))
    assert spending.price(None) == 0.0  # nothing is known yet
    for k in range(100):
        spending.record(None, 10 <= k < 20, float(k % 50))
    assert spending.room(None) == 0
    assert spending.rate(None) == pytest.approx(0.1)
    assert spending.price(None) == 44.0  # ten of the hundred are worth more: 45 .. 49, twice
    apart = Spending(at.Budget(share=0.25, window=4))
    for k in range(40):
        apart.record(None, k == 39, float(k))
    assert apart.price(None) == 29.0  # a quarter of forty is reached: 30 .. 39
    quiet = Spending(at.Budget(share=0.1, window=100))
    for _ in range(100):
        quiet.record(None, False, -1.0)
    assert quiet.price(None) == 0.0
    assert quiet.room(None) == 10


def test_a_day_is_planned_from_the_days_before():
    budget = at.Budget(per_day=4, day=10.0)
    spending = Spending(budget)
    for k in range(40):
        spending.record(k / 4, k < 4, float(k))  # 40 items on day 0, four acts
    assert spending.room(9.9) == 0
    assert spending.room(10.0) == 4
    assert spending.rate(10.0) == pytest.approx(4 / 40)
    for k in range(20):
        spending.record(10.0 + k / 4, False, 0.0)
    assert spending.rate(15.0) == pytest.approx(4 / 20)  # half of a usual day has passed without an act
    with pytest.raises(OptionError, match="time of every item"):
        spending.room(None)


def test_a_day_is_planned_from_seven_days_and_may_be_busier_than_they_were():
    spending = Spending(at.Budget(per_day=4, day=10.0))
    for day, items in enumerate([1000, *[40] * 7]):
        for k in range(items):
            spending.record(10.0 * day + 5 * k / items, False, 0.0)
    assert spending.rate(80.0) == pytest.approx(4 / 40)  # the busy day is eight days ago
    for k in range(60):
        spending.record(80.0 + k / 10, k == 0, 0.0)
    assert spending.rate(89.0) == pytest.approx(3 / 4)  # more than a usual day has come, and a tenth is still expected
    assert spending.rate(89.0, aside=2) == pytest.approx(1 / 4)


def test_room_is_kept_for_the_audits_to_expect():
    """A floor of 1/16 and 64 items: 4 audits and a root of that more, less those that are made."""
    share, daily = Spending(at.Budget(share=0.25, window=64)), Spending(at.Budget(per_day=10, day=64.0))
    for k in range(50):
        share.record(None, k == 0, 1 / 16)
    assert share.still_needed(None) == 5
    assert share.rate(None, aside=5) == pytest.approx((16 - 1 - 5) / 16 + 1 / 64)
    assert daily.still_needed(0.0) == 2  # a fifth of the cap, while no day has told how many items to expect
    for k in range(64):
        daily.record(float(k), k == 0, 1 / 16)
    assert daily.still_needed(63.0) == 1
    assert daily.still_needed(64.0) == 6


def test_audits_of_a_lane_with_a_budget_of_its_own_are_not_the_desk_s():
    half = at.Budget(share=0.5, window=4)
    desk = at.Desk(make("always", {}), half, at.Audit(floor=1.0, budget=half))
    decisions = [desk.decide(np.ones(3)) for _ in range(12)]
    assert [d.audit for d in decisions] == [False, False, True, True] * 3
    assert all(d.act for d in decisions)


def test_what_was_spent_is_restored_to_the_last_digit():
    """A running sum is not the sum of what is left, in its last digits; and the price needs twenty items, no more."""
    spending, again = (Spending(at.Budget(share=0.5, window=10, recent=20)) for _ in range(2))
    rng = np.random.default_rng(1)
    for _ in range(19):
        spending.record(None, False, 1.0)
    assert spending.price(None, aside=5) == 0.0
    spending.record(None, False, 1.0)
    assert spending.price(None, aside=5) == 1.0
    for _ in range(500):
        spending.record(None, False, rng.random())
    again.restore(spending.arrays())
    kept = spending.arrays()
    assert again.arrays()["sum"] == kept["sum"] != sum(kept["worths"].tolist())
    assert again.price(None, aside=5) == spending.price(None, aside=5)


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
    ):
        with pytest.raises(OptionError):
            at.Budget(**wrong)
    for wrong in ({"floor": 1.5}, {"strata": {"a": -1}}, {"edges": (0.1,), "floors": (0.1,)}, {"budget": 5}):
        with pytest.raises(OptionError):
            at.Audit(**wrong)
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


def test_floors_that_come_and_go_leave_nothing_behind():
    """Sums of floors that have left the window round to just below zero for some orders, and a root is taken."""
    rng = np.random.default_rng(2)
    lane = Spending(at.Budget(share=0.5, window=20, recent=20))
    below = 0
    for _ in range(40):
        for floor in rng.choice([0.1, 0.3, 0.07], size=20):
            lane.record(None, False, floor)
        for _ in range(20):
            lane.record(None, False, 0.0)
        below += lane.arrays()["sum"] < 0.0
        assert lane.still_needed(None) <= 1
    assert below > 0


def test_a_policy_leaves_room_for_the_audits_of_a_shared_budget():
    """Eight acts in sixteen items, two audits to expect and a root of that more: after four acts it stops."""
    desk = at.Desk(make("always", {}), at.Budget(share=0.5, window=16), at.Audit(floor=0.125))
    found = [desk.decide(np.ones(3)) for _ in range(6)]
    assert [d.probability for d in found] == [1.0] * 4 + [0.125] * 2
    assert [d.why["budget_spent"] for d in found] == [0.0] * 4 + [1.0] * 2
    items, labels = stream(3, n=100)
    desk = at.Desk(make("voi", {}), at.Budget(share=0.25, window=40), at.Audit(floor=0.05))
    dearer = 0
    for x, label in zip(items, labels, strict=True):
        price, alone = desk._acts.price(None, desk._audits.still_needed(None)), desk._acts.price(None)
        decision = desk.decide(x)
        assert decision.why["shadow_price"] == desk.shadow_price == price >= alone
        dearer += price > alone
        if decision.act:
            desk.learn(decision, label)
    assert dearer > 20
    with pytest.raises(OptionError, match=r"audits at rate 0\.1 would use the whole review budget \(share=0\.1\)"):
        at.Desk(make("voi", {}), at.Budget(share=0.1), at.Audit(floor=0.1))
