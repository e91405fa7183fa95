"""One connection of the service: how much may stand before a body, how long a request may take to come, and how many.

Connections are counted apart from requests: one that asks nothing costs some kilobytes, keeps nobody out, and is hung
up on. A proxy that reads whole requests before it passes them on never meets any of this.
"""

from __future__ import annotations

import resource
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from .problems import MEDIA, Problem

#: Bytes of a request before its body, and lines of its header, at most; beyond, 431.
LARGEST, LINES = 1 << 16, 100
#: Seconds for a header, since the connection was made or the request began, and for a body; a body that comes with so
#: many bytes a second may take longer.
HEADER_TIME, BODY_TIME, SLOWEST = 10.0, 30.0, 16_384
#: Connections at most. For one more the oldest that nothing is answered on are hung up on, a tenth of them.
CONNECTIONS = 10_000
#: Descriptors of files that the process may have open; it asks for as many, and gets what the machine allows.
DESCRIPTORS = CONNECTIONS + 1000
#: Seconds in which whoever was refused may read the answer: what is still sent is thrown away, since a connection that
#: is closed before all was read takes its answer along.
LINGER = 2.0
#: What is being read of a connection: a header, a body, or nothing since a whole request has come.
HEADER, BODY, QUIET = "header", "body", "quiet"


class Connection(HttpToolsProtocol):
    """One connection, as uvicorn speaks HTTP, with an end to headers and to waiting.

    Nobody without a key may fill the memory, or keep others out. Bytes are counted until the parser has made something
    of them, and not kept beyond that.
    """

    since = 0.0  #: when the connection was made, or the request that is being read began; then, when its header ended
    state = HEADER  #: of what is being read
    _body = 0  #: bytes of the body that have come
    _unread = 0  #: bytes since the last end of a header or part of a body, and all of what is being read
    _came = False  #: one of them was in what is being read
    _too_long = _refused = False

    def connection_made(self, transport: Any) -> None:
        """Begin, and let the oldest go that nothing is answered on where there are too many."""
        super().connection_made(transport)
        self.since = self.loop.time()
        if len(self.connections) > CONNECTIONS:
            drop_oldest([one for one in self.connections if isinstance(one, Connection)])

    def data_received(self, data: bytes) -> None:
        """Read what has arrived."""
        if self._refused:
            return
        if self.state == QUIET:
            self.state, self.since = HEADER, self.loop.time()
        self._unread += len(data)
        self._came = False
        super().data_received(data)
        if self._came:
            self._unread = 0
        elif self._unread > LARGEST or len(self.headers or ()) > LINES:
            self._refuse("headers-too-large")

    def on_headers_complete(self) -> None:
        """Let the request be answered, unless its header is too long."""
        if len(self.headers) > LINES or (self._unread > LARGEST and self._size() > LARGEST):
            self._too_long = True
            raise ValueError("too long")  # the parser reads no further, and says that the request is bad
        self._came = True
        self.state, self._body = BODY, 0
        super().on_headers_complete()

    def _size(self) -> int:
        """Return how many bytes the header has: a method, an address and a version, and lines."""
        line = len(self.parser.get_method()) + len(self.url) + len(b"  HTTP/1.1\r\n")
        return line + sum(len(name) + len(value) + len(b": \r\n") for name, value in self.headers) + len(b"\r\n")

    def on_body(self, body: bytes) -> None:
        """Take a part of a body, which the operation has a limit for."""
        if not self._body:
            self.since = self.loop.time()
        self._body += len(body)
        self._came = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Take note that the whole request has come."""
        self.state = QUIET
        super().on_message_complete()

    @property
    def answers(self) -> bool:
        """Whether an answer is under way."""
        return self.cycle is not None and not self.cycle.response_complete

    def look(self, now: float) -> None:
        """Hang up on whoever takes too long to ask."""
        if self.transport.is_closing() or self._refused:
            return
        if self.state == HEADER and not self.answers and now - self.since > HEADER_TIME:
            if self._unread:
                self._refuse("request-timeout")
            else:
                self.transport.close()
        elif self.state == BODY and now - self.since > BODY_TIME + self._body / SLOWEST:
            self.transport.abort()  # whatever waits for the rest of the body is told that nobody is there

    def send_400_response(self, msg: str) -> None:
        """Say that the request is bad, or that its header is too long."""
        if self._too_long:
            self._refuse("headers-too-large")
        else:
            super().send_400_response(msg)

    def _refuse(self, name: str) -> None:
        """Read nothing more, and say why, unless a request before is under way, which this would seem to answer."""
        if self._refused or self.transport.is_closing():
            return
        self._refused = True
        if self.answers:
            self.transport.abort()
            return
        problem = Problem(name)
        body = problem.body()
        head = (
            f"HTTP/1.1 {problem.status} {HTTPStatus(problem.status).phrase}\r\n"
            f"content-type: {MEDIA}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.write_eof()
        self.loop.call_later(LINGER, self.transport.close)


def sweep(connections: Sequence[Connection]) -> None:
    """Hang up on whoever takes too long to ask."""
    for one in connections:
        one.look(one.loop.time())


def drop_oldest(connections: Sequence[Connection]) -> None:
    """Hang up on a tenth of the connections that nothing is answered on, the oldest first."""
    idle = sorted((one for one in connections if not one.answers), key=lambda one: one.since)
    for one in idle[: max(1, len(idle) // 10)]:
        one.transport.close()


def raise_limit() -> None:
    """Let the process have as many connections as it counts, where the machine allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(DESCRIPTORS, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
