"""An operation: one method of one address, who may call it, what it takes and what it answers.

The list of all operations is the one source of the routes, of the check of scopes and of ``/openapi.json``.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from .bodies import LARGEST
from .keys import Key
from .problems import FieldError, Problem

if TYPE_CHECKING:
    from .hosting import Hosting
    from .writer import Writer

JSON, NDJSON, PARQUET = "application/json", "application/x-ndjson", "application/vnd.apache.parquet"
CSV, HTML = "text/csv", "text/html"
EVENTS, TEXT = "text/event-stream", "text/plain; version=0.0.4"


class Reply:
    """What is answered: a status, and bytes at once or in parts."""

    __slots__ = ("body", "headers", "media", "parts", "status")

    def __init__(
        self,
        status: int,
        body: bytes = b"",
        media: str = JSON,
        headers: Mapping[str, str] | None = None,
        parts: AsyncGenerator[bytes] | None = None,
    ) -> None:
        self.status, self.body, self.media, self.headers, self.parts = status, body, media, headers, parts

    @classmethod
    def of(cls, answer: Any, status: int = 200) -> Reply:
        """Return an answer as JSON."""
        return cls(status, msgspec.json.encode(answer))


@dataclass(frozen=True)
class Query:
    """A query parameter: its type, and what holds where it is left out."""

    type: Any
    default: Any
    help: str


class Call(NamedTuple):
    """One request, as an operation sees it: checked as far as the operation says."""

    host: Hosting
    key: Key
    params: Mapping[str, str]
    query: Mapping[str, Any]
    body: Any
    headers: Mapping[bytes, bytes]

    @property
    def stream(self) -> str:
        """The name of the stream that the address names."""
        return self.params["stream"]

    @property
    def writer(self) -> Writer:
        """The writer of the stream, or the problem that there is none."""
        return self.host.writer(self.stream)

    @property
    def by_key(self) -> bool:
        """Whether a program asks with its key; otherwise a person does, by the cookie of a session."""
        return b"authorization" in self.headers

    def who(self, said: str | None) -> str:
        """Return who acts: who a program says that it is, or the name of the key; a person is always the latter."""
        return said if said is not None and self.by_key else self.key.name


Handler = Callable[[Call], Awaitable[Reply]]


@dataclass(frozen=True)
class Operation:
    """One method of one address."""

    name: str
    method: str
    path: str
    summary: str
    handler: Handler
    scope: str | None  #: what a key must allow; empty: any valid key; None: nobody needs a key
    answers: Mapping[int, Any]  #: the type of the answer by status; None: there is no body
    body: Any = None  #: the type of the body; None: there is none
    takes: str = JSON  #: the media type of the body; any other than JSON is handed on as it is
    query: Mapping[str, Query] = field(default_factory=dict)
    media: str = JSON
    limit: int = LARGEST
    problems: tuple[str, ...] = ()  #: beside those of every operation
    described: bool = True  #: in ``/openapi.json``

    @cached_property
    def of_stream(self) -> bool:
        """Whether the address names a stream."""
        return "{stream}" in self.path


def read_query(operation: Operation, given: list[tuple[str, str]]) -> dict[str, Any]:
    """Return the query parameters of an operation, or the problem that they are."""
    found = {name: query.default for name, query in operation.query.items()}
    seen: set[str] = set()
    for name, value in given:
        query = operation.query.get(name)
        if query is None:
            raise Problem("validation", FieldError("unknown-parameter"))
        if name in seen:
            raise Problem("validation", FieldError("given-twice", parameter=name))
        seen.add(name)
        try:
            found[name] = msgspec.convert(value, query.type, strict=False)
        except msgspec.ValidationError:
            raise Problem("validation", FieldError("wrong-value", parameter=name)) from None
    return found
