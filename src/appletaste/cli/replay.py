"""``appletaste replay``: play policies on a labelled file and compare what they cost."""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import OptionError
from .options import (
    add_date_options,
    add_desk_options,
    add_engine_options,
    add_policy_options,
    add_reading_options,
    add_score,
    add_verb,
    as_flags,
    writing_of,
)

if TYPE_CHECKING:
    from ..policies import PolicySpec
    from ..replays import ReplayResult, Sweep

DESCRIPTION = """\
Play a fully labelled file as a stream in which a label is seen only if you act.

Every row has its label, so what any policy would have cost is known exactly. The
table shows cost per 1,000 items (mean and standard error over shuffles), what is
saved against never and always acting, precision and recall against the labels,
and how many labels were bought. Where never or always acting costs no more than a
policy, the first line says so, and what to try. Beside your policies the table has

  never, always        the two rules that need no learning
  oracle               hindsight: acts on exactly the positives; no policy reaches it
  full-information     logistic regression that is shown every label, passes too
  booster, all labels  boosted trees that are shown every label, where LightGBM is there
  today                what is done today, if --today says so

With --capacity and --audit all of them sit at the same desk: the oracle then says
what a perfect ranking could have done with so many reviews.

Labels are 0/1, true/false or yes/no; 1 means that acting was right. A negative
cost is a gain. Numbers, categories, dates and missing values are made into features
on the first 500 rows of each order, never on later ones (docs/features.md)."""

EXAMPLES = """\
costs by item (--costs): numbers, columns, + - * /, brackets, min(), max() and abs()
  miss=amount*0.9+15     a missed fraud loses 90 % of the amount, and 15 for the work
  miss=max("order value" - deposit, 0)
                         a name that is not one word stands in quotes or backticks
  Each item is decided with its own costs, and the log keeps them. Recall is shown in
  money too. A column of a formula may be a feature as well, or left out with --drop.

late labels (--delay), counted in items, or with --time in the units of that column (days for dates):
  500                    every label 500 items after its decision
  exponential:200        200 on average
  lognormal:200,1.0      half of the labels within 200, some very much later

examples:
  appletaste replay loans.csv --label bad --costs miss=5,false_alarm=1,hit=0
  appletaste replay loans.csv --label outcome --positive default --drop customer_id \\
      --costs miss=5,false_alarm=1,hit=0 --policy voi --policy 'greedy[epsilon=0.05]' --shuffles 20
  appletaste replay orders.csv --label fraud --costs 'miss=amount*0.9+15,false_alarm=6,hit=4'
  appletaste replay loans.csv --label bad --costs miss=5,false_alarm=1,hit=0 --sweep miss=0.5..2
  appletaste replay calls.csv.gz --label sold --costs miss=0,false_alarm=1,hit=-8 --order as-is --out out/calls
  appletaste replay cards.parquet --label fraud --costs miss=80,false_alarm=4,hit=4 \\
      --time booked_at --delay lognormal:14,0.8 --json
  appletaste replay cards.parquet --label fraud --costs miss=80,false_alarm=4,hit=4 \\
      --time booked_at --capacity 120/day --audit 1% --log decisions.jsonl
  appletaste replay cards_2024.csv --history cards_2023.csv --label fraud --costs miss=80,false_alarm=4,hit=4 \\
      --time booked_at --label-time settled_on --today 'vendor_score >= 700' --capacity 120/day
  appletaste replay cards.parquet --label fraud --costs miss=80,false_alarm=4,hit=4 \\
      --time booked_at --capacity 'Mon-Fri 120, Sat 40' --time-zone Europe/Berlin

From a raw file to a table and a picture in ten minutes: docs/replay.md
and on to a monthly report: docs/guide.md
"""


