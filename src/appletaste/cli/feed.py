"""``appletaste feed``: items and labels from topics of the Kafka protocol, decisions out."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import BrokerError, OptionError
from .options import STORAGE, STORE, ExitError, add_json, add_stream_name, add_verb

DESCRIPTION = """\
Read items and labels from topics of a broker (Kafka, Redpanda, Event Hubs, ...), decide, and send
the decisions to another topic, until SIGTERM. A message is JSON, as the API takes it:
items {"id": ..., "item": {...}}, labels {"id": ..., "value": 1}.

What was read counts as done after our commit, and after its decisions were delivered. When the
feed is killed in between, the messages come again: the same id has the same decision, and a label
is applied once. A decision may be sent twice then, with the same bytes.

A message that cannot be used goes to the dead letters, with the reason in its headers. So does a
label whose item has not come within --wait seconds after all items were read.

The feed writes the store, and one process writes a file. Where a service runs, feed the service:
--service URL --key-file FILE, with as many feeds as there are partitions."""

EXAMPLES = """\
examples:
  appletaste feed shop.db --stream orders --broker localhost:9092 --items orders --labels chargebacks \\
      --decisions decided
  appletaste feed --service http://localhost:8080 --key-file feed.key --stream orders \\
      --broker kafka:9092 --settings kafka.properties --items orders --decisions decided
  appletaste feed shop.db --broker localhost:9092 --labels chargebacks --once

More: docs/how-to/feed-from-kafka.md
"""


def add(verbs: Any) -> None:
    """Add the verb to the parser."""
    parser = add_verb(verbs, "feed", run, "items and labels from Kafka topics, decisions out", DESCRIPTION, EXAMPLES)
    parser.add_argument("store", metavar="STORE", nargs="?", help=f"{STORE}; or --service")
    add_stream_name(parser)
    parser.add_argument("--service", metavar="URL", help="feed a service that runs, instead of a store")
    parser.add_argument("--key-file", type=Path, metavar="FILE", help="a file with the key of the service")
    parser.add_argument("--broker", required=True, metavar="HOST:PORT", help="brokers, with commas between them")
    parser.add_argument(
        "--settings",
        type=Path,
        metavar="FILE",
        help="what the broker wants, a line NAME=VALUE each (librdkafka's names)",
    )
    parser.add_argument("--items", metavar="TOPIC", help="the topic with items")
    parser.add_argument("--labels", metavar="TOPIC", help="the topic with labels")
    parser.add_argument("--decisions", metavar="TOPIC", help="the topic that decisions are sent to")
    parser.add_argument(
        "--dead-letters", metavar="TOPIC", help="where messages go that cannot be used (default: DECISIONS.dead)"
    )
    parser.add_argument(
        "--group", metavar="NAME", help="the group that shares the reading (default: appletaste-STREAM)"
    )
    parser.add_argument(
        "--wait", type=float, default=60.0, metavar="SECONDS", help="how long labels wait for their items (default 60)"
    )
    parser.add_argument("--once", action="store_true", help="end when all was read, and no label waits")
    add_json(parser)
    parser.set_defaults(needs_key="a key that may decide and label")
    parser.set_defaults(over_http=lambda _: "appletaste feed --service URL --key-file FILE")


def run(args: argparse.Namespace) -> None:
    """Feed until told to end; what could not be delivered ends with exit code 3."""
    from .._files import json_text
    from ..service.broker import Broker, read_settings
    from ..service.feed import Feed, check_topics

    if (args.store is None) == (args.service is None):
        raise OptionError("say what is fed: STORE, or --service URL with --key-file FILE")
    if not args.wait >= 0:
        raise OptionError("--wait is a number of seconds from 0 on")
    dead = args.dead_letters or f"{args.decisions or args.labels}.dead"
    check_topics(args.items, args.labels, args.decisions, dead)
    settings = {} if args.settings is None else read_settings(args.settings)
    stop = threading.Event()
    for told in (signal.SIGTERM, signal.SIGINT):
        signal.signal(told, lambda *_: stop.set())
    with answering(args) as (name, answers):
        group = args.group or f"appletaste-{name}"
        feed = Feed(
            answers,
            lambda topics, lost: Broker(args.broker, group, topics, settings, lost),
            items=args.items,
            labels=args.labels,
            decisions=args.decisions,
            dead=dead,
            wait=args.wait,
        )
        if not args.json:
            print(f"feeding {name!r} from {args.broker} as {group}; dead letters go to {dead}", file=sys.stderr)

        def say(fed: Any) -> None:
            if args.json:
                print(json_text(fed.as_dict(), None))
            else:
                print(in_a_line(fed), file=sys.stderr)
            sys.stdout.flush()

        try:
            fed = feed.run(stop, args.once, say)
        except BrokerError as error:
            raise ExitError(STORAGE, str(error)) from None
    if args.json:
        print(json_text(fed.as_dict(), None))
    else:
        print(in_a_line(fed))


@contextmanager
def answering(args: argparse.Namespace) -> Iterator[tuple[str, Any]]:
    """Give the name of the stream that is fed, and who answers: the store, or a service."""
    from ..service.answering import OwnStream, ServedStream
    from ..service.client import connect
    from .addresses import open_stream
    from .warm import play_together

    if args.service is None:
        with open_stream(args.store, args.stream) as stream:
            play_together()
            yield stream.name, OwnStream(stream)
        return
    if args.key_file is None:
        raise OptionError("--service needs --key-file, a file with a key that may decide and label")
    with connect(args.service, key=args.key_file.read_text(encoding="utf-8").strip()) as client:
        names = client.streams()
        name = args.stream or (names[0] if len(names) == 1 else None)
        if name not in names:
            raise OptionError(f"the key may see the streams {', '.join(names) or 'none'}: say which with --stream")
        yield name, ServedStream(client, name)


def in_a_line(fed: Any) -> str:
    """Return how a feed goes in a line."""
    from .addresses import counted

    parts = [f"{counted(fed.decided, 'item')} decided ({fed.acted:,} acted on)"]
    parts += [f"{fed.again:,} decided before"] if fed.again else []
    parts += [f"{counted(fed.learnt, 'label')} learnt"]
    parts += [f"{fed.known:,} known before"] if fed.known else []
    parts += [f"{fed.recorded:,} recorded"] if fed.recorded else []
    parts += [f"{counted(fed.waiting, 'label')} waiting"] if fed.waiting else []
    parts += [counted(fed.dead, "dead letter")] if fed.dead else []
    return ", ".join(parts)
