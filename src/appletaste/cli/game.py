"""``appletaste game``: what kind of game a file holds, and whether learning can pay in it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from .options import add_json, add_verb

DESCRIPTION = """\
Analyse a finite partial-monitoring game: which actions can be best, which of them are
neighbours, what can be observed, and how fast one can learn."""

EXAMPLES = """\
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


def add(verbs: Any) -> None:
    """Add the verb to the parser."""
    parser = add_verb(
        verbs, "game", run, "can learning pay in a game, and what must be looked at", DESCRIPTION, EXAMPLES
    )
    parser.add_argument("file", type=Path, metavar="FILE.json", help="the game: loss and feedback, as below")
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Say what kind of game a file holds."""
    from ..theory import analyse, read_game
    from ..theory.report import game_tables
    from .console import print_json, print_table

    found = analyse(read_game(args.file)).as_dict()
    if args.json:
        print_json(found)
        return
    print(f"{found['name']}: {found['class']}, minimax regret of order {found['rate']}\n")
    print("\n".join(found["in_words"]))
    for sheet in game_tables(found):
        print(f"\n{sheet.title}")
        print_table("", sheet.header, sheet.rows)
