"""The command line: one module for each verb, thin over the library. Heavy imports wait until a verb needs them."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from .. import __version__
from ..errors import AppleTasteError
from . import (
    decide,
    demo,
    desk,
    drift,
    example,
    game,
    label,
    look,
    missed,
    model,
    paper,
    plan_audit,
    policies,
    problems,
    replay,
    report,
    simulate,
    theory,
    what_if,
    worklist,
)
from .flags import as_flags

DESCRIPTION = """\
Decide which items to act on when the true label is seen only if you act.

Policies (what decides) play problems (what arrives); regret is the expected
cost above that of the best action for every item."""

EXAMPLES = """\
examples:
  appletaste policies                        what can decide, and its options
  appletaste problems                        what can arrive
  appletaste simulate --problem i --policy pg-ts --policy pg-ids
  appletaste look loans.csv --label bad      is the file fit to be played? leaks, codes, ...
  appletaste replay loans.csv --label bad --costs miss=5,false_alarm=1,hit=0
  appletaste example orders.csv              a raw file to try things on (docs/guide.md)
  appletaste missed decisions.jsonl          how many positives are being missed?
  appletaste what-if decisions.jsonl --threshold 0.3
  appletaste report decisions.jsonl --out out/june
  appletaste desk create shop.at --from orders.csv --label fraud --id order --costs miss=95,false_alarm=6,hit=4
  appletaste decide shop.at new.csv --out decisions.csv      and: label, worklist (docs/desk-commands.md)
  appletaste model shop.at --out model.html  what the desk believes of each column, drawn
  appletaste demo                            the paper's problems beside its tables
  appletaste game game.json                  can learning pay in your game?
  appletaste theory --quick                  the paper's theory beside measurements
"""

#: The verbs in the order of the help: each module adds its parser, and names the function that runs it.
VERBS = (
    *(simulate, look, replay, missed, what_if, plan_audit, drift, report, example),
    *(desk, decide, label, worklist, model),
    *(paper, policies, problems, demo, game, theory),
)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all verbs."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("appletaste", description=DESCRIPTION, epilog=EXAMPLES, formatter_class=raw)
    parser.add_argument("--version", action="version", version=f"appletaste {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for verb in VERBS:
        verb.add(verbs)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; a mistake in the call ends with one sentence and exit code 2."""
    args = build_parser().parse_args(arguments)
    try:
        args.run(args)
    except BrokenPipeError:  # whoever read our output has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (AppleTasteError, OSError) as error:
        print(f"appletaste: {_in_words(error)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("appletaste: stopped", file=sys.stderr)
        return 130
    return 0


def _in_words(error: Exception) -> str:
    """Return what went wrong; of what the machine refuses, with which file and what to look at."""
    if isinstance(error, AppleTasteError) or not isinstance(error, OSError) or error.filename is None:
        return as_flags(error)
    return (
        f"cannot read or write {error.filename}: {error.strerror}. Is the path right, is there room, and may you write "
        "there?"
    )
