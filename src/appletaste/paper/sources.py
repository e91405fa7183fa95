"""The code behind a number: which files decide it, and a digest of what they say to do.

Comments, docstrings, annotations and what is imported for annotations alone say nothing to do, so that a stored number
outlives their edits. The digest depends on files alone: every machine and every Python finds the same for one tree.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

#: The source of the package.
ROOT = Path(__file__).parents[1]
#: Distributions that compute: their pinned versions belong to the code.
COMPUTE = ("numpy", "numba", "scipy", "scikit-learn", "lightgbm")
#: Fields of a node that say nothing to do.
_SILENT = frozenset({"annotation", "returns", "type_comment", "type_params", "ctx", "kind", "simple"})
#: Modules that are imported for annotations.
_FOR_HINTS = ("__future__", "typing", "collections.abc", "numpy.typing", "types")

#: A module as its dotted name, split.
Name = tuple[str, ...]


@dataclass(frozen=True)
class Sources:
    """Packages whose files are looked at, and the modules that cannot move a number.

    Examples
    --------
    >>> sources = Sources(without=frozenset({"appletaste.errors"}))
    >>> sources.fingerprint("appletaste.costs") == Sources().fingerprint("appletaste.costs")
    False
    """

    folders: Mapping[str, Path] = field(default_factory=lambda: {"appletaste": ROOT})
    without: frozenset[str] = frozenset()
    pins: Path = ROOT.parents[1] / "constraints.txt"

    def fingerprint(self, *modules: str) -> str:
        """Return a digest of what the files behind these modules say to do, and of the pins of what computes.

        It changes with any line of code that can change a number, wherever the tree is moved to.
        """
        digest = hashlib.blake2b(" ".join(self._pinned()).encode(), digest_size=8)
        for name, path in sorted((self._named(path), path) for path in self.files(*modules)):
            said = _read(path, path.stat().st_mtime_ns).digest if path.suffix == ".py" else path.read_bytes()
            digest.update(name.encode() + b"\0" + said)
        return digest.hexdigest()

    def files(self, *modules: str) -> set[Path]:
        """Return the files that importing modules reads: their own, those they import, and tables beside."""
        files: set[Path] = set()
        open_ = [tuple(name.split(".")) for name in modules]
        while open_:
            name = open_.pop()
            if len(name) > 1 and name[0] == "appletaste" and self._file(name[:2]) is None:  # at.replay is of a room
                name = ("appletaste", _rooms(self.folders["appletaste"]).get(name[1], name[1]))
            for length in range(1, len(name) + 1):  # importing a.b.c runs a and a.b too
                if ".".join(name[:length]) in self.without:
                    break
                path = self._file(name[:length])
                if path is None or path in files:
                    continue
                files.add(path)
                files.update(path.parent.glob("*.npy"))
                package = name[:length] if path.name == "__init__.py" else name[: length - 1]
                for level, module, names in _read(path, path.stat().st_mtime_ns).imports:
                    base = (*package[: len(package) - level + 1], *module) if level else module
                    open_ += [base, *((*base, one) for one in names)]
        return files

    def _file(self, name: Name) -> Path | None:
        folder = self.folders.get(name[0])
        if folder is None:
            return None
        place = folder.joinpath(*name[1:])
        for path in (place.with_suffix(".py"), place / "__init__.py"):
            if path.is_file() and path != self.folders.get("appletaste", ROOT) / "__init__.py":  # loads on demand
                return path
        return None  # a name within a module, not a module

    def _named(self, path: Path) -> str:
        for package, folder in self.folders.items():
            if path.is_relative_to(folder):
                return f"{package}/{path.relative_to(folder).as_posix()}"
        raise ValueError(f"{path} is in no package")

    def _pinned(self) -> list[str]:
        if not self.pins.is_file():  # an installed package has no pins beside it
            from importlib.metadata import version

            return [f"{name} {version(name)}" for name in COMPUTE[:2]]
        return re.findall(rf"^(?:{'|'.join(COMPUTE)})==\S+", self.pins.read_text(), re.M | re.I)


def fingerprint(*modules: str) -> str:
    """Return a digest of the code of the package that importing these modules runs.

    Examples
    --------
    >>> fingerprint("appletaste.costs") == fingerprint("appletaste.costs")
    True
    >>> fingerprint("appletaste.costs") == fingerprint("appletaste.keys")
    False
    """
    return Sources().fingerprint(*modules)


def digest_of(source: str) -> bytes:
    r"""Return a digest of what a source says to do.

    Examples
    --------
    >>> digest_of("def f(x: int) -> int:\n    'Add.'\n    return x + 1  # one") == digest_of("def f(x): return x + 1")
    True
    >>> digest_of("def f(x): return x + 1") == digest_of("def f(x): return x + 2")
    False
    """
    return hashlib.blake2b("".join(_said(ast.parse(source))).encode(), digest_size=16).digest()


@dataclass(frozen=True)
class _File:
    """One source file, read: its digest, and what it imports (level, module, names)."""

    digest: bytes
    imports: tuple[tuple[int, Name, tuple[str, ...]], ...]


@lru_cache
def _rooms(package: Path) -> dict[str, str]:
    """Return the room of every public name, as the package itself says it."""
    for node in ast.parse((package / "__init__.py").read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_HOME":
            return {name: room for room, names in ast.literal_eval(node.value).items() for name in names.split()}
    raise ValueError(f"{package} does not say where its names are")


@lru_cache(maxsize=2000)
def _read(path: Path, changed: int) -> _File:
    source = path.read_text()
    return _File(digest_of(source), tuple(_imports(ast.parse(source))))


def _says_nothing(node: ast.AST) -> bool:
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    if isinstance(node, ast.If):
        return "TYPE_CHECKING" in ast.unparse(node.test)
    return isinstance(node, ast.ImportFrom) and not node.level and node.module in _FOR_HINTS


def _said(node: Any) -> Iterator[str]:
    """Give a tree in words that are the same in every version of Python, without what says nothing to do."""
    if isinstance(node, ast.AST):
        yield f"{type(node).__name__}("
        for name, value in ast.iter_fields(node):
            if name not in _SILENT and value is not None and value != []:
                yield f"{name}="
                yield from _said(value)
        yield ")"
    elif isinstance(node, list):
        yield "["
        for one in node:
            if not (isinstance(one, ast.AST) and _says_nothing(one)):
                yield from _said(one)
        yield "]"
    else:
        yield f"{type(node).__name__}:{node!r},"


def _imports(tree: ast.Module) -> Iterator[tuple[int, Name, tuple[str, ...]]]:
    """Give what a file imports, within functions too, but for annotations; and names it takes from ``appletaste``."""
    whole: set[str] = set()  # what the package is called here
    open_: list[ast.AST] = [tree]
    while open_:
        node = open_.pop()
        if _says_nothing(node):
            continue
        open_.extend(ast.iter_child_nodes(node))
        if isinstance(node, ast.ImportFrom):
            yield (
                node.level,
                tuple((node.module or "").split(".")) if node.module else (),
                tuple(alias.name for alias in node.names),
            )
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield 0, tuple(alias.name.split(".")), ()
                if alias.name == "appletaste":
                    whole.add(alias.asname or alias.name)
    for node in ast.walk(tree) if whole else ():
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in whole:
            yield 0, ("appletaste",), (node.attr,)
