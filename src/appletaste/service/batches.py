"""Many requests in one: each is read, done and answered by itself, and all share a commit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeVar

import msgspec

from ..errors import AppleTasteError, StoreError
from ..live import Stream
from .bodies import decode
from .operations import Reply
from .problems import Problem
from .writer import Writer, problem_of


class Named(Protocol):
    """A request about the decision with an id."""

    @property
    def id(self) -> str:
        """Of the decision."""


One = TypeVar("One", bound=Named)
#: Does one request; returns the status and the body of its answer.
Doing = Callable[[Stream, One], tuple[int, bytes]]


async def in_one_commit(
    writer: Writer,
    raws: Iterable[msgspec.Raw],
    decoder: msgspec.json.Decoder[Any],
    check: Callable[[One], None],
    do: Doing[One],
) -> Reply:
    """Answer requests in their order; those that are wrong are told so, and the others count."""
    asked: list[One | Problem] = []
    for raw in raws:
        try:
            one: One = decode(raw, decoder)
            check(one)
            asked.append(one)
        except Problem as problem:
            asked.append(problem)
    ids = tuple(one.id for one in asked if not isinstance(one, Problem))

    def work(stream: Stream) -> Reply:
        return Reply(200, b'{"results":[' + b",".join(_result(stream, one, do) for one in asked) + b"]}")

    return await writer.do(work, ids)


def _result(stream: Stream, one: One | Problem, do: Doing[One]) -> bytes:
    if not isinstance(one, Problem):
        try:
            return b'{"status":%d,"body":%b}' % do(stream, one)
        except StoreError:
            raise
        except AppleTasteError as error:
            if stream.stopped:
                raise
            one = problem_of(error)
        except Problem as problem:
            one = problem
    return b'{"status":%d,"problem":%b}' % (one.status, one.body())
