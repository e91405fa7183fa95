"""Parts that several verbs share: options, exit codes and remedies as flags; nothing heavy is imported here."""

from __future__ import annotations

import argparse
import math
import os
import shlex
from collections.abc import Callable
from typing import Any

from ..errors import Remedy, worded

LOG = (
    "a decision log, .jsonl or .parquet, or a folder of such files (docs/decision-log.md); "
    "'appletaste replay ... --log FILE' writes one. Or a store, shop.db or postgresql://...: the log of its stream"
)


#: A check that failed, and a store that cannot be used; usage is 2, as everywhere.
FAILED, STORAGE = 1, 3


class ExitError(Exception):
    """A command that ends with an exit code after it has said why."""

    def __init__(self, code: int, told: str = "") -> None:
        super().__init__(told)
        self.code = code


STORE = "a file such as shop.db, or postgresql://user@host/database"


def add_store(parser: argparse.ArgumentParser) -> None:
    """Add ``--store``, for verbs about a store that is no single stream."""
    parser.add_argument("--store", required=True, metavar="STORE", help=STORE)


def add_stream(parser: argparse.ArgumentParser, several: bool = True) -> None:
    """Add the store and, unless ``several`` is False, which of its streams is meant."""
    parser.add_argument("store", metavar="STORE", help=STORE)
    if several:
        add_stream_name(parser)


def add_stream_name(parser: argparse.ArgumentParser) -> None:
    """Add ``--stream``."""
    parser.add_argument("--stream", metavar="NAME", help="which stream of the store, where it has several")


def in_use(args: argparse.Namespace) -> str:
    """Return what to do where another process, most likely a service, writes the file that a command was to write.

    ``args.over_http``, where a verb has it, says how the service is asked for the same.
    """
    told = f"{args.store} is in use, and one process writes a file. "
    if args.verb == "serve":
        return f"{told}Most likely another service runs on the store: end the other process first"
    again = "stop the service, repeat this command, and start the service again"
    key = getattr(args, "needs_key", "an admin key for every stream")
    if not hasattr(args, "over_http"):
        return f"{told}Most likely a service runs on the store: {again}"
    said = (
        f"{told}Most likely a service runs on the store. Ask the service: {args.over_http(args)} with {key} "
        f"('Authorization: Bearer at_...'). Or {again}"
    )
    if args.verb != "keys":
        return said
    made = f"'appletaste keys create me --store {args.store} --scope admin' makes another"
    return f"{said}. When the last admin key is lost, stop the service first: {made}"


