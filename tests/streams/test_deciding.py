"""Many items that are decided together: each as by itself, in the order in which they came, whatever the others are."""

from collections import deque

import numpy as np
import pytest

import appletaste as at
from appletaste.errors import AppleTasteError, ConflictError, InputError, StoppedError, StoreError
from appletaste.records.codec import stamp_of
from appletaste.streams import stream as streaming

from .playing import COSTS, ITEMS, LABELS, made, seated, state


def row(k, **given):
    """Return what ``decide`` takes, for item k."""
    asked = {"id": f"c{k}", "time": float(k), "stratum": "new" if k % 3 else None, "costs": None, "baseline": None}
    return (ITEMS[k].tolist(), *{**asked, **given}.values())


def one_by_one(stream, rows):
    told = []
    for x, id_, time, stratum, costs, baseline in rows:
        try:
            told.append(stream.decide(x, id=id_, time=time, stratum=stratum, costs=costs, baseline=baseline))
        except AppleTasteError as error:
            told.append(error)
    return told


def plain(told):
    """Return an answer as its bytes, and an error as its kind and its words."""
    return (type(told), str(told)) if isinstance(told, AppleTasteError) else (told.again, told.json())


def stamps(stream):
    """Return when each event was written, by the clock of the machine."""
    return [stamp_of(row.kind, row.body).at for row in stream.record.place.read()]


ROWS = [
    *(row(k) for k in range(12)),
    (ITEMS[3].tolist(), "c3", 3.0, None, None, None),  # decided in this group
    row(3, id="c4"),  # another item
    row(12, time="2024-05-01"),  # times are numbers
    ([1.0, np.nan, 0.0], "bad", 12.0, None, None, None),
    ([1.0], "short", 12.0, None, None, None),
    row(13, id=None),
    row(14, id="16"),  # the number that the one before has as its id
    row(15, id=None),
    row(16, costs={"miss": 9, "false_alarm": 1, "hit": 0}),
    row(17, costs={"miss": 9}),
    row(18, baseline=True),
    row(19, baseline="yes"),
    row(2),
    *(row(k) for k in range(20, 40)),
]


@pytest.mark.parametrize("mode", ["live", "frozen", "shadow", "safe"])
@pytest.mark.parametrize(
    "player",
    [
        seated,
        lambda: at.policy("ts", n_features=3, costs=COSTS),
        lambda: at.policy("voi", n_features=3, costs=COSTS),
        lambda: at.streams.Awaiting(at.policy("voi", n_features=3, costs=COSTS, randomised=True)),
    ],
    ids=["desk", "ts", "voi", "awaiting"],
)
def test_each_is_decided_as_by_itself(mode, player):
    settings = {"seed": 5, "mode": mode, "clock": lambda: 10**15}
    streams = [made(at.records.stores.MemoryStore(), player(), **settings) for _ in range(2)]
    one, many = streams
    rows = ROWS
    if mode == "shadow":  # all but two say what the caller does
        rows = [
            (*asked, k % 3 == 0 if own is None and k not in (2, 22) else own) for k, (*asked, own) in enumerate(ROWS)
        ]
    alone, together = one_by_one(one, rows), many.decide_each(rows)
    assert [plain(told) for told in together] == [plain(told) for told in alone]
    assert state(one) == state(many)
    assert [repr(event) for event in one.record.read()] == [repr(event) for event in many.record.read()]
    assert stamps(one) == stamps(many)
    kinds = [type(told) for told in together if isinstance(told, AppleTasteError)]
    assert {ConflictError, InputError} <= {*kinds}
    assert many.verify().decisions == one.verify().decisions > 30


def test_many_stop_at_what_cannot_be_decided():
    stream = made(at.records.stores.MemoryStore())
    stream.decide(ITEMS[0], id="c0", time=0.0)
    with pytest.raises(ConflictError):
        stream.decide_many(ITEMS[1:4], ids=["c1", "c0", "c3"], times=[1.0, 2.0, 3.0])
    assert [event.id for _, event in stream.record.read(1)] == ["c0", "c1"]
    stream.verify()


