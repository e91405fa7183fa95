"""Questions that read a whole record: by a process beside the writer, with the same answers, a few at a time."""

import http.client
import io
import json
import os
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import appletaste as at
from appletaste._files import json_text
from appletaste.records.stores import open_store
from appletaste.service import hosting, side_process, temporary

from .filling import fill
from .serving import Running

SHOP = "/v1/streams/shop"
#: Seconds that an answer may take: on a busy machine a process takes a while to begin.
PATIENT = 200
LONG = ("/missed", "/report.html?month=2024-05", "/log.parquet")


@pytest.fixture
def shop(tmp_path):
    store = open_store(tmp_path / "shop.db")
    fill(store).close()
    with Running(store) as service:
        yield service, service.key()
    store.close()


def ask(service, path, key):
    """Ask with patience."""
    with closing(http.client.HTTPConnection("127.0.0.1", service.port, timeout=PATIENT)) as connection:
        return service.ask("GET", path, key=key, connection=connection)


@pytest.fixture
def begun(monkeypatch):
    """Let every record be long; return the processes that were begun."""
    processes, usual = [], subprocess.Popen

    def begin(*given, **named):
        processes.append(usual(*given, **named))
        return processes[-1]

    monkeypatch.setattr(side_process, "SHORT", 0)
    monkeypatch.setattr(side_process.subprocess, "Popen", begin)
    return processes


def test_a_side_process_gives_the_answers_of_a_thread_and_they_are_kept(shop, monkeypatch, begun):
    service, key = shop
    with monkeypatch.context() as patch:
        patch.setattr(side_process, "SHORT", 10**9)
        here = {path: ask(service, SHOP + path, key) for path in LONG}
        assert not begun
    with at.Stream.open(service.store.address, "shop", read_only=True) as stream:
        log = stream.log()
    assert here["/missed"].json() == json.loads(json_text(at.missed(log).as_dict()))
    for name, values in at.DecisionLog.read(named(here["/log.parquet"].body, service)).columns().items():
        if name != "why":
            np.testing.assert_array_equal(values, getattr(log, name), err_msg=name)
    service.ask("POST", SHOP + "/decisions/o1/notes", {"text": "so that no answer is kept"}, key=key)
    for number, path in enumerate(LONG, 1):
        there = ask(service, SHOP + path, key)
        assert (there.status, len(begun)) == (200, number)
        if path == "/log.parquet":
            ours, theirs = (at.DecisionLog.read(named(told.body, service)) for told in (here[path], there))
            for name, values in ours.columns().items():
                if name != "why":
                    np.testing.assert_array_equal(values, getattr(theirs, name), err_msg=name)
        else:
            assert there.body == here[path].body
    assert ask(service, SHOP + "/missed", key).body == here["/missed"].body
    assert len(begun) == 3
    assert all(process.poll() == 0 for process in begun)


def named(content, service):
    path = Path(service.store.address).parent / f"{hash(content)}.parquet"
    path.write_bytes(content)
    return path


def test_a_problem_of_a_side_process_is_the_problem_of_the_request(shop, begun):
    service, key = shop
    told = service.ask("GET", "/v1/streams/shop/report.html?month=2031-01", key=key)
    assert (told.status, told.problem, len(begun)) == (409, "no-answer", 0)
    sheet = {"miss": 5, "false_alarm": 1, "hit": 0}
    service.ask("POST", "/v1/streams", {"name": "empty", "n_features": 2, "costs": sheet}, key=key)
    told = ask(service, "/v1/streams/empty/missed", key)
    assert (told.problem, told.json()["detail"], len(begun)) == ("cannot-happen", "the stream has no decisions yet", 1)


def test_the_same_question_is_answered_once_and_too_many_are_refused(shop, monkeypatch, begun):
    service, key = shop
    answers, held = [], threading.Event()
    usual = side_process.SideProcesses._elsewhere

    def hold(self, asked):
        assert held.wait(60)
        return usual(self, asked)

    monkeypatch.setattr(side_process.SideProcesses, "_elsewhere", hold)
    monkeypatch.setattr(side_process, "MOST", 2)
    paths = ["/missed"] * 4 + ["/missed?level=0.8"]
    threads = [
        threading.Thread(target=lambda path=path: answers.append(ask(service, SHOP + path, key))) for path in paths
    ]
    for thread in threads:
        thread.start()
    beside = service.app.host.beside
    until(lambda: len(beside._under_way) == side_process.MOST)
    refused = service.ask("GET", SHOP + "/missed?level=0.5", key=key)
    assert (refused.status, refused.problem) == (503, "overloaded")
    assert refused.headers["retry-after"] == str(side_process.LATER)
    assert service.ask("POST", SHOP + "/decisions", {"id": "n", "item": ITEM}, key=key).status == 201
    held.set()
    for thread in threads:
        thread.join()
    assert [told.status for told in answers] == [200] * 5
    assert len(begun) == 2
    assert len({told.body for told in answers}) == 2


ITEM = {"amount": 50.0, "country": "DE", "items": 1.0}


def until(holds):
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_side_process_that_dies_takes_nobody_along(shop, monkeypatch):
    service, key = shop
    monkeypatch.setattr(side_process, "SHORT", 0)
    usual = subprocess.Popen

    def dies(command, **named):
        return usual([sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"], **named)

    with monkeypatch.context() as patch:
        patch.setattr(side_process.subprocess, "Popen", dies)
        assert ask(service, SHOP + "/missed", key).status == 500
    assert service.ask("POST", SHOP + "/decisions", {"id": "n", "item": ITEM}, key=key).status == 201
    assert ask(service, SHOP + "/missed", key).status == 200


def test_questions_in_threads_have_a_ceiling_too(shop, monkeypatch):
    service, key = shop
    monkeypatch.setattr(hosting, "WAITING", 0)
    for path in ("/days", "/alarms", "/drift", "/log.csv"):
        told = ask(service, SHOP + path, key)
        assert (told.status, told.problem, told.headers["retry-after"]) == (503, "overloaded", "10"), path


def test_what_a_killed_process_left_behind_goes_when_another_one_starts(tmp_path, monkeypatch):
    monkeypatch.setattr(temporary.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(temporary, "LEFT", 0.0)
    code = (
        "import os, signal, sys; from appletaste.service.review.uploads import Files; files = Files();"
        "files.put(b'age,bad\\n30,0\\n'); print('there', flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert process.stdout.readline() == b"there\n"
    (left,) = tmp_path.rglob("*.csv")
    assert temporary.sweep() == 0  # its process lives
    process.kill()
    process.communicate()
    assert left.exists()
    store = open_store("memory")
    with Running(store):
        assert not left.exists()
        assert not any(tmp_path.glob(temporary.PREFIX + "*"))


def test_a_download_leaves_no_file(shop, tmp_path):
    service, key = shop
    body = ask(service, SHOP + "/log.parquet", key).body
    assert len(at.DecisionLog.read(named(body, service))) == 800
    assert io.BytesIO(body).read(4) == b"PAR1"
    assert service.ask("HEAD", SHOP + "/log.parquet", key=key).status == 200
    until(lambda: not list(temporary._ours().rglob("*.parquet")))
