"""Streams that last: how fast, how large, how long: ``make bench-service``, parts by ``ARGS='--part embedded'``."""

from __future__ import annotations

import argparse
from pathlib import Path

from appletaste.cli.console import print_table

from . import embedded

OUT = Path("out/bench-service")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--part", choices=["embedded"], action="append")
    parser.add_argument("--decisions", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=20)
    given = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    if "embedded" in (given.part or ["embedded"]):
        rows = embedded.groups(OUT, given.rounds)
        rows += embedded.million(OUT, given.decisions)
        rows += embedded.passes(OUT, given.decisions)
        rows += embedded.pauses(OUT, OUT / f"{given.decisions}.db", 2000)
        print_table("at.Stream in a file, 20 features", ("", "rate", "each"), rows)


if __name__ == "__main__":
    main()
