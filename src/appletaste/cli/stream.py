"""``appletaste stream``: streams that last, in a file or in PostgreSQL."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError, OptionError, RecordError
from .options import (
    FAILED,
    ExitError,
    add_date_options,
    add_desk_options,
    add_json,
    add_reading_options,
    add_score,
    add_stream,
    add_verb,
    as_flags,
    writing_of,
)

if TYPE_CHECKING:
    from ..streams import Prepared, Stream

DESCRIPTION = """\
A stream decides live: what arrives is acted on or passed, within a budget and with audits, and
labels are learnt whenever they arrive. A stream is in a store, a file (SQLite) or PostgreSQL,
and lasts for years: every decision is on disk before it is answered, and the record can be
checked bit for bit."""

EXAMPLES = """\
examples:
  appletaste stream create shop.db --history orders.csv --label fraud --id order --time placed_at \\
      --drop settled_on --costs miss=95,false_alarm=6,hit=4 --capacity 120/day --audit 2% --teach
  appletaste stream create shop.db --history orders.csv --label fraud --id order --time placed_at \\
      --label-time settled_on --costs 'miss=amount*0.9+15,false_alarm=6,hit=4' --teach
  appletaste stream create shop.db --stream clicks --n-features 20 --costs miss=5,false_alarm=1,hit=0
  appletaste stream list shop.db
  appletaste stream verify shop.db --stream orders
  appletaste stream backup shop.db --out shop-monday.db

From here on: docs/stream-commands.md
"""

CREATE = """\
Make a stream from a file of past items (--history). The file says which columns there are and
what they look like; with --teach the stream also learns the labels of the file, so that its
first decision is not its first guess. The options are those of 'appletaste replay': rehearse
with 'replay NEW --history PAST', then create the stream with the same words. The stream
decides as the rehearsal did.

The stream keeps which columns are the id, the time, the stratum and the label, so that
'decide' and 'label' need not be told again. A column that only arrives later (--drop
settled_on) is no feature. Check the file with 'appletaste look' first.

Costs may be formulas over columns, as in 'replay': each item is then decided by its own.

