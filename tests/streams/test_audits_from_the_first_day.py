"""A live stream has audits unless somebody said none, and one without them is warned of."""

import warnings

import pytest

import appletaste as at
from appletaste.errors import UnauditedWarning

COSTS = at.Costs(miss=5, false_alarm=1, hit=0)


def make(player, **settings):
    return at.Stream.create("memory", "orders", player, seed=1, **settings)


def bare(name="voi"):
    return at.policy(name, n_features=2, costs=COSTS)


@pytest.mark.parametrize("player", [bare(), at.streams.Awaiting(bare()), at.Desk(bare(), at.Budget(share=0.1))])
def test_a_player_without_audits_stays_and_is_warned_of(player):
    with pytest.warns(UnauditedWarning, match=r"'orders' has no audits.*for 8\.333 in 1,000 items at most"):
        stream = make(player)
    assert stream.audit is None


@pytest.mark.parametrize(
    ("player", "audit"),
    [
        (bare(), 0),
        (bare(), "auto"),
        (bare("always"), None),
        (at.Desk(bare(), audit=at.Audit(floor=0.1)), None),
    ],
)
def test_nothing_is_said_where_audits_are_there_or_were_declined(player, audit):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make(player, audit=audit)


def test_audits_that_are_named_take_the_place_of_those_of_the_desk():
    desk = at.Desk(at.streams.Awaiting(bare()), at.Budget(share=0.2), at.Audit(floor=0.1))
    assert make(desk, audit="auto").audit == at.Audit.of("auto")
    assert make(desk, audit="auto").budget == at.Budget(share=0.2)
    assert make(desk, audit=0).audit is None
    assert make(bare(), audit="2%").audit == at.Audit(rate=0.02)
    stream = make(bare(), audit="2%")
    stream.set_audit("0")
    assert stream.audit is None


def test_the_cost_that_is_said_is_the_most_that_audits_cost():
    lane = at.streams.audit.Lane(at.Audit.of("auto"))
    worst = 0.0
    for chance in (0.01, 0.1, 1 / 6, 0.3, 0.9):
        lane._bill = at.streams.audit.Bill(1.0, 5.0 * chance, 1.0 - chance, 1.0)
        worst = max(worst, lane.rate * lane._bill.audits)
    assert worst == pytest.approx(at.streams.audit.most_spent(COSTS))
