"""What is asked, as types: the one source of decoding and, with the answers, of ``/openapi.json``.

A field that a type does not have is refused, and so is a text or a truth value where a number is wanted.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct

from .keys import ANY, ScopeName
from .problems import Problem, of_validation

#: The longest bodies, in bytes: of one request, and of a batch.
LARGEST, LARGEST_BATCH = 64 * 1024, 4 * 1024 * 1024
#: The most of anything in one batch.
MOST = 1000

Id = Annotated[str, Meta(min_length=1, max_length=256, description="The caller's own name of the item.")]
Who = Annotated[
    str, Meta(min_length=1, max_length=100, description="A person or a system; left out: the name of the key.")
]
Name = Annotated[
    str,
    Meta(
        min_length=1, max_length=100, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$(?!\n)", description="The name of a stream."
    ),
]
Cell = bool | float | str | None
Item = Annotated[
    dict[str, Cell] | Annotated[list[float], Meta(max_length=10_000)],
    Meta(description="Columns and their values, null where one is missing; or the numbers of a vector."),
]
#: By which work is sorted.
Order = Literal["worth", "age", "amount", "chance"]
Time = Annotated[float | str, Meta(description="A number of a clock of your own, or a date in ISO 8601.")]
Money = Annotated[float, Meta(ge=-1e15, le=1e15)]
LabelValue = Annotated[int, Meta(ge=0, le=1, description="1: positive, 0: negative.")]


class Body(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What somebody asks."""


class CostSheet(Body, frozen=True):
    """What each outcome costs."""

    miss: Money
    false_alarm: Money
    hit: Money
    correct_pass: Money = 0.0


class Decide(Body, frozen=True):
    """One item to decide on."""

    id: Id
    item: Item
    time: Time | None = None
    stratum: Annotated[str, Meta(max_length=256)] | None = None
    costs: CostSheet | None = None
    baseline: bool | None = None


class DecideBatch(Body, frozen=True):
    """Many items, decided in their order."""

    decisions: Annotated[list[msgspec.Raw], Meta(min_length=1, max_length=MOST)]


class Label(Body, frozen=True):
    """The label of a decision."""

    value: LabelValue
    time: Time | None = None
    source: Who | None = None


class BatchLabel(Body, frozen=True):
    """The label of one decision among many."""

    id: Id
    value: LabelValue
    time: Time | None = None
    source: Who | None = None


class LabelBatch(Body, frozen=True):
    """Many labels, taken in their order."""

    labels: Annotated[list[msgspec.Raw], Meta(min_length=1, max_length=MOST)]


class EnactedBody(Body, frozen=True):
    """What was done, whatever was decided."""

    act: bool
    by: Who | None = None
    time: Time | None = None


class Note(Body, frozen=True):
    """Something to write down about a decision."""

    text: Annotated[str, Meta(min_length=1, max_length=10_000)]
    by: Who | None = None


class Claim(Body, frozen=True):
    """Work for a reviewer: items with ids, or the first in an order; what was escalated only if asked for."""

    by: Who | None = None
    ids: Annotated[list[Id], Meta(min_length=1, max_length=100)] | None = None
    order: Order = "worth"
    count: Annotated[int, Meta(ge=1, le=100)] = 1
    escalated: bool = False
    minutes: Annotated[float, Meta(gt=0, le=1440)] = 60.0


class Escalate(Body, frozen=True):
    """Why somebody else should look at an item."""

    text: Annotated[str, Meta(max_length=9000)] = ""
    by: Who | None = None


class Correction(Body, frozen=True):
    """Another label, and why."""

    value: LabelValue
    time: Time | None = None
    reason: Annotated[str, Meta(min_length=1, max_length=9000)] | None = None
    by: Who | None = None


class Release(Body, frozen=True):
    """Work that a reviewer gives back; with ``force``, for admin, whoever holds the work."""

    ids: Annotated[list[Id], Meta(min_length=1, max_length=MOST)]
    by: Who | None = None
    force: bool = False


class ModeBody(Body, frozen=True):
    """Another mode."""

    mode: Literal["shadow", "live", "frozen", "safe"]
    by: Who | None = None
    reason: Annotated[str, Meta(max_length=1000)] = ""


class CostsBody(Body, frozen=True):
    """Other usual costs."""

    costs: CostSheet
    by: Who | None = None


class ExpireBody(Body, frozen=True):
    """Up to when to look for labels that are no longer waited for."""

    now: Time | None = None


class SignIn(Body, frozen=True):
    """A key to sign in with."""

    key: Annotated[str, Meta(min_length=1, max_length=200)]


class NewStream(Body, frozen=True):
    """A stream to make: of vectors with ``n_features`` numbers, or of records like ``examples``."""

    name: Name
    costs: CostSheet
    n_features: Annotated[int, Meta(ge=1, le=2000)] | None = None
    examples: Annotated[list[dict[str, Cell]], Meta(min_length=2, max_length=MOST)] | None = None
    policy: Annotated[str, Meta(max_length=100)] = "voi"
    capacity: Annotated[str, Meta(max_length=100)] | None = None
    audit: Annotated[str, Meta(max_length=100)] | None = None
    time_zone: Annotated[str, Meta(max_length=100)] | None = None
    mode: Literal["shadow", "live", "frozen"] = "live"
    expire_after: Annotated[float, Meta(gt=0)] | None = None


class NewKey(Body, frozen=True):
    """A key to make; ``expires`` is a date."""

    name: Who
    scopes: Annotated[list[ScopeName], Meta(min_length=1)]
    streams: Annotated[list[str], Meta(min_length=1, max_length=MOST)] = msgspec.field(default_factory=lambda: [ANY])
    expires: str | None = None


T = TypeVar("T")


def decode(body: bytes | msgspec.Raw, decoder: msgspec.json.Decoder[T]) -> T:
    """Return a body as its type, or the problem that it is.

    Examples
    --------
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
