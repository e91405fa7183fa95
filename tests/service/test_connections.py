"""Connections that ask nothing, or slowly: they keep nobody out, and are hung up on."""

import socket
import threading
import time
from contextlib import ExitStack, suppress

import pytest

from appletaste.service import app, connection

from .serving import ORDERS, item

HALF = b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Half: "


def open_many(service, stack, count, said=b""):
    """Return connections that ask nothing, or half of something."""
    found = []
    for _ in range(count):
        one = stack.enter_context(socket.create_connection(("127.0.0.1", service.port), timeout=30))
        if said:
            one.sendall(said)
        found.append(one)
    return found


def open_now(service):
    return len(service.server.uvicorn.server_state.connections)


def until(holds, seconds=30.0):
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def heard(one):
    """Return what is said on a connection until the other end hangs up."""
    told = b""
    with suppress(ConnectionResetError):
        while part := one.recv(65536):
            told += part
    return told


@pytest.mark.parametrize("said", [b"", HALF], ids=["silent", "half a header"])
def test_two_thousand_idle_connections_keep_nobody_out(service, key, said):
    connection.raise_limit()
    with ExitStack() as stack:
        open_many(service, stack, 2100, said)
        until(lambda: open_now(service) >= 2100)
        for path in ("/healthz", "/readyz"):
            assert service.ask("GET", path).status == 200
        assert service.ask("GET", ORDERS, key=key).status == 200
        asked = {"id": f"idle {said!r}", "item": item(1)}
        assert service.ask("POST", ORDERS + "/decisions", asked, key=key).status == 201
    until(lambda: open_now(service) == 0)


@pytest.fixture
def hurried(monkeypatch):
    monkeypatch.setattr(connection, "HEADER_TIME", 1.0)
    monkeypatch.setattr(connection, "BODY_TIME", 1.0)
    monkeypatch.setattr(connection, "SLOWEST", 1e9)


def test_whoever_asks_nothing_or_slowly_is_hung_up_on(service, key, hurried):
    with ExitStack() as stack:
        (silent,) = open_many(service, stack, 1)
        (half,) = open_many(service, stack, 1, HALF)
        head = f"POST {ORDERS}/decisions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n"
        head += "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
        (body,) = open_many(service, stack, 1, head.encode() + b'{"id": "slow')
        (again,) = open_many(service, stack, 1, b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert again.recv(65536).startswith(b"HTTP/1.1 200")
        again.sendall(HALF)  # after a whole request, too
        assert heard(silent) == b""
        for one in (half, again):
            told = heard(one)
            assert told.startswith(b"HTTP/1.1 408 Request Timeout\r\n")
            assert b"urn:appletaste:problem:request-timeout" in told
        assert b"201" not in heard(body)
    assert service.ask("GET", ORDERS + "/decisions/slow", key=key).status == 404


def test_a_body_that_keeps_coming_and_an_answer_that_takes_long_are_waited_for(service, key, monkeypatch):
    monkeypatch.setattr(connection, "HEADER_TIME", 1.0)
    monkeypatch.setattr(connection, "BODY_TIME", 1.0)
    monkeypatch.setattr(connection, "SLOWEST", 20)
    body = b'{"id": "steady", "item": [1.0, 2.0, 3.0]}'
    head = f"POST {ORDERS}/decisions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\nConnection: close\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    with ExitStack() as stack:
        (view,) = open_many(service, stack, 1)
        view.sendall(f"GET {ORDERS}/live HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\r\n".encode())
        (one,) = open_many(service, stack, 1, head.encode())
        for start in range(0, len(body), 5):
            time.sleep(0.2)
            one.sendall(body[start : start + 5])
        assert heard(one).startswith(b"HTTP/1.1 201")
        seen = b""
        while b"steady" not in seen:  # the live view is longer on its way than a header may be
            seen += view.recv(65536)


def test_beyond_the_most_connections_the_oldest_that_ask_nothing_go(service, monkeypatch):
    monkeypatch.setattr(connection, "CONNECTIONS", 50)
    with ExitStack() as stack:
        old = open_many(service, stack, 49)
        until(lambda: open_now(service) >= 49)
        new = open_many(service, stack, 2)
        until(lambda: open_now(service) <= 50)
        assert service.ask("GET", "/healthz").status == 200
        gone = 0
        for one in (*old, *new):
            one.setblocking(False)
            with suppress(BlockingIOError):
                gone += one.recv(1) == b""
        assert 1 <= gone <= 10
        with pytest.raises(BlockingIOError):
            new[-1].recv(1)


def test_beyond_the_most_requests_there_is_a_503_that_programs_read_and_health_is_answered(service, key, monkeypatch):
    until(lambda: service.app._under_way == 0)  # views of other tests
    monkeypatch.setattr(app, "REQUESTS", 3)
    with ExitStack() as stack:
        views = open_many(service, stack, 3)
        for view in views:
            view.sendall(f"GET {ORDERS}/live HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\r\n".encode())
            assert view.recv(65536).startswith(b"HTTP/1.1 200")
        told = service.ask("GET", ORDERS, key=key)
        assert (told.status, told.problem, told.headers["retry-after"]) == (503, "overloaded", "1")
        for path in ("/healthz", "/readyz"):
            assert service.ask("GET", path).status == 200
    until(lambda: service.ask("GET", ORDERS, key=key).status == 200)


def test_many_who_come_at_once_are_all_answered(service):
    """Nothing of this holds up who asks as usual."""
    told = []
    threads = [threading.Thread(target=lambda: told.append(service.ask("GET", "/healthz").status)) for _ in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told == [200] * 100
