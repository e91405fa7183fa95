"""A ledger under any order of events, against a dictionary: nothing is learnt twice, nothing is lost."""

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

import appletaste as at
from appletaste.errors import FeedbackError

COSTS = at.Costs(miss=1.0, false_alarm=0.4, hit=0.05)
coordinates = st.floats(-2, 2, width=16)
bits = st.integers(0, 1)


class LedgerMachine(RuleBasedStateMachine):
    """The model: for each id its item, state and label, and the labels in the order in which they were learnt."""

    ids = Bundle("ids")

    def __init__(self):
        super().__init__()
        policy = at.policy("ts", n_features=2, costs=COSTS, seed=3)
        self.ledger = at.streams.Ledger(at.Desk(policy, audit=at.Audit(floor=0.5)), expire_after=5)
        self.state, self.label, self.item, self.learnt = {}, {}, {}, []

    @rule(target=ids, x=st.tuples(coordinates, coordinates))
    def decide(self, x):
        id_ = f"item {len(self.state)}"
        decision = self.ledger.decide(x, id=id_)
        self.item[id_], self.label[id_] = np.array(x), None
        self.state[id_] = "pending" if decision.act else "never_due"
        return id_

    @rule(id_=ids, value=bits)
    def hand_in(self, id_, value):
        before, known = self.state[id_], self.label[id_]
        try:
            receipt = self.ledger.label(id_, value)
        except FeedbackError:
            assert before == "never_due" or known == 1 - value
            return
        assert before != "never_due"
        assert receipt.learnt == (known is None)
        assert receipt.late == (before == "expired")
        if known is None:
            self.state[id_], self.label[id_] = "observed", value
            self.learnt.append(id_)

    @rule(id_=ids, value=bits)
    def correct(self, id_, value):
        try:
            receipt = self.ledger.correct(id_, value)
        except FeedbackError:
            assert self.label[id_] is None
            return
        assert receipt.learnt == (self.label[id_] != value)
        if self.label[id_] != value:
            self.state[id_], self.label[id_] = "corrected", value

    @rule(id_=ids)
    def retract(self, id_):
        try:
            self.ledger.retract(id_)
        except FeedbackError:
            assert self.label[id_] is None
            return
        self.state[id_], self.label[id_] = "pending", None
        self.learnt.remove(id_)

    @rule(ahead=st.integers(0, 8))
    def expire(self, ahead):
        now = len(self.state) + ahead
        expected = [k for k, s in self.state.items() if s == "pending" and int(k.split()[1]) + 1 + 5 <= now]
        assert sorted(self.ledger.expire(now)) == sorted(expected)
        for id_ in expected:
            self.state[id_] = "expired"

    @invariant()
    def ledger_and_model_agree(self):
        entries = dict(self.ledger.entries.items())
        assert {id_: entry.state for id_, entry in entries.items()} == self.state
        assert {id_: entry.label for id_, entry in entries.items()} == self.label
        assert sorted(self.ledger.pending) == sorted(k for k, s in self.state.items() if s == "pending")

    @invariant()
    def each_label_is_in_the_posterior_once(self):
        stored = self.ledger.policy.arrays()
        assert [f"item {round_ - 1}" for round_ in stored["rounds"]] == self.learnt
        assert stored["labels"].tolist() == [self.label[id_] for id_ in self.learnt]
        assert len(stored["items"]) == len(self.learnt)
        for x, id_ in zip(stored["items"], self.learnt, strict=True):
            assert (x == self.item[id_]).all()

    def teardown(self):
        """The log and the ledger say the same, and the posterior is the one that was never told anything wrong."""
        if self.state:
            rows = self.ledger.log().rows()
            assert {row["id"]: (row["state"], row["label"]) for row in rows} == {
                id_: (state, self.label[id_]) for id_, state in self.state.items()
            }
        plain = at.policy("ts", n_features=2, costs=COSTS, seed=3)
        for id_ in self.learnt:
            plain.teach(self.ledger[id_].decision.x, self.label[id_])
        assert (plain.posterior.mean == self.ledger.policy.posterior.mean).all()


TestLedger = LedgerMachine.TestCase
TestLedger.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
