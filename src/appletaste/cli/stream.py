"""``appletaste stream``: streams that last, in a file or in PostgreSQL."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError, OptionError, RecordError
from .desk import add_creation, make_desk
from .flags import as_flags
from .options import add_json, add_verb
from .storage import FAILED, ExitError, add_store, opened

if TYPE_CHECKING:
    from ..streams import Stream

DESCRIPTION = """\
A stream of decisions in a store, a file (SQLite) or PostgreSQL, that lasts for years: every
decision is on disk before it is answered, and the record can be checked bit for bit."""

EXAMPLES = """\
examples:
  appletaste stream create orders --store desk.db --from orders.csv --label fraud --id order --time placed_at \\
      --drop settled_on --costs miss=95,false_alarm=6,hit=4 --audit 2% --teach
  appletaste stream create clicks --store desk.db --n-features 20 --costs miss=5,false_alarm=1,hit=0
  appletaste stream list --store desk.db
  appletaste stream verify orders --store desk.db
  appletaste stream backup --store desk.db --out desk-monday.db

From here on: docs/service.md
"""

CREATE = """\
Make a stream: of records like those of a file (--from; the options are those of 'appletaste
desk create'), or of vectors of numbers (--n-features). The seed is 128 random bits that never
leave the store; --seed-file reads one from a file instead, so that a rehearsal can be repeated."""


def add(verbs: Any) -> None:
    """Add the verb to the parser."""
    told = "make, list, check, copy and move streams that last"
    parser = add_verb(verbs, "stream", run_list, told, DESCRIPTION, EXAMPLES)
    kinds = parser.add_subparsers(dest="kind", metavar="create|list|show|verify|export|import|backup", required=True)
    create = add_verb(kinds, "create", run_create, "make a stream", CREATE, EXAMPLES)
    create.add_argument("name", metavar="NAME", help="of the stream, such as orders")
    add_creation(create, from_file=False)
    create.add_argument("--n-features", type=int, metavar="D", help="items are vectors of D numbers; instead of --from")
    create.add_argument("--mode", default="live", help="live (default), shadow or frozen")
    create.add_argument("--expire-after", type=float, metavar="DAYS", help="how long labels are waited for")
    create.add_argument("--seed-file", type=Path, metavar="FILE", help="a whole number of at most 128 bits in a file")
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
        one.add_argument("name", metavar="NAME", help="of the stream")
    export.add_argument("--out", type=Path, required=True, metavar="FILE", help="the file to write")
    import_.add_argument("file", type=Path, metavar="FILE.stream", help="what 'stream export' wrote")
    import_.add_argument("--name", metavar="NAME", help="another name for the stream")
    backup.add_argument("--out", type=Path, required=True, metavar="FILE", help="the copy; an existing file stays")
    for one in (create, listed, show, verify, export, import_, backup):
        add_store(one)
        add_json(one)


def _say(args: argparse.Namespace, found: dict[str, Any], told: str) -> None:
    from .console import print_json

    print_json(found) if args.json else print(told)


def run_create(args: argparse.Namespace) -> None:
    """Make a stream, and say what is in it."""
    from ..streams import Stream

    if (args.source is None) == (args.n_features is None):
        raise OptionError("a stream is made from a file (--from and --label), or for vectors (--n-features)")
    seed = None
    if args.seed_file is not None:
        try:
            seed = int(args.seed_file.read_text().strip())
        except ValueError:
            raise InputError("--seed-file names a file with one whole number in it") from None
    given: dict[str, Any] = {"mode": args.mode, "seed": seed}
    given["expire_after"] = None if args.expire_after is None else 86400.0 * args.expire_after
    notes: list[str] = []
    if args.source is None:
        player = _vectors(args)
    else:
        if args.label is None:
            raise OptionError("--label names the column of the file with the labels")
        made = make_desk(args, None, 1)
        player, notes = made.ledger.player, [as_flags(note) for note in made.notes]
        given |= {"features": made.features, "roles": made.ledger.roles, "costs_by_item": made.ledger.costs_by_item}
    with Stream.create(args.store, args.name, player, **given) as stream:
        found = {**_described(stream), "notes": notes}
    _say(args, found, f"stream {args.name!r} is in {args.store}: {found['n_features']} features, {found['mode']}")
    if not args.json:
        for note in notes:
            print(f"note: {note}", file=sys.stderr)


def _vectors(args: argparse.Namespace) -> Any:
    from ..policies import policy
    from ..streams import Awaiting, Desk
    from ..streams.staffing import Staffing
    from .arguments import parse_entries, parse_one_sheet

    (entry,) = parse_entries([args.policy])
    alone = policy(entry.name, n_features=args.n_features, costs=parse_one_sheet(args.costs), **entry.options)
    staffing = Staffing.of(args.capacity, args.audit, args.time_zone) or Staffing()
    staffing.check(timed=True)
    player = Awaiting(alone) if args.delay == "late" else alone
    return player if staffing == Staffing() else Desk(player, staffing.budget, staffing.audit)


def _described(stream: Stream) -> dict[str, Any]:
    settings, policy = stream.settings, stream.player.policy
    return {
        "name": stream.name,
        "mode": stream.mode,
        "events": len(stream),
        "policy": policy.name,
        "n_features": policy.n_features,
        "columns": None if stream.features is None else list(stream.features.fields),
        "costs": settings["costs_by_item"] or dict(stream.costs.outcomes()),
        "pending": len(stream.pending),
        "trouble": None if stream.trouble is None else str(stream.trouble),
    }


def run_list(args: argparse.Namespace) -> None:
    """Say which streams there are."""
    store = opened(args.store, read_only=True)
    try:
        names = store.names()
    finally:
        store.close()
    _say(args, {"streams": names}, "\n".join(names) or "no stream yet: 'appletaste stream create' makes one")


def run_show(args: argparse.Namespace) -> None:
    """Say how a stream stands."""
    from ..streams import Stream

    with Stream.open(args.store, args.name, read_only=True) as stream:
        found = _described(stream)
    told = "\n".join(f"{name:<11} {'' if value is None else value}" for name, value in found.items())
    _say(args, found, told)


def run_verify(args: argparse.Namespace) -> None:
    """Fold the record again and compare."""
    from ..streams import Stream

    try:
        with Stream.open(args.store, args.name, read_only=True) as stream:
            if stream.trouble is not None:
                raise stream.trouble
            found = stream.verify()
    except RecordError as error:
        _say(args, {"verifies": False, "first_difference": error.seq, "told": str(error)}, f"NOT VERIFIED: {error}")
        raise ExitError(FAILED) from error
    _say(args, {"verifies": True, "events": found.events, "told": str(found)}, str(found))


def run_export(args: argparse.Namespace) -> None:
    """Write the decision log, or all of a stream."""
    from ..streams import Stream
    from ..streams.transfer import export_stream

    with Stream.open(args.store, args.name, read_only=True) as stream:
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

    store = opened(args.store)
    try:
        found = import_stream(args.file, store, args.name)
    except RecordError as error:
        raise ExitError(FAILED, f"{args.file} does not verify, and nothing was written: {error}") from error
    finally:
        store.close()
    _say(args, {"events": found.events, "told": str(found)}, f"imported: {found}")


def run_backup(args: argparse.Namespace) -> None:
    """Copy the file of a store, while others use it."""
    from ..records.stores import POSTGRES

    if args.store.startswith(POSTGRES):
        raise OptionError("a database has tools of its own for backups, such as pg_dump")
    store = opened(args.store, read_only=True)
    try:
        store.backup(args.out)
    finally:
        store.close()
    _say(args, {"out": args.out.name}, f"{args.store} is copied to {args.out}")
