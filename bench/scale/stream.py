"""One policy on one long stream, every label learnt, in a process of its own: latency of each round, and memory.

``python stream.py voi 20 1000000`` prints JSON. The stream is played as many times as asked, the same one bit for bit,
and each round keeps the least of its times: what is left is the work, not what else the machine was doing. The raw
figures of the first time are given too.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np

import appletaste as at

COSTS = at.Costs(miss=1.0, false_alarm=0.4, hit=0.05)
CHUNK = 10_000
#: Rounds are summed up in windows that begin here, a decade or half a decade apart.
EDGES = [100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000]


def resident() -> float:
    """Return the memory of this process, in MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6


def chunks(d: int, rounds: int):
    """Yield items and labels, the same ones every time."""
    theta = np.random.default_rng(1).normal(size=d) * 2 / np.sqrt(d)
    for part in range(0, rounds, CHUNK):
        rng = np.random.default_rng([2, part])
        size = min(CHUNK, rounds - part)
        items = rng.normal(size=(size, d))
        yield part, items, (rng.random(size) < 1 / (1 + np.exp(-items @ theta))).astype(int).tolist()


def play(name: str, d: int, rounds: int) -> tuple[np.ndarray, dict[int, float]]:
    """Return the seconds of each round, and the memory the policy had taken at each edge."""
    times, memory = np.full(rounds, np.nan), {}  # written to now, so that it is not counted later
    warm = at.policy(name, n_features=d, costs=COSTS)
    warm.decide(np.ones(d))
    warm.teach(np.ones(d), 1)
    del warm
    gc.collect()
    list(chunks(d, min(rounds, CHUNK)))  # so that their memory is not counted
    start = resident()
    policy, clock = at.policy(name, n_features=d, costs=COSTS), time.perf_counter
    for part, items, labels in chunks(d, rounds):
        for i in range(len(items)):
            x, label = items[i], labels[i]
            began = clock()
            decision = policy.decide(x)
            if decision.act:
                policy.learn(decision, label)
            else:  # every item has a label here
                policy.teach(x, label)
            times[part + i] = clock() - began
        for edge in EDGES:
            if part < edge <= part + len(items):
                memory[edge] = resident() - start
    return times, memory


def summarise(times: np.ndarray, memory: dict[int, float]) -> list[dict[str, float]]:
    """Return mean, median, 99th percentile and worst of the rounds in each window, in microseconds."""
    rows = []
    for low, high in pairwise(EDGES):
        if len(times) < high:
            break
        part = 1e6 * times[low:high]
        row = {"labels": high, "mean": part.mean(), "p50": np.median(part), "p99": np.percentile(part, 99)}
        rows.append({**row, "worst": part.max(), "memory": memory.get(high, float("nan"))})
    return [{key: round(float(value), 3) for key, value in row.items()} for row in rows]


def main() -> None:
    name, d, rounds, passes = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    raw, memory = play(name, d, rounds)
    least = raw.copy()
    for _ in range(passes - 1):
        np.minimum(least, play(name, d, rounds)[0], out=least)
    around = {n: 1e6 * float(np.median(least[int(0.9 * n) : int(1.1 * n)])) for n in EDGES if n <= rounds}
    found = {"policy": name, "d": d, "passes": passes, "rows": summarise(least, memory), "around": around}
    print(json.dumps({**found, "raw": summarise(raw, memory)}))


if __name__ == "__main__":
    main()
