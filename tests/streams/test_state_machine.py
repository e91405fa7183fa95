"""Any sequence of calls, over every store, against a dict: answers stay, and what is refused changes nothing.

That the machine can fail is shown by a store without its unique index.
"""

import tempfile
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import appletaste as at
from appletaste.errors import AppleTasteError, ConflictError, InputError, UnknownDecisionError
from appletaste.records.durable import DurableRecord
from appletaste.records.stores import Head, Row
from appletaste.records.stores.sqlite import SqliteStore

from .stores import Home

COSTS = at.Costs(miss=5, false_alarm=1, hit=0)
ITEMS = np.round(np.random.default_rng(2).normal(size=(12, 2)) - 0.5, 3)
ids = st.sampled_from([f"c{k}" for k in range(8)])
items = st.integers(0, len(ITEMS) - 1)
values = st.integers(0, 1)


class Machine(RuleBasedStateMachine):
    """A stream beside a dict of what it was told and has answered."""

    kind = "memory"

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.home = self.made(Path(self.folder.name))
        self.store = self.home.open()

    def made(self, folder):
        return Home(self.kind, folder)

    @initialize(seed=st.integers(0, 2**128 - 1), mode=st.sampled_from(["live", "live", "shadow", "frozen", "safe"]))
    def begin(self, seed, mode):
        player = at.Desk(at.streams.Awaiting(at.policy("voi", n_features=2, costs=COSTS)), audit=at.Audit(floor=0.3))
        self.stream = at.Stream.create(self.store, "orders", player, seed=seed, clock=self.clock, mode=mode)
        self.now = 10**15
        self.cases = {}  # id: item, answer, acted, label, learnt, erased
        self.mode = mode
        self.capacity, self.audit = None, at.Audit(floor=0.3)
        self.events = 1

    def clock(self):
        self.now = getattr(self, "now", 10**15) + 1000
        return self.now

    def refused(self, call, kind=InputError):
        with pytest.raises(kind):
            call()

    @rule(id_=ids, item=items, baseline=st.booleans())
    def decide(self, id_, item, baseline):
        known = self.cases.get(id_)
        if known is not None:
            if known["erased"]:
                self.refused(lambda: self.stream.decide(ITEMS[item], id=id_), ConflictError)
            elif known["item"] == item:
                again = self.stream.decide(ITEMS[item], id=id_)
                assert again.again
                assert again.json() == known["answer"]
            else:
                self.refused(lambda: self.stream.decide(ITEMS[item], id=id_), ConflictError)
            return
        answer = self.stream.decide(ITEMS[item], id=id_, baseline=baseline if self.mode == "shadow" else None)
        assert answer.mode == self.mode
        if self.mode == "shadow":
            assert answer.act == baseline
        if self.mode == "safe":
            assert not answer.act
        self.events += 2 if self.mode == "shadow" else 1
        self.cases[id_] = {
            "item": item,
            "answer": answer.json(),
            "acted": answer.act,
            "label": None,
            "learnt": False,
            "erased": False,
            "learnable": self.mode != "safe",
        }

    @rule(id_=ids, value=values)
    def label(self, id_, value):
        case = self.cases.get(id_)
        if case is None:
            self.refused(lambda: self.stream.label(id_, value), UnknownDecisionError)
        elif case["label"] is not None and case["label"] != value:
            self.refused(lambda: self.stream.label(id_, value), ConflictError)
        elif case["label"] == value:
            assert self.stream.label(id_, value).status == "already_applied"
        else:
            learns = case["acted"] and self.mode in ("live", "shadow") and not case["erased"] and case["learnable"]
            found = self.stream.label(id_, value)
            assert found.status == ("applied" if learns else "recorded_not_learned")
            case["label"], case["learnt"] = value, learns
            self.events += 1

    @rule(id_=ids, value=values)
    def correct(self, id_, value):
        case = self.cases.get(id_)
        if case is None or case["label"] is None or (case["learnt"] and self.mode in ("frozen", "safe")):
            self.refused(lambda: self.stream.correct(id_, value))
        else:
            status = self.stream.correct(id_, value).status
            if case["label"] == value:
                assert status == "already_applied"
            else:
                assert status == ("applied" if case["learnt"] else "recorded_not_learned")
                case["label"] = value
                self.events += 1

    @rule(id_=ids)
    def retract(self, id_):
        case = self.cases.get(id_)
        if case is None or not case["learnt"] or self.mode in ("frozen", "safe"):
            self.refused(lambda: self.stream.retract(id_))
        else:
            assert self.stream.retract(id_).state == "pending"
            case["label"], case["learnt"] = None, False
            self.events += 1

    @rule(id_=ids, act=st.booleans())
    def enact(self, id_, act):
        case = self.cases.get(id_)
        if case is None:
            self.refused(lambda: self.stream.enacted(id_, act, "ann"), UnknownDecisionError)
        elif case["acted"] == act:
            assert self.stream.enacted(id_, act, "ann").entry.decision.act == act
        elif case["label"] is not None or case["erased"]:
            self.refused(lambda: self.stream.enacted(id_, act, "ann"))
        else:
            self.stream.enacted(id_, act, "ann")
            case["acted"] = act
            self.events += 1

    @rule(id_=ids)
    def erase(self, id_):
        case = self.cases.get(id_)
        if case is None:
            self.refused(lambda: self.stream.erase(id_), UnknownDecisionError)
        else:
            self.stream.erase(id_)
            if case["learnt"]:
                case["label"], case["learnt"] = None, False
            case["erased"] = True
            self.events = len(self.stream)

    @rule(mode=st.sampled_from(["live", "shadow", "frozen", "safe", "live", "live"]))
    def change_mode(self, mode):
        self.stream.set_mode(mode)
        self.mode = mode
        self.events += 1

    @rule(capacity=st.sampled_from([at.Budget(per_day=3), at.Budget(share=0.5, window=6), None]))
    def change_capacity(self, capacity):
        self.stream.set_capacity(capacity, by="ann")
        self.capacity = capacity
        self.events += 1

    @rule(audit=st.sampled_from([at.Audit(rate=0.2), at.Audit(floor=0.4), None]))
    def change_audit(self, audit):
        self.stream.set_audit(audit, by="ann")
        self.audit = audit
        self.events += 1

    @rule(item=st.sampled_from([[1.0], [1.0, float("nan")], {"age": 1}, "x", [1e200, 0]]))
    def bad_item(self, item):
        self.refused(lambda: self.stream.decide(item, id="bad", baseline=True))

    @rule()
    def snapshot(self):
        self.stream.snapshot()

    @rule()
    def reopen(self):
        self.stream.close()
        self.store.close()
        self.store = self.home.open()
        self.stream = at.Stream.open(self.store, "orders", clock=self.clock)
        assert self.stream.trouble is None

    @rule()
    def verify(self):
        found = self.stream.verify()
        gone = {id_ for gap in found.gaps for id_ in gap.ids}
        assert gone == {id_ for id_, case in self.cases.items() if case["erased"]}
        assert found.decisions == len(self.cases)

    @precondition(lambda self: self.cases)
    @rule(data=st.data())
    def a_rival_writes_a_second_decision(self, data):
        """Whatever goes wrong above the store, it keeps one decision for each id."""
        id_ = data.draw(st.sampled_from(sorted(self.cases)))
        place = self.stream.record.place
        row = next(row for row in place.read() if row.kind == "decided" and row.id == id_)
        seq = place.head().seq + 1
        with pytest.raises(ConflictError):
            place.append([Row(seq, "decided", id_, row.body, row.item, bytes(32))], place.head())

    @invariant()
    def what_was_told_is_there(self):
        if not hasattr(self, "cases"):
            return
        assert len(self.stream) == self.events
        assert self.stream.mode == self.mode
        assert (self.stream.budget, self.stream.audit) == (self.capacity, self.audit)
        waiting = set(self.stream.pending)
        for id_, case in self.cases.items():
            found = self.stream.find(id_)
            assert found.answer.json() == case["answer"]
            assert found.entry.decision.act == case["acted"]
            assert found.learnt == case["learnt"]
            assert (found.entry.label if case["acted"] else found.outcome) == case["label"]
            if case["acted"] and case["label"] is None and not case["erased"] and case["learnable"]:
                assert id_ in waiting

    def teardown(self):
        self.store.close()
        self.folder.cleanup()