def test_labels_in_between_are_what_they_were(home):
    """Groups of any size, with labels between them, leave what single decisions leave, on every store."""
    store = home.open()
    one = at.Stream.create(store, "one", seated(), seed=9)
    many = at.Stream.create(store, "many", seated(), seed=9)
    start = 0
    for size in (1, 2, 30, 1, 17, 60):
        rows = [row(k) for k in range(start, start + size)]
        assert [plain(told) for told in many.decide_each(rows)] == [plain(told) for told in one_by_one(one, rows)]
        for k in range(start, start + size, 2):
            if f"c{k}" in one.pending:
                assert one.label(f"c{k}", LABELS[k]) == many.label(f"c{k}", LABELS[k])
        start += size
    assert state(one)[1] == state(many)[1]
    assert many.verify().decisions == start
    store.close()


@pytest.mark.parametrize("k", [0, 3, 7])
def test_a_group_that_cannot_be_recorded_stops_the_stream(monkeypatch, k):
    """What was judged is in memory and not in the record: nothing is decided on top of it."""
    store = at.records.stores.MemoryStore()
    stream = made(store)
    add, left = stream.record.add, iter(range(k))

    def fails(*given):
        if next(left, None) is None:
            raise MemoryError("no room")
        return add(*given)

    monkeypatch.setattr(stream.record, "add", fails)
    with pytest.raises(MemoryError):
        stream.decide_each([row(k) for k in range(8)])
    with pytest.raises(StoppedError, match="no room"):
        stream.decide(ITEMS[20])
    stream.close()
    assert at.Stream.open(store, "orders").verify().decisions == 0


def test_a_store_that_cannot_be_read_leaves_all_as_it_was(monkeypatch):
    """Ids are looked up before anything is decided."""
    stream = made(at.records.stores.MemoryStore())
    before, found, left = state(stream), stream.record.decision, iter(range(2))

    def fails(id_):
        if next(left, None) is None:
            raise StoreError("gone")
        return found(id_)

    with monkeypatch.context() as patch:
        patch.setattr(stream.record, "decision", fails)
        with pytest.raises(StoreError):
            stream.decide_each([row(k) for k in range(4)])
    assert not stream.stopped
    assert state(stream) == before
    assert stream.decide(*row(0)[:1], id="c0", time=0.0).seq == 2


@pytest.mark.parametrize(("name", "verb"), [("ts", "play"), ("voi", "play_many")])
def test_a_player_that_fails_after_it_has_carried_on_stops_the_stream(monkeypatch, name, verb):
    stream = made(at.records.stores.MemoryStore(), at.policy(name, n_features=3, costs=COSTS))
    policy = stream.player.policy
    play = getattr(policy, verb)

    def late(*given):
        play(*given)
        raise InputError("too late")

    monkeypatch.setattr(policy, verb, late)
    with pytest.raises(InputError):
        stream.decide_each([row(0), row(1)])
    assert stream.stopped == "too late"
    assert policy.round


@pytest.mark.parametrize("around", [lambda policy: policy, at.streams.Awaiting])
def test_an_item_that_a_player_refuses_is_told_so_and_the_others_count(monkeypatch, around):
    stream = made(at.records.stores.MemoryStore(), around(at.policy("ts", n_features=3, costs=COSTS)))
    policy = stream.player.policy
    play = policy.play

    def choosy(x, *given):
        if x.tobytes() in (ITEMS[0].tobytes(), ITEMS[2].tobytes()):
            raise InputError("not this one")
        return play(x, *given)

    monkeypatch.setattr(policy, "play", choosy)
    told = stream.decide_each([row(k) for k in range(5)])
    assert [str(one) if isinstance(one, InputError) else one.id for one in told] == [
        "not this one", "c1", "not this one", "c3", "c4",
    ]  # fmt: skip
    assert policy.round == 3
    assert not stream.stopped
    stream.verify()


def test_many_that_are_refused_take_no_longer_than_many_that_are_not(monkeypatch):
    """What was made ready behind an item that is refused is made ready again: of few items."""
    stream = made(at.records.stores.MemoryStore(), at.policy("ts", n_features=3, costs=COSTS))
    ready, calls = stream._decider.ready, []

    def refuse(*given):
        raise InputError("none")

    monkeypatch.setattr(stream.player.policy, "play", refuse)
    monkeypatch.setattr(stream._decider, "ready", lambda *given: calls.append(given) or ready(*given))
    told = stream.decide_each([row(k) for k in range(100)])
    assert [str(one) for one in told] == ["none"] * 100
    assert len(calls) <= 200


