"""Time and memory, measured one player at a time with nothing else running: each in a process of its own.

The job is the environment ``peer`` (d = 20, T = 2000), after one shorter warm-up. A round is decide and learn, with
whatever formatting the library needs. Memory is the growth of the resident set of that process: ``library`` is what the
library, its compiled code and a first short run add to Python, NumPy and the tables, ``run`` what the run adds to that.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from appletaste.problems import Table

from .play import seed_of, table_of
from .players import Configuration, find_player

WARM_UP = 200
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


def resident() -> float:
    """Return the resident set of this process in MB, or its highest where the system tells nothing else."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    highest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return highest / 1e6 if sys.platform == "darwin" else highest / 1e3


def time_rounds(configuration: Configuration, table: Table, rounds: int, seed: int) -> np.ndarray:
    """Return the microseconds of each round."""
    player = configuration.make(table.n_features, table.costs, seed, table.rounds)
    times = np.empty(rounds)
    for t in range(rounds):
        x, label = table.items[t], int(table.labels[t])
        started = time.perf_counter_ns()
        act = player.decide(x)
        player.learn(x, act, label if act else None)
        times[t] = time.perf_counter_ns() - started
    return times / 1e3


def measure(name: str, environment: str = "peer", rounds: int | None = None) -> dict[str, Any]:
    """Return the times and the memory of one player, in this process."""
    table, warm = table_of(environment, 0, Path()), table_of(environment, 1, Path())
    bare = resident()  # Python, NumPy and the tables
    configuration = find_player(name)
    time_rounds(configuration, warm, min(WARM_UP, warm.rounds), 1)
    gc.collect()
    ready = resident()
    rounds = min(rounds or table.rounds, table.rounds)
    times = time_rounds(configuration, table, rounds, seed_of(name, environment, 0))
    return {
        "player": name,
        "rounds": rounds,
        "p50": float(np.quantile(times, 0.5)),
        "p99": float(np.quantile(times, 0.99)),
        "mean": float(times.mean()),
        "library_mb": ready - bare,
        "run_mb": resident() - ready,
    }


def measure_alone(name: str, environment: str = "peer", rounds: int | None = None) -> dict[str, Any]:
    """Return ``measure`` of a fresh process; an error is the answer where there is one."""
    command = [sys.executable, "-m", "bench.peers.latency", name, "--environment", environment]
    command += ["--rounds", str(rounds)] if rounds else []
    found = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **ONE_THREAD})
    if found.returncode:
        return {"player": name, "error": (found.stderr.strip().splitlines() or ["no message"])[-1][:300]}
    return json.loads(found.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("player")
    parser.add_argument("--environment", default="peer")
    parser.add_argument("--rounds", type=int)
    args = parser.parse_args()
    print(json.dumps(measure(args.player, args.environment, args.rounds)))


if __name__ == "__main__":
    main()
