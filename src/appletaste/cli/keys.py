"""``appletaste keys``: who may ask what of a service."""

from __future__ import annotations

import argparse
import json
from datetime import UTC, datetime, timedelta
from typing import Any

from ..errors import OptionError
from .options import add_json, add_store, add_verb

DESCRIPTION = """\
A key says who may ask what: its scopes, and for which streams. The secret of a key is shown
once, when it is made; the store keeps its SHA-256. While a service runs on a file, keys are
made over HTTP (POST /v1/keys), since one process writes the file."""

EXAMPLES = """\
examples:
  appletaste keys create shop --store shop.db --scope decide --scope label --stream orders --days 365
  appletaste keys create Ann --store shop.db --role reviewer
  appletaste keys list --store shop.db
  appletaste keys trail --store shop.db
  appletaste keys revoke 3f9a0c11b2d4 --store shop.db

scopes: decide, label, correct, review, lead, read, admin (docs/service.md)
roles: reviewer, lead, admin, which are names for scopes that go together
"""

#: How long a key may last, a thousand years: calendars end.
MOST_DAYS = 365_000


def add(verbs: Any) -> None:
    """Add the verb to the parser."""
    parser = add_verb(verbs, "keys", run, "make, list and revoke the keys of a service", DESCRIPTION, EXAMPLES)
    kinds = parser.add_subparsers(dest="kind", metavar="create|list|trail|revoke", required=True)
    create = add_verb(kinds, "create", run, "make a key and show its secret, once", DESCRIPTION, EXAMPLES)
    create.add_argument("name", metavar="NAME", help="who holds the key, such as 'web shop'")
    create.add_argument("--scope", action="append", default=[], metavar="SCOPE", help="what it allows; repeat for more")
    create.add_argument("--role", metavar="ROLE", help="what it allows, in one word: reviewer, lead or admin")
    create.add_argument(
        "--stream", action="append", metavar="NAME", help="a stream that it is for; repeat for more (default: all)"
    )
    create.add_argument("--days", type=float, metavar="N", help="after how many days it expires (default: never)")
    create.set_defaults(over_http=_create_over_http)
    listed = add_verb(kinds, "list", run, "list the keys, without their secrets", DESCRIPTION, EXAMPLES)
    trail = add_verb(kinds, "trail", run, "list who signed in, was refused, and made keys", DESCRIPTION, EXAMPLES)
    trail.add_argument("--limit", type=int, default=50, metavar="N", help="how many entries, the latest first (50)")
    revoke = add_verb(kinds, "revoke", run, "let a key open nothing any more", DESCRIPTION, EXAMPLES)
    revoke.add_argument("id", metavar="ID", help="of the key, as 'keys list' shows it")
    revoke.set_defaults(over_http=lambda args: f"DELETE /v1/keys/{args.id}")
    for one in (create, listed, trail, revoke):
        add_store(one)
        add_json(one)


def run(args: argparse.Namespace) -> None:
    """Make, list or revoke keys, or list what happened at the door."""
    from msgspec import to_builtins

    from ..service.keys import Keys, scopes_of
    from ..service.trail import COMMAND_LINE
    from .addresses import opened
    from .console import print_json, print_table

    until = _until(args.days) if args.kind == "create" else None
    if args.kind == "create":
        _check_allowed(args)
    store = opened(args.store, read_only=args.kind in ("list", "trail"), create=args.kind == "create")
    try:
        keys = Keys(store)
        if args.kind == "create":
            expires = None if until is None else until.timestamp()
            scopes = args.scope if args.role is None else scopes_of(args.role)
            secret, key = keys.create(args.name, scopes, args.stream or ["*"], expires, COMMAND_LINE)
            if args.json:
                print_json({"secret": secret, "id": key.id, "scopes": key.scopes, "streams": key.streams})
            else:
                print(f"{secret}\nThis is key {key.id}. Its secret is not shown again, and is kept nowhere.")
        elif args.kind == "revoke":
            if not keys.revoke(args.id, COMMAND_LINE):
                raise OptionError("there is no key with this id: 'appletaste keys list' shows the keys")
            print_json({"revoked": args.id}) if args.json else print(f"key {args.id} opens nothing any more")
        elif args.kind == "trail":
            entries = [to_builtins(entry) for entry in keys.trail.latest(max(args.limit, 0))]
            if args.json:
                print_json({"entries": entries})
            else:
                names = ("at", "what", "who", "by", "address", "count")
                print_table(
                    "at the door, the latest first", names, [[str(e.get(n, "")) for n in names] for e in entries]
                )
        elif args.json:
            print_json({"keys": [_plain(key) for key in keys.all()]})
        else:
            rows = [(key.id, key.name, ",".join(key.scopes), ",".join(key.streams), _state(key)) for key in keys.all()]
            print_table("keys", ("id", "name", "scopes", "streams", "state"), rows)
    finally:
        store.close()


def _check_allowed(args: argparse.Namespace) -> None:
    """Refuse a key with a role and scopes, or with neither."""
    if bool(args.scope) == (args.role is not None):
        raise OptionError("a key has scopes (--scope, repeated) or a role (--role reviewer, lead or admin)")


def _until(days: float | None) -> datetime | None:
    """Return when a key expires; None: never."""
    if days is None:
        return None
    if not 0 < days <= MOST_DAYS:
        raise OptionError(f"--days is a number of days, more than 0 and at most {MOST_DAYS:,}")
    return datetime.now(UTC) + timedelta(days=days)


def _create_over_http(args: argparse.Namespace) -> str:
    """Return how a service makes the key."""
    _check_allowed(args)
    allowed = {"scopes": args.scope} if args.role is None else {"role": args.role}
    body, until = {"name": args.name, **allowed, "streams": args.stream or ["*"]}, _until(args.days)
    return f"POST /v1/keys {json.dumps(body if until is None else {**body, 'expires': until.isoformat()})}"


def _plain(key: Any) -> dict[str, Any]:
    return {
        "id": key.id,
        "name": key.name,
        "scopes": list(key.scopes),
        "streams": list(key.streams),
        "created": key.created,
        "expires": key.expires,
        "revoked": key.revoked,
    }


def _state(key: Any) -> str:
    if key.revoked is not None:
        return "revoked"
    if key.expires is None:
        return "valid"
    return ("valid until " if key.valid(datetime.now(UTC).timestamp()) else "expired ") + datetime.fromtimestamp(
        key.expires, UTC
    ).strftime("%Y-%m-%d")
