"""A ledger is the fold of its record: from the first event, from a snapshot and from a file it comes to the same."""

import json
import re

import pytest

import appletaste as at
from appletaste.errors import DataError, InputError, OptionError
from appletaste.records.events import Decided, Expired
from appletaste.records.record import MemoryRecord, Snapshot

from ..players import assert_alike, assert_same, decided, record_of, state_of
from .entries import ENTRIES, IDS, make, run, stream

#: As it is, and at a desk that waits for labels, with a budget and audits.
CROWDED = ["voi", "ts", "pg-ts", "adf-voi", "suplogistic", "greedy"]
PLAYED = [
    *[pytest.param(name, options, False, id=label) for (name, options), label in zip(ENTRIES, IDS, strict=True)],
    *[pytest.param(name, {}, True, id=f"{name} at a desk") for name in CROWDED],
    pytest.param("voi", {"half_life": "20s"}, True, id="voi by the time at a desk"),
]
every = pytest.mark.parametrize(("name", "options", "crowded"), PLAYED)
WAIT = 12


def fresh(name, options, crowded, seed=7):
    policy = make(name, options, seed=seed)
    if not crowded:
        return policy
    lane = at.Audit(floor=0.1, strata={"new": 0.4}, budget=at.Budget(share=0.5, window=6))
    return at.Desk(at.Awaiting(policy), at.Budget(share=0.6, window=10, recent=20), lane)


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


def drive(ledger, items, labels, start, stop):
    """Decide; labels arrive late and out of order, some twice, some after they expired, some wrong at first."""
    for k in range(start, stop):
        x, given = asked(k, items)
        ledger.decide(x, **given)
        ledger.expire(float(k))
        for past in (k - 2, k - 9, k - 5, k - 20):
            entry = ledger.entries[f"case-{past}"] if f"case-{past}" in ledger else None
            if entry is None or not entry.decision.act:
                continue
            if entry.label is None and (past % 3 or (past == k - 20 and past % 2)):  # the latter after it expired
                ledger.label(f"case-{past}", int(labels[past]), time=float(k))
            elif entry.label is not None and corrects(ledger.policy):
                if past % 5 == 0:
                    ledger.correct(f"case-{past}", 1 - entry.label, time=float(k))
                elif past % 7 == 0:
                    ledger.retract(f"case-{past}", time=float(k))
    return ledger


def played(name, options, crowded, stop=45, seed=7, record=None):
    ledger = at.Ledger(fresh(name, options, crowded, seed), WAIT, record)
    return drive(ledger, *stream(3), 0, stop)


def copied(record, upto=None):
    """Return the record as another process would read it: nothing shared, the snapshot as JSON and arrays."""
    events = [event for _, event in record.read()]
    other, latest = MemoryRecord(events[:upto]), record.snapshot()
    if latest is not None:
        header = json.loads(json.dumps(latest.header))
        other.keep(Snapshot(latest.seq, header, {name: array.copy() for name, array in latest.arrays.items()}))
    return other


@every
def test_the_record_alone_and_a_snapshot_with_its_tail_come_to_the_same_ledger(name, options, crowded, tmp_path):
    items, labels = stream(3)
    ledger = played(name, options, crowded, 25)
    middle = ledger.snapshot()
    early = state_of(ledger.player), {k: v for k, v in record_of(ledger).items() if k != "events"}
    drive(ledger, items, labels, 25, 45)
    assert 0 < middle < len(ledger.record)
    folded = at.Ledger.fold(copied(ledger.record), fresh(name, options, crowded), WAIT)
    opened = at.Ledger.open(copied(ledger.record), fresh(name, options, crowded), WAIT)
    ledger.save(tmp_path / "it")
    loaded = at.load(tmp_path / "it")
    assert opened.player is not folded.player
    for other in (folded, opened, loaded):
        assert_alike(other, ledger)
    drive(ledger, items, labels, 45, 60)
    for other in (folded, opened, loaded):
        assert_alike(drive(other, items, labels, 45, 60), ledger)
    # the record up to some event comes to what the ledger was then
    half = at.Ledger.fold(copied(ledger.record, middle), fresh(name, options, crowded), WAIT)
    assert_same(state_of(half.player), early[0])
    assert_same({k: v for k, v in record_of(half).items() if k != "events"}, early[1])
    # without a snapshot opening is folding
    assert_alike(at.Ledger.open(copied(half.record), fresh(name, options, crowded), WAIT), half)


def test_the_streams_of_these_tests_hold_what_they_should():
    """Every kind of event and every state, a late label among them: else the tests above would compare little."""
    for name, options, crowded in (("ts", {}, False), ("voi", {}, True), ("suplogistic", {}, True)):
        ledger = played(name, options, crowded, 60)
        events = [event for _, event in ledger.record.read()]
        kinds = {type(event).__name__ for event in events}
        assert kinds == {"Decided", "Labelled", "Corrected", "Retracted", "Expired"}
        expired = {event.id for event in events if isinstance(event, Expired)}
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


