"""Trees in a stream: every model is an event, so that all who read the record decide alike, whatever they have."""

import sys
import time

import numpy as np
import pytest

import appletaste as at
from appletaste.errors import RecordError
from appletaste.policies import boosting
from appletaste.policies.trees import Fitting
from appletaste.records.events import Adopted
from appletaste.records.stores.memory import MemoryStore
from appletaste.streams.fold import found_in
from appletaste.streams.transfer import export_stream, import_stream

from .crashing import COSTS, CROSSED, CROSSED_LABELS
from .stores import Home

pytest.importorskip("lightgbm")


def made(store="memory", **options):
    policy = at.policy("voi", n_features=2, costs=COSTS, **options)
    return at.Stream.create(store, "orders", at.Desk(at.streams.Awaiting(policy), audit=at.Audit(floor=0.2)), seed=3)


def played(stream, start, stop, late=0):
    """Decide, and label what was acted on, some items later."""
    for k in range(start, stop):
        stream.decide(CROSSED[k], id=str(k))
        if str(k - late) in stream.pending:
            stream.label(str(k - late), int(CROSSED_LABELS[k - late]))
    return stream


def adoptions(stream):
    return [event for _, event in stream.events() if isinstance(event, Adopted)]


def waited(stream):
    stream._journal.nursery.wait()


def test_a_model_is_an_event_with_what_speaks_for_it():
    stream = played(made(), 0, 500, late=9)
    found = adoptions(stream)
    assert len(found) >= 3
    assert [event.labels for event in found] == sorted({event.labels for event in found})
    last, forest = found[-1], stream.player.policy.learner.forest
    assert last.sha256 == forest.sha256
    assert last.model == forest.packed
    assert last.losses[0] < last.losses[1] / 2
    assert last.evidence > 20
    assert stream.verify().events == len(stream)


def test_a_replay_and_a_stream_decide_alike():
    stream = played(made(), 0, 500)
    policy = at.policy("voi", n_features=2, costs=COSTS, seed=stream.player.policy.seed)
    desk = at.Desk(at.streams.Awaiting(policy), audit=at.Audit(floor=0.2))
    log = stream.log()
    for k in range(500):
        decision = desk.play(CROSSED[k], COSTS, None, None)
        assert (decision.act, decision.probability) == (log.act[k], log.probability[k])
        if decision.act:
            desk.learn(decision, int(CROSSED_LABELS[k]))
    assert desk.policy.learner.forest.sha256 == stream.player.policy.learner.forest.sha256


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_exported_and_imported_it_goes_on_as_the_other(kind, tmp_path):
    home, there = Home("sqlite", tmp_path), Home(kind, tmp_path)
    with made(home.address) as stream:
        played(stream, 0, 400)
        assert len(adoptions(stream)) >= 3
        export_stream(stream.record.place, tmp_path / "orders.stream")
    store = there.open()
    import_stream(tmp_path / "orders.stream", store)
    store.close()
    with at.Stream.open(there.address, "orders") as moved, at.Stream.open(home.address, "orders") as stayed:
        export_stream(moved.record.place, tmp_path / "back.stream")
        for stream in (moved, stayed):
            played(stream, 400, 700)
        assert [event.sha256 for event in adoptions(moved)] == [event.sha256 for event in adoptions(stayed)]
        assert (moved.log().probability == stayed.log().probability).all()
    assert import_stream(tmp_path / "back.stream", MemoryStore()).decisions == 400


def test_another_machine_needs_no_library_to_read_and_decide(tmp_path, monkeypatch):
    home = Home("sqlite", tmp_path)
    with made(home.address) as stream:
        played(stream, 0, 400)
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    boosting.library.cache_clear()
    try:
        with at.Stream.open(home.address, "orders") as stream:
            assert stream.verify().decisions == 400
            forest = stream.player.policy.learner.forest
            assert forest is not None
            with pytest.warns(UserWarning, match="pip install"):
                played(stream, 400, 1200)  # no others are grown
            assert stream.player.policy.learner.forest is forest
            stream.verify()
    finally:
        boosting.library.cache_clear()


def test_beside_decisions_nobody_waits_and_the_record_verifies(monkeypatch):
    run = Fitting.run

    def slowly(self):
        time.sleep(0.2)
        return run(self)

    monkeypatch.setattr(Fitting, "run", slowly)
    stream = made()
    stream.grow_trees_beside()
    start, before = time.perf_counter(), len(stream)
    played(stream, 0, 150)
    assert time.perf_counter() - start < 10
    assert before < len(stream)
    assert adoptions(stream) == []  # they are being grown
    for start in range(150, 650, 100):
        played(stream, start, start + 100)
        waited(stream)
    found = adoptions(stream)
    assert len(found) >= 2
    assert found[0].labels < 150
    seqs = {event.labels: seq for seq, event in stream.events() if isinstance(event, Adopted)}
    assert all(seq > 2 * labels for labels, seq in seqs.items())  # behind labels that the trees have not seen
    stream.verify()


def test_trees_that_were_fitted_on_a_label_that_is_corrected_meanwhile_are_not_taken(monkeypatch):
    stream = made()
    stream.grow_trees_beside()
    run, fitted = Fitting.run, []

    def noted(self):
        fitted.append(self.revision)
        time.sleep(0.1)
        return run(self)

    monkeypatch.setattr(Fitting, "run", noted)
    k = 0
    while not fitted:
        played(stream, k, k + 1)
        k += 1
    first = next(id_ for id_ in map(str, range(k)) if stream.find(id_).entry.label is not None)
    stream.correct(first, 1 - stream.find(first).entry.label)
    waited(stream)
    played(stream, k, k + 40)
    assert fitted == [0, 1]
    waited(stream)
    played(stream, k + 40, k + 80)
    assert len(adoptions(stream)) == 1
    stream.verify()


def test_corrections_and_retractions_after_an_adoption_verify():
    stream = played(made(), 0, 400)
    ids = [id_ for id_ in map(str, range(400)) if stream.find(id_).entry.label is not None]
    for id_ in ids[::5]:
        stream.correct(id_, 1 - stream.find(id_).entry.label)
    for id_ in ids[1::7]:
        stream.retract(id_)
    played(stream, 400, 700)
    stream.verify()


def test_a_model_that_is_not_what_its_event_names_is_refused():
    stream = played(made(), 0, 300)
    learner, event = stream.player.policy.learner, adoptions(stream)[-1]
    assert found_in(event, learner).forest.sha256 == event.sha256
    with pytest.raises(RecordError, match="not the one that the event names"):
        found_in(event._replace(sha256="0" * 64), learner)
    narrow = at.policy("voi", n_features=3, costs=COSTS).learner
    with pytest.raises(RecordError, match="for other items"):
        found_in(event, narrow)


def test_a_fit_that_fails_costs_no_label(monkeypatch):
    def broken(self):
        raise ValueError("out of order")

    monkeypatch.setattr(Fitting, "run", broken)
    stream = made()
    with pytest.warns(UserWarning, match="no more trees are grown until the stream is opened again: out of order"):
        played(stream, 0, 300)
    assert stream.player.policy.learner.forest is None
    assert np.isfinite(stream.log().probability).all()
    stream.verify()


def test_trees_can_be_left_out():
    stream = played(made(trees=False), 0, 400)
    assert adoptions(stream) == []
    stream.verify()
