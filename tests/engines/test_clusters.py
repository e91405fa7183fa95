"""Ray and Dask for real: two workers each on this machine, and what happens when one is killed."""

import os
import signal
import time

import pytest

import appletaste as at
from appletaste.engines import workers as base

from . import work
from .clusters import ENTRIES, MARKS, PROBLEM, assert_same, assert_squares

pytestmark = MARKS


@pytest.fixture(scope="module")
def workers(kind):
    with at.engines.engine(kind, jobs=2) as workers:
        yield workers


def test_two_workers_same_numbers(workers, expected):
    heard = []
    assert_same(at.replicate(PROBLEM, ENTRIES, 4, seed=5, engine=workers, progress=heard.append), expected)
    assert len(heard) == 12


def test_work_runs_in_the_workers_with_one_thread_each(workers):
    found = list(workers.run(work.square, range(300)))  # more than are ever in flight
    assert_squares(found, 300)
    assert os.getpid() not in {process for _, (_, process) in found}
    for _, settings in workers.run(work.threads, range(4)):
        assert {name: settings[name] for name in base.ONE_THREAD} == base.ONE_THREAD


def test_a_killed_worker_costs_no_result(workers, tmp_path):
    diary = tmp_path / "diary"
    found = []
    for result in workers.run(work.nap, [(i, str(diary), 0.2) for i in range(16)]):
        if not found:
            victim = result[1][1]
            while diary.read_text().split().count(str(victim)) < 2:
                time.sleep(0.01)  # until it has begun another nap
            os.kill(victim, signal.SIGKILL)
        found.append(result)
    assert_squares(found, 16)
    assert len(diary.read_text().splitlines()) > 16  # a nap was taken twice, and counted once


def test_errors_are_raised_as_themselves(workers):
    with pytest.raises(at.errors.OptionError, match="three is not a number") as caught:
        list(workers.run(work.refuse, range(200)))
    assert type(caught.value) is at.errors.OptionError
    assert "in refuse" in caught.value.__notes__[0]
    with pytest.raises(at.errors.EngineError, match="StubbornError: one and two"):
        list(workers.run(work.stumble, [0]))
    assert sorted(workers.run(work.refuse, [1, 2])) == [(0, 1), (1, 2)]  # and the next run is none the worse


def test_a_run_can_be_left(workers, tmp_path):
    diary = tmp_path / "diary"
    run = workers.run(work.nap, [(i, str(diary), 0.1) for i in range(1000)])
    next(run)
    run.close()
    assert_squares(list(workers.run(work.square, range(5))), 5)
    assert len(diary.read_text().splitlines()) < 100
