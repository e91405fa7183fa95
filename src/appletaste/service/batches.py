"""Many requests in one: each is read, done and answered by itself, and all share a commit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

import msgspec

from ..errors import AppleTasteError, StoreError
from ..streams import Stream
from .bodies import decode
from .operations import Reply
from .problems import Problem, problem_of
from .writer import Writer


class Named(Protocol):
    """A request about the decision with an id."""

    @property
    def id(self) -> str:
        """Of the decision."""


One = TypeVar("One", bound=Named)
#: Does many requests, each by itself.
Doing = Callable[[Stream, list[One]], Sequence[Callable[[], Reply[Any]] | Reply[Any] | Problem]]


async def in_one_commit(
    writer: Writer,
    raws: Iterable[msgspec.Raw],
    decoder: msgspec.json.Decoder[Any],
    check: Callable[[One], None],
    do: Doing[One],
) -> Reply[Any]:
    """Answer requests in their order; those that are wrong are told so, and the others count."""
    asked: list[One | Problem] = []
    for raw in raws:
        try:
            one: One = decode(raw, decoder)
            check(one)
            asked.append(one)
        except Problem as problem:
            asked.append(problem)
    good = [one for one in asked if not isinstance(one, Problem)]

    def work(stream: Stream) -> Reply[Any]:
        done = iter(do(stream, good))
        told = (one if isinstance(one, Problem) else next(done) for one in asked)
        results = [_result(writer.worded(one) if callable(one) else one) for one in told]
        return Reply(200, b'{"results":[' + b",".join(results) + b"]}")

    return await writer.do(work, tuple(one.id for one in good))


def one_by_one(do: Callable[[Stream, One], Reply[Any]]) -> Doing[One]:
    """Return what does many requests by doing each; what fails because of the store or the stream fails for all."""

    def outcome(stream: Stream, one: One) -> Reply[Any] | Problem:
        try:
            return do(stream, one)
        except StoreError:
            raise
        except AppleTasteError as error:
            if stream.stopped:
                raise
            return problem_of(error)
        except Problem as problem:
            return problem

    return lambda stream, asked: [outcome(stream, one) for one in asked]


def _result(told: Reply[Any] | Problem) -> bytes:
    if isinstance(told, Problem):
        return b'{"status":%d,"problem":%b}' % (told.status, told.body())
    return b'{"status":%d,"body":%b}' % (told.status, told.body)
