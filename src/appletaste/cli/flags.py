"""Remedies as flags: what the library words as ``drop=['age']`` is ``--drop age`` here."""

from __future__ import annotations

import shlex

from ..errors import Remedy, worded

#: Settings of the library whose flag has another name; for the rest ``flip_label`` is ``--flip-label``.
FLAGS = {
    "categories": "--category",
    "numbers": "--number",
    "folder": "--out",
    "first_day": "--from",
    "last_day": "--to",
}
#: Settings of an encoder, which are typed as its parts.
PARTS = ("online", "spare", "many")
#: Values that are typed in another way.
TYPED = {("order", "as is"): "as-is"}


def flag(remedy: Remedy) -> str:
    """Return a remedy as it is typed; a list is one flag for each of its values.

    Examples
    --------
    >>> flag(Remedy("many", False))
    '--encoder many=false'
    >>> flag(Remedy("time")), flag(Remedy("categories", ["age", "order id"])), flag(Remedy("order", "as is"))
    ('--time', "--category age --category 'order id'", '--order as-is')
    >>> flag(Remedy("encoder", {"online": True}))
    '--encoder online=true'
    """
    if isinstance(remedy.value, dict):
        return f"--{remedy.option} {remedy.parts}"
    if remedy.option in PARTS:
        return f"--encoder {remedy.option}={str(remedy.value).lower()}"
    name = FLAGS.get(remedy.option, f"--{remedy.option.replace('_', '-')}")
    if remedy.value is None:
        return name
    if isinstance(remedy.value, list):
        return " ".join(f"{name} {shlex.quote(str(value))}" for value in remedy.value)
    typed = TYPED.get((remedy.option, remedy.value), str(remedy.value))
    return f"{name} {shlex.quote(typed)}"


def as_flags(told: str | Exception) -> str:
    """Return a message, or what an error says, with its remedies as flags."""
    return worded(told, flag)
