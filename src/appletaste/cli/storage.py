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


def opened(address: str, read_only: bool = False, create: bool = True) -> Any:
    """Return the store at an address; ``create`` makes a file that is not there."""
    from ..logs.stores import open_store

    return open_store(address, read_only=read_only, create=create)
