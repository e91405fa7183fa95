"""``appletaste completion``: verbs, options and files on the tab key."""

from __future__ import annotations

import argparse
from typing import Any

from ..errors import MissingExtraError
from .options import add_verb

DESCRIPTION = "Print what a shell needs to complete verbs, options and file names of appletaste."
EXAMPLES = """\
examples:
  appletaste completion bash > ~/.local/share/bash-completion/completions/appletaste
  appletaste completion zsh > ~/.zfunc/_appletaste           with fpath+=~/.zfunc before compinit in ~/.zshrc
  appletaste completion tcsh > ~/.appletaste.tcsh            with 'source ~/.appletaste.tcsh' in ~/.tcshrc
"""
SHELLS = ("bash", "zsh", "tcsh")


def add(verbs: Any) -> None:
    """Add the verb to the parser."""
    parser = add_verb(verbs, "completion", run, "complete verbs and options on the tab key", DESCRIPTION, EXAMPLES)
    parser.add_argument("shell", choices=SHELLS, help="the shell to complete in")


def run(args: argparse.Namespace) -> None:
    """Print the script."""
    try:
        import shtab
    except ImportError:
        raise MissingExtraError("completing on the tab key", "completion") from None
    from .main import build_parser

    print(shtab.complete(_with_files(build_parser()), args.shell))


def _with_files(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Let every argument that is no choice and no switch complete to a file."""
    import shtab

    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            action.help = None  # the overview lists the verbs, and what is suppressed there is not completed
            for chosen in set(action.choices.values()):
                _with_files(chosen)
        elif action.choices is None and action.nargs != 0:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    return parser
