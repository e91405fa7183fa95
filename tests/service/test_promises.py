"""Many clients at once, labels in any order, overload, a commit that fails, and a process that is killed under load."""

import http.client
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from appletaste.streams import Stream

from .serving import ORDERS, ask, item, new_store, secret_of

#: Kills of a real process; ``make test-faults`` asks for more.
KILLS = int(os.environ.get("APPLETASTE_KILLS", "2"))


def test_64_clients_with_the_same_ids(service, key):
    """One decision for each id, the same bytes for everybody, in whatever order they come."""

    def client(number):
        order = list(range(40))
        random.Random(number).shuffle(order)
        return {
            k: service.ask("POST", ORDERS + "/decisions", {"id": f"storm-{k}", "item": item(k)}, key=key) for k in order
        }

    with ThreadPoolExecutor(64) as pool:
        told = list(pool.map(client, range(64)))
    for k in range(40):
        answers = [one[k] for one in told]
        assert len({answer.body for answer in answers}) == 1
        assert sorted(answer.status for answer in answers) == [200] * 63 + [201]
    lines = service.ask("GET", ORDERS + "/log", key=key).body.splitlines()
    made = [json.loads(line).get("id") for line in lines]
    assert sum(id_ is not None and id_.startswith("storm-") for id_ in made) == 40


def test_the_storm_is_seen_without_ids_that_are_looked_up(service, key, monkeypatch):
    """Negative control: a stream that decides anew whatever it is asked."""
    usual = Stream.decide_each

    def forgetful(stream, rows):
        return usual(stream, [(x, f"{id_} {random.random()}", *rest) for x, id_, *rest in rows])

    monkeypatch.setattr(Stream, "decide_each", forgetful)
    first, again = (
        service.ask("POST", ORDERS + "/decisions", {"id": "anew", "item": item(1)}, key=key) for _ in range(2)
    )
    assert first.body != again.body


def test_labels_in_any_order_twice_and_before_the_decision(service, key):
    """However labels are delivered, each is applied once, and one for an id that is not there leaves nothing behind."""
    ids = [f"any-{k}" for k in range(20)]
    early = service.ask("PUT", f"{ORDERS}/decisions/{ids[0]}/label", {"value": 1}, key=key)
    assert early.problem == "unknown-decision"
    for k, id_ in enumerate(ids):
        service.ask("POST", ORDERS + "/decisions", {"id": id_, "item": [abs(x) for x in item(k)]}, key=key)
    deliveries = [(k, id_) for k, id_ in enumerate(ids)] * 3
    random.Random(4).shuffle(deliveries)

    def deliver(delivery):
        k, id_ = delivery
        return id_, service.ask("PUT", f"{ORDERS}/decisions/{id_}/label", {"value": k % 2}, key=key).json()["status"]

    with ThreadPoolExecutor(16) as pool:
        told = list(pool.map(deliver, deliveries))
    for id_ in ids:
        statuses = sorted(status for one, status in told if one == id_)
        assert statuses[:2] == ["already_applied"] * 2
        assert statuses[2] in ("applied", "recorded_not_learned")
    assert service.ask("POST", ORDERS + "/verify", key=key).json()["verifies"]


def start(folder, port=0):
    """Start ``appletaste serve`` and return the process and its port."""
    command = [sys.executable, "-m", "appletaste", "serve", "--store", str(folder / "shop.db"), "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if '"listening"' in line:
            return process, json.loads(line)["port"]
    raise AssertionError("the service did not start")


def end(process):
    """End a process, if it has not ended."""
    process.kill()
    process.wait()
    process.stderr.close()


@pytest.fixture
def folder(tmp_path):
    store = new_store(tmp_path)
    secret = secret_of(store)
    store.close()
    (tmp_path / "key").write_text(secret)
    return tmp_path


def test_kill_9_under_load_loses_nothing(folder):
    """Everything that was acknowledged is there after a start, to the byte; what is sent again settles the rest."""
    key = (folder / "key").read_text()
    told, numbers, lock = {}, iter(range(10**9)), threading.Lock()

    def client(port, over):
        while not over.is_set():
            with lock:
                k = next(numbers)
            try:
                answer = ask(port, "POST", ORDERS + "/decisions", {"id": f"k{k}", "item": item(k)}, key=key)
                if answer.status == 201:
                    told[k] = answer.body
                if answer.status == 201 and k % 3 == 0:
                    path = f"{ORDERS}/decisions/k{k}/label"
                    labelled = ask(port, "PUT", path, {"value": k % 2}, key=key)
                    if labelled.status == 200:
                        told[k, "label"] = k % 2
            except (OSError, ValueError, http.client.HTTPException):
                continue  # no answer, or half of one

    for kill in range(KILLS):
        process, port = start(folder)
        over = threading.Event()
        threads = [threading.Thread(target=client, args=(port, over)) for _ in range(8)]
        for thread in threads:
            thread.start()
        wanted, deadline = len(told) + 60 + 17 * kill, time.monotonic() + 60
        while len(told) < wanted:
            assert time.monotonic() < deadline
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)
        end(process)
        over.set()
        for thread in threads:
            thread.join()
    process, port = start(folder)
    try:
        for k, body in told.items():
            if isinstance(k, int):
                again = ask(port, "POST", ORDERS + "/decisions", {"id": f"k{k}", "item": item(k)}, key=key)
                assert (again.status, again.body) == (200, body)
            else:
                case = ask(port, "GET", f"{ORDERS}/decisions/k{k[0]}", key=key).json()
                assert body in (case["label"], case["outcome"])
        assert ask(port, "POST", ORDERS + "/verify", key=key).json()["verifies"]
        process.terminate()
        assert process.wait(30) == 0  # told to end, and done with everything
    finally:
        end(process)
