"""What is answered, as types: the one source of answers and, with what is asked, of ``/openapi.json``."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from .bodies import Time
from .problems import ProblemDocument


class ExpectedCost(Struct, frozen=True):
    """What either action is expected to cost."""

    act: float | None
    pass_: float | None = msgspec.field(name="pass")


class Decided(Struct, frozen=True):
    """A decision as it was given; the same id gives the same bytes for ever."""

    id: str
    seq: int
    act: bool
    probability: float
    chance: float | None
    audit: bool
    code: str | None
    threshold: float | None
    expected_cost: ExpectedCost
    reasons: list[str]
    mode: str
    time: Time | None
    suggested: bool | msgspec.UnsetType = msgspec.UNSET


class NoteRead(Struct, frozen=True):
    """A note on a decision."""

    by: str
    text: str


class CaseRead(Decided, frozen=True, kw_only=True):
    """A decision as it was given, and what became of it."""

    state: str
    label: int | None
    label_time: Time | None
    learnt: bool
    outcome: int | None
    acted: bool
    enacted_by: str | None
    erased: bool
    notes: list[NoteRead]


class BatchResult(Struct, frozen=True):
    """The answer to one of many: its status, and a body or a problem."""

    status: int
    body: Decided | None = None
    problem: ProblemDocument | None = None


class BatchResults(Struct, frozen=True):
    """The answers to a batch of decisions, in its order."""

    results: list[BatchResult]


class Labelled(Struct, frozen=True):
    """What was done with a label."""

    id: str
    status: Annotated[str, Meta(pattern="^(applied|already_applied|recorded_not_learned)$")]
    state: str
    late: bool


class LabelResult(Struct, frozen=True):
    """What was done with one label of many."""

    status: int
    body: Labelled | None = None
    problem: ProblemDocument | None = None


class LabelResults(Struct, frozen=True):
    """What was done with a batch of labels, in its order."""

    results: list[LabelResult]


class ColumnRead(Struct, frozen=True):
    """A column of records."""

    name: str
    kind: str
    wants: str


class StreamRead(Struct, frozen=True):
    """A stream: what it takes, and how it stands."""

    name: str
    mode: str
    events: int
    policy: str
    costs: dict[str, float | str]
    n_features: int
    columns: list[ColumnRead] | None
    pending: int
    trouble: str | None
    labels: int | None  #: that were learnt; null: the policy keeps none


class StreamNames(Struct, frozen=True):
    """The streams that a key may see."""

    streams: list[str]


class Changed(Struct, frozen=True):
    """The number of the event that says so."""

    seq: int


class Expired(Struct, frozen=True):
    """Decisions whose labels are no longer waited for."""

    ids: list[str]


class VerifiedRead(Struct, frozen=True):
    """Whether the record verifies; where it does not, the first event that differs."""

    verifies: bool
    events: int
    first_difference: int | None
    told: str


class Coefficient(Struct, frozen=True):
    """What is believed of one coefficient."""

    name: str
    mean: float
    sd: float | None


class ModelRead(Struct, frozen=True):
    """What the policy believes now; ``coefficients`` is null for a policy without a model."""

    policy: str
    rounds: int
    events: int
    coefficients: list[Coefficient] | None


class KeyRead(Struct, frozen=True):
    """A key, without its secret."""

    id: str
    name: str
    scopes: list[str]
    streams: list[str]
    created: str
    expires: str | None
    revoked: str | None


class KeyMade(Struct, frozen=True):
    """A key and its secret, which is told this once."""

    secret: str
    key: KeyRead


class KeyList(Struct, frozen=True):
    """All keys."""

    keys: list[KeyRead]


class Health(Struct, frozen=True):
    """Whether the service is up, or ready."""

    status: str


#: What is computed elsewhere and handed on as it is.
Estimates = dict[str, Any]
