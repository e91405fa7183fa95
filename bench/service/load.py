"""A load of its own process: so many connections, each with one request at a time, and how long the answers take.

Raw sockets and one loop: the generator shares two cores with the server, so it must cost little.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import count
from typing import NamedTuple

import uvloop

FEATURES, IN_BATCH = 20, 1000


class Load(NamedTuple):
    """What to send, where to, and for how long."""

    port: int
    path: str
    key: str
    connections: int
    seconds: float
    batch: bool
    scattered: bool = (
        False  #: ids that lie all over the index, as random ones do; otherwise in order, as numbers of orders
    )
    ports: Sequence[int] = ()  #: of many streams: where each is served; the path has a place for its number


def pool() -> list[str]:
    """Return items as JSON: with an intercept, and about one in eight worth acting on."""
    chance = random.Random(1)
    return [json.dumps([1.0, *(round(chance.gauss(0, 1), 4) for _ in range(FEATURES - 1))]) for _ in range(500)]


def request(load: Load, body: str) -> bytes:
    head = f"POST {load.path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {load.key}\r\n"
    return f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()


async def client(
    load: Load, number: int, items: list[str], ids: Iterator[str], until: float, times: list[float]
) -> None:
    ends: dict[int, tuple[asyncio.StreamReader, asyncio.StreamWriter]] = {}
    sent, stream = 0, number
    while time.perf_counter() < until:
        if load.batch:
            each = (f'{{"id":"{next(ids)}","item":{items[(7 * sent + j) % 500]}}}' for j in range(IN_BATCH))
            body = f'{{"decisions":[{",".join(each)}]}}'
        else:
            body = f'{{"id":"{next(ids)}","item":{items[(7 * sent + number) % 500]}}}'
        sent += 1
        asked, stream = load, stream + load.connections  # the next time another stream
        if load.ports:
            here = stream % len(load.ports)
            asked = load._replace(port=load.ports[here], path=load.path.format(here))
        if asked.port not in ends:
            ends[asked.port] = await asyncio.open_connection("127.0.0.1", asked.port)
        reader, writer = ends[asked.port]
        content = request(asked, body)
        began = time.perf_counter()
        while True:
            writer.write(content)
            head = await reader.readuntil(b"\r\n\r\n")
            size = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
            await reader.readexactly(size)
            if not (load.ports and head[9:12] == b"503"):
                break
            await asyncio.sleep(0.05)  # the stream is on its way: once more, with the same id
        times.append(time.perf_counter() - began)
        if head[9:10] != b"2":
            raise RuntimeError(f"the server answered {head[:12]!r}")
    for _, writer in ends.values():
        writer.close()


def names(scattered: bool) -> Iterator[str]:
    """Give ids that no other load has."""
    began = time.time_ns()
    for number in count():
        yield f"{random.getrandbits(64):016x}" if scattered else f"{began}-{number:09d}"


async def run(load: Load) -> None:
    items, times, ids = pool(), list[float](), names(load.scattered)
    began = time.perf_counter()
    until = began + load.seconds
    await asyncio.gather(*(client(load, number, items, ids, until, times) for number in range(load.connections)))
    rate = len(times) * (IN_BATCH if load.batch else 1) / (time.perf_counter() - began)
    times.sort()
    middle, slow = times[len(times) // 2], times[int(0.99 * len(times))]
    print(json.dumps({"rate": rate, "p50": middle, "p99": slow, "requests": len(times)}))


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    uvloop.run(run(Load(**given)))
