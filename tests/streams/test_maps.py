"""A map that changes lives in its stream: folded, snapshotted, verified, rewound, told apart, and erased from."""

import os
import subprocess
import sys

import numpy as np
import pytest

import appletaste as at
from appletaste.errors import AppleTasteError, ConflictError, InputError, RecordError, StoreError
from appletaste.features.levels import FIRST, LAST
from appletaste.records.codec import pack_item, sha256, unpack_item
from appletaste.records.stores import MemoryStore
from appletaste.streams.transfer import export_stream, import_stream

from .stores import Home

COSTS = at.Costs(miss=5, false_alarm=1, hit=0)
RNG = np.random.default_rng(12)
SHOPS = [f"shop {k}" for k in RNG.zipf(1.4, 400)]
PAST = {
    "amount": RNG.gamma(2, 40, 400).round(2),
    "shop": SHOPS,
    "kind": RNG.choice(["a", "b"], 400),
    "bad": (RNG.random(400) < 0.3).astype(int),
}
ENCODERS = {
    "open levels": {},
    "spare columns": {"many": False, "levels": 10, "spare": 4},
    "running means": {"online": True},
    "all of them": {"online": True, "spare": 3},
}


def begun(store="memory", encoder=None, **settings):
    made = at.streams.from_history(PAST, "bad", costs=COSTS, teach=True, encoder=encoder or {}, audit="20%")
    return made.create(store, "shop", seed=3, **settings)


def item(k):
    """Return item k: some shops are known, some come again, some are new, and the third kind is new."""
    chance = np.random.default_rng(k)
    shop = SHOPS[k % 50] if k % 3 else f"new shop {k % 7}"
    return {"amount": round(float(chance.gamma(2, 60)), 2), "shop": shop, "kind": "abc"[k % 3]}


def row(k, change=None):
    return ({**item(k), **(change or {})}, f"c{k}", float(k), None, None, None)


def bits(stream):
    return {name: array.tobytes() for name, array in stream._journal.fold.arrays().items()}


def where(home):
    """Return a store that a stream opens and closes by itself; one in memory stays."""
    return home.open() if home.kind == "memory" else home.address


def of(answer):
    return answer.id, answer.decision.x.tobytes(), answer.chance, answer.probability, answer.act


@pytest.mark.parametrize("encoder", ENCODERS.values(), ids=ENCODERS)
def test_many_at_once_are_as_one_by_one_whatever_is_refused_in_between(encoder):
    """What was made ready behind an item that is refused has not happened: neither to the player nor to the map."""
    one, many = begun(encoder=encoder), begun(encoder=encoder)
    wrong = {4: {"amount": "much"}, 5: {"colour": "red"}, 11: {"amount": object()}}
    rows = [row(k, wrong.get(k)) for k in range(40)]
    answers = [answer for answer in many.decide_each(rows) if not isinstance(answer, Exception)]
    single = []
    for given in rows:
        try:
            single.append(one.decide(given[0], id=given[1], time=given[2]))
        except (AppleTasteError, TypeError):
            continue
    assert list(map(of, answers)) == list(map(of, single))
    assert len(answers) == 37
    assert bits(one) == bits(many)
    assert many.features.made == one.features.made == 37
    many.verify()


def test_an_item_that_the_player_refuses_leaves_no_trace_in_the_map(monkeypatch):
    stream, twin = begun(), begun()
    policy = stream.player.policy
    usual = type(policy).play_many
    for k in range(3):
        stream.decide(item(k), id=f"c{k}", time=float(k))
        twin.decide(item(k), id=f"c{k}", time=float(k))

    def refuse(self, items, costs):
        raise InputError("not this one")

    monkeypatch.setattr(type(stream.player), "play_many", refuse)
    monkeypatch.setattr(type(stream.player), "play", lambda *given: refuse(*given[:3]))
    told = stream.decide_each([row(k) for k in range(3, 9)])
    assert all(isinstance(answer, InputError) for answer in told)
    monkeypatch.undo()
    assert usual is type(policy).play_many
    assert not stream.stopped
    assert bits(stream) == bits(twin)
    assert [of(a) for a in stream.decide_each([row(k) for k in range(3, 9)])] == [
        of(twin.decide(item(k), id=f"c{k}", time=float(k))) for k in range(3, 9)
    ]


def test_a_store_that_cannot_be_read_leaves_the_map_as_it_was(monkeypatch):
    stream = begun()
    before, looked, usual = bits(stream), [], stream.record.decision

    def fails(id_):
        looked.append(id_)
        if len(looked) == 3:
            raise StoreError("the disk is away")
        return usual(id_)

    monkeypatch.setattr(stream.record, "decision", fails)
    with pytest.raises(StoreError):
        stream.decide_each([row(k) for k in (0, 3, 6, 9)])
    assert bits(stream) == before
    monkeypatch.undo()
    stream.decide_many([item(k) for k in (0, 3)], ids=["a", "b"], times=[1.0, 2.0])
    stream.verify()


