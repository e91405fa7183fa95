"""How long the first minute takes, each figure beside its bar: ``make bench ARGS=start``.

Compilation, the first commands, later starts: every figure is of a fresh process with an empty cache. Processor seconds
are those of the process that the user waits for, with the seconds that it waited for another, or of the busiest of two
that work beside each other; they are what the wall clock shows on cores with nothing else to do. `--clone` adds set-up
and `make demo` in a clone of this repository, which take minutes and need a package index.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .figures.parts import table
from .figures.stored import keep_run

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent

#: What a script prints at its end.
SECONDS = """
import resource
from appletaste.kernels._numba import KernelCache
used = resource.getrusage(resource.RUSAGE_SELF)
print("SECONDS", used.ru_utime + used.ru_stime + KernelCache.waited)
"""
ROUNDS = f"""
import appletaste as at
table = at.problem("i", rounds=300).draw(at.Key(0))
at.play(at.policy("voi", n_features=5, costs=table.costs), table)
{SECONDS}
"""
HALF = """
import os
from appletaste.kernels.ahead import BESIDE
os.environ[BESIDE] = os.environ["NUMBA_CACHE_DIR"]
from appletaste.cli import warm
warm.warm(backwards=%s)
"""
SIGNATURES = """
from appletaste.cli.warm import warm; warm()
from appletaste.kernels._jit import KERNELS
print(sum(bool(k.signatures) for k in KERNELS.values()), *(n for n, k in KERNELS.items() if len(k.signatures) > 1))
"""


def timed(command: Sequence[str | Path], cache: str, folder: Path = ROOT) -> tuple[float, float, str]:
    """Run a command; return its wall seconds, its processor seconds with all its children, and what it printed."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # a user's Python keeps what it has read: 0.3 s of a later start
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    found = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    own = re.search(r"SECONDS ([\d.]+)", found.stdout)
    return wall, float(own.group(1)) if own else used, found.stdout


ROWS: list[tuple[str, ...]] = []


def say(name: str, bar: float, wall: float, processor: float) -> None:
    """Print one figure, and keep it for the table."""
    ROWS.append((name, f"{processor:.2f}", f"{wall:.2f}", f"{bar:g}", "yes" if processor <= bar else "no"))
    print(f"{name:<58} {processor:7.2f} {wall:7.2f} {bar:7.1f}  {'yes' if processor <= bar else 'NO'}", flush=True)


def first_rounds() -> None:
    """Play 300 rounds of voi with nothing compiled, and again with what they left."""
    with tempfile.TemporaryDirectory() as cache:
        say("300 rounds of voi, cold", 8.0, *timed([sys.executable, "-c", ROUNDS], cache)[:2])
        say("300 rounds of voi, a later start", 0.6, *timed([sys.executable, "-c", ROUNDS], cache)[:2])


def all_kernels() -> None:
    """Compile all kernels as set-up does, in two processes that share a cache, and say how long the busier takes."""
    with tempfile.TemporaryDirectory() as cache, ThreadPoolExecutor() as pool:
        commands = ([sys.executable, "-c", HALF % backwards + SECONDS] for backwards in (False, True))
        walls, used, _ = zip(*pool.map(lambda command: timed(command, cache), commands), strict=True)
    say(f"all kernels at set-up ({sum(used):.1f} in two processes)", 20.0, max(walls), max(used))


def replay() -> None:
    """Replay the example file with nothing compiled; then what starts take later."""
    with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryDirectory() as folder:
        subprocess.run([BIN / "appletaste", "example", f"{folder}/orders.csv"], check=True, stdout=subprocess.DEVNULL)
        given = ["replay", f"{folder}/orders.csv", "--label", "fraud", "--drop", "order", "--seed", "2"]
        given += ["--costs", "miss=amount*0.9+15,false_alarm=6,hit=4"]
        wall, both, _ = timed([BIN / "appletaste", *given], cache)
        say(f"appletaste replay, cold ({both:.1f} in all its processes)", 20.0, wall, both / (os.cpu_count() or 1))
        say("appletaste --help", 0.6, *timed([BIN / "appletaste", "--help"], cache)[:2])
        say("appletaste policies", 0.6, *timed([BIN / "appletaste", "policies"], cache)[:2])
        say("import appletaste", 0.6, *timed([sys.executable, "-c", "import appletaste"], cache)[:2])


def clone() -> None:
    """Set up in a fresh clone and run its demo."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", ROOT, f"{folder}/clone"], check=True)
        wall, both, _ = timed(["make", "demo", f"PYTHON={sys.executable}"], "", Path(folder) / "clone")
        # Set-up is one process after the other, which also wait for the package index: the clock is what counts.
        say(f"make demo from a fresh clone, by the clock ({both:.1f} in all)", 75.0, wall, wall)


def signatures() -> None:
    """Say which kernels are compiled more than once because of what they are called with."""
    with tempfile.TemporaryDirectory() as cache:
        count, *twice = timed([sys.executable, "-c", SIGNATURES], cache)[2].split()
    print(f"{count} kernels compiled; with more than one signature: {', '.join(twice) or 'none'}")


def main() -> None:
    """Print every figure beside its bar, and keep the run."""
    parser = argparse.ArgumentParser(prog="python -m bench start", description=__doc__)
    parser.add_argument("--clone", action="store_true", help="also make demo in a fresh clone, set-up included")
    parser.add_argument("--signatures", action="store_true", help="also count the signatures of all kernels, cold")
    given = parser.parse_args()
    print(f"{'seconds':<58} {'busiest':>7} {'wall':>7} {'bar':>7}  met")
    first_rounds()
    all_kernels()
    replay()
    if given.clone:
        clone()
    if given.signatures:
        signatures()
    if not given.clone:
        keep_run("start", {"table": [table(("", "busiest process, s", "by the clock, s", "bar, s", "met"), ROWS)]})


if __name__ == "__main__":
    main()