def add_verb(
    verbs: Any,
    name: str,
    run: Callable[[argparse.Namespace], None],
    help_: str,
    description: str,
    examples: str | None = None,
) -> argparse.ArgumentParser:
    """Add a verb that ``run`` carries out."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        name,
        help=help_,
        description=description,
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    return parser


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add ``--json``, which every verb that prints a result has."""
    parser.add_argument("--json", action="store_true", help="print JSON for machines")


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of every verb that computes."""
    parser.add_argument("--seed", type=int, default=1, help="where all randomness comes from (default 1)")
    add_jobs(parser)
    add_json(parser)


def add_engine_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of every verb whose replications an engine plays."""
    add_run_options(parser)
    add_engine(parser)


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Add who does the work, for verbs without randomness of their own."""
    add_jobs(parser)
    add_engine(parser)


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """Add ``--jobs``."""
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, metavar="J", help="workers at a time (default: all cores)"
    )


def add_engine(parser: argparse.ArgumentParser) -> None:
    """Add ``--engine`` and ``--cluster``."""
    parser.add_argument(
        "--engine",
        default="local",
        metavar="NAME",
        help="who does the work: local (default), ray or dask (see docs/clusters.md); the numbers are the same",
    )
    parser.add_argument(
        "--cluster",
        metavar="HOST:PORT",
        help="a Ray or Dask cluster (default: from the environment, or else a cluster of --jobs workers here)",
    )


def add_policy_options(parser: argparse.ArgumentParser, default: str) -> None:
    """Add ``--policy`` of the verbs that compare policies."""
    parser.add_argument(
        "--policy",
        action="append",
        metavar="NAME",
        help=f"what decides (default {default}); repeat to compare; NAME[option=value,...] sets options",
    )


def add_log_options(parser: argparse.ArgumentParser) -> None:
    """Add the log, and the options of every verb that estimates from one."""
    add_log(parser)
    parser.add_argument("--level", type=float, default=0.9, help="confidence of the intervals (default 0.9)")
    add_json(parser)
    add_workers(parser)


def add_log(parser: argparse.ArgumentParser) -> None:
    """Add the log, which may be that of a stream."""
    parser.add_argument("log", metavar="LOG", help=LOG)
    add_stream_name(parser)


def _decisions(text: str) -> float:
    """Return a number of decisions above 0."""
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0.0 < found < math.inf:
        raise argparse.ArgumentTypeError(f"a number of decisions above 0 is expected, got {text!r}")
    return found


def add_daily(parser: argparse.ArgumentParser) -> None:
    """Add the number of decisions at which an interval that may be looked at every day is tightest."""
    parser.add_argument(
        "--daily",
        type=_decisions,
        metavar="N",
        help="also say an interval that holds on all days at once, for whoever looks every day; tightest at N "
        "decisions, those of a month say, and the same N every day",
    )


def add_groups(parser: argparse.ArgumentParser) -> None:
    """Add the column by whose values answers are given, and where that column is."""
    parser.add_argument(
        "--by",
        metavar="COLUMN",
        help="answer for each value of a column: stratum, policy, a column of a stream's records, or one of --items",
    )
    parser.add_argument("--items", metavar="FILE", help="the table that --by names a column of")
    parser.add_argument(
        "--id",
        metavar="COLUMN",
        help="the column of --items with the ids of the log (none: the lines of the file that was replayed)",
    )


def add_features(parser: argparse.ArgumentParser) -> None:
    """Add ``--map``, which names the features in alarms."""
    parser.add_argument(
        "--map", metavar="FILE", help="a saved policy with its map, or a map: names the features in alarms"
    )


def add_reading_options(parser: argparse.ArgumentParser) -> Any:
    """Add the options of every verb that reads a table; return their group."""
    table = parser.add_argument_group("the table")
    table.add_argument(
        "--drop",
        action="append",
        default=[],
        metavar="COLUMN",
        help="a column that is no feature: an id, or known only afterwards",
    )
    table.add_argument(
        "--positive", metavar="VALUE", help="the label that means that acting was right, if not 1 or yes"
    )
    table.add_argument(
        "--missing", action="append", default=[], metavar="TEXT", help="one more text that stands for a missing value"
    )
    table.add_argument(
        "--category", action="append", default=[], metavar="COLUMN", help="a category, whatever it looks like"
    )
    table.add_argument(
        "--number", action="append", default=[], metavar="COLUMN", help="a number, whatever it looks like"
    )
    add_writing(table)
    return table


def add_writing(parser: Any) -> None:
    """Add how a file is written, for files of people."""
    parser.add_argument(
        "--separator", metavar="CHARACTER", help="between the fields of a CSV file, if the guess is wrong"
    )
    parser.add_argument(
        "--decimal", default=".", metavar="CHARACTER", help="what stands before decimals: , for 1.234,50 (default .)"
    )
    parser.add_argument(
        "--date-format", metavar="FORMAT", help="how dates are written, if not 2024-05-31: %%d.%%m.%%Y for 31.05.2024"
    )
    parser.add_argument("--sheet", metavar="NAME", help="of a spreadsheet, if not the first")


def writing_of(args: argparse.Namespace) -> dict[str, Any]:
    """Return how a file is written, as ``read_records`` takes it."""
    from ..tables.dialect import WRITTEN

    return {name: getattr(args, name) for name in WRITTEN}


def add_desk_options(group: Any) -> None:
    """Add the reviewers and the audits of a desk."""
    group.add_argument(
        "--capacity",
        metavar="REVIEWS",
        help="reviewers: 120/day or 'Mon-Fri 120, Sat 40' (with --time), or 5%% of any 1,000",
    )
    group.add_argument("--time-zone", metavar="ZONE", help="where the days of --capacity begin, e.g. Europe/Berlin")
    group.add_argument(
        "--audit",
        metavar="P%",
        help="audit this share of what is passed, e.g. 2%%; auto: as many as pay, 1%% at most, which is usual in the "
        "order of time and for streams; 0: none",
    )


def add_score(table: Any) -> None:
    """Add to the group of the table the score of another model."""
    table.add_argument(
        "--score",
        metavar="COLUMN",
        help="another model's score, yesterday's or a vendor's: a curve with a scale of its own (docs/curves.md)",
    )


def add_date_options(table: Any) -> None:
    """Add to the group of the table what is made of dates."""
    table.add_argument(
        "--time-features", action="store_true", help="hour, weekday and month of a --time of dates are features, too"
    )
    table.add_argument(
        "--dates",
        action="append",
        default=[],
        metavar="NAME=LATER,EARLIER",
        help="a feature: the days from one date to a later one (default: from every date to --time); repeat for more",
    )


# ---- remedies as flags: what the library words as ``drop=['age']`` is ``--drop age`` here

#: Settings of the library whose flag has another name; for the rest ``flip_label`` is ``--flip-label``.
FLAGS = {
    "categories": "--category",
    "numbers": "--number",
    "folder": "--out",
    "first_day": "--from",
    "last_day": "--to",
}
#: Settings of an encoder, which are typed as its parts.
PARTS = ("online", "spare", "many")
#: Values that are typed in another way.
TYPED = {("order", "as is"): "as-is"}


def flag(remedy: Remedy) -> str:
    """Return a remedy as it is typed; a list is one flag for each of its values.

    Examples
    --------
    >>> flag(Remedy("many", False))
    '--encoder many=false'
    >>> flag(Remedy("time")), flag(Remedy("categories", ["age", "order id"])), flag(Remedy("order", "as is"))
    ('--time', "--category age --category 'order id'", '--order as-is')
    >>> flag(Remedy("encoder", {"online": True}))
    '--encoder online=true'
    """
    if isinstance(remedy.value, dict):
        return f"--{remedy.option} {remedy.parts}"
    if remedy.option in PARTS:
        return f"--encoder {remedy.option}={str(remedy.value).lower()}"
    name = FLAGS.get(remedy.option, f"--{remedy.option.replace('_', '-')}")
    if remedy.value is None:
        return name
    if isinstance(remedy.value, list):
        return " ".join(f"{name} {shlex.quote(str(value))}" for value in remedy.value)
    typed = TYPED.get((remedy.option, remedy.value), str(remedy.value))
    return f"{name} {shlex.quote(typed)}"


def as_flags(told: str | Exception) -> str:
    """Return a message, or what an error says, with its remedies as flags."""
    return worded(told, flag)
