"""Reviewers and audits in what-if: against the numbers that the page gave, brute force, and what is refused."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import appletaste as at
from appletaste.evaluate import Plan, compare
from appletaste.evaluate.alternatives import days_for, with_staff
from appletaste.evaluate.what_if import acting, ask, ground_of
from appletaste.records.stores import MemoryStore

from ...checks import same
from ...service.filling import SHEET, fill

PAGE = json.loads((Path(__file__).parent / "page_what_if.json").read_text())
DEAR = {"miss": 40.0, "false_alarm": 4.0, "hit": 1.0}


@pytest.fixture(scope="module")
def log():
    return fill(MemoryStore()).log(features=False)


def day_log(n=60, days=5, seed=1, p=0.5, **more):
    """A log of a policy that acts by a coin, with dates, chances and what is true."""
    rng = np.random.default_rng(seed)
    chance = rng.uniform(0.05, 0.95, n).round(3)
    truth, act = rng.random(n) < chance, rng.random(n) < p
    miss = rng.uniform(2, 20, n).round(2)
    rows = [
        {
            "id": f"i{k}",
            "act": bool(act[k]),
            "probability": p,
            "label": int(truth[k]) if act[k] else None,
            "truth": int(truth[k]),
            "chance": float(chance[k]),
            "miss": float(miss[k]),
            "false_alarm": 1.0,
            "hit": 0.5,
            "time": f"2024-05-{1 + k * days // n:02d}T09:{k % 60:02d}",
            **{name: values[k] for name, values in more.items()},
        }
        for k in range(n)
    ]
    return at.DecisionLog.from_rows(rows)


def worth(log, k):
    """What acting on an item is expected to save."""
    return (log.miss[k] - log.hit[k]) * log.chance[k] - (log.false_alarm[k] - log.correct_pass[k]) * (1 - log.chance[k])


def by_hand(log, threshold, room, rate=0.0, shared=True):
    """Return with which probability each item is acted on, one day and one item after the other."""
    found, days = np.zeros(len(log)), [time[:10] for time in log.time.tolist()]
    for day in sorted(set(days)):
        items = [k for k in range(len(log)) if days[k] == day]
        most = room(day, len(items))
        kept = max(most - rate * max(len(items) - most, 0), 0) if shared else most
        wanted = sorted((k for k in items if log.chance[k] >= threshold), key=lambda k: -worth(log, k))
        chosen = wanted[: int(kept)]
        passed = [k for k in items if k not in chosen]
        for k in chosen:
            found[k] = 1.0
        left = max(most - len(chosen), 0) / max(len(passed), 1)
        for k in passed:
            found[k] = min(rate, left) if shared else rate
    return found


@pytest.mark.parametrize("case", PAGE, ids=lambda case: str(case["asked"]))
def test_the_numbers_are_those_that_the_page_gave(log, case):
    asked = case["asked"]
    costs = None if asked["costs"] is None else at.Costs(**asked["costs"])
    found = ask(ground_of(log, costs), Plan.of(asked["threshold"], asked["capacity"], asked["audit"]))
    for name in ("ips", "snips", "dr", "saving"):
        told, ours = case[name], getattr(found, name).as_dict()
        assert ours.keys() == told.keys()
        for part, number in told.items():
            assert ours[part] == (number if isinstance(number, str) else pytest.approx(number, rel=1e-9)), (name, part)
    assert (found.acts, found.acts_a_day) == pytest.approx((case["acts"], case["acts_a_day"]), rel=1e-12)
    assert (len(found.would_act), len(found.would_pass)) == (case["would_act"], case["would_pass"])
    beside = compare(ground_of(log, costs), found.plan, Plan(SHEET.threshold, None, at.Audit(rate=0.08)))
    assert beside.sentences() == case["words"]
    assert beside.more + beside.fewer == case["flip_count"]
    same([list(flip) for flip in beside.flips[:5]], case["flips"])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("capacity", "room"),
    [
        ("3/day", lambda day, n: 3),
        ("25%", lambda day, n: int(0.25 * n + 1e-9)),
        ("Wed-Thu 4, Fri 1", lambda day, n: {"2024-05-01": 4, "2024-05-02": 4, "2024-05-03": 1}.get(day, 0)),
    ],
)
@pytest.mark.parametrize("audit", [None, "5%", "30%"])
def test_few_reviewers_take_the_best_of_each_day_by_hand(seed, capacity, room, audit):
    log = day_log(seed=seed)
    rate = 0.0 if audit is None else float(audit[:-1]) / 100
    expected = by_hand(log, 0.2, room, rate)
    found = acting(ground_of(log), Plan.of(0.2, capacity, audit))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    gain = np.where(log.truth == 1, log.hit - log.miss, log.false_alarm - log.correct_pass)
    told = at.what_if(log, 0.2, capacity=capacity, audit=audit)
    assert told.acts == pytest.approx(expected.sum())
    assert told.days == 5
    assert told.acts_a_day == pytest.approx(expected.sum() / 5)
    if told.ips:
        seen = log.labelled
        assert told.ips.value == pytest.approx((gain * expected / 0.5)[seen].sum())  # every label was seen with 1/2
        assert told.ips.truth == pytest.approx((gain * expected).sum())
    else:
        assert "labels" in told.ips.reason


def test_audits_with_a_budget_of_their_own_take_nothing_from_the_acts():
    log = day_log()
    own = at.Audit(rate=0.1, budget=at.Budget(share=0.5))
    found = acting(ground_of(log), Plan(0.2, at.Budget(per_day=3), own))
    np.testing.assert_allclose(found, by_hand(log, 0.2, lambda day, n: 3, 0.1, shared=False))


def test_audits_follow_strata_and_chances():
    strata = ["new" if k % 3 == 0 else "old" for k in range(60)]
    log, nothing = day_log(stratum=strata), np.zeros(60)
    lane = at.Audit(floor=0.02, strata={"new": 0.2})
    found = with_staff(nothing, Plan(audit=lane), log, None)
    assert found.tolist() == [0.2 if stratum == "new" else 0.02 for stratum in strata]
    lane = at.Audit(edges=(0.3,), floors=(0.01, 0.1))
    found = with_staff(nothing, Plan(audit=lane), log, None)
    assert found.tolist() == [lane.floor_of(None, chance) for chance in log.chance.tolist()]
    shared = with_staff(nothing, Plan(None, at.Budget(per_day=1), at.Audit(strata={"new": 0.5})), log, None)
    totals = np.bincount(log.days().astype(int) - log.days().astype(int).min(), weights=shared)
    assert (totals <= 1 + 1e-9).all()
    assert totals.max() > 0.3


def test_a_policy_by_lot_keeps_within_the_expected_acts_of_a_day():
    log = day_log(x=[[float(k % 7)] for k in range(60)])
    found = acting(ground_of(log), Plan.of(lambda x: x[0] / 7, "2/day", None))
    days = log.days().astype(int)
    for day in np.unique(days):
        mine = np.flatnonzero(days == day)
        assert found[mine].sum() <= 2 + 1e-12
        best, left = sorted(mine, key=lambda k: -worth(log, k)), 2.0
        for k in best:
            expected = min(log.x[k, 0] / 7, left)
            assert found[k] == pytest.approx(expected)
            left -= expected


def test_what_was_asked_before_is_answered_as_before():
    log = day_log(n=400)
    for change in (0.3, at.evaluate.OwnThreshold(2.0), at.Costs(**DEAR)):
        plain, plan = at.what_if(log, change), at.what_if(log, change, capacity="100%")
        assert plain.plan is None
        assert plan.acts == plain.acts
        assert (plan.ips, plan.dr, plan.saving) == (plain.ips, plain.dr, plain.saving)
        assert "capacity" not in plain.as_dict()
    assert at.what_if(log, threshold=0.3).as_dict() == at.what_if(log, 0.3).as_dict()
    assert at.what_if(log, costs=DEAR).as_dict() == at.what_if(log, at.Costs(**DEAR)).as_dict()
    own = at.what_if(log, at.evaluate.OwnThreshold())
    assert at.what_if(log, audit=at.Audit(rate=1e-9)).acts == pytest.approx(own.acts, abs=1e-6)


def test_a_share_without_dates_is_one_of_decisions_in_a_row():
    log = replace(day_log(n=2500), time=None)
    found = acting(ground_of(log), Plan.of(0.0, "10%", None))
    assert [found[k : k + 1000].sum() for k in (0, 1000, 2000)] == [100, 100, 50]
    told = at.what_if(log, 0.0, capacity="10%")
    assert told.days is told.acts_a_day is None
    assert "every 1,000 decisions in a row" in str(told)
    with pytest.raises(at.errors.OptionError, match="no times: give a share, capacity='5%'"):
        at.what_if(log, 0.0, capacity="3/day")


def test_times_that_are_numbers():
    log = day_log()
    seconds = replace(log, time=log.days().astype(float) * 86400.0 + 5.0)
    np.testing.assert_array_equal(days_for(seconds, at.Budget(per_day=3)), log.days().astype(int))
    told = at.what_if(seconds, 0.2, capacity="3/day")
    assert told.as_dict() == at.what_if(log, 0.2, capacity="3/day").as_dict()
    counted = replace(log, time=np.arange(60.0))
    with pytest.raises(at.errors.OptionError, match="numbers, and no dates"):
        at.what_if(counted, 0.2, capacity="3/day")
    by_dozen = at.what_if(counted, 0.2, capacity=at.Budget(per_day=3, day=12.0))
    assert by_dozen.acts == told.acts
    assert by_dozen.days == 5


def test_what_cannot_be_asked_is_said():
    log = day_log()
    for given in ({"capacity": "some"}, {"capacity": "x/day"}, {"audit": "200%"}, {"audit": "-1%"}, {"capacity": True}):
        with pytest.raises(at.errors.OptionError, match=next(iter(given))):
            at.what_if(log, **given)
    with pytest.raises(at.errors.OptionError, match="threshold=, costs=, capacity=, audit="):
        at.what_if(log)
    with pytest.raises(at.errors.OptionError, match="there is a change already"):
        at.what_if(log, 0.3, threshold=0.2)
    with pytest.raises(at.errors.InputError, match="in \\[0, 1\\]"):
        at.what_if(log, threshold=1.5, capacity="3/day")
    with pytest.raises(at.errors.InputError, match="a threshold is a number"):
        at.what_if(log, threshold="high")
    with pytest.raises(at.errors.OptionError, match="learn"):
        at.what_if(log, at.policy("ts", n_features=1, costs=SHEET), capacity="3/day", learn=True)


def test_what_the_log_cannot_say_is_refused():
    log = day_log(x=[[float(k)] for k in range(60)])
    blind = replace(log, chance=None)
    assert "chance" in at.what_if(blind, capacity="3/day").best.reason
    best = at.what_if(blind, lambda x: 0.5, capacity="3/day").best
    assert "best of a day" in best.reason
    assert at.what_if(blind, lambda x: 0.5, audit="60%").acts == pytest.approx(36.0)
    never = day_log(n=400, p=0.0)
    told = at.what_if(never, audit="2%")
    assert not told.best
    assert "never acts on" in told.best.reason
    assert at.what_if(log, capacity="0/day").best.value == 0.0  # passing everything


def test_a_plan_beside_that_of_today():
    stream = fill(MemoryStore(), n=200, budget=at.Budget(per_day=3))
    now = Plan.today(stream)
    assert (now.threshold, now.capacity_text, now.audit_text) == (SHEET.threshold, "3/day", "8%")
    ground = ground_of(stream.log(features=False))
    same = compare(ground, now, now)
    assert (same.more, same.fewer, same.flips) == (0, 0, ())
    more = compare(ground, Plan(now.change, None, now.audit), now)
    assert more.more > 0 == more.fewer
    assert more.now.as_dict() == same.now.as_dict()
    assert any(sentence.startswith("Reviewers: any number; today 3/day") for sentence in more.sentences())
    blind = compare(ground_of(replace(ground.log, chance=None)), now, now)
    assert (blind.more, blind.flips) == (0, ())
    assert "no answer, because" in " ".join(blind.sentences())
