"""The command line: one module for each verb, thin over the library. Heavy imports wait until a verb needs them."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper

from .. import __version__
from ..errors import AppleTasteError, InUseError, StoreError, near
from . import (
    completion,
    decide,
    doctor,
    drift,
    example,
    game,
    keys,
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
    serve,
    simulate,
    stream,
    theory,
    what_if,
    worklist,
)
from .flags import as_flags
from .options import STORAGE, ExitError, in_use
from .parser import Parser

DESCRIPTION = """\
Decide which items to act on when the true label is seen only if you act."""

#: The verbs by what is at hand, in the order of the help, each with an example. A module adds the parser of its verb
#: and names the function that runs it.
GROUPS = {
    "your file": (
        (example, "orders.csv"),
        (look, "orders.csv --label fraud --time placed_at"),
        (replay, "orders.csv --label fraud --drop order --costs miss=95,false_alarm=6,hit=4"),
    ),
    "a live stream": (
        (stream, "create shop.db --history orders.csv --label fraud --id order --costs miss=95,false_alarm=6,hit=4"),
        (decide, "shop.db monday.csv --out decisions.csv"),
        (worklist, "shop.db --top 20"),
        (label, "shop.db outcomes.csv"),
        (model, "shop.db --out model.html"),
    ),
    "a service": (
        (keys, "create shop --store shop.db --scope decide --scope label"),
        (serve, "--store shop.db --port 8080"),
        (doctor, ""),
    ),
    "a stream, or a log of decisions": (
        (missed, "shop.db"),
        (what_if, "decisions.parquet --threshold 0.3"),
        (plan_audit, "decisions.parquet --margin 0.05"),
        (drift, "june.parquet --baseline may.parquet"),
        (report, "decisions.parquet --out out/june"),
    ),
    "research": (
        (policies, ""),
        (problems, ""),
        (simulate, "--problem i --policy voi --policy pg-ts"),
        (paper, "--only figure-1"),
        (theory, "--quick"),
        (game, "game.json"),
    ),
    "the shell": ((completion, "bash"),),
}

#: Verbs that were, and what is typed instead.
RETIRED = {"desk": ": a live desk is a stream in a store, 'appletaste stream create shop.db --history orders.csv'"}


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all verbs."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = Parser("appletaste", "appletaste VERB ...", DESCRIPTION, formatter_class=raw)
    parser.add_argument("--version", action="version", version=f"appletaste {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", help=argparse.SUPPRESS, prog="appletaste")
    overview = []
    for group, members in GROUPS.items():
        overview.append(f"{group}:")
        for module, arguments in members:
            module.add(verbs)
            told = verbs._choices_actions[-1]  # what argparse would list: the name of the verb and its help
            overview += [f"  {told.dest:<11} {told.help}", f"              appletaste {told.dest} {arguments}".rstrip()]
        overview.append("")
    parser.epilog = "\n".join([*overview, "'appletaste VERB --help' says more. A first walk: docs/guide.md."])
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; a mistake in the call ends with one sentence and exit code 2, a store's with 3."""
    for output in (sys.stdout, sys.stderr):  # a terminal or a pipe may know fewer letters than a file has
        if isinstance(output, TextIOWrapper):
            output.reconfigure(errors="backslashreplace")
    parser = build_parser()
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given:
        parser.print_help()
        return 0
    verbs = next(action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    if not given[0].startswith("-") and given[0] not in verbs:
        other = RETIRED.get(given[0], near(given[0], verbs))
        said = f"there is no verb {given[0]!r}{other}. 'appletaste --help' lists the verbs"
        print(f"appletaste: {said}", file=sys.stderr)
        return 2
    args = parser.parse_args(given)
    try:
        args.run(args)
    except BrokenPipeError:  # whoever read our output has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except ExitError as error:
        if str(error):
            print(f"appletaste: {error}", file=sys.stderr)
        return error.code
    except InUseError:
        print(f"appletaste: {in_use(args)}", file=sys.stderr)
        return STORAGE
    except (AppleTasteError, OSError) as error:
        print(f"appletaste: {_in_words(error)}", file=sys.stderr)
        return STORAGE if isinstance(error, StoreError) else 2
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