Without a history, items are vectors of numbers (--n-features). The seed is 128 random bits that
never leave the store; --seed-file reads the seed of a replay from a file instead, so that the
stream draws as that replay did."""


def add(verbs: Any) -> None:
    """Add the verb to the parser."""
    told = "make, list, check, copy and move streams that last"
    parser = add_verb(verbs, "stream", run_list, told, DESCRIPTION, EXAMPLES)
    kinds = parser.add_subparsers(dest="kind", metavar="create|list|show|verify|export|import|backup", required=True)
    create = add_verb(kinds, "create", run_create, "make a stream", CREATE, EXAMPLES)
    add_stream(create, several=False)
    create.add_argument(
        "--stream", metavar="NAME", help="the name of the stream, such as orders (default: the name of the file)"
    )
    _add_creation(create)
    create.add_argument("--n-features", type=int, metavar="D", help="items are vectors of D numbers; no --history")
    create.add_argument("--mode", default="live", help="live (default), shadow or frozen")
    create.add_argument("--expire-after", type=float, metavar="DAYS", help="how long labels are waited for")
    create.add_argument(
        "--words",
        metavar="WORDS",
        help="what your team calls an item, the outcomes, the actions, and the currency: "
        "order,fraud,fine,hold,let through,EUR, or the first few; page and report speak so",
    )
    create.add_argument("--seed-file", type=Path, metavar="FILE", help="a whole number in a file: the seed of a replay")
    create.set_defaults(over_http=lambda _: "POST /v1/streams (GET /openapi.json has the body)")
    listed = add_verb(kinds, "list", run_list, "which streams there are", DESCRIPTION, EXAMPLES)
    show = add_verb(kinds, "show", run_show, "how a stream stands", DESCRIPTION, EXAMPLES)
    verify = add_verb(
        kinds, "verify", run_verify, "fold the record again and compare; exit code 1: it differs", DESCRIPTION, EXAMPLES
    )
    export = add_verb(
        kinds,
        "export",
        run_export,
        "write the decision log (.parquet, .jsonl), or all of a stream (.stream)",
        "The decision log has one row a decision. A .stream file has every event and the seed, so that 'stream import' "
        "can go on with the stream in another store: keep it as secret as the store.",
        EXAMPLES,
    )
    import_ = add_verb(kinds, "import", run_import, "read a .stream file into a store", DESCRIPTION, EXAMPLES)
    backup = add_verb(kinds, "backup", run_backup, "copy the file of a store while it is in use", DESCRIPTION, EXAMPLES)
    for one in (show, verify, export):
        add_stream(one)
    for one in (listed, import_, backup):
        add_stream(one, several=False)
    export.add_argument("--out", type=Path, required=True, metavar="FILE", help="the file to write")
    import_.add_argument("file", type=Path, metavar="FILE.stream", help="what 'stream export' wrote")
    import_.add_argument("--stream", metavar="NAME", help="another name for the stream")
    backup.add_argument("--out", type=Path, required=True, metavar="FILE", help="the copy; an existing file stays")
    for one in (create, listed, show, verify, export, import_, backup):
        add_json(one)


def _say(args: argparse.Namespace, found: dict[str, Any], told: str) -> None:
    from .console import print_json

    print_json(found) if args.json else print(told)


def run_create(args: argparse.Namespace) -> None:
    """Make a stream, and say what is in it."""
    from ..streams import Stream

    if (args.history is None) == (args.n_features is None):
        raise OptionError("a stream is made from a file (--history and --label), or for vectors (--n-features)")
    seed = None
    if args.seed_file is not None:
        try:
            seed = int(args.seed_file.read_text().strip())
        except ValueError:
            raise InputError("--seed-file names a file with one whole number in it") from None
    name = _name(args)
    given: dict[str, Any] = {"mode": args.mode, "words": args.words}
    given["expire_after"] = None if args.expire_after is None else 86400.0 * args.expire_after
    if args.history is None:
        with Stream.create(args.store, name, _vectors(args), seed=seed, **given) as stream:
            found, notes = _described(stream), stream.notes
        told = [f"decides by {found['n_features']} numbers"]
    else:
        if args.label is None:
            raise OptionError("--label names the column of the file with the labels")
        made = _prepared(args, seed)
        with made.create(args.store, name, **given) as stream:
            found = _described(stream)
        notes, told = [as_flags(note) for note in made.notes], _told(args, made)
        learnt = None if made.history is None else made.history._asdict()
        found |= {"rows": made.rows, "history": learnt}
    _say(args, {**found, "notes": notes}, "\n".join([*told, f"stream {name!r} is in {args.store}, {found['mode']}"]))
    if not args.json:
        for note in notes:
            print(f"note: {note}", file=sys.stderr)


def _name(args: argparse.Namespace) -> str:
    """Return the name of a new stream: as it was said, or that of its file."""
    from ..records.stores import POSTGRES

    if args.stream is not None:
        name: str = args.stream
        return name
    if args.store.startswith(POSTGRES):
        raise OptionError("a database has many streams: give this one a name with --stream")
    return Path(args.store).stem


def _vectors(args: argparse.Namespace) -> Any:
    from ..policies import policy
    from ..streams.audit import AUTO
    from ..streams.staffing import Staffing, seat
    from .arguments import parse_entries, parse_one_sheet

    (entry,) = parse_entries([args.policy])
    alone = policy(entry.name, n_features=args.n_features, costs=parse_one_sheet(args.costs), **entry.options)
    staffing = Staffing.of(args.capacity, AUTO if args.audit is None else args.audit, args.time_zone)
    if staffing is not None:
        staffing.check(timed=True)
    return seat(alone, staffing, late=not args.labels_at_once)


def _prepared(args: argparse.Namespace, seed: int | None) -> Prepared:
    """Return what a stream begins with, from the history that was named."""
    from ..streams import from_history
    from ..tables.values import MISSING
    from .arguments import parse_costs, parse_dates, parse_encoder, parse_entries, parse_pairs

    if args.encoder is not None and "warm_up" in parse_pairs(args.encoder, "--encoder"):
        raise OptionError("--encoder: leave out warm_up, since a stream is fitted on all rows of its history")
    (entry,) = parse_entries([args.policy])
    return from_history(
        args.history,
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
        late=not args.labels_at_once,
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
        **writing_of(args),
    )


def _told(args: argparse.Namespace, made: Prepared) -> list[str]:
    """Return what a stream begins with, in sentences."""
    from ..evaluate.answers import brief
    from ..streams import Desk
    from ..streams.staffing import audit_text

    columns = ", ".join(made.features.decides_by)
    lines = [f"decides by {len(made.features.decides_by)} columns, fitted on {made.rows:,} rows: {columns}"]
    taught = (
        f"{made.history}" if made.history is not None else "nothing learnt yet; --teach learns the labels of the file"
    )
    lines.append(f"{made.player.policy.name}: {taught}")
    sheet, usual = made.costs_by_item, made.player.policy.costs.threshold
    if sheet is not None:
        given = [f"{name} = {cost}" for name, cost in sheet.outcomes().items() if cost != 0.0]
        lines.append(f"costs by item: {', '.join(given)}")
    lines.append(f"acting pays from a chance of {usual:.3g} on{'' if sheet is None else ', at the average costs'}")
    limits = [f"capacity {args.capacity}"] if args.capacity else []
    audit = made.player.audit if isinstance(made.player, Desk) else None
    if audit is None:
        limits += ["no audits: what is passed is never seen"]
    elif audit.spend:
        limits += [f"audits of what is passed, as many as pay: {100 * audit.rate:g} % at most"]
        limits[-1] += "" if made.audits_cost is None else f", for {brief(made.audits_cost)} for 1,000 items at most"
        limits[-1] += " (--audit 0: none)"
    else:
        limits += [f"audits {audit_text(audit)}"]
    lines.append(", ".join(limits))
    return lines


def _described(stream: Stream) -> dict[str, Any]:
    settings, policy = stream.settings, stream.player.policy
    return {
        "name": stream.name,
        "mode": stream.mode,
        "events": len(stream),
        "policy": policy.name,
        "n_features": policy.n_features,
        "columns": None if stream.features is None else list(stream.features.decides_by),
        "costs": settings["costs_by_item"] or dict(stream.costs.outcomes()),
        "pending": len(stream.pending),
        "words": stream.words.own or None,
        "trouble": None if stream.trouble is None else str(stream.trouble),
    }


def run_list(args: argparse.Namespace) -> None:
    """Say which streams there are."""
    from .addresses import opened

    store = opened(args.store, read_only=True)
    try:
        names = store.names()
    finally:
        store.close()
    _say(args, {"streams": names}, "\n".join(names) or "no stream yet: 'appletaste stream create' makes one")


def run_show(args: argparse.Namespace) -> None:
    """Say how a stream stands."""
    from .addresses import open_stream

    with open_stream(args.store, args.stream, read_only=True) as stream:
        found = _described(stream)
    told = "\n".join(f"{name:<11} {'' if value is None else value}" for name, value in found.items())
    _say(args, found, told)


def run_verify(args: argparse.Namespace) -> None:
    """Fold the record again and compare."""
    from .addresses import open_stream

    try:
        with open_stream(args.store, args.stream, read_only=True) as stream:
            if stream.trouble is not None:
                raise stream.trouble
            found = stream.verify()
    except RecordError as error:
        _say(args, {"verifies": False, "first_difference": error.seq, "told": str(error)}, f"NOT VERIFIED: {error}")
        raise ExitError(FAILED) from error
    _say(args, {"verifies": True, "events": found.events, "told": str(found)}, str(found))


def run_export(args: argparse.Namespace) -> None:
    """Write the decision log, or all of a stream."""
    from ..streams.transfer import export_stream
    from .addresses import open_stream

    with open_stream(args.store, args.stream, read_only=True) as stream:
        if args.out.suffix == ".stream":
            events = export_stream(stream.record.place, args.out)
            _say(args, {"out": args.out.name, "events": events}, f"{events} events and the seed are in {args.out}")
        else:
            log = stream.log()
            log.write(args.out)
            _say(args, {"out": args.out.name, "decisions": len(log)}, f"{len(log)} decisions are in {args.out}")


def run_import(args: argparse.Namespace) -> None:
    """Read a stream from a file."""
    from ..streams.transfer import import_stream
    from .addresses import opened

    if not args.file.is_file():  # said before a store is made for it
        raise InputError(f"there is no file {args.file}")
    store = opened(args.store)
    try:
        found = import_stream(args.file, store, args.stream)
    except RecordError as error:
        raise ExitError(FAILED, f"{args.file} does not verify, and nothing was written: {error}") from error
    finally:
        store.close()
    _say(args, {"events": found.events, "told": str(found)}, f"imported: {found}")


def run_backup(args: argparse.Namespace) -> None:
    """Copy the file of a store, while others use it."""
    from ..records.stores import POSTGRES
    from .addresses import opened

    if args.store.startswith(POSTGRES):
        raise OptionError("a database has tools of its own for backups, such as pg_dump")
    store = opened(args.store, read_only=True)
    try:
        store.backup(args.out)
    finally:
        store.close()
    _say(args, {"out": args.out.name}, f"{args.store} is copied to {args.out}")


def _add_creation(create: argparse.ArgumentParser) -> None:
    """Add what a stream is made from."""
    create.add_argument(
        "--history",
        metavar="FILE",
        help="past items: CSV, JSON Lines, Parquet, Feather or a spreadsheet, with a header",
    )
    create.add_argument("--label", metavar="COLUMN", help="the column with the labels; a label may be missing")
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
        "--labels-at-once",
        action="store_true",
        help="every label arrives before the next item (default: labels on their way are kept in mind)",
    )
    table = add_reading_options(create)
    add_date_options(table)
    add_score(table)
    table.add_argument(
        "--encoder",
        metavar="SETTINGS",
        help="change settings of the default encoder: hashing=64 or levels=20 (docs/features.md)",
    )
