"""``appletaste problems``: the problems and their settings."""

from __future__ import annotations

import argparse
from typing import Any

from .options import add_json, add_verb


def add(verbs: Any) -> None:
    """Add the verb to the parser."""
    text = "list the problems and their settings"
    add_json(add_verb(verbs, "problems", run, text, f"{text.capitalize()}."))


def run(args: argparse.Namespace) -> None:
    """List the problems."""
    from ..problems import PROBLEMS, settings_of
    from .console import print_json

    if args.json:
        print_json([{"name": n, "summary": kind.summary, "settings": settings_of(n)} for n, kind in PROBLEMS.items()])
        return
    for name, kind in PROBLEMS.items():
        flags = " ".join(f"--{setting.replace('_', '-')}" for setting in settings_of(name))
        print(f"{name}\n    {kind.summary}\n    {kind.__doc__}\n      settings: {flags}")
