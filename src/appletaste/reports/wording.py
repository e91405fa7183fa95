"""Numbers as a report writes them."""

from __future__ import annotations

from ..evaluate import Refusal
from ..evaluate.answers import Answer, known_truth


def money(value: float) -> str:
    """Return an amount: whole from 100 on, with thousands apart.

    Examples
    --------
    >>> money(1234567.8), money(-4.25)
    ('1,234,568', '-4.25')
    """
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:,.2f}"


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


#: How a kind of number is written.
WRITERS = {"count": count, "money": money, "percent": percent}


def in_words(answer: Answer, how: str) -> str:
    """Return an answer with its interval, or why there is none."""
    write = WRITERS[how]
    if isinstance(answer, Refusal):
        return str(answer)
    if answer.low == answer.high:
        return f"{write(answer.value)} (known exactly)"
    told = "" if answer.truth is None else f"; {known_truth(write(answer.truth))}"
    if answer.low != answer.low:
        return f"{write(answer.value)} (no interval: {answer.assumes}{told})"
    ends = f"{100 * answer.level:.0f} % interval {write(answer.low)} to {write(answer.high)}"
    return f"{write(answer.value)} ({ends}{told})"


#: The headings of an answer in a table, with the truth where the log knows it.
HEADINGS = ("interval", "the truth")


def cell(answer: Answer, how: str, known: bool = False) -> tuple[str, ...]:
    """Return an answer for a table: the number, its interval and, if ``known``, the truth; dashes where refused."""
    write = WRITERS[how]
    if isinstance(answer, Refusal):
        return ("-", "no answer", *["-"] * known)
    truth = [write(answer.value if answer.truth is None else answer.truth)] * known
    if answer.low != answer.low:
        return (write(answer.value), "-", *truth)
    exact = answer.low == answer.high
    return (write(answer.value), "exact" if exact else f"{write(answer.low)} to {write(answer.high)}", *truth)
