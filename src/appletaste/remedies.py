"""Messages that name a setting: the setting is data, and each door (Python, the command line) words it for itself."""

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
