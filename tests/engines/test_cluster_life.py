"""How clusters begin and end: any number of workers, one that stands already, nobody there, an interruption."""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

import appletaste as at
from appletaste.cli.main import main

from . import work
from .clusters import ENTRIES, MARKS, PROBLEM, assert_same
from .processes import alive, descendants

ROOT = Path(__file__).parent.parent.parent
pytestmark = MARKS


@pytest.mark.parametrize("jobs", [1, 3])
def test_any_number_of_workers_same_numbers(kind, jobs, expected):
    with at.engines.engine(kind, jobs=jobs) as workers:
        assert_same(at.replicate(PROBLEM, ENTRIES, 4, seed=5, engine=workers), expected)
        processes = {process for _, (_, process) in workers.run(work.square, range(60))}
    assert 1 <= len(processes - {os.getpid()}) <= jobs


@contextmanager
def standing_cluster(kind):
    """Yield the address of a cluster that was there before."""
    if kind == "ray":
        from ray.cluster_utils import Cluster

        settings = {"num_cpus": 1, "object_store_memory": 80 * 2**20, "include_dashboard": False}
        cluster = Cluster(initialize_head=True, head_node_args=settings)
        try:
            yield cluster.address
        finally:
            cluster.shutdown()
    else:
        from distributed import LocalCluster

        with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
            yield cluster.scheduler_address


def test_a_cluster_that_stands_is_used_and_left_standing(kind, capsys, monkeypatch, expected):
    variables = {"ray": "RAY_ADDRESS", "dask": "DASK_SCHEDULER_ADDRESS"}
    with standing_cluster(kind) as address:
        with at.engines.engine(kind, jobs=7, address=address) as workers:
            assert_same(at.replicate(PROBLEM, ENTRIES, 4, seed=5, engine=workers), expected)
            if kind == "ray":  # a process has one Ray, and it is not at another address
                with pytest.raises(at.errors.EngineError, match=r"is already connected to the Ray cluster .*, not to"):
                    at.engines.engine("ray", address="127.0.0.1:1").__enter__()
            first = {process for _, (_, process) in workers.run(work.square, range(20))}
            assert len(first - {os.getpid()}) == 1
        asked = "--problem i --rounds 30 --replications 2 --policy pg-ts --json --jobs 1"
        outputs = []
        for engine, variable in (("local", None), (kind, variables[kind]), (kind, "APPLETASTE_ENGINE_ADDRESS")):
            with monkeypatch.context() as environment:
                if variable:
                    environment.setenv(variable, address)
                assert main(["simulate", *asked.split(), "--engine", engine]) == 0
            rows = capsys.readouterr().out
            outputs.append([line for line in rows.splitlines() if '"seconds"' not in line])
        assert outputs[0] == outputs[1] == outputs[2]


def test_nobody_at_the_address(kind, capsys):
    with socket.socket() as taken:  # bound and not listening: connections are refused
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(at.errors.OptionError, match=f"cluster with workers answers at '{address}'.*start one with"):
            at.engines.engine(kind, address=address).__enter__()
    with pytest.raises(at.errors.OptionError, match="answers at 'nowhere'"):
        at.engines.engine(kind, address="nowhere").__enter__()


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks for processes in /proc")
def test_an_interruption_leaves_no_process_behind(kind, tmp_path):
    command = [sys.executable, "-m", "tests.engines.napping", kind, str(tmp_path / "diary")]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        workers = {int(program.stdout.readline()) for _ in range(5)}
        started = descendants(program.pid)
        assert workers <= set(started)
        program.send_signal(signal.SIGINT)
        _, said = program.communicate(timeout=30)
    assert "KeyboardInterrupt" in said
    deadline = time.monotonic() + 10
    while any(map(alive, started)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert [one for one in started if alive(one)] == []
