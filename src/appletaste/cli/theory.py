"""``appletaste theory`` and ``game``: what the paper proves, beside measurements; what kind of game a file holds."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from .options import add_json, add_run_options, add_verb

DESCRIPTION = """\
Compute what the paper proves and measure it: the regret bound of Theorem 1 and how
regret really grows with rounds and features; the assumptions on runs; the sampler
against the exact posterior (Theorem 2) and regret per round (Theorem 3). How to read
the tables: docs/theory.md."""

EXAMPLES = """\
examples:
  appletaste theory --quick     seconds instead of minutes
  appletaste theory --json
"""


def add(verbs: Any) -> None:
    """Add ``theory`` to the parser."""
    parser = add_verb(
        verbs,
        "theory",
        run,
        "the paper's theory beside measurements: bound, growth, assumptions, convergence",
        DESCRIPTION,
        EXAMPLES,
    )
    parser.add_argument("--quick", action="store_true", help="seconds instead of minutes, with coarser numbers")
    add_run_options(parser)


def run(args: argparse.Namespace) -> None:
    """Set the paper's theory beside measurements."""
    from ..theory.measurements import study, study_tables
    from .console import print_json, print_table

    def say(step: str) -> None:
        print(f"{step} ...", file=sys.stderr, flush=True)

    measured = study(quick=args.quick, seed=args.seed, jobs=args.jobs, progress=say)
    if args.json:
        print_json(measured)
        return
    for sheet in study_tables(measured):
        print(sheet.title)
        print_table("", sheet.header, sheet.rows)
        print()


GAME = """\
Analyse a finite partial-monitoring game: which actions can be best, which of them are
neighbours, what can be observed, and how fast one can learn."""

GAME_EXAMPLES = """\
A game is a JSON file; rows are actions, columns are outcomes. Apple tasting:

  {"actions":  ["pass", "act"],
   "outcomes": ["negative", "positive"],
   "loss":     [[0.0, 1.0], [0.4, 0.05]],
   "feedback": [["nothing", "nothing"], ["it was negative", "it was positive"]]}

Feedback may be texts or numbers; only which of them are equal counts. The class
says how regret must grow over T rounds, for the best policy on the worst case:

  trivial   1      one action is never worse than the others
  easy      T^1/2  what must be seen is shown by actions worth playing anyway
  hard      T^2/3  one must now and then pay just to look
  hopeless  T      nothing shows which action is better

examples:
  appletaste game game.json
  appletaste game game.json --json
"""


def add_game(verbs: Any) -> None:
    """Add ``game`` to the parser."""
    parser = add_verb(
        verbs, "game", run_game, "can learning pay in a game, and what must be looked at", GAME, GAME_EXAMPLES
    )
    parser.add_argument("file", type=Path, metavar="FILE.json", help="the game: loss and feedback, as below")
    add_json(parser)


def run_game(args: argparse.Namespace) -> None:
    """Say what kind of game a file holds."""
    from ..theory import analyse, read_game
    from ..theory.measurements import game_tables
    from .console import print_json, print_table

    analysis = analyse(read_game(args.file)).as_dict()
    if args.json:
        print_json(analysis)
        return
    print(f"{analysis['name']}: {analysis['class']}, minimax regret of order {analysis['rate']}\n")
    print("\n".join(analysis["in_words"]))
    for sheet in game_tables(analysis):
        print(f"\n{sheet.title}")
        print_table("", sheet.header, sheet.rows)
