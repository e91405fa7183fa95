"""What ``appletaste replay`` does: read what was typed, play, print."""

from __future__ import annotations

import argparse
import json
import re
import sys
from contextlib import ExitStack
from typing import Any

from .._files import check_folder
from ..errors import DataError, OptionError
from ..features import Encoder
from ..features.values import MISSING
from ..logs.files import check_log_path
from ..pages.charts import require_pyplot
from ..replays import ReplayResult, replay
from ..replays.comparators import COMPARATORS
from ..replays.folder import SIGN
from ..replays.result import HEADER
from ..simulate import Entry
from .arguments import parse_costs, parse_entries, parse_pairs, parse_value
from .console import open_engine, print_table, progress_bar

#: Remedies as the library words them, and what they are on the command line.
REMEDIES = (
    (r"categories=\[(?:'|\")(.*?)(?:'|\")\]", r"--category '\1'"),
    (r"(?:ignore|drop)=\[(?:'|\")(.*?)(?:'|\")\]", r"--drop '\1'"),
    (r"add it to missing=", "add it with --missing"),
    (r"positive=('.*?'|\".*?\")", r"--positive \1"),
    (r"with label=", "with --label"),
    (r"order='as is'", "--order as-is"),
    (r"its column with time=", "its column with --time"),
    (r"^time='(.*?)' plays", r"--time \1 plays"),
    (r"leave out shuffles=(\d+)", r"leave out --shuffles \1"),
)


def run_replay(args: argparse.Namespace) -> None:
    """Play a file and print, and if asked store and draw, what it came to."""
    if args.out:
        require_pyplot()  # say what is missing before the work, not after it
        check_folder(args.out, SIGN)
    if args.log:
        check_log_path(args.log)
    elif args.stratum:
        raise OptionError("--stratum is for the decision log: say with --log where it goes")
    costs, entries, encoder = parse_costs(args.costs), _entries(args), _encoder(args.encoder)
    if args.log and entries[0].name in COMPARATORS:
        raise OptionError(
            f"--log writes the decisions of the first policy, and {entries[0].name} makes none: name another"
        )
    with ExitStack() as stack:
        workers = stack.enter_context(open_engine(args))
        steps: list[Any] = []

        def begin(tasks: int) -> None:
            steps.append(stack.enter_context(progress_bar("replay", tasks)))

        try:
            result = replay(
                args.file,
                args.label,
                costs=costs,
                policies=entries,
                shuffles=args.shuffles,
                order=args.order,
                delay=args.delay,
                time=args.time,
                seed=args.seed,
                encoder=encoder,
                flip_label=args.flip_label,
                drop=args.drop,
                capacity=args.capacity,
                audit=args.audit,
                engine=workers,
                started=begin,
                progress=lambda label: steps[0](f"replay: {label}"),
                positive=args.positive,
                missing=(*MISSING, *args.missing),
                categories=args.category,
                numbers=args.number,
                separator=args.separator,
            )
        except (DataError, OptionError) as error:
            raise type(error)(as_flags(str(error))) from None
    if args.out:
        result.save(args.out)
    if args.log:
        _write_log(result, entries[0].label, args)
    if args.json:
        print(json.dumps(result.describe(), indent=2))
        for note in result.notes:
            print(f"note: {as_flags(note)}", file=sys.stderr)
        return
    _print(result)
    if args.out:
        print(f"tables, manifest and pictures are in {args.out}")
    if args.log:
        print(f"the decisions of {entries[0].label} are in {args.log}")


def _write_log(result: ReplayResult, label: str, args: argparse.Namespace) -> None:
    """Write the decisions of the first policy, in the first shuffle or in the order of the stream."""
    try:
        result.write_log(args.log, label, stratum=args.stratum)
    except DataError as error:
        raise DataError(as_flags(str(error))) from None


def as_flags(text: str) -> str:
    """Return a message with its remedies as flags.

    Examples
    --------
    >>> as_flags("add it to missing=; if the column is a category, categories=['age']; else correct the cell")
    "add it with --missing; if the column is a category, --category 'age'; else correct the cell"
    """
    for pattern, flag in REMEDIES:
        text = re.sub(pattern, flag, text)
    return text


def _entries(args: argparse.Namespace) -> list[Entry]:
    """Return the policies; those that are always shown may be named too."""
    named = args.policy or ["voi"]
    shown = [name for name in named if name in COMPARATORS]
    chosen = {entry.label: entry for entry in parse_entries([n for n in named if n not in shown], args.option)}
    if len(chosen) + len(set(shown)) < len(named):
        raise OptionError(f"a policy is entered twice: {', '.join(named)}")
    return [*chosen.values(), *(Entry(name, {}) for name in shown)]


def _encoder(text: str | None) -> Encoder | None:
    """Return the encoder from name=value,..., or None."""
    if text is None:
        return None
    settings = {name: parse_value(value) for name, value in parse_pairs(text, "--encoder").items()}
    known = [name for name in Encoder.__dataclass_fields__ if name != "interactions"]
    for name in settings:
        if name not in known:
            raise OptionError(f"--encoder has no setting {name!r}; there are {', '.join(known)}")
    return Encoder(**settings)


def _print(result: ReplayResult) -> None:
    """Print the table, for a stream with an order the drift, and what else there is to know."""
    print_table(result.title, HEADER, result.rows())
    if not result.plan.shuffled:
        print()
        print_table("by tenths of the stream", *result.block_rows())
    for note in result.notes:
        print(f"note: {as_flags(note)}")