def add(verbs: Any) -> None:
    """Add the verb to the parser."""
    parser = add_verb(
        verbs,
        "replay",
        run,
        "play policies on your own labelled file and compare what they cost",
        DESCRIPTION,
        EXAMPLES,
    )
    parser.add_argument(
        "file", metavar="FILE", help="CSV, JSON Lines, Parquet, Feather or a spreadsheet, with a header"
    )
    parser.add_argument("--label", required=True, metavar="COLUMN", help="the column with the true labels")
    parser.add_argument(
        "--costs",
        required=True,
        metavar="miss=5,false_alarm=1,hit=0",
        help="what outcomes cost; also correct_pass. Formulas over columns give each item its own (see below)",
    )
    parser.add_argument(
        "--sweep", metavar="miss=0.5..2", help="play under half, once and twice a cost; or a list, miss=0.5,1,3"
    )
    add_policy_options(parser, "voi")
    stream = parser.add_argument_group("the stream")
    stream.add_argument("--shuffles", type=int, metavar="N", help="random orders to play (default 10)")
    stream.add_argument(
        "--order", default="shuffled", metavar="ORDER", help="shuffled (default), or as-is: once, and show the drift"
    )
    stream.add_argument("--delay", metavar="LAW", help="how late labels arrive (see below; default: at once)")
    stream.add_argument("--time", metavar="COLUMN", help="play in the order of this column; --delay is in its units")
    stream.add_argument(
        "--time-unit", metavar="UNIT", help="what one unit of a --time of plain numbers is: day, hour, minute, s or ms"
    )
    stream.add_argument(
        "--label-time", metavar="COLUMN", help="the column that says when each label arrives (with --time; no --delay)"
    )
    stream.add_argument(
        "--report-time",
        metavar="COLUMN",
        help="the column that says when a row is reported if it is passed, a chargeback say (with --time and --log)",
    )
    stream.add_argument("--history", metavar="FILE", help="a labelled past that every policy starts from")
    stream.add_argument(
        "--today", metavar="COLUMN", help="what is done today, as a row: past decisions, or a score: 'risk >= 0.7'"
    )
    add_desk_options(stream)
    stream.add_argument("--flip-label", action="store_true", help="act on the other class: 0 becomes 1")
    table = add_reading_options(parser)
    add_date_options(table)
    add_score(table)
    table.add_argument(
        "--encoder",
        metavar="SETTINGS",
        help="change settings of the default encoder: online=true, hashing=64, warm_up=1000,spare=4 or "
        "cycles=hour+weekday (docs/features.md)",
    )
    add_engine_options(parser)
    parser.add_argument("--out", type=Path, metavar="DIR", help="write tables (CSV), a manifest and pictures")
    parser.add_argument(
        "--log",
        type=Path,
        metavar="FILE",
        help="write the first policy's decision log, .jsonl or .parquet, for 'missed', 'what-if' and 'report'",
    )
    parser.add_argument("--stratum", metavar="COLUMN", help="with --log: a column to report by")


