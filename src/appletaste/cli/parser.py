"""The parser of every verb: a usage of a line or two, and a mistake told in one sentence, with the nearest name."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from ..errors import near

REQUIRED = "the following arguments are required: "  #: how argparse begins this sentence


class Parser(argparse.ArgumentParser):
    """A parser whose usage names what has to be given, and no more; ``--help`` lists the rest."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Refuse what is not known, in the verb itself: the verb knows which of its options is near."""
        found, rest = super().parse_known_args(args, namespace)
        unknown = next((text.split("=")[0] for text in rest if text.startswith("-")), None)
        if unknown is not None:
            self.error(f"there is no option {unknown!r}{near(unknown, self._option_string_actions)}")
        if rest:
            self.error(f"{rest[0]!r} is one too many: a quote or an option may be missing before it")
        return found, rest

    def format_usage(self) -> str:
        """Return what has to be given, and that there are options."""
        return f"usage: {self.usage or self._needed()}\n"

    def format_help(self) -> str:
        """Return the help, under the short usage."""
        self.usage = self.usage or self._needed().replace("%", "%%")
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        """End with what has to be given, what is wrong, and where more is said."""
        if message.startswith(REQUIRED):
            message = f"{message.removeprefix(REQUIRED)} must be given"
        self.exit(2, f"{self.format_usage()}{self.prog}: {message}. '{self.prog} --help' says more\n")

    def _needed(self) -> str:
        """Return the call with all that has to be given, and ``[options]`` for the rest."""
        one_of = [group._group_actions for group in self._mutually_exclusive_groups if group.required]
        given = [action for action in self._actions if action.required]
        parts = [*map(_typed, given), *(f"({' | '.join(map(_typed, group))})" for group in one_of)]
        return " ".join([self.prog, *parts, "[options]"])


def _typed(action: argparse.Action) -> str:
    """Return an argument as it is typed."""
    value = action.metavar or "|".join(action.choices or ()) or action.dest.upper()
    return f"{action.option_strings[0]} {value}" if action.option_strings else str(value)
