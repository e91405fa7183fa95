"""What a report calls an item and a positive: an order and a fraud, say, in the user's own words."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..errors import OptionError
from ..remedies import Message, Remedy

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
