"""A service in a process of its own, which can be killed and started again at the same address."""

from __future__ import annotations

import socket
import subprocess
import sys
import time

from appletaste.records.stores import open_store
from appletaste.service.keys import SCOPES, Keys

from ..service.serving import ask


class DeskProcess:
    """Serves a file; ``kill`` is kill -9, and ``start`` goes on where it was."""

    def __init__(self, path):
        self.path = path
        store = open_store(path)
        self.secret = Keys(store).create("Ann", tuple(SCOPES))[0]
        store.close()
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self.port = found.getsockname()[1]
        self.process = None

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def start(self):
        words = [sys.executable, "-m", "appletaste", "serve", "--store", str(self.path), "--port", str(self.port)]
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while True:
            try:
                if ask(self.port, "GET", "/readyz").status == 200:
                    return self
            except OSError:
                pass
            assert self.process.poll() is None
            assert time.monotonic() < deadline, "the service did not start"
            time.sleep(0.05)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def api(self, method, path, body=None):
        told = ask(self.port, method, path, body, key=self.secret)
        assert told.status < 300, (method, path, told.status, told.body[:500])
        return told.json() if told.body else None

    def of(self, path, stream="orders"):
        return self.api("GET", f"/v1/streams/{stream}{path}")
