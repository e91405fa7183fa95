"""A stream is the fold of its record, and decides as a ledger does: every policy, from nothing, a snapshot, or both."""

import pytest

import appletaste as at
from appletaste.errors import InputError, OptionError, RecordError
from appletaste.records.codec import pack_event, unpack_event
from appletaste.records.events import Decided
from appletaste.records.stores import MemoryStore

from ..players import assert_same, decided, record_of, state_of
from .entries import ENTRIES, IDS, make, run, stream

#: As it is, and at a desk that waits for labels, with a budget and audits.
CROWDED = ["voi", "ts", "pg-ts", "adf-voi", "suplogistic", "greedy"]
PLAYED = [
    *[pytest.param(name, options, False, id=label) for (name, options), label in zip(ENTRIES, IDS, strict=True)],
    *[pytest.param(name, {}, True, id=f"{name} at a desk") for name in CROWDED],
    pytest.param("voi", {"half_life": "20s"}, True, id="voi by the time at a desk"),
]
every = pytest.mark.parametrize(("name", "options", "crowded"), PLAYED)
WAIT, SEED = 12, 7


def fresh(name, options, crowded, seed=SEED):
    policy = make(name, options, seed=seed)
    if not crowded:
        return policy
    lane = at.Audit(floor=0.1, strata={"new": 0.4}, budget=at.Budget(share=0.5, window=6))
    return at.Desk(at.streams.Awaiting(policy), at.Budget(share=0.6, window=10, recent=20), lane)


def corrects(policy):
    """Return whether a policy takes a label back: one that keeps none refuses."""
    try:
        policy.revise([])
    except OptionError:
        return False
    return True


def asked(k, items):
    """Return what is asked about item k: some have costs of their own, some a stratum."""
    costs = at.Costs(3, 1, 0) if k % 9 == 4 else None
    return items[k], {"id": f"case-{k}", "time": float(k), "costs": costs, "stratum": "new" if k % 4 == 1 else None}


def entry_of(book, id_):
    return book[id_] if isinstance(book, at.streams.Ledger) else book.find(id_).entry


def drive(book, items, labels, start, stop):
    """Decide; labels arrive late and out of order, some twice, some after they expired, some wrong at first."""
    for k in range(start, stop):
        x, given = asked(k, items)
        book.decide(x, **given)
        book.expire(float(k))
        for past in (k - 2, k - 9, k - 5, k - 20):
            entry = entry_of(book, f"case-{past}") if f"case-{past}" in book else None
            if entry is None or not entry.decision.act:
                continue
            if entry.label is None and (past % 3 or (past == k - 20 and past % 2)):  # the latter after it expired
                book.label(f"case-{past}", int(labels[past]), time=float(k))
            elif entry.label is not None and corrects(book.player.policy):
                if past % 5 == 0:
                    book.correct(f"case-{past}", 1 - entry.label, time=float(k))
                elif past % 7 == 0:
                    book.retract(f"case-{past}", time=float(k))
    return book


def begun(store, name, options, crowded, seed=SEED):
    return at.Stream.create(store, "it", fresh(name, options, crowded), seed=seed, expire_after=WAIT)


def played(name, options, crowded, stop=45):
    return drive(at.streams.Ledger(fresh(name, options, crowded), WAIT), *stream(3), 0, stop)


def rows_of(book):
    """Return what a log has of each decision, as text: NaN is equal to itself."""
    return [repr(row) for row in book.log().rows()]


@every
def test_a_ledger_and_a_stream_decide_and_learn_the_same_bit_for_bit(name, options, crowded):
    """What is rehearsed is what runs, whatever becomes of the labels."""
    ledger, kept = played(name, options, crowded), begun("memory", name, options, crowded)
    drive(kept, *stream(3), 0, 45)
    assert rows_of(kept) == rows_of(ledger)
    assert kept.pending == ledger.pending
    assert_same(state_of(kept.player), state_of(ledger.player))
    assert "bit for bit" in str(kept.verify())


@every
def test_a_snapshot_with_its_tail_comes_to_the_same_stream(name, options, crowded):
    items, labels = stream(3)
    store, whole = MemoryStore(), drive(begun("memory", name, options, crowded), items, labels, 0, 60)
    kept = drive(begun(store, name, options, crowded), items, labels, 0, 25)
    assert 0 < kept.snapshot() == len(kept)
    drive(kept, items, labels, 25, 45)
    kept.close()
    kept = at.Stream.open(store, "it")
    assert kept.trouble is None
    drive(kept, items, labels, 45, 60)
    assert rows_of(kept) == rows_of(whole)
    assert kept.pending == whole.pending
    assert_same(state_of(kept.player), state_of(whole.player))
    kept.snapshot()
    assert kept.verify().snapshots == 2  # what was folded from nothing is what was carried on


