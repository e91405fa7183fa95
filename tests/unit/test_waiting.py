"""Nothing waits in silence: what is said meanwhile, and when."""

import time

import numpy as np
import pytest

import appletaste as at
from appletaste.cli import console
from appletaste.engines import pulse


def test_tasks_say_how_far_they_have_come():
    seen = []

    def work(task):
        for step in range(4):
            pulse.tell(step, 4)
            seen.append(float(table[task, pulse.SHARE]))
        return task

    with pulse.watched(2) as table, at.engines.engine("local") as workers:
        assert dict(workers.run(work, [0, 1])) == {0: 0, 1: 1}
        assert table[:, pulse.SHARE].tolist() == [1.0, 1.0]
        assert (table[:, pulse.SECONDS] > 0).all()
    assert seen == [0.0, 0.25, 0.5, 0.75] * 2
    assert pulse.current() is None
    pulse.tell(1, 2)  # nobody waits: nothing happens


def test_workers_tell_of_their_items_and_numbers_stay():
    entries = [at.policies.PolicySpec("always", {}), at.policies.PolicySpec("never", {})]
    alone = at.replicate(at.problem("i", rounds=40), entries, 2)
    with pulse.watched(4) as table, at.engines.engine("local", jobs=2) as workers:
        found = at.replicate(at.problem("i", rounds=40), entries, 2, engine=workers)
        assert (table[:, pulse.SHARE] == 1.0).all()
    for one, other in zip(alone, found, strict=True):
        np.testing.assert_array_equal(one.curves, other.curves)


def test_the_rest_is_counted_by_kind_of_task():
    kinds = ["slow", "quick", "slow", "quick"]
    table = np.zeros((4, 2))
    assert console.time_left(table, kinds, 1) is None
    table[0] = 1.0, 0.01
    assert console.time_left(table, kinds, 1) is None  # one second of work is too little to tell from
    table[1] = 0.5, 1.0
    table[0] = pulse.BEGUN, 0.0
    assert console.time_left(table, kinds, 1) is None  # the slow one has said nothing yet
    table[0] = 10.0, 0.1
    assert console.time_left(table, kinds, 1) == pytest.approx(90 + 100 + 0.5)
    assert console.time_left(table, kinds, 4) == pytest.approx(100)  # no task is shared


def test_lines_where_there_is_no_terminal(capsys, monkeypatch):
    for name, seconds in (("BETWEEN", 0.05), ("BLINK", 0.01), ("STEADY", 0.1)):
        monkeypatch.setattr(console, name, seconds)
    with console.progress_of("replay", ["voi", "voi"], 1) as step:
        table = np.memmap(pulse.current(), np.float64, "r+").reshape(-1, 2)
        table[0] = 100.0, 0.01  # hours, while kernels compile
        time.sleep(0.05)
        table[0] = 100.0, 0.5
        time.sleep(0.3)
        table[0] = 20.0, 1.0
        step("replay: voi")
        deadline = time.monotonic() + 5
        said = ""
        while "20 seconds" not in said and time.monotonic() < deadline:
            time.sleep(0.02)
            said += capsys.readouterr().err
    lines = said.splitlines()
    assert [line for line in lines if "will take" in line] == ["replay: this will take about 5 minutes"]
    assert lines[-1] == "replay: 1 of 2 done, about 20 seconds left"


def test_items_are_counted_one_by_one(capsys, monkeypatch):
    for name, seconds in (("BETWEEN", 0.05), ("BLINK", 0.01), ("PROBE", 0.05)):
        monkeypatch.setattr(console, name, seconds)
    with console.progress_to(8000, "items decided") as reach:
        time.sleep(0.03)
        reach(1)
        deadline, said = time.monotonic() + 5, ""
        while "left" not in said and time.monotonic() < deadline:
            reach(4000)
            time.sleep(0.02)
            said += capsys.readouterr().err
    assert said.splitlines()[-1] == "items decided: 4000 of 8000 done, about 10 seconds left"


def test_what_comes_once_is_no_measure_of_the_rest():
    """Kernels are loaded before the first item; a second of that is not a second for each of 8,000 items."""
    watch = console.Watch("items decided", np.zeros((1, 2)), ["items decided"], 1, 8000)
    watch.began -= 20.0
    watch.reach(1)
    assert watch.left() is None
    watch.began -= 10.0
    watch.reach(2000)
    assert watch.left() == pytest.approx(30.0, abs=1.0)
    assert console.in_words(watch.left()) == "about 30 seconds"


def test_no_estimate_rests_on_the_quick_ones_alone():
    table = np.array([[pulse.BEGUN, 0.0], [0.1, 1.0]])
    watch = console.Watch("replay", table, ["pg-ids", "never"], 2)
    watch.step("never")
    assert watch.left() is None
    elsewhere = console.Watch("replay", np.zeros((2, 2)), ["pg-ids", "never"], 2)  # on a cluster, unheard
    elsewhere.began -= 30.0
    elsewhere.step("never")
    assert elsewhere.left() == pytest.approx(30.0, abs=1.0)


def test_quick_work_says_nothing(capsys):
    with console.progress_of("replay", ["voi"], 1) as step:
        step("replay: voi")
    assert capsys.readouterr() == ("", "")
