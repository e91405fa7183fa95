"""``appletaste desk create``: a live desk from a history, in one file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import OptionError
from .flags import as_flags
from .options import (
    add_date_options,
    add_desk_options,
    add_json,
    add_reading_options,
    add_score,
    add_verb,
)

if TYPE_CHECKING:
    from ..streams.from_table import Created

DESCRIPTION = """\
A desk decides live: what arrives is acted on or passed, within a budget and with audits,
and labels are learnt whenever they arrive. A desk is one file."""

CREATE = """\
Make a desk from a file of past items. The file says which columns there are and what
they look like; with --teach the desk also learns the labels of the file, so that its first
decision is not its first guess. The options are those of 'appletaste replay': rehearse with
'replay', then create the desk with the same words.

The desk keeps which columns are the id, the time, the stratum and the label, so that
'decide' and 'label' need not be told again. A column that only arrives later (--drop
settled_on) is no feature. Check the file with 'appletaste look' first.

Costs may be formulas over columns, as in 'replay': each item is then decided by its own. The
desk keeps the formulas. A column of a formula that is dropped is a cost, and no feature."""

EXAMPLES = """\
examples:
  appletaste desk create orders.at --from orders.csv --label fraud --id order --time placed_at \\
      --drop settled_on --costs miss=95,false_alarm=6,hit=4 --capacity 120/day --audit 2% --teach
  appletaste desk create orders.at --from orders.csv --label fraud --id order --time placed_at \\
      --label-time settled_on --costs 'miss=amount*0.9+15,false_alarm=6,hit=4' --teach
  appletaste decide orders.at monday.csv --out decisions.csv
  appletaste worklist orders.at --top 20
  appletaste label orders.at outcomes.csv

From here on: docs/desk-commands.md
"""


def add(verbs: Any) -> None:
    """Add the verb to the parser."""
    parser = add_verb(verbs, "desk", run, "make a live desk: one file that decides and learns", DESCRIPTION, EXAMPLES)
    kinds = parser.add_subparsers(dest="kind", metavar="create", required=True)
    create = add_verb(kinds, "create", run, "make a desk from a file of past items", CREATE, EXAMPLES)
    create.add_argument("desk", type=Path, metavar="DESK", help="the file to write; an existing file stays")
    add_creation(create)
    create.add_argument("--seed", type=int, default=1, help="where all randomness comes from (default 1)")
    add_json(create)


def add_creation(create: argparse.ArgumentParser, from_file: bool = True) -> None:
    """Add what a desk, or a stream, is made from; ``from_file``: from nothing else than a history."""
    create.add_argument(
        "--from",
        dest="source",
        required=from_file,
        metavar="FILE",
        help="the history: CSV, JSON Lines (gzip too) or Parquet, with a header",
    )
    create.add_argument(
        "--label", required=from_file, metavar="COLUMN", help="the column with the labels; a label may be missing"
    )
    create.add_argument(
        "--costs",
        required=True,
        metavar="miss=5,false_alarm=1,hit=0",
        help="what outcomes cost; also correct_pass. Formulas over columns give each item its own",
    )
    create.add_argument(
        "--teach", action="store_true", help="learn the labels of the history before the first decision"
    )
    create.add_argument("--id", metavar="COLUMN", help="the column with the ids, by which labels find their items")
    create.add_argument("--time", metavar="COLUMN", help="when the items came")
    create.add_argument(
        "--time-unit", metavar="UNIT", help="what one unit of a --time of plain numbers is: day, hour, minute, s or ms"
    )
    create.add_argument(
        "--label-time", metavar="COLUMN", help="when the labels arrived; one without a time is not learnt"
    )
    create.add_argument("--stratum", metavar="COLUMN", help="a column to report by")
    create.add_argument(
        "--policy",
        default="voi",
        metavar="NAME",
        help="what decides (default voi); NAME[option=value,...] sets options",
    )
    add_desk_options(create)
    create.add_argument(
        "--delay",
        choices=("late", "none"),
        default="late",
        help="late (default): labels on their way are kept in mind; none: every label arrives before the next item",
    )
    table = add_reading_options(create)
    add_date_options(table)
    add_score(table)
    table.add_argument(
        "--encoder",
        metavar="SETTINGS",
        help="change settings of the default encoder: hashing=64 or levels=20 (docs/features.md)",
    )


def run(args: argparse.Namespace) -> None:
    """Make the desk and say what is in it."""
    from .console import print_json

    made = make_desk(args, args.desk, args.seed)
    notes = [as_flags(note) for note in made.notes]
    if args.json:
        learnt = None if made.history is None else made.history._asdict()
        columns = [*made.columns]
        print_json({"desk": args.desk.name, "columns": columns, "rows": made.rows, "history": learnt, "notes": notes})
        return
    print("\n".join(_told(args, made)))
    for note in notes:
        print(f"note: {note}", file=sys.stderr)


def make_desk(args: argparse.Namespace, path: Path | None, seed: int) -> Created:
    """Make a desk as ``add_creation`` was answered; without a path it has no file, and is for a stream."""
    from ..streams.from_table import create_desk
    from ..tables.values import MISSING
    from .arguments import parse_costs, parse_dates, parse_encoder, parse_entries, parse_pairs

    if args.encoder is not None and "warm_up" in parse_pairs(args.encoder, "--encoder"):
        raise OptionError("--encoder: leave out warm_up, since a desk is fitted on all rows of its history")
    (entry,) = parse_entries([args.policy])
    return create_desk(
        path,
        args.source,
        args.label,
        costs=parse_costs(args.costs),
        name=entry.name,
        options=entry.options,
        id=args.id,
        time=args.time,
        time_unit=args.time_unit,
        label_time=args.label_time,
        stratum=args.stratum,
        capacity=args.capacity,
        time_zone=args.time_zone,
        audit=args.audit,
        late=args.delay == "late",
        teach=args.teach,
        drop=args.drop,
        encoder=parse_encoder(args.encoder),
        time_features=args.time_features,
        dates=parse_dates(args.dates),
        score=args.score,
        seed=seed,
        positive=args.positive,
        missing=(*MISSING, *args.missing),
        categories=args.category,
        numbers=args.number,
        separator=args.separator,
    )


def _told(args: argparse.Namespace, made: Created) -> list[str]:
    """Return what a desk is, in sentences."""
    columns = ", ".join(made.columns)
    lines = [f"decides by {len(made.columns)} columns, fitted on {made.rows:,} rows: {columns}"]
    taught = (
        f"{made.history}" if made.history is not None else "nothing learnt yet; --teach learns the labels of the file"
    )
    lines.append(f"{made.ledger.policy.name}: {taught}")
    sheet, usual = made.ledger.costs_by_item, made.ledger.policy.costs.threshold
    if sheet is not None:
        given = [f"{name} = {cost}" for name, cost in sheet.outcomes().items() if cost != 0.0]
        lines.append(f"costs by item: {', '.join(given)}")
    lines.append(f"acting pays from a chance of {usual:.3g} on{'' if sheet is None else ', at the average costs'}")
    limits = [f"capacity {args.capacity}"] if args.capacity else []
    limits += [f"audits {args.audit}"] if args.audit else []
    lines.append(", ".join(limits) or "no limit on acts, and no audits: what is passed is never seen")
    lines.append(f"the desk is in {args.desk}")
    return lines