class NoIndexStore(SqliteStore):
    """A store whose ids are not unique: the machine must notice."""

    def open(self, name):
        self.connection.execute("DROP INDEX IF EXISTS one_decision")
        return super().open(name)


class NoIndexHome(Home):
    def open(self, read_only=False):
        return NoIndexStore(self.address)


class WithoutIndex(Machine):
    kind = "sqlite"

    def made(self, folder):
        return NoIndexHome("sqlite", folder)


@pytest.mark.parametrize(("kind", "examples"), [("memory", 60), ("sqlite", 8), ("postgres", 6)])
def test_any_sequence_of_calls(kind, examples):
    machine = type("Machine", (Machine,), {"kind": kind})
    if kind == "postgres":
        Home(kind, Path())  # skips where there is none
    how = settings(
        max_examples=examples, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
    )
    run_state_machine_as_test(machine, settings=how)


def test_without_the_unique_index_the_machine_fails():
    how = settings(
        max_examples=8,
        stateful_step_count=30,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],  # nobody needs the shortest way to fail
    )
    with pytest.raises(BaseException, match="DID NOT RAISE"):
        run_state_machine_as_test(WithoutIndex, settings=how)


def test_errors_are_of_one_family():
    """The control of ``refused``: what is refused is refused by this package."""
    with pytest.raises(AppleTasteError):
        DurableRecord(at.records.stores.MemoryStore().create("a", b"")).place.append([], Head(1, b""))
