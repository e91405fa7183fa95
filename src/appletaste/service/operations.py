"""An operation: one method of one address, who may call it, what it takes and what it answers.

``@operation`` above a function makes it one; the operations are the one source of the routes, of the check of scopes
and of ``/openapi.json``.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, get_args, get_type_hints

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
A = TypeVar("A")
B = TypeVar("B")


class Reply(Generic[A]):
    """What is answered, an ``A``: a status, and bytes at once or in parts."""

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

    @staticmethod
    def of(answer: A, status: int = 200) -> Reply[A]:
        """Return an answer as JSON."""
        return Reply(status, msgspec.json.encode(answer))

    @staticmethod
    def plain(answer: Mapping[str, Any], status: int = 200) -> Reply[Any]:
        """Return an answer as JSON that was computed elsewhere, as a mapping with the fields of its type."""
        return Reply(status, msgspec.json.encode(answer))


@dataclass(frozen=True)
class Query:
    """A query parameter: its type, and what holds where it is left out."""

    type: Any
    default: Any
    help: str


class Call(NamedTuple, Generic[B]):
    """One request with a body ``B``, as an operation sees it: checked as far as the operation says."""

    host: Hosting
    key: Key
    params: Mapping[str, str]
    query: Mapping[str, Any]
    body: B
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


Handler = Callable[[Call[Any]], Awaitable[Reply[Any]]]


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


H = TypeVar("H", bound=Handler)
_operations: dict[str, list[Operation]] = {}


def operation(
    method: str,
    path: str,
    *,
    scope: str | None,
    status: int | tuple[int, ...] = 200,
    name: str | None = None,
    takes: str = JSON,
    query: Mapping[str, Query] | None = None,
    media: str = JSON,
    limit: int = LARGEST,
    problems: tuple[str, ...] = (),
    described: bool = True,
) -> Callable[[H], H]:
    """Make a function an operation.

    Its name is the operation's, unless ``name`` is given; the first sentence of its docstring is the summary; the body
    and the answer are those of ``call: Call[Body]`` and ``-> Reply[Answer]``, None where there is none.
    """

    def register(handler: H) -> H:
        hints = get_type_hints(handler)
        body, answer = (get_args(hints[role])[0] for role in ("call", "return"))
        statuses = (status,) if isinstance(status, int) else status
        made = Operation(
            name or handler.__name__,
            method,
            path,
            summary_of(handler),
            handler,
            scope,
            dict.fromkeys(statuses, None if answer is type(None) else answer),
            None if body is type(None) else body,
            takes,
            query or {},
            media,
            limit,
            problems,
            described,
        )
        _operations.setdefault(handler.__module__, []).append(made)
        return handler

    return register


def summary_of(handler: Handler) -> str:
    """Return the first sentence of what a function says of itself, without its full stop.

    Examples
    --------
    >>> async def erase(call):
    ...     '''Erase an item; ``id`` remains. Nobody brings it back.'''
    >>> summary_of(erase)
    'Erase an item; id remains'
    """
    told = inspect.getdoc(handler) or ""
    return " ".join(told.partition("\n\n")[0].split()).partition(". ")[0].removesuffix(".").replace("``", "")


def operations_of(*modules: ModuleType) -> tuple[Operation, ...]:
    """Return the operations of modules, in their order."""
    return tuple(one for module in modules for one in _operations[module.__name__])


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