class Breaking(MemoryRecord):
    """A record whose disk is full now and then."""

    full = False

    def append(self, event):
        if self.full:
            raise OSError("disk full")
        return super().append(event)


def happenings(ledger, items):
    """Return one call for each thing that can happen to this ledger next."""
    x, given = asked(30, items)
    acts = [(id_, entry) for id_, entry in ledger.entries.items() if entry.decision.act]
    calls = {"decide": lambda: ledger.decide(x, **given)}
    waiting = [id_ for id_, entry in acts if entry.label is None]
    known = [(id_, entry.label) for id_, entry in acts if entry.label is not None]
    if waiting:
        calls["label"] = lambda: ledger.label(waiting[0], 1)
    if ledger.pending:
        calls["expire"] = lambda: ledger.expire(1e6)
    if known and corrects(ledger.policy):
        calls["correct"] = lambda: ledger.correct(known[0][0], 1 - known[0][1])
        calls["retract"] = lambda: ledger.retract(known[-1][0])
    return calls


@every
def test_what_cannot_be_written_has_not_happened(name, options, crowded):
    items, _ = stream(3)
    ledger, twin = (played(name, options, crowded, 30, record=Breaking()) for _ in range(2))
    calls, wanted = happenings(ledger, items), happenings(twin, items)
    assert calls.keys() == wanted.keys()
    for verb, call in calls.items():
        kept = record_of(ledger), state_of(ledger.player)
        ledger.record.full = True
        with pytest.raises(OSError, match="disk full"):
            call()
        assert_same(record_of(ledger), kept[0])
        assert_same(state_of(ledger.player), kept[1])
        ledger.record.full = False
        found, right = call(), wanted[verb]()
        assert decided(found) == decided(right) if verb == "decide" else found == right
        assert_alike(ledger, twin)
        assert record_of(ledger) != kept[0]


@every
def test_a_record_of_another_seed_is_refused_at_the_event_where_it_shows(name, options, crowded):
    """Some policies draw nothing: to those the seed is nothing, and the record is their own."""
    ledger = played(name, options, crowded)
    others = [played(name, options, crowded, seed=seed) for seed in (8, 9, 10)]

    def drawn(book):
        return [decided(entry.decision)[2:4] for _, entry in book.entries.items()]  # act and probability

    for seed, other in zip((8, 9, 10), others, strict=True):
        if drawn(other) == drawn(ledger):
            assert_same(
                record_of(at.Ledger.fold(ledger.record, fresh(name, options, crowded, seed), WAIT)), record_of(ledger)
            )
            continue
        with pytest.raises(DataError, match=r"event \d+, decision 'case-\d+'.*another policy, seed or version") as told:
            at.Ledger.fold(ledger.record, fresh(name, options, crowded, seed), WAIT)
        seq, id_ = re.search(r"event (\d+), decision '(.*?)'", str(told.value)).groups()
        first = next(k for k, pair in enumerate(zip(drawn(other), drawn(ledger), strict=True)) if pair[0] != pair[1])
        event = next(event for number, event in ledger.record.read() if number == int(seq))
        assert isinstance(event, Decided)
        assert event.id == id_ == f"case-{first}"
    assert crowded is False or any(drawn(other) != drawn(ledger) for other in others)  # a lane draws


def test_policies_that_draw_are_told_apart_by_their_seed():
    items, labels = stream(3)
    for name in ("pg-ts", "exact-ts", "greedy", "ts"):
        assert [row[:2] for row in run(make(name, {}), items, labels)] != [
            row[:2] for row in run(make(name, {}, seed=8), items, labels)
        ]


def test_a_record_that_was_tampered_with_is_refused():
    record = played("ts", {}, False).record
    events = [event for _, event in record.read()]
    place = next(k for k, event in enumerate(events) if isinstance(event, Decided) and k > 20)
    decision = events[place].decision
    for change in ({"probability": 0.5 * decision.probability + 0.1}, {"act": not decision.act}, {"x": decision.x + 1}):
        wrong = [*events[:place], events[place]._replace(decision=decision._replace(**change)), *events[place + 1 :]]
        with pytest.raises(DataError, match=f"event {place + 1}, "):
            at.Ledger.fold(MemoryRecord(wrong), fresh("ts", {}, False), WAIT)
    with pytest.raises(DataError, match=f"event {len(events) + 1}, "):
        at.Ledger.fold(MemoryRecord([*events, events[place]]), fresh("ts", {}, False), WAIT)
    with pytest.raises(DataError, match=r"'case-0' before it was made"):
        at.Ledger.open(MemoryRecord([Expired("case-0")]), fresh("ts", {}, False), WAIT)
    at.Ledger.fold(MemoryRecord(events), fresh("ts", {}, False), WAIT)  # the control: as it was it is welcome
