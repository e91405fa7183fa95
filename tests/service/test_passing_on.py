"""A process that is not the owner of a stream passes requests on, by connections that it keeps while they are good."""

import asyncio
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from appletaste.records.stores import open_store
from appletaste.service import owners, server
from appletaste.service.owners import Owners
from appletaste.service.problems import Problem

from ..streams.stores import fresh_database
from .serving import ORDERS, Running, item, make_streams, secret_of
from .test_machines import free_port
from .test_writing import soon


@pytest.fixture
def two():
    """Two processes on one database, of which the first owns the streams, and a key."""
    address = fresh_database()
    stores = [open_store(address) for _ in range(2)]
    make_streams(stores[0])
    key = secret_of(stores[0])
    with Running(stores[0], free_port()) as first, Running(stores[1], free_port()) as second:
        assert first.app.host.here() == ["orders", "people"]
        assert second.app.host.here() == []
        yield first, second, key
    for store in stores:
        store.close()


def test_after_a_pause_requests_are_passed_on_as_before(two):
    """The owner closes connections that nobody uses; whoever kept them must not take that for a lost answer."""
    first, second, key = two
    # instead of a long pause; with less a busy machine closes what was just opened
    first.server.uvicorn.config.timeout_keep_alive = 0.5
    kept = first.server.uvicorn.server_state.connections

    def decide(name):
        return second.ask("POST", ORDERS + "/decisions", {"id": name, "item": item(1)}, key=key).status

    for turn in range(3):
        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(decide, [f"{turn} {k}" for k in range(16)])) == [201] * 16
        soon(lambda: not kept)
        note = second.ask("POST", ORDERS + "/decisions/0%200/notes", {"text": "odd", "by": "ann"}, key=key)
        assert note.status < 300
        soon(lambda: not kept)
        assert second.ask("GET", ORDERS + "/queue", key=key).status == 200
        soon(lambda: not kept)


def test_connections_are_dropped_before_the_owner_closes_them(two, monkeypatch):
    first, second, key = two
    kept = first.server.uvicorn.server_state.connections
    assert owners.IDLE < server.KEEP_ALIVE == first.server.uvicorn.config.timeout_keep_alive
    monkeypatch.setattr(second.app.host.owners, "_threads", ThreadPoolExecutor(1))  # one connection
    for _ in range(3):
        assert second.ask("GET", ORDERS, key=key).status == 200
    used = set(kept)
    assert len(used) == 1  # the same for all
    monkeypatch.setattr(owners, "IDLE", 0.0)
    assert second.ask("GET", ORDERS, key=key).status == 200
    soon(lambda: len(kept) == 1 and not used & set(kept))


class Faltering:
    """An owner that answers the first request of a connection, and hangs up on the second after ``said``."""

    def __init__(self, said=b""):
        self.said, self.heard = said, []
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self.listening.getsockname()[1]}"
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while True:
            try:
                connection, _ = self.listening.accept()
            except OSError:
                return
            with connection:
                for answer in (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", self.said):
                    head = b""
                    while not head.endswith(b"\r\n\r\n"):
                        part = connection.recv(65536)
                        if not part:
                            break
                        head += part
                    if head:
                        self.heard.append(head.split()[0].decode())
                    connection.sendall(answer)

    def close(self):
        self.listening.shutdown(socket.SHUT_RDWR)
        self.listening.close()
        self.thread.join(10)


@pytest.mark.parametrize(
    ("method", "quick", "said", "again"),
    [
        ("GET", False, b"", True),
        ("PUT", False, b"", True),
        ("POST", True, b"", True),  # a decision: the same id gives the same answer
        ("POST", False, b"", False),  # a note would be written twice
        ("GET", False, b"HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n{", False),  # the answer has begun
    ],
)
def test_a_kept_connection_that_breaks_is_tried_once_more_where_that_is_safe(method, quick, said, again):
    owner, passing = Faltering(said), Owners(None, None, "http://here")

    def ask():
        return passing.ask(owner.address, method, "/", {}, None, quick)

    try:
        assert ask().status == 200
        if again:
            assert ask().status == 200
        else:
            with pytest.raises(Problem, match="outcome-unknown"):
                ask()
        assert owner.heard == [method] * (3 if again else 2)
    finally:
        asyncio.run(passing.stop())
        owner.close()


def test_a_fresh_connection_that_breaks_is_not_tried_again():
    owner, passing = Faltering(), Owners(None, None, "http://here")
    owner.close()
    with pytest.raises(Problem, match="outcome-unknown"):
        passing.ask(owner.address, "GET", "/", {}, None, False)
