"""A name for the code that made a number: results of other code are never taken for its own."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[1]


def fingerprint(*modules: str) -> str:
    """Return a digest of all that importing these modules of the package imports, and of NumPy and Numba.

    It changes with any file that can change a number, wherever that file is moved to.

    Examples
    --------
    >>> fingerprint("costs") == fingerprint("costs"), fingerprint("costs") == fingerprint("keys")
    (True, False)
    """
    digest = hashlib.blake2b(f"numpy {version('numpy')} numba {version('numba')}".encode(), digest_size=8)
    for path in sorted(files_of(*modules)):
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def files_of(*modules: str) -> set[Path]:
    """Return the files that importing modules of the package reads: their own, those they import, and tables beside."""
    found: set[Path] = set()
    open_ = [tuple(name.split(".")) for name in modules]
    while open_:
        name = open_.pop()
        for length in range(1, len(name) + 1):  # importing a.b.c runs a and a.b too
            path = _file_of(name[:length])
            if path is None or path in found:
                continue
            found.add(path)
            found.update(path.parent.glob("*.npy"))
            package = name[:length] if path.name == "__init__.py" else name[: length - 1]
            open_.extend(_imported(ast.parse(path.read_text()).body, package))
    return found


def _file_of(name: tuple[str, ...]) -> Path | None:
    place = ROOT.joinpath(*name)
    for path in (place.with_suffix(".py"), place / "__init__.py"):
        if path.is_file() and path != ROOT / "__init__.py":
            return path
    return None  # a name within a module, not a module


def _imported(body: list[ast.stmt], package: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Give the modules of this package that statements import, within functions too; not those for types alone."""
    for node in body:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1] + tuple(
                (node.module or "").split(".") if node.module else ()
            )
            yield base
            yield from ((*base, alias.name) for alias in node.names)
        for part in ("body", "orelse", "finalbody", "handlers"):
            yield from _imported(getattr(node, part, []), package)
