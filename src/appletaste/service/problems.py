"""What goes wrong, for programs: RFC 9457 problem documents with a stable type, a pointer and a remedy.

Nothing of a request is ever said again in its answer: whoever reads the answer may not be who wrote the request.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from ..errors import ConflictError, FeedbackError, InputError, RecordError, UnknownDecisionError

#: The media type of a problem document.
MEDIA = "application/problem+json"
#: Stands before the name of every type.
PREFIX = "urn:appletaste:problem:"
#: Faults that one document lists; a batch of wide items would else be answered with many times its size.
LISTED = 100
#: Seconds after which a request that met a busy or stopped service is worth repeating, unless a problem says otherwise.
RETRY_AFTER = 1


class Kind(NamedTuple):
    """One type of problem: its status, what is wrong, and what to do about it."""

    status: int
    title: str
    remedy: str


#: Every type of problem; a name that was published never means anything else.
KINDS: dict[str, Kind] = {
    "malformed-json": Kind(400, "the body is not JSON", "send one JSON object, not too deeply nested"),
    "bad-encoding": Kind(400, "the request is not UTF-8", "send UTF-8, and percent-encode what stands in the address"),
    "unauthenticated": Kind(
        401,
        "no valid key",
        "send 'Authorization: Bearer at_...' with a key that is neither expired nor revoked, or sign in again",
    ),
    "csrf": Kind(
        403, "a change by cookie needs a token", "send 'X-CSRF-Token' with the csrf that GET /v1/session tells"
    ),
    "insufficient-scope": Kind(403, "the key does not allow this", "ask for a key with the scope that is named"),
    "unknown-route": Kind(404, "there is nothing at this address", "GET /openapi.json lists the addresses"),
    "unknown-stream": Kind(404, "there is no such stream", "GET /v1/streams lists the streams that the key may see"),
    "unknown-decision": Kind(404, "there is no such decision", "give the id that the decision was asked with"),
    "unknown-file": Kind(
        404, "there is no such file", "POST /v1/files again: files are kept for a day, and go when the service ends"
    ),
    "unknown-alarm": Kind(404, "there is no such alarm", "GET .../alarms lists the alarms of the stream"),
    "unknown-key": Kind(404, "there is no such key", "GET /v1/keys lists the keys"),
    "method-not-allowed": Kind(405, "this address has no such method", "see the header Allow"),
    "request-timeout": Kind(
        408, "the request did not come in time", "send a header within 10 seconds, and a body within 30"
    ),
    "event-conflict": Kind(
        409, "there is a decision with this id, about another item", "give every item an id of its own"
    ),
    "label-conflict": Kind(
        409,
        "the decision has another label already",
        "if the new value is right, POST it to .../label/corrections; the first value stands until then",
    ),
    "no-label": Kind(409, "the decision has no label yet", "PUT .../label adds one"),
    "stream-exists": Kind(409, "there is a stream with this name", "give another name"),
    "cannot-happen": Kind(
        409, "the state of the decision does not allow this", "GET the decision: its state says what became of it"
    ),
    "no-answer": Kind(409, "the stream cannot do that as things are", "do what 'detail' says"),
    "claimed-by-other": Kind(409, "somebody else holds this item", "claim another item"),
    "body-too-large": Kind(413, "the body is too large", "64 KiB for one item, 4 MiB for a batch, 64 MiB for a file"),
    "unsupported-media-type": Kind(
        415,
        "the body is not said to be what is taken here",
        "send 'Content-Type: application/json', or 'text/csv' with a file",
    ),
    "unreadable-file": Kind(
        422, "the file cannot be used so", "do what 'detail' says; a file is a table as CSV in UTF-8 with a header"
    ),
    "validation": Kind(
        422, "the request does not fit", "correct what 'errors' points to; GET /v1/streams/{stream} has the columns"
    ),
    "time-in-future": Kind(422, "the time lies more than a day ahead", "check the clock and the time zone"),
    "headers-too-large": Kind(431, "the header is too long", "64 KiB and 100 lines before the body"),
    "internal": Kind(500, "an error of the service", "repeat the request with the same id; tell who runs the service"),
    "overloaded": Kind(503, "too many requests wait", "wait as Retry-After says, then repeat with the same id"),
    "not-ready": Kind(503, "the stream cannot be served now", "wait as Retry-After says, then repeat with the same id"),
    "outcome-unknown": Kind(
        503,
        "the disk did not confirm: the request may have been done, or not",
        "repeat the request with the same id: the answer settles what happened",
    ),
}


class FieldError(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is wrong with one field: a JSON pointer into the body, or the name of a query parameter."""

    code: str
    pointer: str | None = None
    parameter: str | None = None
    expected: str | None = None