@pytest.mark.parametrize("encoder", ENCODERS.values(), ids=ENCODERS)
@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgres"])
def test_opened_again_it_goes_on_to_the_bit(encoder, kind, tmp_path):
    home, whole = Home(kind, tmp_path), begun(encoder=encoder)
    whole.decide_many([item(k) for k in range(60)], ids=[f"c{k}" for k in range(60)], times=list(range(60)))
    stream = begun(where(home), encoder)
    for start in (0, 20, 40):
        for k in range(start, start + 20):
            stream.decide(item(k), id=f"c{k}", time=k)
        if start == 20:
            stream.snapshot()
        stream.close()
        stream = at.Stream.open(where(home), "shop")
        assert stream.trouble is None
    assert bits(stream) == bits(whole)
    stream.snapshot()
    assert stream.verify().snapshots == 2
    stream.close()


def test_the_same_item_again_is_known_and_another_is_a_conflict():
    """Also when its level has got a place of its own since, so that the map would make another vector now."""
    stream = begun(encoder={"many": False, "levels": 10, "spare": 4, "online": True})
    fresh = {"amount": 20.0, "shop": "brand new", "kind": "c"}
    first = stream.decide(fresh, id="a", time=1.0)
    stream.decide(fresh, id="b", time=2.0)
    assert stream.find("b").answer.decision.x.tobytes() != first.decision.x.tobytes()
    again = stream.decide({"kind": "c", "amount": 20, "shop": "brand new"}, id="a", time=1.0)
    assert again.again
    assert of(again) == of(first)
    for change in ({"shop": "another"}, {"amount": 21.0}, {"kind": None}):
        with pytest.raises(ConflictError, match="about another item"):
            stream.decide({**fresh, **change}, id="a", time=1.0)
    with pytest.raises(ConflictError, match="about another item"):
        stream.decide(np.zeros(stream.player.policy.n_features), id="a", time=1.0)


def test_a_record_whose_map_says_otherwise_does_not_verify():
    store = MemoryStore()
    stream = begun(store)
    stream.decide_many([item(k) for k in range(12)], ids=[f"c{k}" for k in range(12)], times=list(range(12)))
    stream.verify()
    place = stream.record.place
    kept = next(one for one in place.read() if one.id == "c3")
    x, record = unpack_item(kept.item)
    other = pack_item(x, {**record, "shop": SHOPS[0]})
    assert sha256(other).digest() != sha256(kept.item).digest()
    with pytest.raises(RecordError, match="the map makes another vector of its record"):
        stream._journal.fold.replay(kept.seq, next(e for s, e in stream.events() if s == kept.seq), other)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_what_is_erased_is_forgotten_by_the_map_as_well(kind, tmp_path):
    """The name of a level that no other decision has, and that the stream did not begin with, is in no snapshot."""
    home = Home(kind, tmp_path)
    stream = begun(where(home))
    stream.decide({**item(1), "shop": "mary.smith@example.org"}, id="a", time=1.0)
    stream.decide({**item(1), "shop": "kept.by@another"}, id="b", time=2.0)
    stream.decide({**item(1), "shop": "kept.by@another"}, id="c", time=3.0)
    stream.decide({**item(1), "shop": SHOPS[0]}, id="d", time=4.0)
    stream.snapshot()
    for id_ in "abd":
        stream.erase(id_)
    names = stream.features.levels["shop"].numbered
    assert "mary.smith@example.org" not in names
    assert {"kept.by@another", SHOPS[0]} <= names.keys()
    slots = list(names.values())
    assert len(set(slots)) == len(slots)  # its place stays taken
    after = stream.decide({**item(1), "shop": "mary.smith@example.org"}, id="e", time=5.0)
    assert not after.again
    stream.erase("e")
    stream.verify()
    stream.close()
    stream = at.Stream.open(where(home), "shop")
    assert stream.trouble is None
    kept = b"".join(stream.record.place.chunk(digest) for digest in stream.record.place.chunks())
    assert b"kept.by@another" in kept  # the control
    assert b"mary.smith" not in kept
    stream.close()
    if kind == "sqlite":
        assert not any(b"mary.smith" in path.read_bytes() for path in tmp_path.iterdir())


def test_a_stream_that_moves_takes_its_map_along(tmp_path):
    store, other = MemoryStore(), MemoryStore()
    stream = begun(store)
    for k in range(30):
        stream.decide(item(k), id=f"c{k}", time=float(k))
    stream.snapshot()
    export_stream(stream.record.place, tmp_path / "a.stream")
    import_stream(tmp_path / "a.stream", other)
    moved = at.Stream.open(other, "shop")
    assert bits(moved) == bits(stream)
    assert of(moved.decide(item(33), id="x", time=40.0)) == of(stream.decide(item(33), id="x", time=40.0))


