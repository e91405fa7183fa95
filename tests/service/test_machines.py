"""Several processes on one PostgreSQL: one owner for each stream, any of them answers, and a dead one is replaced."""

import json
import os
import signal
import socket
import subprocess
import sys
import time

import pytest

import appletaste as at
from appletaste.records.stores import open_store

from ..streams.stores import fresh_database
from .serving import ask, hear, make_streams, secret_of

ORDERS = "/v1/streams/orders"
#: How the owner goes: killed in the suite, stopped as well in ``make test-faults``.
GOES = [signal.SIGKILL, *([signal.SIGSTOP] if os.environ.get("APPLETASTE_KILLS") else [])]


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Machine:
    """One ``appletaste serve``."""

    def __init__(self, address):
        self.port = free_port()
        command = [sys.executable, "-m", "appletaste", "serve", "--store", address, "--port", str(self.port)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def wait(self):
        for line in self.process.stderr:
            if '"listening"' in line:
                return self
        raise AssertionError("the service did not start")

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()


@pytest.mark.parametrize("how", GOES, ids=lambda how: how.name)
def test_any_process_answers_and_a_dead_owner_is_replaced(how):
    address = fresh_database()
    store = open_store(address)
    make_streams(store)
    key = secret_of(store)
    store.close()
    machines = [Machine(address).wait()]
    machines.append(Machine(address).wait())
    try:
        first, second = machines  # the first has come first, and owns the streams
        told = {}
        for k in range(20):
            body = {"id": f"m{k}", "item": [k / 10, 1.0, -1.0], "time": "2024-05-31"}
            there = ask(machines[k % 2].port, "POST", ORDERS + "/decisions", body, key=key)
            here = ask(machines[1 - k % 2].port, "POST", ORDERS + "/decisions", body, key=key)
            assert (there.status, here.status) == (201, 200)
            assert there.body == here.body
            told[k] = there.body
        assert ask(second.port, "GET", "/v1/streams", key=key).json() == {"streams": ["orders", "people"]}
        assert ask(second.port, "GET", "/v1/streams/nowhere", key=key).problem == "unknown-stream"
        assert ask(second.port, "GET", ORDERS, key="at_wrong").status == 401
        live = ask(second.port, "GET", ORDERS + "/live", key=key)
        assert (live.status, live.headers["location"]) == (307, f"http://127.0.0.1:{first.port}{ORDERS}/live")
        made = ask(second.port, "POST", "/v1/keys", {"name": "new", "scopes": ["read"]}, key=key).json()["secret"]
        os.kill(first.process.pid, how)
        began = time.monotonic()
        remote = at.connect(f"http://127.0.0.1:{second.port}", key=key, patience=20).stream("orders")
        assert remote.decide([0.0, 1.0, -1.0], id="m0", time="2024-05-31").again
        assert time.monotonic() - began < 10
        for k, body in told.items():
            assert json.loads(body).items() <= remote.find(f"m{k}").items()
        assert remote.decide([3.0, 1.0, -1.0], id="after", time="2024-05-31").again is False
        assert "verify" in remote.verify()
        remote.close()
        assert ask(second.port, "GET", ORDERS, key=made).status == 200
        if how == signal.SIGSTOP:
            back = {"id": "back", "item": [3.0, 1.0, -1.0], "time": "2024-05-31"}
            os.kill(first.process.pid, signal.SIGCONT)
            deadline = time.monotonic() + 30
            while ask(first.port, "POST", ORDERS + "/decisions", back, key=key).status not in (200, 201):
                assert time.monotonic() < deadline
                time.sleep(0.1)
            assert first.process.poll() is None  # its old token is worth nothing; it goes on with what it is given
    finally:
        for machine in machines:
            machine.end()


def test_a_key_that_is_revoked_elsewhere_opens_nothing_soon_and_its_sessions_end(tmp_path):
    address = fresh_database()
    store = open_store(address)
    make_streams(store)
    key, other = secret_of(store), secret_of(store, "read")
    store.close()
    machines = [Machine(address).wait() for _ in range(2)]
    try:
        assert ask(machines[1].port, "GET", ORDERS, key=other).status == 200
        told = ask(machines[0].port, "POST", "/v1/session", {"key": other})
        page = {"Cookie": told.headers["set-cookie"].split(";")[0], "X-CSRF-Token": told.json()["csrf"]}
        views = [
            hear(machine.port, ORDERS + "/live", {"Connection": "close", **page}) for machine in machines
        ]  # one of them is not the owner, and relays
        assert [ask(machine.port, "GET", ORDERS + "/queue", headers=page).status for machine in machines] == [200, 200]
        ask(machines[1].port, "POST", ORDERS + "/decisions", {"id": "seen", "item": [1, 2, 3]}, key=key)
        for view in views:
            heard = b""
            while b'"seen"' not in heard:
                heard += view.recv(65536)
        listed = ask(machines[0].port, "GET", "/v1/keys", key=key).json()["keys"]
        id_ = next(one["id"] for one in listed if one["scopes"] == ["read"])
        ask(machines[0].port, "DELETE", f"/v1/keys/{id_}", key=key)
        assert ask(machines[0].port, "GET", ORDERS, key=other).status == 401
        deadline = time.monotonic() + 10
        while ask(machines[1].port, "GET", ORDERS, key=other).status != 401:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert [ask(machine.port, "GET", ORDERS, headers=page).status for machine in machines] == [401, 401]
        for view in views:
            while view.recv(65536):  # the view ends, and so does its connection
                pass
            view.close()
    finally:
        for machine in machines:
            machine.end()
