"""Numbers as a report writes them, and what it calls an item and a positive: an order and a fraud, say."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from ..errors import Message, OptionError, Remedy
from ..evaluate import Refusal
from ..evaluate.answers import Answer, known_truth

#: A word that is the user's to choose, with its article; what stands in quotes is a name from the data, and stays.
_CHOSEN = re.compile(r"'[^']*'(?!\w)|\b(an? )?(items?|positives?)\b", re.IGNORECASE)
_VOWELS = "aeiou"


def plural(word: str) -> str:
    """Return the plural of an English noun by the usual rules.

    Examples
    --------
    >>> plural("order"), plural("delivery"), plural("box"), plural("day")
    ('orders', 'deliveries', 'boxes', 'days')
    """
    if word[-1:] == "y" and word[-2:-1] not in tuple(_VOWELS):
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "x", "z", "ch", "sh")) else f"{word}s"


@dataclass(frozen=True)
class Words:
    """The nouns of a report, one and many.

    Examples
    --------
    >>> words = Words.of("order,fraud")
    >>> words.told("Every item was looked at; an item is kept, and 3 positives are in 'item'")
    "Every order was looked at; an order is kept, and 3 frauds are in 'item'"
    >>> Words.of("delivery/deliveries,loss").told("Positives among an item's like"), Words.of("order,fraud").positives
    ("Losses among a delivery's like", 'frauds')
    """

    item: str = "item"
    items: str = "items"
    positive: str = "positive"
    positives: str = "positives"

    @classmethod
    def of(cls, text: str | None) -> Words:
        """Return the words of ``order,fraud`` (plurals are made) or ``delivery/deliveries,fraud/frauds``."""
        if text is None:
            return cls()
        nouns = [[word.strip() for word in noun.split("/")] for noun in text.split(",")]
        if len(nouns) != 2 or not all(len(noun) <= 2 and all(noun) for noun in nouns):
            raise OptionError(
                Message(
                    "words are what an item and what a positive is called, as in ",
                    Remedy("words", "order,fraud"),
                    " or ",
                    Remedy("words", "delivery/deliveries,fraud/frauds"),
                    f"; got {text!r}",
                )
            )
        (item, items), (positive, positives) = (
            noun if len(noun) == 2 else (noun[0], plural(noun[0])) for noun in nouns
        )
        return cls(item, items, positive, positives)

    def told(self, text: str) -> str:
        """Return a text with these words for item and positive; articles and capitals follow, quoted names stay."""
        return _CHOSEN.sub(self._own, text)

    def _own(self, found: re.Match[str]) -> str:
        article, word = found.groups()
        if word is None:
            return found.group()
        own: str = getattr(self, word.lower())
        if article:
            own = f"{'an' if own[0].lower() in _VOWELS else 'a'} {own}"
        return own[0].upper() + own[1:] if found.group()[0].isupper() else own


#: How a kind of number is written: ``count``, ``percent``, or a ``Currency``.
Writer = Callable[[float], str]
#: Signs that stand before the amount without a space.
SIGNS = {"EUR": "€", "USD": "$", "GBP": "£"}
#: What is said where the log has no answer.
NOT_YET = "cannot be said yet"
#: The headings of an answer in a table, with the truth where the log knows it.
HEADINGS = ("interval", "the truth")


@dataclass(frozen=True)
class Currency:
    """How an amount is written: whole from 100 on, with thousands apart, behind its sign or code.

    Examples
    --------
    >>> Currency("EUR")(1234567.8), Currency("CHF")(-4.25), Currency()(-1234)
    ('€1,234,568', '-CHF 4.25', '-1,234')
    """

    code: str = ""  #: EUR, USD and GBP have signs; other codes are written as they are; none: the bare number

    def __post_init__(self) -> None:
        if self.code and not (self.code in SIGNS.values() or (self.code.isascii() and self.code.isalpha())):
            raise OptionError(
                Message("a currency is a code such as ", Remedy("currency", "EUR"), f"; got {self.code!r}")
            )

    def __call__(self, value: float) -> str:
        """Return an amount."""
        whole = abs(value) >= 99.995 or value == 0
        size = f"{abs(value):,.0f}" if whole else f"{abs(value):,.2f}"
        code = self.code.upper()
        sign = SIGNS.get(code, "") or (code if code in SIGNS.values() else f"{code} " if code else "")
        minus = "-" if value < 0 and size.strip("0.,") else ""
        return f"{minus}{sign}{size}"


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
