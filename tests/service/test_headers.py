"""Headers end somewhere: too many bytes or lines are answered with 431, and nothing that is sent is kept."""

import json
import socket
import tracemalloc
from contextlib import contextmanager, suppress

import pytest

from appletaste.service.connection import LARGEST, LINES

from .serving import ORDERS, item

START = b"GET /healthz HTTP/1.1\r\nHost: x\r\n"


@contextmanager
def connected(service):
    with socket.create_connection(("127.0.0.1", service.port), timeout=30) as found:
        found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield found


def read_all(connection):
    """Return what is said until the other end hangs up."""
    told = b""
    with suppress(ConnectionResetError):
        while part := connection.recv(65536):
            told += part
    return told


def check_refused(told):
    head, _, body = told.partition(b"\r\n\r\n")
    lines = head.lower().split(b"\r\n")
    assert lines[0] == b"http/1.1 431 request header fields too large"
    assert {b"connection: close", b"content-type: application/problem+json"} <= set(lines)
    assert b"content-length: %d" % len(body) in lines
    assert json.loads(body)["type"] == "urn:appletaste:problem:headers-too-large"


def check_well(service, key):
    """The service answers as before."""
    assert service.ask("GET", "/healthz").status == 200
    assert service.ask("GET", ORDERS, key=key, headers={"X-Long": "a" * (LARGEST - 1000)}).status == 200


ONE = START + b"X-Huge: " + b"a" * 1_000_000 + b"\r\n\r\n"
MANY = START + b"".join(b"X-%d: a\r\n" % k for k in range(20_000)) + b"\r\n"
ADDRESS = b"GET /healthz?" + b"a" * 1_000_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n"
JUST = START + b"X-Long: " + b"a" * (LARGEST + 1 - len(START + b"X-Long: \r\n\r\n")) + b"\r\n\r\n"
LINED = START + b"X-Short: a\r\n" * LINES + b"\r\n"


@pytest.mark.parametrize("size", [1000, 10**9], ids=["slowly", "at once"])
@pytest.mark.parametrize("sent", [ONE, MANY, ADDRESS, JUST, LINED], ids=["one", "many", "address", "just", "lines"])
def test_headers_that_are_too_long_are_refused(service, key, sent, size):
    with connected(service) as connection:
        for start in range(0, len(sent), size):
            try:
                connection.sendall(sent[start : start + size])
            except OSError:
                break
        check_refused(read_all(connection))
    check_well(service, key)


def test_headers_of_the_largest_size_are_read(service, key):
    ended = [JUST.replace(b"aa", b"a", 1), START + b"X-Short: a\r\n" * (LINES - 1) + b"\r\n"]
    for sent in ended:
        with connected(service) as connection:
            connection.sendall(sent)
            assert connection.recv(65536).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    ("start", "part"),
    [
        (START + b"X-Huge: ", b"a" * 65536),
        (START, b"X-Short: a\r\n" * 5000),
        (b"GET /" + b"a" * 10, b"a" * 65536),
        (
            b"POST /v1/session HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX-Trailer: ",
            b"a" * 65536,
        ),
    ],
    ids=["one", "many", "address", "trailer"],
)
def test_headers_without_an_end_take_no_memory(service, key, start, part):
    tracemalloc.start()
    try:
        with connected(service) as connection:
            before = tracemalloc.get_traced_memory()[0]
            tracemalloc.reset_peak()
            with suppress(OSError):  # the other end has hung up
                connection.sendall(start)
                for _ in range(3200):  # 200 MB, or until the other end has had enough
                    connection.sendall(part)
            grown = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert grown < 3_000_000
    check_well(service, key)


def test_large_bodies_and_requests_behind_them_are_no_headers(service, key):
    decisions = [{"id": f"large {k}", "item": item(k)} for k in range(1000)]
    body = json.dumps({"decisions": decisions}).encode() + b" " * 500_000
    head = f"POST {ORDERS}/decisions:batch HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n".encode()
    head += b"Content-Type: application/json\r\n"
    whole = head + b"Content-Length: %d\r\n\r\n" % len(body) + body
    parts = b"".join(b"%x\r\n%b\r\n" % (len(body[k : k + 9]), body[k : k + 9]) for k in range(0, len(body), 9))
    chunked = head + b"Transfer-Encoding: chunked\r\n\r\n" + parts + b"0\r\nX-Trailer: a\r\n\r\n"
    with connected(service) as connection:
        connection.sendall(whole + START + b"\r\n" + START + b"\r\n")  # without a wait for the answers
        told = b""
        while told.count(b'{"status":"up"}') < 2:
            told += connection.recv(65536)
        assert told.count(b"HTTP/1.1 200") == 3
        connection.sendall(chunked + START + b"Connection: close\r\n\r\n")
        assert read_all(connection).count(b"HTTP/1.1 200") == 2


def test_long_headers_behind_a_request_take_its_place_in_no_answer(service, key):
    """A refusal would be read as the answer to the request before, which is under way."""
    body = json.dumps({"id": "first of two", "item": item(1)}).encode()
    head = f"POST {ORDERS}/decisions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n".encode()
    head += b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
    with connected(service) as connection:
        with suppress(OSError):
            connection.sendall(head + body + ONE)
        told = read_all(connection)
    assert told == b"" or told.startswith(b"HTTP/1.1 201")
    check_well(service, key)
