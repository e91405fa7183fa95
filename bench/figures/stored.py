"""Stored runs: one file in bench/results for each, with what made it."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import subprocess
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import date
from importlib.metadata import version
from pathlib import Path

from appletaste._files import write_aside

from .parts import Figure, as_json, from_json
from .runs import BENCH, RUNS, code_of, last_change

ROOT = BENCH.parent
FOLDER = BENCH / "results"
#: A list of cells in JSON, which gets a line of its own.
ROWS = re.compile(r'\[\s*"(?:[^"\\]|\\.)*"(?:,\s*"(?:[^"\\]|\\.)*")*\s*\]')
#: When this process began: code that is written later is not what it runs.
STARTED = time.time()


@dataclass(frozen=True)
class Run:
    """What a bench has found once, and what made it."""

    command: str
    commit: str
    date: str
    code: str  #: the fingerprint of the code; empty where it is known by its commit alone
    machine: str
    figures: dict[str, Figure]
    pictures: dict[str, str] = field(default_factory=dict)  #: files that were drawn with them, and their digests
    note: str = ""  #: what a reader of the figures must know besides

    def fresh(self, name: str) -> bool:
        """Say whether the code of the tree is that of the run."""
        return bool(self.code) and self.code == code_of(name)

    def origin(self, stale: bool) -> str:
        """Return where the figures come from, as pages tell it."""
        note = f"; {self.note}" if self.note else ""
        if stale:
            return f"measured at commit {self.commit}, {self.date}{note}; the code has changed since"
        return f"measured at commit {self.commit}, {self.date}, {self.machine}{note}"

    def figure(self, name: str, stale: bool) -> Figure:
        """Return a figure by its name; every run has an ``origin`` for sentences."""
        if name == "origin":
            return f"measured at commit {self.commit}" + ", by older code" * stale
        return self.figures[name]


def digest(path: Path) -> str:
    """Return a digest of a picture."""
    return hashlib.blake2b(path.read_bytes(), digest_size=8).hexdigest()


def stored(folder: Path = FOLDER) -> dict[str, Run]:
    """Return all stored runs by their names."""
    found = {}
    for path in sorted(folder.glob("*.json")):
        content = json.loads(path.read_text())
        content["figures"] = {name: from_json(kept) for name, kept in content["figures"].items()}
        found[path.stem] = Run(**content)
    return found


def write(name: str, run: Run, folder: Path = FOLDER) -> None:
    """Keep a run in its file."""
    content = asdict(run) | {"figures": {key: as_json(figure) for key, figure in run.figures.items()}}
    folder.mkdir(exist_ok=True)
    lines = ROWS.sub(lambda row: re.sub(r"\n\s*", " ", row[0]), json.dumps(content, indent=1, ensure_ascii=False))
    write_aside(folder / f"{name}.json", f"{lines}\n".encode())


def keep_run(name: str, figures: Mapping[str, Figure], pictures: Iterable[Path] = (), note: str = "") -> None:
    """Keep what a whole run has found, and put it into the pages."""
    from .pages import write_pages

    if last_change(name) > STARTED:
        raise SystemExit(f"code was written while {name} ran: its figures are of neither and are not kept")
    drawn = {str(path.resolve().relative_to(ROOT)): digest(path) for path in pictures}
    today = date.today().isoformat()
    write(name, Run(RUNS[name].command, commit(), today, code_of(name), machine(), dict(figures), drawn, note))
    for page in write_pages():
        print(f"{page} rewritten")


def commit() -> str:
    """Return the commit of the tree, with a plus where code is not in it."""
    try:
        said = subprocess.run(["git", "rev-parse", "--short=7", "HEAD"], cwd=ROOT, capture_output=True, text=True)
        more = ["git", "status", "--porcelain", "--", "src", "bench", ":!bench/results"]
        changed = subprocess.run(more, cwd=ROOT, capture_output=True, text=True)
    except OSError:
        return "unknown"
    return said.stdout.strip() + "+" * bool(changed.stdout.strip()) or "unknown"


def machine() -> str:
    """Return what of this machine moves figures."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    load = f", load {os.getloadavg()[0]:.0f}" if hasattr(os, "getloadavg") else ""
    return f"{cores} cores{load}, Python {platform.python_version()}, NumPy {version('numpy')}"
