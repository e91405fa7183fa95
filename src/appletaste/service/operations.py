"""An operation: one method of one address, who may call it, what it takes and what it answers.

``@operation`` above a function makes it one; the operations are the one source of the routes, of the check of scopes
and of ``/openapi.json``. A batch is many requests in one: each is read, done and answered by itself, and all share a
commit.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar, get_args, get_type_hints

import msgspec

from ..errors import AppleTasteError, StoreError
from ..streams import Stream
from .keys import Key
from .problems import FieldError, Problem, of_validation, problem_of

if TYPE_CHECKING:
    from .hosting import Host
    from .writer import Writer

JSON, NDJSON, PARQUET = "application/json", "application/x-ndjson", "application/vnd.apache.parquet"
CSV, HTML = "text/csv", "text/html"
EVENTS, TEXT = "text/event-stream", "text/plain; version=0.0.4; charset=utf-8"
#: The longest bodies, in bytes: of one request, and of a batch.
LARGEST, LARGEST_BATCH = 64 * 1024, 4 * 1024 * 1024
#: Addresses of a stream, and of a decision.
STREAM = "/v1/streams/{stream}"
CASE = STREAM + "/decisions/{id}"


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
    def of_dict(answer: Mapping[str, Any], status: int = 200) -> Reply[Any]:
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

    host: Host
    key: Key
    params: Mapping[str, str]
    query: Mapping[str, Any]
    body: B
    headers: Mapping[bytes, bytes]
    address: str = ""  #: where the request came from

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
        """Return who acts: the name of the key; with whom a program says that it acts for, and that it says so.

        Whoever may make keys of any name is believed. A person is always the holder of the key.
        """
        name = self.key.name
        if said is None or said == name or not self.by_key:
            return name
        return said if "admin" in self.key.scopes else f"{said} (says {name})"


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


# ---- bodies


def decode(body: bytes | msgspec.Raw, decoder: msgspec.json.Decoder[B]) -> B:
    """Return a body as its type, or the problem that it is.

    Examples
    --------
    >>> from appletaste.service.api.labels import Label
    >>> decode(b'{"value": 1}', msgspec.json.Decoder(Label)).value
    1
    >>> for wrong in (b'{"value": true}', b'{"value": 1, "colour": 3}', b'{"value": NaN}', b"{" * 100_000):
    ...     try:
    ...         decode(wrong, msgspec.json.Decoder(Label))
    ...     except Problem as problem:
    ...         print(problem.status, problem.name, [error.code for error in problem.errors])
    422 validation ['wrong-type']
    422 validation ['unknown-field']
    400 malformed-json []
    400 malformed-json []
    """
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        raise of_validation(error) from None
    except (msgspec.DecodeError, RecursionError):
        raise Problem("malformed-json") from None
    except UnicodeError:
        raise Problem("bad-encoding") from None


# ---- many requests in one


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