def test_the_streams_of_these_tests_hold_what_they_should():
    """Every kind of event and every state, a late label among them: else the tests above would compare little."""
    for name, options, crowded in (("ts", {}, False), ("voi", {}, True), ("suplogistic", {}, True)):
        ledger, kept = played(name, options, crowded, 60), begun("memory", name, options, crowded)
        events = [event for _, event in drive(kept, *stream(3), 0, 60).events()]
        kinds = {type(event).__name__ for event in events}
        assert kinds == {"Created", "Decided", "Labelled", "Corrected", "Retracted", "Expired"}
        expired = {event.id for event in events if type(event).__name__ == "Expired"}
        assert any(ledger[id_].label is not None for id_ in expired)
        assert all(ledger.counts()[state] for state in ("observed", "corrected", "expired"))
    assert any(entry.decision.audit for _, entry in ledger.entries.items())
    assert ledger.counts()["never_due"] > 0


@every
def test_the_same_item_again_gives_the_stored_decision_and_another_one_is_a_conflict(name, options, crowded):
    items, _ = stream(3)
    ledger = played(name, options, crowded, 30)
    kept = record_of(ledger), state_of(ledger.player)
    for k in (3, 4, 5, 13, 29):  # with costs of their own and without, with a stratum and without
        x, given = asked(k, items)
        again = ledger.decide(x.tolist(), **given)
        assert again is ledger[f"case-{k}"].decision
        other_stratum = None if given["stratum"] else "new"
        for change in ({"costs": at.Costs(9, 1, 0)}, {"stratum": other_stratum}, {"x": items[k + 1]}):
            with pytest.raises(InputError, match=f"decision 'case-{k}' already, about another item"):
                ledger.decide(change.pop("x", x), **{**given, **change})
        if given["costs"] is not None:
            with pytest.raises(InputError, match="about another item"):
                ledger.decide(x, **{**given, "costs": None})
    assert_same(record_of(ledger), kept[0])
    assert_same(state_of(ledger.player), kept[1])


@every
def test_a_record_of_another_seed_is_refused_at_the_event_where_it_shows(name, options, crowded):
    """Some policies draw nothing: to those the seed is nothing, and the record is their own."""
    kept = drive(begun("memory", name, options, crowded), *stream(3), 0, 45)
    others = {seed: drive(begun("memory", name, options, crowded, seed), *stream(3), 0, 45) for seed in (8, 9)}

    def drawn(book):
        return [decided(event.decision)[2:4] for _, event in book.events() if isinstance(event, Decided)]

    for seed, other in others.items():
        kept.record.place.secret = seed.to_bytes(16, "big")
        if drawn(other) == drawn(kept):
            kept.verify()
            continue
        first = next(k for k, pair in enumerate(zip(drawn(other), drawn(kept), strict=True)) if pair[0] != pair[1])
        with pytest.raises(RecordError, match=rf"event \d+, decision 'case-{first}'"):
            at.streams.verify.verify(kept.record.place)
    assert crowded is False or any(drawn(other) != drawn(kept) for other in others.values())  # a lane draws


def test_policies_that_draw_are_told_apart_by_their_seed():
    items, labels = stream(3)
    for name in ("pg-ts", "exact-ts", "greedy", "ts"):
        assert [row[:2] for row in run(make(name, {}), items, labels)] != [
            row[:2] for row in run(make(name, {}, seed=8), items, labels)
        ]


def test_who_said_so_is_in_the_record_and_records_of_before_are_read():
    kept = begun("memory", "always", {}, False)
    for k, x in enumerate(stream(3)[0][:3]):
        kept.decide(x, id=str(k), time=float(k))
    kept.label("0", 1, time=5.0, by="ann")
    kept.correct("0", 0, time=6.0, by="ben")
    kept.label("1", 1, time=5.0)
    kept.retract("1", time=6.0, by="ann")
    kept.expire(40.0, by="night shift")
    assert [event.by for _, event in kept.events(4)] == ["ann", "ben", "", "ann", "night shift", "night shift"]
    assert [kept.find(id_).labelled_by for id_ in "012"] == ["ben", None, None]
    with pytest.raises(InputError, match="by is the name of a person"):
        kept.label("2", 1, by=7)
    row = list(kept.record.place.read())[4]
    event = unpack_event(row.kind, row.body, None, {})
    old = pack_event(event, None, 0, False)[1].replace(b"\xa3ann", b"")  # a body of before says nobody
    old = old[:1].replace(b"\x96", b"\x95") + b"\x01" + old[2:]
    assert unpack_event("labelled", old, None, {}) == event._replace(by="")
