"""A small arithmetic over columns, ``amount*0.9 + 15``: read by a parser of its own, and never run as code.

    sum      = product, then any number of + product or - product
    product  = signed, then any number of * signed or / signed
    signed   = -signed, or +signed, or atom
    atom     = a number, a column, (sum), or min(sum, ...), max(sum, ...), abs(sum)

A column is a name of letters, digits, _ and . as in ``amount``; any other name stands in quotes or backticks, as in
``"order value"``.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from .errors import CostsError

#: Brackets within one another, and letters in all, beyond which nobody means it.
DEEPEST, LONGEST = 50, 400
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)(?![\w.])"
    r"|(?P<name>[^\W\d][\w.]*)"
    r"|(?P<quoted>\"[^\"]*\"|'[^']*'|`[^`]*`)"
    r"|(?P<sign>[-+*/(),]))"
)
_TWO: dict[str, Callable[[Any, Any], Any]] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "min": np.minimum, "max": np.maximum
}  # fmt: skip
#: Functions, with the fewest and the most values they take.
FUNCTIONS = {"min": (2, 99), "max": (2, 99), "abs": (1, 1)}


class Token(NamedTuple):
    """A piece of a formula, and where the piece begins."""

    kind: str  #: number, name, quoted, sign, or end
    text: str
    place: int


@dataclass(frozen=True)
class Formula:
    """An arithmetic expression over columns.

    Examples
    --------
    >>> cost = Formula("max(amount, 20) * 0.9 + 'back office'")
    >>> cost.columns
    ('amount', 'back office')
    >>> float(cost({"amount": 10.0, "back office": 2.0}))
    20.0
    """

    text: str
    columns: tuple[str, ...] = field(init=False, compare=False)
    tree: tuple[Any, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        parser = _Parser(self.text)
        object.__setattr__(self, "tree", parser.read())
        object.__setattr__(self, "columns", tuple(parser.columns))

    def __call__(self, columns: Mapping[str, Any]) -> Any:
        """Return the value for columns that are numbers, or arrays of numbers; dividing by 0 is infinite."""
        with np.errstate(all="ignore"):
            return _value(self.tree, columns)

    def check_columns(self, there: Iterable[str], source: str) -> None:
        """Refuse a column that is not there, and point at the column."""
        names = list(there)
        for name, place in _places(self.tree):
            if name not in names:
                close = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
                close = close or [other for other in names if other.lower().startswith(name.lower())][:1]
                hint = f"; did you mean {quoted(close[0])}?" if close else ""
                listed = ", ".join(map(quoted, names[:20])) + (
                    f" and {len(names) - 20} more" if len(names) > 20 else ""
                )
                raise CostsError(
                    f"{source} has no column {name!r}{hint}\n{_caret(self.text, place)}\nThere are {listed}"
                )


def quoted(name: str) -> str:
    """Return a column as a formula writes the column: in quotes, where the name is not a plain one.

    Examples
    --------
    >>> quoted("amount"), quoted("order value")
    ('amount', '"order value"')
    """
    if re.fullmatch(r"[^\W\d][\w.]*", name):
        return name
    mark = next((mark for mark in "\"'`" if mark not in name), '"')
    return f"{mark}{name}{mark}"


def _value(tree: tuple[Any, ...], columns: Mapping[str, Any]) -> Any:
    kind = tree[0]
    if kind == "number":
        return np.float64(tree[1])
    if kind == "column":
        return np.asarray(columns[tree[1]], dtype=np.float64)
    values = [_value(part, columns) for part in tree[1:]]
    if kind == "abs":
        return np.abs(values[0])
    found = values[0]
    for other in values[1:]:
        found = _TWO[kind](found, other)
    return found


def _places(tree: tuple[Any, ...]) -> Iterable[tuple[str, int]]:
    """Give the columns of a tree with their places in the text."""
    if tree[0] == "column":
        yield tree[1], tree[2]
    elif tree[0] != "number":
        for part in tree[1:]:
            yield from _places(part)


def _caret(text: str, place: int) -> str:
    return f"  {text}\n  {' ' * place}^"


class _Parser:
    """One formula on its way from text to a tree of tuples."""

    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            raise CostsError(f"a formula is a text such as 'amount*0.9+15', got {text!r}")
        if len(text) > LONGEST:
            raise CostsError(
                f"a formula has at most {LONGEST} letters, got {len(text)}: make a column of it beforehand"
            )
        self.text, self.columns, self.depth = text, dict[str, None](), 0
        self.tokens, self.next = self._split(), 0

    def _split(self) -> list[Token]:
        tokens, place, end = [], 0, len(self.text.rstrip())
        while place < end:
            found = _TOKEN.match(self.text, place)
            if found is None:
                start = place + len(self.text[place:]) - len(self.text[place:].lstrip())
                raise self._wrong(f"{self.text[start]!r} cannot be read", start)
            kind = str(found.lastgroup)
            tokens.append(Token(kind, found[kind], found.start(kind)))
            place = found.end()
        return [*tokens, Token("end", "", end)]

    def _wrong(self, what: str, place: int) -> CostsError:
        return CostsError(
            f"{what}\n{_caret(self.text, place)}\nA formula has numbers (1234.5), columns, + - * /, brackets, min(), "
            'max() and abs(); a column whose name is not one word stands in quotes, "order value"'
        )

    def _take(self, *texts: str) -> Token | None:
        token = self.tokens[self.next]
        if token.kind == "sign" and token.text in texts:
            self.next += 1
            return token
        return None

    def read(self) -> tuple[Any, ...]:
        tree = self._sum()
        token = self.tokens[self.next]
        if token.kind != "end":
            raise self._wrong(f"a sign (+ - * /) is missing before {token.text!r}", token.place)
        return tree

    def _sum(self) -> tuple[Any, ...]:
        self.depth += 1
        if self.depth > DEEPEST:
            raise self._wrong(f"there are more than {DEEPEST} brackets within one another", 0)
        tree = self._product()
        while sign := self._take("+", "-"):
            tree = (sign.text, tree, self._product())
        self.depth -= 1
        return tree

    def _product(self) -> tuple[Any, ...]:
        tree = self._signed()
        while sign := self._take("*", "/"):
            tree = (sign.text, tree, self._signed())
        return tree

    def _signed(self) -> tuple[Any, ...]:
        minus = False
        while sign := self._take("-", "+"):
            minus ^= sign.text == "-"
        atom = self._atom()
        return ("*", ("number", -1.0), atom) if minus else atom

    def _atom(self) -> tuple[Any, ...]:
        token = self.tokens[self.next]
        if self._take("("):
            tree = self._sum()
            self._close(token)
            return tree
        self.next += 1
        if token.kind == "number":
            return ("number", float(token.text))
        if token.kind == "name" and token.text in FUNCTIONS and self._take("("):
            return self._function(token)
        if token.kind in ("name", "quoted"):
            name = token.text if token.kind == "name" else token.text[1:-1]
            self.columns.setdefault(name)
            return ("column", name, token.place)
        where = "at the end" if token.kind == "end" else f"instead of {token.text!r}"
        raise self._wrong(f"a number, a column or a bracket is expected {where}", token.place)

    def _function(self, name: Token) -> tuple[Any, ...]:
        parts = [self._sum()]
        while self._take(","):
            parts.append(self._sum())
        self._close(name)
        least, most = FUNCTIONS[name.text]
        if not least <= len(parts) <= most:
            wanted = "one value" if most == 1 else "two values or more"
            raise self._wrong(f"{name.text}() takes {wanted}, got {len(parts)}", name.place)
        return (name.text, *parts)

    def _close(self, opened: Token) -> None:
        if not self._take(")"):
            raise self._wrong("this bracket is not closed", opened.place)
