"""What a team calls its item, its two outcomes and its two actions, and its currency (docs/decisions/0029-words.md)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from .errors import Message, OptionError, Remedy

#: Letters that a word may have.
LONGEST = 40
#: What is said of a wrong word.
ASKED = "words are what a team calls its item, its outcomes and its actions, and its currency, as in "
EXAMPLE = "order,fraud,fine,hold,let through,EUR"
#: Signs that stand before the amount without a space.
SIGNS = {"EUR": "€", "USD": "$", "GBP": "£"}
_VOWELS = "aeiou"
#: Past participles that do not end in -ed.
_IRREGULAR = {
    "bring": "brought", "buy": "bought", "catch": "caught", "cut": "cut", "do": "done", "find": "found", "get": "got",
    "give": "given", "go": "gone", "hold": "held", "keep": "kept", "leave": "left", "lend": "lent", "let": "let",
    "make": "made", "meet": "met", "pay": "paid", "put": "put", "read": "read", "run": "run", "see": "seen",
    "sell": "sold", "send": "sent", "set": "set", "shut": "shut", "speak": "spoken", "take": "taken", "tell": "told",
    "withhold": "withheld", "write": "written",
}  # fmt: skip
#: What a verb ends in that needs an object behind it.
_PREPOSITIONS = (" on", " at", " into", " for", " to", " with", " after")
#: Words that are the team's to choose, with an article; what stands in quotes is a name from the data, and stays.
_CHOSEN = re.compile(
    r"'[^']*'(?!\w)|\b(?:(an?) )?(?:(items?|positives?|negatives?)|"
    r"((?:(?:acted|passed) items?|act(?:ed|ing|s)? on|acting|acted|act|passed|passing|pass|"
    r"(?<!that )(?<!which )(?<!policy )(?<!it )(?:acts|passes))(?! rate)))\b",
    re.IGNORECASE,
)
_FORMS = {
    "act on": ("act", False), "acted on": ("acted", False), "acting on": ("acting", False), "act": ("act", True),
    "acted": ("acted", True), "acting": ("acting", True), "pass": ("pass_", False), "passed": ("passed", False),
    "passing": ("passing", False),
}  # fmt: skip


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


def past(verb: str) -> str:
    """Return the past participle of an English verb, whatever stands behind it.

    Examples
    --------
    >>> past("hold"), past("let through"), past("look at"), past("stop"), past("deny"), past("approve"), past("review")
    ('held', 'let through', 'looked at', 'stopped', 'denied', 'approved', 'reviewed')
    """
    first, space, rest = verb.partition(" ")
    low = first.lower()
    made = (
        _IRREGULAR.get(low)
        or f"{low[:-1]}ied" * _consonant_y(low)
        or (f"{low}d" if low.endswith("e") else f"{_doubled(low)}ed")
    )
    return f"{made}{space}{rest}"


def gerund(verb: str) -> str:
    """Return the form in -ing of an English verb.

    Examples
    --------
    >>> gerund("hold"), gerund("let through"), gerund("approve"), gerund("see"), gerund("stop"), gerund("deny")
    ('holding', 'letting through', 'approving', 'seeing', 'stopping', 'denying')
    """
    first, space, rest = verb.partition(" ")
    low = first.lower()
    stem = low[:-1] if low.endswith("e") and not low.endswith(("ee", "oe", "ye")) else _doubled(low)
    return f"{stem}ing{space}{rest}"


def _consonant_y(word: str) -> bool:
    return word.endswith("y") and word[-2:-1] not in tuple(_VOWELS)


def _doubled(word: str) -> str:
    """Return a verb with its last letter twice where English wants that: stop, let, cut; not hold, review, lower."""
    short = re.fullmatch(r"[^aeiou]*[aeiou][^aeiouwxy]", word) is not None
    return word + word[-1] if short else word


@dataclass(frozen=True)
class Words:
    """What is said in the place of item, positive, negative, act on and pass, and which currency amounts are in.

    Examples
    --------
    >>> words = Words.of("order,fraud,fine,hold,let through,EUR")
    >>> words.told("Every item was looked at; an item is kept, and 3 positives are in 'item'")
    "Every order was looked at; an order is kept, and 3 frauds are in 'item'"
    >>> words.told("Acting on every item costs more than passing it; 12 items were acted on, 3 passed. Acting pays.")
    'Holding every order costs more than letting through it; 12 orders were held, 3 let through. Holding pays.'
    >>> Words.of("delivery/deliveries,loss").told("Positives among an item's like"), Words.of("order,fraud").positives
    ("Losses among a delivery's like", 'frauds')
    >>> words.told("It acts on 3 % of the items: 12 acts, 388 passes.")
    'It holds 3 % of the orders: 12 orders held, 388 orders let through.'
    """

    item: str = "item"
    items: str = "items"
    positive: str = "match"
    positives: str = "matches"
    negative: str = "no match"
    act: str = "act on"
    acted: str = "acted on"
    acting: str = "acting on"
    pass_: str = "let through"
    passed: str = "let through"
    passing: str = "letting through"
    currency: str = ""

    @classmethod
    def of(cls, given: str | Mapping[str, str] | Words | None) -> Words:
        """Return the words of ``order,fraud,fine,hold,let through,EUR``, of their first few, or of a mapping.

        An empty word is the usual one. Plurals and forms of verbs are made; ``delivery/deliveries`` and
        ``hold/held/holding`` say them. A mapping has the names of ``as_dict``, any of them.
        """
        if given is None or isinstance(given, Words):
            return given or cls()
        if isinstance(given, str):
            given = _parts(given)
        elif not isinstance(given, Mapping):
            raise OptionError(Message(ASKED, Remedy("words", EXAMPLE), f"; got {type(given).__name__}"))
        return cls(**_whole(given))

    def as_dict(self) -> dict[str, str]:
        """Return all words by name, for JSON."""
        return {name.removesuffix("_"): word for name, word in asdict(self).items()}

    def told(self, text: str) -> str:
        """Return a text in these words; articles and capitals follow, names in quotes stay."""
        return _CHOSEN.sub(self._own, text)

    def _own(self, found: re.Match[str]) -> str:
        article, noun, verb = found.groups()
        if noun is None and (verb is None or article):  # a name in quotes; an act as a noun
            return found.group()
        if noun is not None:
            own: str = self.negative if noun.lower() == "negatives" else getattr(self, noun.lower())
        elif " item" in verb:  # passed items
            done, _, noun = verb.lower().partition(" ")
            own = f"{getattr(self, noun)} {self.acted if done == 'acted' else self.passed}"
        elif verb.lower() in ("acts", "passes"):  # as nouns: items that were acted on, and those that were not
            own = f"{self.items} {self.acted if verb.lower() == 'acts' else self.passed}"
        elif verb.lower() == "acts on":
            first, space, rest = self.act.partition(" ")
            own = f"{plural(first)}{space}{rest}"  # a verb has its -s by the same rule
        else:
            name, alone = _FORMS[verb.lower()]
            own = getattr(self, name)
            own = _without_preposition(own) if alone else own
        if article:
            own = f"{'an' if own[0].lower() in _VOWELS else 'a'} {own}"
        return own[0].upper() + own[1:] if found.group()[0].isupper() else own

    @property
    def own(self) -> dict[str, str]:
        """The words that are not the usual ones, by name."""
        usual = Words().as_dict()
        return {name: word for name, word in self.as_dict().items() if word != usual[name]}


def _without_preposition(verb: str) -> str:
    return next((verb.removesuffix(end) for end in _PREPOSITIONS if verb.endswith(end)), verb)


#: The names of a text's words in their order, each with those of its other forms.
_ORDER = (
    ("item", "items"),
    ("positive", "positives"),
    ("negative",),
    ("act", "acted", "acting"),
    ("pass", "passed", "passing"),
    ("currency",),
)


def _parts(text: str) -> dict[str, str]:
    """Return the words of a text by name."""
    given = [[word.strip() for word in part.split("/")] for part in text.split(",")]
    if len(given) > len(_ORDER) or not any(part != [""] for part in given):
        raise OptionError(Message(ASKED, Remedy("words", EXAMPLE), f"; got {text!r}"))
    found: dict[str, str] = {}
    for names, part in zip(_ORDER, given, strict=False):
        if part == [""]:
            continue
        if len(part) > len(names) or not all(part):
            forms = Remedy("words", "delivery/deliveries,loss/losses,fine,hold/held/holding")
            raise OptionError(Message(ASKED, Remedy("words", EXAMPLE), " or ", forms, f"; got {text!r}"))
        found |= dict(zip(names, part, strict=False))
    return found


def _whole(given: Mapping[str, str]) -> dict[str, str]:
    """Return the words of a mapping as fields, checked, with the forms that are not given."""
    names = [one.name.removesuffix("_") for one in fields(Words)]
    for name, word in given.items():
        if name not in names:
            raise OptionError(f"there is no word {name!r}; the words are {', '.join(names)}")
        if name == "currency":
            Currency(word)
        elif not _is_word(word):
            raise OptionError(
                f"the word for {name!r} is a text of 1 to {LONGEST} letters that begins with a letter, got {word!r}"
            )
    found = dict(given)
    for noun, many in (("item", "items"), ("positive", "positives")):
        if noun in found:
            found.setdefault(many, plural(found[noun]))
    for verb, done, doing in (("act", "acted", "acting"), ("pass", "passed", "passing")):
        if verb in found:
            found.setdefault(done, past(found[verb]))
            found.setdefault(doing, gerund(found[verb]))
    return {"pass_" if name == "pass" else name: word for name, word in found.items()}


def _is_word(word: Any) -> bool:
    """Return whether a word can stand in a sentence, and in a cell of a spreadsheet where none is computed."""
    return isinstance(word, str) and word.isprintable() and len(word) <= LONGEST and word[:1].isalpha()


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
        known = isinstance(self.code, str) and (
            self.code in ("", *SIGNS.values()) or (self.code.isascii() and self.code.isalpha() and len(self.code) <= 12)
        )
        if not known:
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
