"""Several items in flight: each settles as if it had been looked at alone, whoever plays."""

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import appletaste as at
from appletaste.errors import InputError

from ..contract.entries import ENTRIES, IDS, make
from ..players import assert_same, decided, state_of

#: Every policy of the contract, and two that forget by the time.
PLAYED = [*ENTRIES, ("voi", {"half_life": "15s"}), ("adf-voi", {"half_life": "9s", "randomised": True})]
NAMES = [*IDS, "voi by the time", "adf-voi by the time"]


def desk(player):
    """Return a desk with a share of the items and a lane that shares it: after 20 items a review has a price."""
    lane = at.Audit(floor=0.05, strata={"new": 0.3})
    return at.Desk(player, at.Budget(share=0.5, window=8, recent=20), lane)


WRAPS = {
    "bare": lambda policy: policy,
    "awaiting": at.streams.Awaiting,
    "desk": desk,
    "both": lambda p: desk(at.streams.Awaiting(p)),
}
every = pytest.mark.parametrize(("name", "options"), PLAYED, ids=NAMES)
wrapped = pytest.mark.parametrize("wrap", WRAPS)
#: How many items were decided before, how many items later their labels arrive, and which items they are.
streams = given(before=st.integers(0, 45), delay=st.integers(0, 7), seed=st.integers(0, 2**16))
few = settings(max_examples=4)


def work(player, items, first, delay, sent=()):
    """Decide on items, each a second after the one before; labels arrive late."""
    made, sent = [], list(sent)
    for k, x in enumerate(items, first):
        decision = player.decide(x, time=float(k), stratum="new" if k % 3 else None)
        made.append(decision)
        if decision.act:
            sent.append((k, decision))
        while sent and sent[0][0] <= k - delay:
            late = sent.pop(0)[1]
            player.learn(late, int(late.x.sum() > 0))
    return made


def begun(name, options, wrap, before, delay, seed):
    """Return a player in the middle of its work, and the items to come with their time and stratum."""
    player = WRAPS[wrap](make(name, options, seed=seed))
    items = np.random.default_rng(seed).normal(size=(before + 15, 3))
    work(player, items[:before], 0, delay)
    asked = [{"time": before + 0.1 * k, "stratum": "new" if k == 1 else None} for k in range(3)]
    return player, list(zip(items[before : before + 3], asked, strict=True)), items[before + 3 :]


def goes_on(player, items, before):
    return [decided(decision) for decision in work(player, items, before + 1, delay=2)]


@every
@wrapped
@few
@streams
def test_an_item_settles_as_if_no_other_had_been_looked_at(name, options, wrap, before, delay, seed):
    player, (a, b, c), later = begun(name, options, wrap, before, delay, seed)
    alone = copy.deepcopy(player)
    prospect = player.look(a[0], **a[1])
    player.look(b[0], **b[1])
    player.look(c[0], **c[1])
    found, wanted = player.settle(prospect), alone.settle(alone.look(a[0], **a[1]))
    assert decided(found) == decided(wanted)
    assert found.x.tolist() == a[0].tolist()
    assert_same(state_of(player), state_of(alone))
    assert goes_on(player, later, before) == goes_on(alone, later, before)
    assert_same(state_of(player), state_of(alone))


@every
@wrapped
@few
@streams
def test_two_items_in_flight_are_each_as_they_were_looked_at(name, options, wrap, before, delay, seed):
    player, (a, b, _), later = begun(name, options, wrap, before, delay, seed)
    twin, one, other = (copy.deepcopy(player) for _ in range(3))
    first, second = player.look(a[0], **a[1]), player.look(b[0], **b[1])
    made = player.settle(first)
    caps = player.look(b[0], **b[1])  # as they stand by now: the act on A may have been the last one
    decision = player.settle(second)
    assert (made.x.tolist(), decision.x.tolist()) == (a[0].tolist(), b[0].tolist())
    assert (made.probability, decision.round) == (first.acting, made.round + 1)
    assert decision.probability == max(0.0 if caps.spent else second.probability, second.floor if caps.floor else 0.0)
    assert decision.probability == second.acting or (wrap in ("desk", "both") and made.act)
    alone = one.look(a[0], **a[1]), other.look(b[0], **b[1])  # each by a player who saw nothing else
    wanted = [twin.settle(prospect) for prospect in alone]
    assert [decided(made), decided(decision)] == [decided(settled) for settled in wanted]
    assert_same(state_of(player), state_of(twin))
    assert goes_on(player, later, before) == goes_on(twin, later, before)
    assert_same(state_of(player), state_of(twin))


@every
@wrapped
@few
@streams
def test_looking_and_drawing_change_nothing(name, options, wrap, before, delay, seed):
    player, items, later = begun(name, options, wrap, before, delay, seed)
    untouched, kept = copy.deepcopy(player), state_of(player)
    for x, given_ in items:
        prospect = player.look(x, **given_)
        player.look(x, **given_, price=0.2)
        player.look(x, **given_, costs=at.Costs(5, 1, 0))
        assert decided(player.draw(prospect)) == decided(player.draw(prospect))
        assert player.draw(prospect).probability == player.probability(x, **given_) == prospect.acting
        player.chance(x)
        assert_same(state_of(player), kept)
    assert goes_on(player, later, before) == goes_on(untouched, later, before)
    assert_same(state_of(player), state_of(untouched))


@every
@wrapped
@few
@streams
def test_a_decision_of_another_round_is_refused_and_nothing_is_carried_on(name, options, wrap, before, delay, seed):
    player, (a, b, _), _ = begun(name, options, wrap, before, delay, seed)
    first, second = player.look(a[0], **a[1]), player.look(b[0], **b[1])
    early = player.draw(second)
    made = player.settle(first)
    kept = state_of(player)
    for prospect, decision in ((second, early), (first, made)):
        with pytest.raises(InputError, match=f"for round {made.round}, but the next round is {made.round + 1}"):
            player.commit(prospect, decision)
        assert_same(state_of(player), kept)
    player.commit(second, player.draw(second))
    assert player.policy.round == made.round + 1
