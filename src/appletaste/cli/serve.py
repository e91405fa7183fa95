"""``appletaste serve``: the streams of a store for any program, over HTTP."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from ..errors import OptionError
from .options import STORAGE, ExitError, add_store, add_verb

DESCRIPTION = """\
Serve all streams of a store over HTTP, until SIGTERM. Every decision is on disk before it is
answered, the same id has the same answer for ever, and a label is applied once. Requests need
a key ('appletaste keys create'). What can be asked: GET /openapi.json.

Several processes may serve one PostgreSQL: streams are spread over them, any process passes requests
on to the one that has the stream, and when a process comes or goes the others give or take its share.

The service speaks HTTP without encryption: let a proxy with TLS stand before it. When a write
to the disk fails the process ends with exit code 3: start it again (systemd, Kubernetes and
others do that), and what is on disk is found out."""

EXAMPLES = """\
examples:
  appletaste stream create shop.db --history orders.csv --label fraud --costs miss=95,false_alarm=6,hit=4
  appletaste keys create shop --store shop.db --scope decide --scope label
  appletaste keys create Ann --store shop.db --role reviewer
  appletaste serve --store shop.db --port 8080

From here on: docs/service.md
"""


def add(verbs: Any) -> None:
    """Add the verb to the parser."""
    parser = add_verb(verbs, "serve", run, "serve the streams of a store over HTTP", DESCRIPTION, EXAMPLES)
    add_store(parser)
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (default 127.0.0.1)")
    parser.add_argument(
        "--port", type=int, default=8080, help="the port to listen on (default 8080; 0: any that is free)"
    )
    parser.add_argument(
        "--address",
        metavar="URL",
        help="where other processes on the same PostgreSQL reach this one (default http://HOST:PORT)",
    )
    parser.add_argument(
        "--proxy",
        action="append",
        default=[],
        metavar="ADDRESS",
        help="believe this address, or network, who people are; repeat for more (default: nobody; needs --group)",
    )
    parser.add_argument(
        "--group",
        action="append",
        default=[],
        metavar="GROUP=ROLE",
        help="what members of a group may do: reviewer, lead, admin, or scopes as read+review; GROUP=ROLE:STREAM,... "
        "for some streams; the first group that somebody is a member of counts",
    )
    parser.add_argument(
        "--user-header",
        default="X-Forwarded-User",
        metavar="HEADER",
        help="where the proxy names people (default X-Forwarded-User)",
    )
    parser.add_argument(
        "--groups-header",
        default="X-Forwarded-Groups",
        metavar="HEADER",
        help="where the proxy names their groups, with commas in between (default X-Forwarded-Groups)",
    )
    parser.add_argument(
        "--hook",
        action="append",
        default=[],
        metavar="NAME=URL",
        help="tell this address what happens, in signed messages; repeat for more (docs/how-to/call-a-hook.md)",
    )
    parser.add_argument(
        "--hook-secret",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="a file with the secret that signs the messages of a hook, or NAME=env:VARIABLE",
    )
    parser.add_argument(
        "--hook-events",
        action="append",
        default=[],
        metavar="NAME=EVENT,...",
        help="what a hook is told: decision, label-awaited, alarm, escalation, safe-mode, verification-failed "
        "(default: all)",
    )
    parser.add_argument(
        "--allow-private-hooks", action="store_true", help="let hooks be addresses of the own network, and http://"
    )
    parser.add_argument(
        "--idle",
        type=float,
        default=15.0,
        metavar="MINUTES",
        help="close a stream that nobody has asked for in so many minutes, where more than 32 are open; the next "
        "request opens it again (default 15)",
    )
    parser.add_argument("--json", action="store_true", help="say at the start, as JSON, what is served where")


def run(args: argparse.Namespace) -> None:
    """Serve until told to end."""
    from .._checks import check_port
    from ..records.stores import POSTGRES
    from ..service.client import split_address
    from ..service.keys import Keys
    from ..service.server import Server
    from .addresses import opened
    from .console import print_json
    from .warm import play_together

    check_port(args.port)
    address = ""
    if args.store.startswith(POSTGRES):
        if args.port == 0:
            raise OptionError("--port 0 is for a file: other processes on one PostgreSQL must know the port")
        address = args.address or f"http://{args.host}:{args.port}"
        split_address(address)
    elif args.address:
        raise OptionError("--address is for several processes on one PostgreSQL: a file has one process")
    if not args.idle > 0:
        raise OptionError("--idle is a number of minutes above 0")
    proxy = None
    if args.proxy or args.group:
        from ..service.proxy import Proxy

        proxy = Proxy.of(args.proxy, args.group, args.user_header, args.groups_header)
    hooks = hooks_of(args)
    store = opened(args.store, create=False)
    check_hooks(store, hooks)
    names, keys = store.names(), len(Keys(store).all())

    def listening(port: int) -> None:
        if args.json:
            print_json({"store": store.address, "host": args.host, "port": port, "streams": names, "keys": keys})
        else:
            print(f"serving {', '.join(names) or 'no stream yet'} at http://{args.host}:{port}")
            print("for reviewers: open the same address in a browser, and sign in with a key")
        sys.stdout.flush()

    if not names:
        told = f"note: {store.address} has no stream yet: the page makes one from a file, or 'appletaste stream create'"
        print(told, file=sys.stderr)
    if not keys:
        print("note: there is no key yet, so nobody may ask: 'appletaste keys create'", file=sys.stderr)
    try:
        play_together()  # or the first callers would wait until it is compiled
        idle = 60.0 * args.idle
        server = Server(
            store, args.host, args.port, address=address, listening=listening, proxy=proxy, hooks=hooks, idle=idle
        )
        failure = server.run()
    finally:
        store.close()
    if failure:
        raise ExitError(STORAGE)


def hooks_of(args: argparse.Namespace) -> tuple[Any, ...]:
    """Return the hooks that were named."""
    from ..service.hooks import read_hooks

    return read_hooks(args.hook, args.hook_secret, args.hook_events, args.allow_private_hooks)


def check_hooks(store: Any, hooks: tuple[Any, ...]) -> None:
    """Write down what hooks tell, or say that a hook told other things before."""
    from ..service.hooks import register

    for hook in hooks:
        register(store, hook)
