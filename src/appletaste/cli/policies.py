"""``appletaste policies``: the policies and their options."""

from __future__ import annotations

import argparse
from typing import Any

from .options import add_json, add_verb


def add(verbs: Any) -> None:
    """Add the verb to the parser."""
    text = "list the policies and their options"
    add_json(add_verb(verbs, "policies", run, text, f"{text.capitalize()}."))


def run(args: argparse.Namespace) -> None:
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
