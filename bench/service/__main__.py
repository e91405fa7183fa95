"""Streams that last: how fast, how large, how long: ``make bench ARGS='service --part embedded'`` is one part."""

from __future__ import annotations

import argparse
from pathlib import Path

from appletaste.cli.console import print_table

from . import embedded, long_questions, over_http, waiting

OUT = Path("out/bench-service")
PARTS = ("embedded", "http", "queue", "long")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench service", description=__doc__)
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--decisions", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=2.5)
    given = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    parts = given.part or PARTS
    if "http" in parts:
        rows = over_http.compare(OUT, max(given.rounds // 2, 1), given.seconds)
        print_table("over HTTP, 20 features, FULL sync", ("", "rate", "each"), rows)
    if "queue" in parts:
        rows = waiting.queue(OUT)
        print_table("100,000 items that wait, beside decisions", ("", "least", ""), rows)
    if "long" in parts:
        rows = long_questions.beside(OUT, given.decisions, 8 * given.seconds)
        print_table("four long questions at once, beside decisions", ("", "decisions", "memory"), rows)
    if "embedded" in parts:
        rows = embedded.groups(OUT, given.rounds)
        rows += embedded.million(OUT, given.decisions)
        rows += embedded.passes(OUT, given.decisions)
        rows += embedded.pauses(OUT, OUT / f"{given.decisions}.db", 2000)
        print_table("at.Stream in a file, 20 features", ("", "rate", "each"), rows)


if __name__ == "__main__":
    main()
