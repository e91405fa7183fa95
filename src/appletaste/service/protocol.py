"""HTTP as uvicorn speaks it by httptools, with an end to headers: nobody who has no key may fill the memory."""

from __future__ import annotations

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from .problems import MEDIA, Problem

#: Bytes of a request before its body, and lines of its header, at most; beyond, 431.
LARGEST, LINES = 1 << 16, 100
#: Seconds in which whoever was refused may read the answer: what is still sent is thrown away, since a connection that
#: is closed before all was read takes its answer along.
LINGER = 2.0


class Protocol(HttpToolsProtocol):
    """One connection; bytes are counted until the parser has made something of them, and not kept beyond that."""

    _unread = 0  #: bytes since the last end of a header or part of a body, and all of what is being read
    _came = False  #: one of them was in what is being read
    _too_long = _refused = False

    def data_received(self, data: bytes) -> None:
        """Read what has arrived."""
        if self._refused:
            return
        self._unread += len(data)
        self._came = False
        super().data_received(data)
        if self._came:
            self._unread = 0
        elif self._unread > LARGEST or len(self.headers or ()) > LINES:
            self._refuse()

    def on_headers_complete(self) -> None:
        """Let the request be answered, unless its header is too long."""
        if len(self.headers) > LINES or (self._unread > LARGEST and self._size() > LARGEST):
            self._too_long = True
            raise ValueError("too long")  # the parser reads no further, and says that the request is bad
        self._came = True
        super().on_headers_complete()

    def _size(self) -> int:
        """Return how many bytes the header has: a method, an address and a version, and lines."""
        line = len(self.parser.get_method()) + len(self.url) + len(b"  HTTP/1.1\r\n")
        return line + sum(len(name) + len(value) + len(b": \r\n") for name, value in self.headers) + len(b"\r\n")

    def on_body(self, body: bytes) -> None:
        """Take a part of a body, which the operation has a limit for."""
        self._came = True
        super().on_body(body)

    def send_400_response(self, msg: str) -> None:
        """Say that the request is bad, or that its header is too long."""
        if self._too_long:
            self._refuse()
        else:
            super().send_400_response(msg)

    def _refuse(self) -> None:
        """Read nothing more, and say so, unless a request before is under way, which this would seem to answer."""
        if self._refused or self.transport.is_closing():
            return
        self._refused = True
        if self.cycle is not None and not self.cycle.response_complete:
            self.transport.abort()
            return
        body = Problem("headers-too-large").body()
        head = (
            "HTTP/1.1 431 Request Header Fields Too Large\r\n"
            f"content-type: {MEDIA}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.write_eof()
        self.loop.call_later(LINGER, self.transport.close)