class ProblemDocument(msgspec.Struct, frozen=True, omit_defaults=True):
    """An error as RFC 9457 words it; ``type`` is stable, ``remedy`` says what to do."""

    type: str
    title: str
    status: int
    remedy: str
    detail: str | None = None
    errors: list[FieldError] | None = None
    retryable: bool = False
    scope: str | None = None


class Problem(Exception):  # noqa: N818 - the name that RFC 9457 has for it
    """A request that is answered with a problem document.

    Examples
    --------
    >>> problem = Problem("validation", FieldError("required", "/id"))
    >>> problem.status, problem.document().errors[0].pointer
    (422, '/id')
    """

    def __init__(
        self,
        name: str,
        *errors: FieldError,
        detail: str | None = None,
        scope: str | None = None,
        allow: str = "",
        retry_after: int = RETRY_AFTER,
    ) -> None:
        super().__init__(name)
        self.retry_after = retry_after
        self.name, self.errors, self.detail, self.scope, self.allow = name, errors, detail, scope, allow
        self.status = KINDS[name].status

    def document(self) -> ProblemDocument:
        """Return the document."""
        status, title, remedy = KINDS[self.name]
        errors, detail = list(self.errors[:LISTED]) or None, self.detail
        if len(self.errors) > LISTED:
            detail = f"{detail or title}; the first {LISTED} of {len(self.errors)} faults are listed"
        return ProblemDocument(PREFIX + self.name, title, status, remedy, detail, errors, status == 503, self.scope)

    def headers(self) -> dict[str, str]:
        """Return the headers that belong to it."""
        found: dict[str, str] = {}
        if self.status == 401:
            found["WWW-Authenticate"] = "Bearer"
        if self.status == 503:
            found["Retry-After"] = str(self.retry_after)
        if self.allow:
            found["Allow"] = self.allow
        return found

    def body(self) -> bytes:
        """Return the document as JSON."""
        return msgspec.json.encode(self.document())


def invalid(code: str, pointer: str, expected: str | None = None) -> Problem:
    """Return the problem of one field that does not fit."""
    return Problem("validation", FieldError(code, pointer, expected=expected))


def pointer_of(path: str) -> str:
    """Return a JSON pointer from a path as msgspec words it.

    Examples
    --------
    >>> pointer_of("$.decisions[3].item"), pointer_of("$"), pointer_of("$.item[...]")
    ('/decisions/3/item', '', '/item')
    """
    return path.removeprefix("$").replace("[...]", "").replace("[", "/").replace("]", "").replace(".", "/")


def of_validation(error: msgspec.ValidationError) -> Problem:
    """Return the problem of a body that is JSON and does not fit its type; no name or value of the body is said."""
    told, _, path = str(error).rpartition(" - at `")
    known = path.endswith("`") and all(letter.isalnum() or letter in "$._[]" for letter in path[:-1])
    told, pointer = (told, pointer_of(path[:-1])) if known else (str(error), "")
    if told.startswith("Object missing required field `"):  # the name of a field of ours
        return invalid("required", f"{pointer}/{told.split('`')[1]}")
    if told.startswith("Object contains unknown field"):
        return invalid("unknown-field", pointer)
    if told.startswith("Expected `") and "`, got `" in told:
        return invalid("wrong-type", pointer, told.split("`")[1])
    return invalid("out-of-range" if told.startswith("Expected") else "wrong-value", pointer)


def as_plain(problem: Problem) -> dict[str, Any]:
    """Return a problem as a part of a larger answer."""
    found: dict[str, Any] = msgspec.to_builtins(problem.document())
    return found


def problem_of(error: Exception) -> Problem:
    """Return what is said of an error; its own words may hold what the request said."""
    if isinstance(error, ConflictError):
        return Problem("event-conflict")
    if isinstance(error, UnknownDecisionError):
        return Problem("unknown-decision")
    if isinstance(error, RecordError):
        return Problem("cannot-happen", detail="the record does not verify, and the stream stays in safe mode")
    if isinstance(error, FeedbackError):
        return Problem("cannot-happen")
    if isinstance(error, InputError):
        return Problem("validation")
    return Problem("internal")
