"""100,000 items that wait, and 100,000 that were passed: a look, a search, a claim, and what decisions wait for."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

import appletaste as at
from appletaste.service.keys import SCOPES, Keys

from .embedded import COSTS, FEATURES, Row
from .over_http import Started

STREAM = "/v1/streams/waiting"
SHOWN = ["customer", "mail"]
GROUP, LEARNT, TIMES = 1000, 300, 15
LOOKS = {
    "by worth": "order=worth",
    "by chance, in the middle": "order=chance&offset=50000",
    "by age, at the end": "order=age&offset=99000",
    "of one stratum and one code": "stratum=c&code=EXPLOIT&offset=3000",
}


SEARCHES = {
    "the beginning of an id": "text=w1234",
    "a name that many have": "text=anna",
    "a part of a mail address": "text=77@mail",
    "a name that nobody has": "text=zzzz",
    "the cases of one customer": "text=Anna%20N17&column=customer",
    "all labels": "of=labelled",
}
NAMES = ("Anna", "Ben", "Cara", "Dora", "Emil", "Fritz", "Hanna", "Ida")


def person(x: np.ndarray, k: int) -> dict[str, Any]:
    """Return an item: numbers that are learnt, and a customer who is shown."""
    told = {f"f{place}": value for place, value in enumerate(x.tolist())}
    return {**told, "customer": f"{NAMES[k % 8]} N{k // 8 % 5000}", "mail": f"n{k}@mail.example"}


def fill(path: Path, n: int) -> str:
    """Make a stream with n items whose labels are awaited, and n that were passed; return a key."""
    store = at.records.stores.open_store(path)
    key, _ = Keys(store).create("bench", SCOPES)
    X = np.random.default_rng(1).normal(size=(n, FEATURES))
    as_they_are = at.Encoder(intercept=False, standardise=False, missing_indicator=False, clip=None)
    features = as_they_are.fit([person(x, k) for k, x in enumerate(X[:200])], drop=SHOWN)
    policy = at.policy("voi", n_features=features.n_features, costs=COSTS)
    stream = at.Stream.create(store, "waiting", at.streams.Awaiting(policy), features=features, audit=0)
    X[:, 0] += 6.0
    for k in range(LEARNT):
        stream.decide(person(X[k], k), id=f"learnt-{k}")
        stream.label(f"learnt-{k}", 1)
    for sign, letter in ((1.0, "w"), (-1.0, "p")):
        for start in range(0, n, GROUP):
            rows = range(start, min(start + GROUP, n))
            items = [person(sign * X[k], k) for k in rows]
            stream.decide_many(items, ids=[f"{letter}{k}" for k in rows], strata=["abcde"[k % 5] for k in rows])
    stream.close()
    store.close()
    return key


class Asking:
    """One connection to the service."""

    def __init__(self, port: int, key: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    def __call__(self, method: str, path: str, body: Any = None) -> float:
        """Return the milliseconds until the answer."""
        began = time.perf_counter()
        content = None if body is None else json.dumps(body)
        self._connection.request(method, STREAM + path, content, self._headers)
        with self._connection.getresponse() as answer:
            answer.read()
            assert answer.status < 300, answer.status
        return 1e3 * (time.perf_counter() - began)


class Deciding(threading.Thread):
    """Decides without end; how long each decision took is told by ``waits``."""

    def __init__(self, port: int, key: str) -> None:
        super().__init__(daemon=True)
        self._ask, self._waits, self._ends = Asking(port, key), [0.0], threading.Event()

    def run(self) -> None:
        item = person(np.array([-6.0] + [0.0] * (FEATURES - 1)), 0)  # passed, so that the queue stays
        for k in count():
            if self._ends.is_set():
                return
            self._waits.append(self._ask("POST", "/decisions", {"id": f"beside-{k}", "item": item}))
            time.sleep(0.005)

    def end(self) -> None:
        self._ends.set()
        self.join()

    def waits(self) -> str:
        found, self._waits = np.array(self._waits), [0.0]
        return f"decisions waited {np.median(found):.1f} ms, at most {found.max():.0f}"


def queue(folder: Path, n: int = 100_000) -> list[Row]:
    """Return the table: the least of many of each, since the machine has others to serve."""
    path = folder / "waiting.db"
    for old in [*folder.glob("waiting.db*"), *folder.glob(".waiting.db*")]:
        old.unlink()
    key = fill(path, n)
    server = Started("appletaste", "serve", "--store", str(path), "--port", "PORT")
    try:
        ask, deciding, ids = Asking(server.port, key), Deciding(server.port, key), count()
        ask("POST", "/decisions", {"id": "first", "item": person(np.zeros(FEATURES), 0)})  # loads compiled code
        deciding.start()
        time.sleep(1.0)
        rows: list[Row] = [("beside nothing", "", deciding.waits())]
        rows.append(("the first look", f"{ask('GET', '/queue'):,.0f} ms", deciding.waits()))
        rows.append(("the first case", f"{ask('GET', '/cases/w0'):,.0f} ms", deciding.waits()))
        rows.append(("the first search", f"{ask('GET', '/cases?text=w1'):,.0f} ms", deciding.waits()))
        for name, query in SEARCHES.items():
            rows.append(repeated(f"50 by {name}", lambda query=query: ask("GET", f"/cases?limit=50&{query}"), deciding))
        for name, query in LOOKS.items():
            rows.append(repeated(f"200 {name}", lambda query=query: ask("GET", f"/queue?limit=200&{query}"), deciding))

        def after_a_label() -> float:
            ask("PUT", f"/decisions/w{next(ids)}/label", {"value": 1})
            return ask("GET", "/queue?limit=200")

        rows.append(repeated("200 after a label", after_a_label, deciding))
        rows.append(repeated("a claim of 25 cases", lambda: ask("POST", "/queue:claim", {"count": 25}), deciding))
        rows.append(repeated("a case", lambda: ask("GET", f"/cases/w{next(ids)}"), deciding))
        deciding.end()
    finally:
        server.stop()
    return rows


def repeated(name: str, work: Callable[[], float], deciding: Deciding) -> Row:
    """Return the row of something that is done many times."""
    found = sorted(work() for _ in range(TIMES))
    return name, f"{found[0]:.1f} ms", f"at most {found[-1]:.0f} ms; {deciding.waits()}"
