"""How long, and how much memory, the verbs take on a log of ten million decisions: ``make bench ARGS=logs``.

The log is a folder of thirty Parquet files, one a day, beside one of half a million decisions. Each verb runs by itself
as people run it, on the command line, with two jobs; memory is the most that the process and its workers held together
(proportional set size, so that what they share counts once).
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

from appletaste.cli.console import print_table, progress_of

from .stream import write_folder

OUT = Path("out/bench-logs")
SIZES = (500_000, 10_000_000)
VERBS = {
    "missed": (),
    "what-if": ("--threshold", "0.3"),
    "drift": (),
    "report": ("--out",),
}


def made(decisions: int) -> Path:
    """Return the folder of a log of this many decisions, written if it is not there."""
    folder, days = OUT / f"{decisions}", 30
    if len(list(folder.glob("*.parquet"))) < days:
        shutil.rmtree(folder, ignore_errors=True)
        with progress_of(f"writing {decisions:,} decisions", ["day"] * days, 1) as step:
            write_folder(folder, decisions, days, step)
    return folder


def held(pid: int) -> int:
    """Return how many bytes a process and all below it hold now."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            after = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it ended while we looked
            continue
        children.setdefault(int(after[1]), []).append(int(stat.parent.name))
    total, left = 0, [pid]
    while left:
        one = left.pop()
        left += children.get(one, [])
        try:
            rollup = Path(f"/proc/{one}/smaps_rollup").read_text()
            total += 1024 * next(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))
        except (OSError, StopIteration):
            continue
    return total


def measure(verb: str, folder: Path, engine: str, jobs: int) -> tuple[float, float, float, str]:
    """Return seconds, seconds of processors, gigabytes and what was printed."""
    options = list(VERBS[verb])
    if options[-1:] == ["--out"]:
        options.append(str(OUT / f"report-{folder.name}"))
    command = [sys.executable, "-m", "appletaste", verb, str(folder), *options, "--engine", engine, "--jobs", str(jobs)]
    began, most = time.perf_counter(), 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        printed: list[str] = []
        reader = threading.Thread(target=lambda: printed.append(process.stdout.read()))
        reader.start()
        while not os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG):
            most = max(most, held(process.pid))
            time.sleep(0.25)
        seconds = time.perf_counter() - began
        reader.join()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return seconds, used.ru_utime + used.ru_stime, most / 1e9, printed[0]


def main() -> None:
    """Write the logs, run every verb on each, print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench logs", description=__doc__)
    parser.add_argument("--decisions", type=int, nargs="*", default=SIZES)
    parser.add_argument("--verbs", nargs="*", default=list(VERBS))
    parser.add_argument("--engine", default="local")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    rows, said = [], {}
    for decisions in args.decisions:
        folder = made(decisions)
        for verb in args.verbs:
            print(f"{verb} on {decisions:,} decisions", file=sys.stderr, flush=True)
            seconds, used, most, said[verb] = measure(verb, folder, args.engine, args.jobs)
            rows.append((verb, f"{decisions:,}", f"{seconds:.1f}", f"{used:.1f}", f"{most:.2f}"))
    print_table(
        f"engine {args.engine}, {args.jobs} jobs", ("verb", "decisions", "seconds", "of processors", "GB"), rows
    )
    print(said.get("missed", ""))


if __name__ == "__main__":
    main()
