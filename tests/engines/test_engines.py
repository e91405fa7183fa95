"""Engines as such, and the local one; needs neither Ray nor Dask."""

import os
import signal
import subprocess
import sys
import time
from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest
from joblib import Parallel
from joblib.externals.loky.process_executor import TerminatedWorkerError

import appletaste as at
from appletaste.cli.console import open_engine
from appletaste.engines import workers as base
from appletaste.policies import PolicySpec

from . import work
from .processes import alive

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_index_once_and_where_it_ran(jobs):
    with at.engines.engine("local", jobs=jobs) as workers:
        found = list(workers.run(work.square, range(50)))
    assert sorted((index, value) for index, (value, _) in found) == [(i, i * i) for i in range(50)]
    assert (os.getpid() in {process for _, (_, process) in found}) is (jobs == 1)


def test_threads_keep_the_order_and_no_more_than_a_few_ahead():
    begun = []
    found = at.engines.Threads(2).run(lambda task: begun.append(task) or task * task, range(50))
    assert next(found) == (0, 0)
    assert len(begun) < 8
    assert list(found) == [(i, i * i) for i in range(1, 50)]
    with pytest.raises(at.errors.OptionError, match="three is not a number"):
        list(at.engines.Threads(2).run(work.refuse, range(10)))


def test_workers_use_one_thread_each():
    with at.engines.engine("local", jobs=2) as workers:
        for _, settings in workers.run(work.threads, range(4)):
            assert {name: settings[name] for name in base.ONE_THREAD} == base.ONE_THREAD


@pytest.mark.parametrize("jobs", [1, 2])
def test_errors_are_raised_as_themselves(jobs):
    with at.engines.engine("local", jobs=jobs) as workers:
        with pytest.raises(at.errors.OptionError, match="three is not a number") as caught:
            list(workers.run(work.refuse, range(10)))
        with pytest.raises(at.errors.MissingExtraError, match=r"appletaste\[plot\]"):
            list(workers.run(work.want_extra, [0]))
        assert len(list(workers.run(work.refuse, [1, 2]))) == 2  # and the next run is none the worse
    assert jobs == 1 or "in refuse" in caught.value.__notes__[0]


def test_an_error_that_cannot_travel_is_told():
    with (
        at.engines.engine("local", jobs=2) as workers,
        pytest.raises(at.errors.EngineError, match="StubbornError: one and two"),
    ):
        list(workers.run(work.stumble, [0]))


def test_a_killed_worker_costs_no_result(tmp_path):
    diary = tmp_path / "diary"
    with at.engines.engine("local", jobs=2) as workers:
        found = []
        for result in workers.run(work.nap, [(i, str(diary), 0.1) for i in range(12)]):
            if not found:
                os.kill(result[1][1], signal.SIGKILL)
            found.append(result)
    assert sorted((index, value) for index, (value, _) in found) == [(i, i * i) for i in range(12)]
    assert len(diary.read_text().splitlines()) > 12  # some naps were taken twice, and counted once


def test_a_worker_that_dies_while_work_is_handed_out_costs_no_result(monkeypatch):
    """joblib then raises before there is any result to wait for."""
    dispatch, died = Parallel.dispatch_one_batch, []

    def dispatched(self, iterator):
        if not died:
            died.append(True)
            raise TerminatedWorkerError("a worker has ended")
        return dispatch(self, iterator)

    monkeypatch.setattr(Parallel, "dispatch_one_batch", dispatched)
    with at.engines.engine("local", jobs=2) as workers:
        found = list(workers.run(work.square, range(12)))
    assert died
    assert sorted((index, value) for index, (value, _) in found) == [(i, i * i) for i in range(12)]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_the_process_that_started_them(end, tmp_path):
    command = [sys.executable, "-m", "tests.engines.napping", "local", str(tmp_path / "diary"), "60"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as program:
        deadline = time.monotonic() + 60
        while len(workers := busy(tmp_path / "diary")) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert len(workers) == 2
        assert all(map(alive, workers))
        program.send_signal(end)
        program.wait(30)
    deadline = time.monotonic() + 10
    while any(map(alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert [one for one in workers if alive(one)] == []  # although their naps are a minute long


def busy(diary):
    """Return the processes that have begun a nap."""
    return {int(line.split()[1]) for line in diary.read_text().splitlines()} if diary.exists() else set()


def test_a_task_that_kills_every_worker_is_given_up(monkeypatch):
    monkeypatch.setattr("appletaste.engines.local.RETRIES", 1)
    with (
        at.engines.engine("local", jobs=2) as workers,
        pytest.raises(at.errors.EngineError, match="workers died 2 times"),
    ):
        list(workers.run(work.die, range(3)))


def test_a_worker_of_another_version_is_refused():
    foreign = base.Work(work.refuse, {**base.versions(), "numpy": "1.0"})
    index, outcome = foreign(7, 1)
    assert index == 7
    with pytest.raises(at.errors.OptionError, match="the same numbers need the same versions"):
        base.unpack(outcome)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"name": "abacus"}, "there is no engine 'abacus'; there are local, ray, dask"),
        ({"name": "local", "jobs": 0}, "jobs must be at least 1"),
        ({"name": "local", "address": "here:1"}, "the local engine has no address"),
    ],
)
def test_wrong_settings_are_refused(settings, sentence):
    with pytest.raises(at.errors.OptionError, match=sentence):
        at.engines.engine(**settings)


@pytest.mark.parametrize(("name", "module"), [("ray", "ray"), ("dask", "distributed")])
def test_missing_extras_are_named(monkeypatch, name, module):
    monkeypatch.setitem(sys.modules, module, None)
    with (
        pytest.raises(at.errors.MissingExtraError, match=rf"pip install 'appletaste\[{name}\]'"),
        at.engines.engine(name),
    ):
        pass


def test_a_cluster_must_be_opened_first():
    with pytest.raises(at.errors.OptionError, match="open it first"):
        list(at.engines.engine("dask").run(work.square, [1]))


class Backwards:
    """An engine that finishes the last task first."""

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def run(self, function, tasks):
        return ((index, function(tasks[index])) for index in reversed(range(len(tasks))))


def test_results_do_not_depend_on_the_order_of_completion():
    entries = [PolicySpec("pg-ts", {}), PolicySpec("always", {})]
    heard = []
    one = at.replicate(at.problem("i", rounds=40), entries, 3)
    two = at.replicate(at.problem("i", rounds=40), entries, 3, engine=Backwards(), progress=heard.append)
    for a, b in zip(one, two, strict=True):
        assert a.entry == b.entry
        np.testing.assert_array_equal(a.curves, b.curves)
    assert heard == [entries[1]] * 3 + [entries[0]] * 3


def test_what_an_engine_says_is_no_result(capsys):
    """Ray tells of dead workers on standard output, where ``--json`` goes."""
    with open_engine(Namespace(engine="local", jobs=1, cluster=None)):
        print("a worker died")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "a worker died\n")
