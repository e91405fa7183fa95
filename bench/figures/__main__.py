"""The figures of pages: what is stored, of which code it is, and stale runs played again.

Without options stored figures are put into the pages, which then say by themselves which figures are of older code.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time

from .pages import MARK, pages, write_pages, wrong_anywhere
from .parts import Figure, parsed
from .runs import RUNS
from .stored import ROOT, Run, digest, stored, write


def listed() -> str:
    """Return every run, of which commit it is, and what its code has become."""
    runs, lines = stored(), []
    for name, kind in sorted(RUNS.items(), key=lambda one: one[1].minutes):
        run = runs.get(name)
        state = "not stored" if run is None else "of this code" if run.fresh(name) else "of older code"
        where = f"{run.commit}, {run.date}" if run else ""
        lines.append(f"{name:18}{kind.minutes:5g} min  {state:14}{where:24}python -m bench {kind.words}")
    return "\n".join(lines)


def play(most: float) -> None:
    """Play every run that is not of this code and takes at most so many minutes, the shortest first."""
    runs = stored()
    for name, kind in sorted(RUNS.items(), key=lambda one: one[1].minutes):
        if kind.minutes > most or (name in runs and runs[name].fresh(name)):
            continue
        print(f"\n{name}: python -m bench {kind.words}, about {kind.minutes:g} minutes", flush=True)
        began = time.perf_counter()
        done = subprocess.run([sys.executable, "-m", "bench", *kind.words.split()], cwd=ROOT, check=False)
        took = f"{(time.perf_counter() - began) / 60:.1f} minutes"
        print(f"{name}: {'failed' if done.returncode else 'done'} in {took}", flush=True)


def take_over(name: str, commit: str, day: str, note: str) -> None:
    """Store what pages show as the figures of a run that was not kept: its text, and the commit that it is of."""
    old = stored().get(name)
    if old is not None and old.code:
        raise SystemExit(f"{name} was played and kept: its figures are not to be taken from a page")
    figures: dict[str, Figure] = {}
    pictures: dict[str, str] = {}
    for page in pages():
        for _, run, figure, content, _ in MARK.findall(page.read_text()):
            if run == name and figure != "origin":
                told = re.sub(r"^\*Measured at commit .*\*$", "", content.strip(), flags=re.M)
                figures[figure] = parsed(told) if "\n" in content else told
                for picture in re.findall(r"!\[[^]]*\]\(([^)]+)\)", content):
                    path = page.parent / picture
                    pictures[str(path.relative_to(ROOT))] = digest(path)
    if old is not None:
        commit, day, note = commit or old.commit, day or old.date, note or old.note
        figures = old.figures | figures
    if not (commit and day and figures):
        raise SystemExit(f"to take {name} over from pages: marks around it, --commit and --date")
    write(name, Run(RUNS[name].command, commit, day, "", "", figures, pictures, note or "kept as text"))


def main() -> None:
    """Put stored figures into the pages."""
    parser = argparse.ArgumentParser(prog="python -m bench figures", description=__doc__)
    parser.add_argument("--list", action="store_true", help="list runs, of which code each is, and what it takes")
    parser.add_argument("--check", action="store_true", help="say what is wrong with the pages, and write nothing")
    parser.add_argument("--play", type=float, metavar="MINUTES", help="first play stale runs that take at most so long")
    parser.add_argument("--take-over", metavar="RUN", help="first store what pages show of a run that was never kept")
    parser.add_argument("--commit", default="", help="the commit that the text which is taken over is of")
    parser.add_argument("--date", default="", help="its day")
    parser.add_argument("--note", default="", help="what a reader must know of it besides")
    args = parser.parse_args()
    if args.list:
        print(listed())
        return
    if args.take_over:
        take_over(args.take_over, args.commit, args.date, args.note)
    if args.play is not None:
        play(args.play)
    if not args.check:
        for page in write_pages():
            print(f"{page} rewritten")
    found = wrong_anywhere()
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