def test_items_without_times_and_times_of_two_kinds():
    """Each item has a moment of its own, and the first time says what times are, also within a group."""
    streams = [made(at.records.stores.MemoryStore(), seed=5, clock=lambda: 10**15) for _ in range(2)]
    rows = [row(k, time=None) for k in range(6)]
    alone, together = one_by_one(streams[0], rows), streams[1].decide_each(rows)
    assert [plain(told) for told in together] == [plain(told) for told in alone]
    assert stamps(streams[0]) == stamps(streams[1])
    assert len({told.time for told in together}) == 6
    mixed = made(at.records.stores.MemoryStore()).decide_each([row(0, time=1.0), row(1, time="2024-05-01"), row(2)])
    assert [isinstance(told, InputError) for told in mixed] == [False, True, False]


def test_more_than_are_judged_together_are_decided_one_part_after_the_other(monkeypatch):
    monkeypatch.setattr(streaming, "TOGETHER", 7)
    streams = [made(at.records.stores.MemoryStore(), seed=5, clock=lambda: 10**15) for _ in range(2)]
    rows = [row(k) for k in range(40)]
    assert [plain(told) for told in streams[1].decide_each(rows)] == [plain(t) for t in one_by_one(streams[0], rows)]
    assert state(streams[0]) == state(streams[1])


@pytest.mark.parametrize("error", [RuntimeError("cut"), KeyboardInterrupt("cut")])
def test_a_learner_that_fails_while_it_carries_on_stops_the_stream(monkeypatch, error):
    """Nobody knows what it has taken in: nothing is decided, and no snapshot made, on top of that."""
    store = at.records.stores.MemoryStore()
    stream = made(store)
    stream.decide_each([row(k) for k in range(20)])
    learner = stream.player.policy.learner
    commit = learner.commit

    def cut(*given):
        commit(*given)
        raise error

    monkeypatch.setattr(learner, "commit", cut)
    with pytest.raises(type(error)):
        stream.decide(ITEMS[30], id="c30", time=30.0)
    assert stream.stopped == "cut"
    stream.close()
    again = at.Stream.open(store, "orders")
    assert again.verify().decisions == 20


def test_baselines_may_come_in_any_collection():
    stream = made(at.records.stores.MemoryStore(), mode="shadow")
    answers = stream.decide_many(ITEMS[:3], baselines=deque([True, False, True]))
    assert [answer.act for answer in answers] == [True, False, True]


VECTORS = {
    "numbers": [[1.0, 2.5, -3.0], [0.0, -0.0, 1e99]],
    "whole numbers": [[1, 2, 3], [4, 5, 6]],
    "both": [[1, 2, 3], [0.5, 2**63, 2**53 + 1]],
    "truth": [[True, False, 1.0], [1.0, 2.0, 3.0]],
    "arrays": [[1.0, 2.0, 3.0], np.ones(3)],
    "one that is missing": [[1.0, 2.0, 3.0], [1.0, None, 3.0], [1.0, 2.0, 4.0]],
    "one that is not finite": [[1.0, 2.0, 3.0], [1.0, np.inf, 3.0]],
    "one that is too large": [[1e100, 2.0, 3.0], [1.0, 2.0, 3.0]],
    "one that is short": [[1.0, 2.0, 3.0], [1.0]],
    "texts": [[1.0, 2.0, 3.0], ["1", "2", "3"]],
    "a table in a table": [[1.0, 2.0, 3.0], [[1.0], [2.0], [3.0]]],
    "tables": [[[1.0], [2.0], [3.0]]],
    "larger than any number": [[10**400, 1, 2], [1, 2, 3]],
    "nothing": [],
}


@pytest.mark.parametrize("items", VECTORS.values(), ids=VECTORS)
def test_vectors_that_come_together_are_read_as_alone(items):
    reader = made(at.records.stores.MemoryStore())._reader

    def alone(item):
        try:
            return reader.read(item, "a", None, None, None, None, COSTS).x.tobytes()
        except AppleTasteError as error:
            return str(error)

    rows = [(item, "a", None, None, None, None) for item in items]
    together = reader.read_each(rows, COSTS)
    found = [str(one) if isinstance(one, AppleTasteError) else one.x.tobytes() for one in together]
    assert found == [alone(item) for item in items]


def test_what_waits_keeps_no_table_of_those_it_came_with():
    """A row of a table keeps all of the table in memory: those that passed, too."""
    stream = made(at.records.stores.MemoryStore(), at.streams.Awaiting(at.policy("voi", n_features=3, costs=COSTS)))
    stream.decide_each([row(k) for k in range(40)])
    waiting = stream.player._waiting.items
    assert len(waiting) == len(stream.pending) > 3
    assert all(x.base is None for x in waiting.values())
