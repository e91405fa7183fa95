"""The command line: one module for each verb, thin over the library. Heavy imports wait until a verb needs them.

The parser of every verb has a usage of a line or two, and tells a mistake in one sentence, with the nearest name.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from typing import Any, NoReturn

from .. import __version__
from ..errors import AppleTasteError, InUseError, StoreError, near
from . import (
    completion,
    decide,
    doctor,
    drift,
    example,
    feed,
    keys,
    label,
    lists,
    look,
    missed,
    model,
    paper,
    plan_audit,
    replay,
    report,
    second_looks,
    serve,
    simulate,
    stream,
    theory,
    what_if,
    worklist,
)
from .citation import bibtex
from .options import STORAGE, ExitError, as_flags, in_use

#: Options that have another name now.
RENAMED = {"--option": "--policy 'NAME[option=value,...]'", "--address": "--cluster", "--features": "--map"}
REQUIRED = "the following arguments are required: "  #: how argparse begins this sentence


class Parser(argparse.ArgumentParser):
    """A parser whose usage names what has to be given, and no more; ``--help`` lists the rest."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Refuse what is not known, in the verb itself: the verb knows which of its options is near."""
        known, rest = super().parse_known_args(args, namespace)
        unknown = next((text.split("=")[0] for text in rest if text.startswith("-")), None)
        if unknown is not None:
            now = RENAMED.get(unknown, "")
            renamed = f" any more: say {now}" if now.partition(" ")[0] in self._option_string_actions else ""
            self.error(f"there is no option {unknown!r}{renamed or near(unknown, self._option_string_actions)}")
        if rest:
            self.error(f"unexpected argument {rest[0]!r}: is a quote or an option missing before it?")
        return known, rest

    def format_usage(self) -> str:
        """Return what has to be given, and that there are options."""
        return f"usage: {self.usage or self._needed()}\n"

    def format_help(self) -> str:
        """Return the help, under the short usage."""
        self.usage = self.usage or self._needed().replace("%", "%%")
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        """End with what has to be given, what is wrong, and where more is said."""
        if message.startswith(REQUIRED):
            message = f"{message.removeprefix(REQUIRED)} must be given"
        stop = "" if message.endswith("?") else "."
        self.exit(2, f"{self.format_usage()}{self.prog}: {message}{stop} '{self.prog} --help' says more\n")

    def _needed(self) -> str:
        """Return the call with all that has to be given, and ``[options]`` for the rest."""
        one_of = [group._group_actions for group in self._mutually_exclusive_groups if group.required]
        given = [action for action in self._actions if action.required]
        parts = [*map(_typed, given), *(f"({' | '.join(map(_typed, group))})" for group in one_of)]
        return " ".join([self.prog, *parts, "[options]"])


def _typed(action: argparse.Action) -> str:
    """Return an argument as it is typed."""
    value = action.metavar or "|".join(action.choices or ()) or action.dest.upper()
    return f"{action.option_strings[0]} {value}" if action.option_strings else str(value)


DESCRIPTION = """\
Decide which items to act on when the true label is seen only if you act."""

#: The verbs by what is at hand, in the order of the help, each with an example. A function adds the parser of its
#: verb and names the function that runs it.
GROUPS = {
    "your file": (
        (example.add, "orders.csv"),
        (look.add, "orders.csv --label fraud --time placed_at"),
        (replay.add, "orders.csv --label fraud --drop order --costs miss=95,false_alarm=6,hit=4"),
    ),
    "a live stream": (
        (
            stream.add,
            "create shop.db --history orders.csv --label fraud --id order --costs miss=95,false_alarm=6,hit=4",
        ),
        (decide.add, "shop.db monday.csv --out decisions.csv"),
        (worklist.add, "shop.db --top 20"),
        (label.add, "shop.db outcomes.csv"),
        (second_looks.add, "shop.db --due due.csv --by carla"),
        (model.add, "shop.db --out model.html"),
    ),
    "a service": (
        (keys.add, "create shop --store shop.db --scope decide --scope label"),
        (serve.add, "--store shop.db --port 8080"),
        (feed.add, "shop.db --broker localhost:9092 --items orders --labels chargebacks --decisions decided"),
        (doctor.add, ""),
    ),
    "a stream, or a log of decisions": (
        (missed.add, "shop.db"),
        (what_if.add, "decisions.parquet --threshold 0.3"),
        (plan_audit.add, "decisions.parquet --margin 0.05"),
        (drift.add, "june.parquet --baseline may.parquet"),
        (report.add, "decisions.parquet --out out/june"),
    ),
    "research": (
        (lists.add_policies, ""),
        (lists.add_problems, ""),
        (simulate.add, "--problem i --policy voi --policy pg-ts"),
        (paper.add, "--only figure-1"),
        (theory.add, "--quick"),
        (theory.add_game, "game.json"),
    ),
    "the shell": ((completion.add, "bash"),),
}

#: Verbs that were, and what is typed instead.
RETIRED = {"desk": ": a live desk is a stream in a store, 'appletaste stream create shop.db --history orders.csv'"}


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all verbs."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = Parser("appletaste", "appletaste VERB ...", DESCRIPTION, formatter_class=raw)
    parser.add_argument("--version", action="version", version=f"appletaste {__version__}")
    parser.add_argument("--cite", action="store_true", help="say how to cite the paper and the software, in BibTeX")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", help=argparse.SUPPRESS, prog="appletaste")
    overview = []
    for group, members in GROUPS.items():
        overview.append(f"{group}:")
        for add, arguments in members:
            add(verbs)
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
    if args.cite:
        print(bibtex())
        return 0
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
