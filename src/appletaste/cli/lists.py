"""``appletaste policies`` and ``appletaste problems``: what there is, with options and settings."""

from __future__ import annotations

import argparse
from typing import Any

from .options import add_json, add_verb


def add_policies(verbs: Any) -> None:
    """Add ``policies`` to the parser."""
    text = "list the policies and their options"
    add_json(add_verb(verbs, "policies", run_policies, text, f"{text.capitalize()}."))


def run_policies(args: argparse.Namespace) -> None:
    """List the policies."""
    from ..policies import list_policies, option_help

    if args.json:
        from .console import print_json

        print_json([{"name": info.name, "summary": info.summary, "options": info.options} for info in list_policies()])
        return
    for info in list_policies():
        print(f"{info.name}\n    {info.summary}")
        for option, default in info.options.items():
            print(f"      {option}={str(default).lower() if default in (None, True, False) else default}")
            print(f"          {option_help(info.name, option)}")


def add_problems(verbs: Any) -> None:
    """Add ``problems`` to the parser."""
    text = "list the problems and their settings"
    add_json(add_verb(verbs, "problems", run_problems, text, f"{text.capitalize()}."))


def run_problems(args: argparse.Namespace) -> None:
    """List the problems."""
    from ..problems import PROBLEMS, settings_of
    from .console import print_json

    if args.json:
        print_json([{"name": n, "summary": kind.summary, "settings": settings_of(n)} for n, kind in PROBLEMS.items()])
        return
    for name, kind in PROBLEMS.items():
        flags = " ".join(f"--{setting.replace('_', '-')}" for setting in settings_of(name))
        print(f"{name}\n    {kind.summary}\n    {kind.__doc__}\n      settings: {flags}")
