"""A service to be asked: uvicorn in a thread of this process, and plain requests."""

from __future__ import annotations

import hashlib
import http.client
import json
import random
import socket
import threading
import time

import appletaste as at
from appletaste.records.stores import open_store
from appletaste.service.keys import SCOPES, Keys
from appletaste.service.server import Server
from appletaste.streams import Stream

COSTS = at.Costs(miss=5, false_alarm=1, hit=0)
PEOPLE = [{"age": 30, "job": "student"}, {"age": 50, "job": "retired"}, {"age": 40, "job": "pilot"}]

ORDERS = "/v1/streams/orders"


def item(k):
    """Return item k, the same in every test."""
    chance = random.Random(k)
    return [round(chance.gauss(0, 1), 6) for _ in range(3)]


class Told:
    """An answer."""

    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)

    @property
    def problem(self):
        assert self.headers["content-type"] == "application/problem+json"
        return self.json()["type"].rsplit(":", 1)[-1]


def ask(port, method, path, body=None, key=None, headers=None, raw=None, connection=None):
    """Send one request and return its answer; ``raw`` is a body as it is."""
    used = connection or http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    given = dict(headers or {})
    if key is not None:
        given.setdefault("Authorization", f"Bearer {key}")
    content = raw
    if body is not None:
        content = json.dumps(body).encode()
    if content is not None:
        given.setdefault("Content-Type", "application/json")
    try:
        used.request(method, path, content, given)
        with used.getresponse() as answer:
            return Told(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
    finally:  # also where the server was killed in the middle of its answer
        if connection is None:
            used.close()


def hear(port, path, headers):
    """Return a live view that has begun."""
    view = socket.create_connection(("127.0.0.1", port), timeout=20)
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    view.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n{lines}\r\n".encode())
    heard = b""
    while b"retry" not in heard:
        heard += view.recv(65536)
    return view


def make_streams(store):
    """Make a stream of vectors and one of records."""
    vectors = at.policy("voi", n_features=3, costs=COSTS)
    Stream.create(store, "orders", at.streams.Awaiting(vectors), seed=7, expire_after=100.0).close()
    features = at.Encoder().fit(PEOPLE)
    policy = at.policy("voi", n_features=features.n_features, costs=COSTS)
    Stream.create(store, "people", policy, features=features, seed=7).close()


class Running:
    """A service over a store, in a thread; ``with`` starts and stops it."""

    def __init__(self, store, port=0, **given):
        """Serve at any port; at one that is given, others that share the store pass requests on."""
        address = f"http://127.0.0.1:{port}" if port else ""
        self.store, self.server = store, Server(store, port=port, log=False, address=address, **given)
        self.app = self.server.app
        self.thread = threading.Thread(target=self.server.run)

    def __enter__(self):
        self.thread.start()
        deadline = time.monotonic() + 60
        while self.server.port is None:
            assert self.thread.is_alive(), "the service did not start"
            assert time.monotonic() < deadline
            time.sleep(0.01)
        self.port = self.server.port
        return self

    def __exit__(self, *error):
        self.server.uvicorn.should_exit = True
        self.thread.join(60)
        assert not self.thread.is_alive()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def keys(self):
        return self.app.host.keys

    def key(self, *scopes, streams=("*",), expires=None):
        """Make a key with some scopes, or with all."""
        return self.keys.create("test", scopes or tuple(SCOPES), streams, expires)[0]

    def sign_in(self, key):
        """Sign in with a key; return the headers that a page sends."""
        told = self.ask("POST", "/v1/session", {"key": key})
        return {"Cookie": told.headers["set-cookie"].split(";")[0], "X-CSRF-Token": told.json()["csrf"]}

    def ask(self, *args, **given):
        return ask(self.port, *args, **given)

    def digest(self):
        """Return the digest of everything that is stored."""
        return digest(self.store)


def digest(store):
    """Return the digest of a store: the head of every stream, and all small values."""
    found = hashlib.sha256()
    rows = store.ask("SELECT name, seq, digest FROM streams ORDER BY name")
    # but for the trail, which is there to say that somebody was refused
    rows += store.ask("SELECT space, key, value FROM small_values WHERE space <> 'trail' ORDER BY space, key")
    found.update(repr(rows).encode())
    return found.hexdigest()


def new_store(folder, name="shop.db"):
    store = open_store(folder / name)
    make_streams(store)
    return store


def secret_of(store, *scopes, streams=("*",)):
    return Keys(store).create("test", scopes or tuple(SCOPES), streams)[0]
