"""What the verbs of stores share: the option, exit codes, and a store that cannot be used in one sentence."""

from __future__ import annotations

import argparse
from typing import Any

#: A check that failed, and a store that cannot be used; usage is 2, as everywhere.
FAILED, STORAGE = 1, 3


class ExitError(Exception):
    """A command that ends with an exit code after it has said why."""

    def __init__(self, code: int, told: str = "") -> None:
        super().__init__(told)
        self.code = code


def add_store(parser: argparse.ArgumentParser) -> None:
    """Add ``--store``."""
    parser.add_argument(
        "--store", required=True, metavar="STORE", help="a file such as desk.db, or postgresql://user@host/database"
    )


def in_use(args: argparse.Namespace) -> str:
    """Return what to do where another process, most likely a service, writes the file that a command was to write.

    ``args.over_http``, where a verb has it, says how the service is asked for the same.
    """
    told = f"{args.store} is in use, and one process writes a file. "
    if args.verb == "serve":
        return f"{told}Most likely another service runs on the store: end the other process first"
    again = "stop the service, repeat this command, and start the service again"
    if not hasattr(args, "over_http"):
        return f"{told}Most likely a service runs on the store: {again}"
    return (
        f"{told}Most likely a service runs on the store. Ask the service: {args.over_http(args)} with an admin key for "
        f"every stream ('Authorization: Bearer at_...'). Or {again}. When the last admin key is lost, stop the service "
        f"first: 'appletaste keys create me --store {args.store} --scope admin' makes another"
    )


def opened(address: str, read_only: bool = False, create: bool = True) -> Any:
    """Return the store at an address; ``create`` makes a file that is not there."""
    from ..records.stores import open_store

    return open_store(address, read_only=read_only, create=create)
