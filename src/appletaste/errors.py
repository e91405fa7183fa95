"""One family of exceptions; each message says what was asked, what was seen and what would be right.

A setting that a message names is data (``Remedy``), and each door (Python, the command line) words it for itself.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Remedy:
    """A setting of a call that a message names, and the value it is to have; as text it is worded for Python.

    Examples
    --------
    >>> print(Remedy("time"), Remedy("positive", "yes"), Remedy("drop", ["age"]))
    time= positive='yes' drop=['age']
    """

    option: str
    value: Any = None  #: None: the reader knows the value

    @property
    def parts(self) -> str:
        """Settings of an encoder, a mapping, as they are typed.

        Examples
        --------
        >>> Remedy("encoder", {"online": True, "warm_up": 5000}).parts
        'online=true,warm_up=5000'
        """
        return ",".join(f"{name}={str(value).lower()}" for name, value in self.value.items())

    def __str__(self) -> str:
        return f"{self.option}={'' if self.value is None else repr(self.value)}"


class Message(str):
    """A sentence made of text and remedies. It is a text, worded for Python, that ``worded`` words for another door.

    Text and remedies stay apart, so nothing that a user wrote (a column named ``drop=['x']``) is taken for a remedy.

    Examples
    --------
    >>> note = Message("column 'age' teaches nothing: leave it out with ", Remedy("drop", ["age"]))
    >>> print(note)
    column 'age' teaches nothing: leave it out with drop=['age']
    >>> worded(note, lambda remedy: f"--{remedy.option} {remedy.value[0]}")
    "column 'age' teaches nothing: leave it out with --drop age"
    """

    parts: tuple[str | Remedy, ...]

    def __new__(cls, *parts: str | Remedy) -> Message:
        """Join the parts, each remedy worded for Python."""
        told = super().__new__(cls, "".join(map(str, parts)))
        told.parts = parts
        return told

    def __reduce__(self) -> tuple[type[Message], tuple[str | Remedy, ...]]:
        return type(self), self.parts  # so that an error can come back from a worker


def worded(told: str | Exception, door: Callable[[Remedy], str]) -> str:
    """Return a message, or what an error says, with its remedies in the words of a door."""
    message = told.args[0] if isinstance(told, Exception) and told.args else told
    if not isinstance(message, Message):
        return str(told)
    return "".join(door(part) if isinstance(part, Remedy) else part for part in message.parts)


def after(words: str, told: str | Exception) -> Message:
    """Return a message, or what an error says, with words before; its remedies stay remedies.

    Examples
    --------
    >>> print(after("line 3: ", ValueError(Message("no time: ", Remedy("time")))))
    line 3: no time: time=
    """
    message = told.args[0] if isinstance(told, Exception) and told.args else told
    return Message(words, *message.parts) if isinstance(message, Message) else Message(words, str(told))


def near(wanted: str, there: Iterable[str]) -> str:
    """Return a hint at the name that may have been meant, or nothing.

    Examples
    --------
    >>> near("vio", ["voi", "ts"])
    " (did you mean 'voi'?)"
    """
    found = difflib.get_close_matches(str(wanted), list(there), n=1, cutoff=0.6)
    return f" (did you mean {found[0]!r}?)" if found else ""


class AppleTasteError(Exception):
    """Base of every error this package raises on purpose."""

    item: int | None = None  #: which of several items it is about, from 0; None: nobody has said


class InputError(AppleTasteError, ValueError):
    """A value given by the caller cannot be used."""


class CostsError(InputError):
    """Costs under which there is nothing to decide."""


class FeedbackError(InputError):
    """A label that cannot exist: from a passed item, or neither 0 nor 1."""


class ConflictError(FeedbackError):
    """An id that comes again with other contents: another item, or another label."""


class UnknownDecisionError(FeedbackError):
    """An id that no decision of this stream has."""


class UnknownStreamError(InputError):
    """A name that no stream of this store has."""


class DataError(InputError):
    """A file or table that cannot be used; the message says where and what to do about it."""


class OptionError(InputError):
    """A name or option that does not exist, or a value it cannot take."""


class EngineError(AppleTasteError, RuntimeError):
    """Workers, or a whole cluster, that cannot do the work."""


class ThreadsError(AppleTasteError, RuntimeError):
    """A policy or a ledger that two threads use at the same time."""


class SaveFileError(AppleTasteError, OSError):
    """A saved file that cannot be read back, or that must not be written over."""


class RecordError(DataError):
    """A record that does not verify; ``seq`` is the number of the first event that differs, 0 where none is named."""

    def __init__(self, message: str, seq: int = 0) -> None:
        super().__init__(message)
        self.seq = seq

    def __reduce__(self) -> tuple[type[RecordError], tuple[str, int]]:
        return type(self), (str(self), self.seq)


class StoreError(AppleTasteError, OSError):
    """A store that cannot be used: in use elsewhere, unreachable, damaged, or of another version."""


class InUseError(StoreError):
    """A store in a file that another process writes; nothing was done."""


class NotOwnerError(StoreError):
    """A stream that another process owns by now; nothing was written."""


class OutcomeUnknownError(StoreError):
    """A write that failed: whether it is stored shows when the stream is opened again."""


class StoppedError(StoreError):
    """A stream that has stopped, because a write failed or because it was closed; nothing was done."""


class BrokerError(AppleTasteError, OSError):
    """A broker of the Kafka protocol that does not do what was asked; a feed goes on from where it was."""


class MissingExtraError(AppleTasteError, ImportError):
    """An optional dependency is needed and not installed."""

    def __init__(self, purpose: str, extra: str) -> None:
        super().__init__(
            f"{purpose} needs an optional dependency: pip install 'appletaste[{extra}]', or in the folder of a clone: "
            f"pip install '.[{extra}]'"
        )
        self.purpose, self.extra = purpose, extra

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str]]:
        return type(self), (self.purpose, self.extra)  # so that it can come back from a worker


class PoorFitWarning(UserWarning):
    """An approximate posterior that is far from the exact one on this stream."""


class PositiveClassWarning(UserWarning):
    """A positive class that nobody has named: the alphabet picked it."""


class OneClassWarning(UserWarning):
    """Labels that are all the same: nothing can be learnt from them."""


class UnauditedWarning(UserWarning):
    """A live stream without audits: nobody will be able to say what it missed."""
