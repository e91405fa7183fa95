"""Long questions beside decisions: what four at once cost a writer of a large record, in time and in memory."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from appletaste.records.stores import open_store
from appletaste.service.keys import SCOPES, Keys

from .embedded import fill
from .load import Load

#: Connections that ask for decisions, and long questions at once.
CONNECTIONS, AT_ONCE = 16, 4
#: What is asked; None: nothing, for comparison.
QUESTIONS = (None, "drift", "drift", "days", "missed", "log.parquet")
Row = tuple[str, str, str]


def memory(process: int) -> tuple[float, float]:
    """Return how many MB a process holds, and those that it has begun."""
    found, others = _resident(process), 0.0
    for child in Path(f"/proc/{process}/task/{process}/children").read_text().split():
        others += _resident(int(child))
    return found, others


def _resident(process: int) -> float:
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except FileNotFoundError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS")), 0.0)


@contextmanager
def serving(path: Path) -> Iterator[tuple[int, int]]:
    """Serve a file; give the process and its port."""
    command = [sys.executable, "-m", "appletaste", "serve", "--store", str(path), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
        assert process.stderr is not None
        told = (json.loads(line) for line in process.stderr if line.startswith("{"))
        port = next(line["port"] for line in told if line["message"] == "listening")
        threading.Thread(target=process.stderr.read, daemon=True).start()
        yield process.pid, port
        process.terminate()


def ask(port: int, key: str, question: str, took: list[float]) -> None:
    """Ask a long question, and note how long the answer took."""
    connection = HTTPConnection("127.0.0.1", port, timeout=600)
    began = time.perf_counter()
    connection.request("GET", f"/v1/streams/orders/{question}", headers={"Authorization": f"Bearer {key}"})
    answer = connection.getresponse()
    answer.read()
    took.append(time.perf_counter() - began if answer.status == 200 else float("nan"))
    connection.close()


def beside(folder: Path, decisions: int, seconds: float) -> list[Row]:
    """Return p50, p99 and memory of a server while long questions are asked, one after the other."""
    path = folder / f"{decisions}-asked.db"
    if not path.with_suffix(".whole").exists():
        path.unlink(missing_ok=True)
        fill(path, decisions)
        path.with_suffix(".whole").touch()
    store = open_store(path)
    key = Keys(store).create("bench", SCOPES)[0]
    store.close()
    rows: list[Row] = []
    with serving(path) as (process, port):
        for question in QUESTIONS:
            rows.append(_one(process, port, key, question, seconds))
    return rows


def _one(process: int, port: int, key: str, question: str | None, seconds: float) -> Row:
    load = Load(port, "/v1/streams/orders/decisions", key, CONNECTIONS, seconds, False)
    command = [sys.executable, "-m", "bench.service.load", json.dumps(load._asdict())]
    most, took = (0.0, 0.0), list[float]()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as loading:
        time.sleep(1.0)
        asked = [
            threading.Thread(target=ask, args=(port, key, question, took)) for _ in range(AT_ONCE if question else 0)
        ]
        for one in asked:
            one.start()
        while loading.poll() is None or any(one.is_alive() for one in asked):
            held = memory(process)
            most = max(most[0], held[0]), max(most[1], held[1])
            time.sleep(0.1)
        assert loading.stdout is not None
        told: dict[str, Any] = json.loads(loading.stdout.read())
    return (
        f"{AT_ONCE} x /{question} at once, {max(took):.1f} s" if took else "nothing else",
        f"p50 {1000 * told['p50']:.1f} ms, p99 {1000 * told['p99']:.1f} ms, {told['rate']:,.0f} a second",
        f"server {most[0]:.0f} MB, beside {most[1]:.0f} MB",
    )
