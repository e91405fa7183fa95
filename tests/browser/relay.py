"""Stands between a page and its service, and can be cut: open connections end, and new ones are refused."""

from __future__ import annotations

import contextlib
import socket
import threading


class Relay:
    """Passes bytes on to a port of this machine; ``with`` starts and stops it."""

    def __init__(self, to):
        self.to, self.open, self.listening = to, [], True
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        self.thread = threading.Thread(target=self._accept)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *error):
        self.to = None
        socket.create_connection(("127.0.0.1", self.port)).close()  # wakes the one who accepts
        self.thread.join()
        self.server.close()
        self.cut()

    def cut(self):
        """End what is open, and refuse what comes, until ``mend``."""
        self.listening = False
        while self.open:
            _end(self.open.pop())

    def mend(self):
        self.listening = True

    def _accept(self):
        while True:
            near, _ = self.server.accept()
            if self.to is None:
                return near.close()
            if not self.listening:
                near.close()
                continue
            far = socket.create_connection(("127.0.0.1", self.to))
            self.open += [near, far]
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=_pass_on, args=(one, other), daemon=True).start()


def _pass_on(one, other):
    with contextlib.suppress(OSError):
        while data := one.recv(1 << 16):
            other.sendall(data)
    _end(one)
    _end(other)


def _end(connection):
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
