"""The paper's studies on a cluster: the same files bit for bit, also when a worker is killed in the middle."""

import os
import signal

import pytest

import appletaste as at
from appletaste.cli.main import main
from appletaste.paper.reproduction import build
from appletaste.paper.results import Store, play_missing, play_task
from appletaste.paper.studies import find_studies

from .clusters import MARKS

pytestmark = MARKS
COMMAND = ["paper", "--only", "figure-3", "--replications", "2", "--seed", "9", "--jobs", "2"]


def files(folder):
    found = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    found.pop("timing.json", None)
    return found


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    folder = tmp_path_factory.mktemp("local")
    assert main([*COMMAND, "--out", str(folder)]) == 0
    return files(folder)


def test_the_report_is_the_same(kind, local, tmp_path):
    assert main([*COMMAND, "--engine", kind, "--out", str(tmp_path)]) == 0
    found = files(tmp_path)
    assert found["tables.json"] == local["tables.json"]
    assert found == local


def where_and_row(task):
    return os.getpid(), play_task(task)


class Murderous:
    """An engine whose first worker to answer is killed while the run goes on."""

    def __init__(self, workers):
        self.workers, self.victim, self.places = workers, None, set()

    def run(self, function, tasks):
        for index, (process, played) in self.workers.run(where_and_row, tasks):
            self.places.add(process)
            if self.victim is None:
                self.victim = process
                os.kill(process, signal.SIGKILL)
            yield index, played


def test_a_killed_worker_changes_nothing(kind, local, tmp_path):
    studies = find_studies(["figure-3"])
    store = Store(tmp_path / "pairings", 9)
    with at.engines.engine(kind, jobs=2) as workers:
        engine = Murderous(workers)
        play_missing(studies, store, 2, engine)
    assert engine.victim != os.getpid()
    assert os.getpid() not in engine.places  # all of it ran in their workers
    build(store, 2, studies, tmp_path)
    assert files(tmp_path) == local