def run(args: argparse.Namespace) -> None:
    """Play a file and print, and if asked store and draw, what it came to."""
    from .._files import check_folder
    from ..logs.log_files import check_log_path
    from ..pages.charts import require_pyplot
    from ..replays import replay, sweep
    from ..replays.comparators import COMPARATORS
    from ..replays.folder import SIGN
    from ..tables.values import MISSING
    from .arguments import parse_costs, parse_dates, parse_encoder, parse_sweep
    from .console import open_engine, print_json, progress_of

    if args.sweep and (args.out or args.log):
        raise OptionError("--sweep prints a table; leave out --out and --log, or leave out --sweep")
    swept = parse_sweep(args.sweep) if args.sweep else None
    if args.out:
        require_pyplot()  # say what is missing before the work, not after it
        check_folder(args.out, SIGN)
    if args.log:
        check_log_path(args.log)
    elif args.report_time:
        raise OptionError("--report-time is for the decision log: say with --log where it goes")
    elif args.stratum:
        raise OptionError("--stratum is for the decision log: say with --log where it goes")
    costs, entries, encoder = parse_costs(args.costs), _entries(args), parse_encoder(args.encoder)
    if args.log and entries[0].name in COMPARATORS:
        raise OptionError(
            f"--log writes the decisions of the first policy, and {entries[0].name} makes none: name another"
        )
    with ExitStack() as stack:
        workers = stack.enter_context(open_engine(args))
        steps: list[Any] = []

        def begin(kinds: list[str]) -> None:
            steps.append(stack.enter_context(progress_of("replay", kinds, args.jobs)))

        settings = {
            "policies": entries,
            "shuffles": args.shuffles,
            "order": args.order,
            "delay": args.delay,
            "time": args.time,
            "time_unit": args.time_unit,
            "seed": args.seed,
            "encoder": encoder,
            "flip_label": args.flip_label,
            "drop": args.drop,
            "label_time": args.label_time,
            "report_time": args.report_time,
            "history": args.history,
            "today": args.today,
            "dates": parse_dates(args.dates),
            "score": args.score,
            "time_features": args.time_features,
            "capacity": args.capacity,
            "audit": args.audit,
            "time_zone": args.time_zone,
            "log": entries[0].label if args.log else None,
            "stratum": args.stratum,
            "engine": workers,
            "started": begin,
            "progress": lambda label: steps[-1](f"replay: {label}"),
            "positive": args.positive,
            "missing": (*MISSING, *args.missing),
            "categories": args.category,
            "numbers": args.number,
            **writing_of(args),
        }
        if swept is not None:
            outcome, factors = swept
            found = sweep(args.file, args.label, costs=costs, outcome=outcome, factors=factors, **settings)
        else:
            result = replay(args.file, args.label, costs=costs, **settings)
    if swept is not None:
        _print_sweep(found, args.json)
        return
    if args.json:  # what was found is printed first: a disk may be full
        print_json(list(result.as_dict().values()))
        if result.verdict is not None:
            print(as_flags(result.verdict), file=sys.stderr)
        for note in result.notes:
            print(f"note: {as_flags(note)}", file=sys.stderr)
    else:
        _print(result)
    sys.stdout.flush()
    if args.out:
        result.save(args.out)
        if not args.json:
            print(f"tables, manifest and pictures are in {args.out}")
    if args.log and result.log is not None:
        result.log.write(args.log)
        if not args.json:
            print(f"the decisions of {entries[0].label} are in {args.log}")


def _entries(args: argparse.Namespace) -> list[PolicySpec]:
    """Return the policies; those that are always shown may be named too."""
    from ..policies import PolicySpec
    from ..replays.comparators import COMPARATORS
    from .arguments import parse_entries

    named = args.policy or ["voi"]
    shown = [name for name in named if name in COMPARATORS]
    chosen = {entry.label: entry for entry in parse_entries([n for n in named if n not in shown])}
    if len(chosen) + len(set(shown)) < len(named):
        raise OptionError(f"a policy is listed twice: {', '.join(named)}")
    return [*chosen.values(), *(PolicySpec(name, {}) for name in shown)]


def _print_sweep(found: Sweep, as_json: bool) -> None:
    """Print what changes with a cost, and what does not."""
    from .console import print_json, show_table

    if as_json:
        print_json(found.as_dict())
        return
    print("".join(f"{as_flags(verdict)}\n" for verdict in found.verdicts), end="")
    show_table(found.table())
    for told in (*found.findings, *found.notes):
        print(f"note: {as_flags(told)}")


def _print(result: ReplayResult) -> None:
    """Print the table, for a stream with an order the drift, and what else there is to know."""
    from .console import show_table

    if result.verdict is not None:
        print(as_flags(result.verdict))
    show_table(result.table())
    if not result.plan.shuffled:
        print()
        show_table(result.block_table())
    for note in result.notes:
        print(f"note: {as_flags(note)}")
