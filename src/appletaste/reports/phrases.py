"""Numbers as a report writes them, and answers in words."""

from __future__ import annotations

from collections.abc import Callable

from ..evaluate import Refusal
from ..evaluate.answers import Answer, known_truth

#: How a kind of number is written: ``count``, ``percent``, or a ``Currency``.
Writer = Callable[[float], str]
#: What is said where the log has no answer.
NOT_YET = "cannot be said yet"
#: The headings of an answer in a table, with the truth where the log knows it.
HEADINGS = ("interval", "the truth")


def percent(value: float) -> str:
    """Return a share in per cent."""
    return f"{100 * value:.1f} %"


def count(value: float) -> str:
    """Return a number of items."""
    return f"{value:,.0f}"


def labels_awaited(number: int) -> str:
    """Return how many labels are awaited, as the beginning of a sentence.

    Examples
    --------
    >>> labels_awaited(1), labels_awaited(1350)
    ('1 label is awaited', '1,350 labels are awaited')
    """
    if not number:
        return "No label is awaited"
    return f"{count(number)} label{'' if number == 1 else 's'} {'is' if number == 1 else 'are'} awaited"


def in_words(answer: Answer, write: Writer) -> str:
    """Return an answer with its interval, or why there is none and what would give one.

    Examples
    --------
    >>> in_words(Refusal("no label has arrived yet", "wait for labels"), count)
    'cannot be said yet (no label has arrived yet; wait for labels)'
    """
    if isinstance(answer, Refusal):
        return f"{NOT_YET} ({answer.reason}{f'; {answer.remedy}' if answer.remedy else ''})"
    if answer.low == answer.high:
        return f"{write(answer.value)} (known exactly)"
    told = "" if answer.truth is None else f"; {known_truth(write(answer.truth))}"
    if answer.low != answer.low:
        return f"{write(answer.value)} (no interval: {answer.assumes}{told})"
    return f"{write(answer.value)} ({100 * answer.level:.0f} % interval {ends(answer, write)}{told})"


def ends(answer: Answer, write: Writer) -> str:
    """Return the interval alone, for where its level is known; a dash where there is none."""
    if isinstance(answer, Refusal) or answer.low != answer.low:
        return "-"
    return "exact" if answer.low == answer.high else f"{write(answer.low)} to {write(answer.high)}"


def short(answer: Answer, write: Writer) -> str:
    """Return an answer for one cell: the number, with its interval where there is one.

    Examples
    --------
    >>> from ..evaluate import Estimate
    >>> short(Estimate(5.0, 4.0, 7.0, 0.9, ""), count), short(Estimate(5.0, 5.0, 5.0, 0.9, ""), count)
    ('5 (4 to 7)', '5')
    """
    if isinstance(answer, Refusal):
        return NOT_YET
    known = answer.low == answer.high or answer.low != answer.low
    return write(answer.value) if known else f"{write(answer.value)} ({ends(answer, write)})"


def cell(answer: Answer, write: Writer, known: bool = False) -> tuple[str, ...]:
    """Return an answer for a table: the number, its interval and, if ``known``, the truth; dashes where refused."""
    if isinstance(answer, Refusal):
        return ("-", NOT_YET, *["-"] * known)
    truth = [write(answer.value if answer.truth is None else answer.truth)] * known
    return (write(answer.value), ends(answer, write), *truth)
