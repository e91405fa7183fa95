"""Who answers messages: a stream that this process owns, or a service. Both answer as the batches of the API do.

A message is the body of one decision or one label of the API, is checked as there, and has the same answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

import msgspec

from ..streams import Stream
from .api.decisions import Decide, check_decide, decide_each
from .api.labels import BatchLabel, check_label, label_each
from .client import Client, in_path
from .door import door_of
from .operations import LARGEST, LARGEST_BATCH, Doing, Named, Reply, decode
from .problems import Problem, ProblemDocument
from .types import MOST

B = TypeVar("B", bound=Named)
_DECIDE, _LABEL = msgspec.json.Decoder(Decide), msgspec.json.Decoder(BatchLabel)
_APPLIED = msgspec.json.Decoder(dict[str, Any])


class Told(NamedTuple):
    """The answer to one message: a body, or a problem."""

    status: int
    id: str
    body: bytes
    problem: ProblemDocument | None = None

    @property
    def done(self) -> str:
        """What was done with a label, in the word of its receipt."""
        found: str = _APPLIED.decode(self.body)["status"]
        return found


class Answering(Protocol):
    """Answers messages, each by itself; what is answered is on disk."""

    def decide(self, messages: Sequence[bytes]) -> list[Told]:
        """Decide on items in their order."""

    def label(self, messages: Sequence[bytes], by: str) -> list[Told]:
        """Take labels in their order; ``by`` is who says so where a message does not."""


def _read(messages: Sequence[bytes], decoder: msgspec.json.Decoder[B], check: Callable[[B], None]) -> list[B | Told]:
    """Return messages as what they ask for, or as the answer that they are wrong."""
    found: list[B | Told] = []
    for message in messages:
        try:
            if len(message) > LARGEST:
                raise Problem("body-too-large")
            one = decode(message, decoder)
            check(one)
            found.append(one)
        except Problem as problem:
            found.append(_refused(problem, ""))
    return found


def _refused(problem: Problem, id: str) -> Told:
    return Told(problem.status, id, b"", problem.document())


class OwnStream:
    """A stream of this process: a batch is one transaction."""

    def __init__(self, stream: Stream) -> None:
        self._stream, self._door = stream, door_of(stream)
        stream.grow_trees_beside()

    def decide(self, messages: Sequence[bytes]) -> list[Told]:
        """Decide on items in their order, in one transaction."""
        asked = _read(messages, _DECIDE, lambda one: check_decide(one, self._door))
        return self._answered(asked, decide_each)

    def label(self, messages: Sequence[bytes], by: str) -> list[Told]:
        """Take labels in their order, in one transaction."""
        asked = _read(messages, _LABEL, check_label)
        return self._answered(asked, label_each(lambda said: said or by))

    def _answered(self, asked: Sequence[B | Told], do: Doing[B]) -> list[Told]:
        good = [one for one in asked if not isinstance(one, Told)]
        if not good:
            return [one for one in asked if isinstance(one, Told)]
        with self._stream.group([one.id for one in good]):
            done = iter(do(self._stream, good))
        return [one if isinstance(one, Told) else _told(one.id, next(done)) for one in asked]


def _told(id: str, found: Callable[[], Reply[Any]] | Reply[Any] | Problem) -> Told:
    reply = found() if callable(found) else found
    return _refused(reply, id) if isinstance(reply, Problem) else Told(reply.status, id, reply.body)


class ServedStream:
    """A stream of a service: a batch is one request, or several where it is long."""

    def __init__(self, client: Client, name: str) -> None:
        self._client, self._path = client, f"/v1/streams/{in_path(name)}"

    def decide(self, messages: Sequence[bytes]) -> list[Told]:
        """Decide on items in their order."""
        return self._answered(_read(messages, _DECIDE, _nothing), messages, "decisions", {})

    def label(self, messages: Sequence[bytes], by: str) -> list[Told]:
        """Take labels in their order."""
        return self._answered(_read(messages, _LABEL, _nothing), messages, "labels", {"source": by})

    def _answered(
        self, asked: Sequence[Any], messages: Sequence[bytes], what: str, usual: dict[str, str]
    ) -> list[Told]:
        told: list[Told] = list(asked)
        rows = [row for row, one in enumerate(asked) if not isinstance(one, Told)]
        while rows:
            some = _fitting([len(messages[row]) for row in rows])
            bodies = [usual | _given(messages[row]) for row in rows[:some]]
            results = self._client.call("POST", f"{self._path}/{what}:batch", {what: bodies})[1]["results"]
            for row, result in zip(rows, results, strict=False):
                told[row] = _result(asked[row].id, result)
            rows = rows[some:]
        return told


def _nothing(one: Any) -> None:
    """Leave the check to the service, which has the columns."""


def _given(message: bytes) -> dict[str, Any]:
    """Return the fields of a message that say something."""
    return {name: value for name, value in msgspec.json.decode(message).items() if value is not None}


def _fitting(sizes: Sequence[int]) -> int:
    """Return how many messages go into one request."""
    room, some = LARGEST_BATCH // 2, 0
    for size in sizes[:MOST]:
        room -= size + len(',"source":""') + 256
        if room < 0 and some:
            break
        some += 1
    return some


def _result(id: str, result: dict[str, Any]) -> Told:
    if "problem" in result:
        return Told(result["status"], id, b"", msgspec.convert(result["problem"], ProblemDocument))
    return Told(result["status"], id, msgspec.json.encode(result["body"]))