def test_vectors_may_name_slots_and_nothing_else_in_their_place():
    """A vector that was made elsewhere is checked as the policy checks it: a slot is a level that may be."""
    stream = begun()
    (place,) = stream.player.policy.slots
    known = stream.features.transform(item(1), update=False)
    many = [known.tolist() for _ in range(4)]
    answers = stream.decide_many(many, ids=list("abcd"), times=[1.0, 2.0, 3.0, 4.0])
    assert [answer.decision.x.tobytes() for answer in answers] == [known.tobytes()] * 4
    for wrong in (np.nan, np.inf, 1e120):
        x = known.copy()
        x[(place + 1) % len(x)] = wrong
        with pytest.raises(InputError, match="feature"):
            stream.decide(x, id="z", time=9.0)
    assert FIRST <= known[place] <= LAST
    stream.verify()


def test_in_safe_mode_the_map_stays_as_it_is():
    stream = begun()
    stream.set_mode("safe")
    before = stream.features.mark()
    stream.decide({**item(0), "shop": "seen by nobody"}, id="a", time=1.0)
    assert stream.features.mark() == before
    stream.set_mode("live")
    stream.decide({**item(0), "shop": "seen by nobody"}, id="b", time=2.0)
    assert "seen by nobody" in stream.features.levels["shop"].numbered
    stream.verify()


HASHED = """
import sys, appletaste as at
features = at.Encoder(spare=2).fit([{"a": 1.0, "b": "x", "c": 2.0, "d": "y"}, {"a": 2.0, "b": "z", "c": 1.0, "d": "y"}])
policy = at.policy(n_features=features.n_features, costs=at.Costs(miss=5, false_alarm=1, hit=0))
if sys.argv[1] == "write":
    with at.Stream.create(sys.argv[2], "it", policy, features=features, seed=1) as stream:
        stream.decide({"a": 1.0}, id="1", time=1.0)
        stream.decide({"b": "new"}, id="2", time=2.0)
        stream.snapshot()
else:
    print(at.Stream.open(sys.argv[2], "it").verify())
"""


def test_a_map_is_the_same_to_the_bit_in_a_process_that_hashes_otherwise(tmp_path):
    """Fields that records lack are counted in the order of the columns, and not in that of a set."""
    for seed, what in (("1", "write"), ("2", "verify"), ("3", "verify")):
        words = [sys.executable, "-c", HASHED, what, str(tmp_path / "it.db")]
        told = subprocess.run(
            words, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=False
        )
        assert told.returncode == 0, told.stderr
    assert "bit for bit" in told.stdout


def test_what_is_written_by_itself_is_refused_within_a_group():
    stream = begun()
    stream.decide(item(0), id="a", time=1.0)
    for k, verb in enumerate((lambda: stream.erase("a"), stream.snapshot)):
        with stream.group():
            stream.decide(item(1), id=f"b{k}", time=2.0)
            with pytest.raises(InputError, match="outside of the block of group"):
                verb()
    stream.erase("a")
    stream.verify()


def test_a_vector_that_cannot_be_folded_is_not_decided():
    """Products of large numbers: the same item is refused whether the map changes or not, and leaves no trace."""
    people = [{"a": 1.0, "b": 2.0, "job": "chef"}, {"a": 2.0, "b": 1.0, "job": "clerk"}]
    for spare in (0, 1):
        features = at.Encoder(spare=spare, standardise=False, interactions=[("a", "b")]).fit(people)
        player = at.policy(n_features=features.n_features, costs=COSTS)
        stream = at.Stream.create("memory", "it", player, features=features, seed=1)
        before = bits(stream)
        with pytest.raises(InputError, match="below 1e100 in size"):
            stream.decide({"a": 1e60, "b": 1e60, "job": "pilot"}, id="a", time=1.0)
        assert bits(stream) == before
        stream.decide({"a": 1.0, "b": 1.0, "job": "pilot"}, id="a", time=1.0)
        stream.verify()


def test_a_field_that_is_left_out_is_a_field_that_is_missing():
    stream = begun()
    first = stream.decide({"amount": 20.0, "shop": "s"}, id="a", time=1.0)
    assert of(stream.decide({"amount": 20.0, "shop": "s", "kind": None}, id="a", time=1.0)) == of(first)


def test_a_cell_is_no_level_whose_name_was_erased():
    stream = begun()
    stream.decide({**item(1), "shop": "mary"}, id="a", time=1.0)
    slot = stream.features.levels["shop"].numbered["mary"]
    stream.erase("a")
    assert stream.features.levels["shop"].numbered[slot] == slot
    assert f"erased {slot}" in stream.features.levels["shop"].shown()
    for k, name in enumerate((f"\0{slot}", str(slot), f"erased {slot}")):
        stream.decide({**item(1), "shop": name}, id=f"b{k}", time=2.0)
        assert stream.features.levels["shop"].numbered[name] != slot
    stream.verify()
