"""What is finished, one line each, so that an interrupted bench goes on where it stopped.

A line counts only if the code that made it is the code that is here: the environments, and the library that played.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from .play import SEED, Run
from .players import Configuration

HERE = Path(__file__).parent
#: The files of the bench that decide every number.
DECISIVE = tuple(HERE / name for name in ("environments.py", "random_environments.py", "real.py", "play.py"))

Line = dict[str, Any]


def _digest(*parts: bytes) -> str:
    return hashlib.blake2b(b"\0".join(parts), digest_size=8).hexdigest()


@cache
def _appletaste_code() -> str:
    from appletaste.paper.sources import fingerprint

    return fingerprint("appletaste.simulate.replications")


def code_of(player: Configuration, decisive: Iterable[Path]) -> str:
    """Return a name for all the code that makes a player's numbers."""
    made_by = _appletaste_code() if player.ours else f"{player.library} {version(player.library)}"
    settings = repr((player.build, sorted(player.settings.items()), player.knows_horizon, SEED))
    files = [path.read_bytes() for path in decisive]
    return _digest(
        made_by.encode(), settings.encode(), (HERE / "libraries" / f"{player.module}.py").read_bytes(), *files
    )


class Store:
    """A folder with one line of JSON for each finished run, and one for each latency."""

    def __init__(self, folder: Path, players: Mapping[str, Configuration], decisive: Iterable[Path] = DECISIVE) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._codes = {name: code_of(player, decisive) for name, player in players.items()}
        self._runs = self._read("results.jsonl", ("environment", "player", "replication"))
        self._latencies = self._read("latency.jsonl", ("player", "rounds"))

    def _read(self, name: str, keys: tuple[str, ...]) -> dict[tuple[Any, ...], Line]:
        path, found = self.folder / name, {}
        for text in path.read_text().splitlines() if path.exists() else ():
            try:
                line = json.loads(text)
            except json.JSONDecodeError:  # the last line of a run that was killed
                continue
            if "error" not in line and self._codes.get(line["player"]) == line["code"]:
                found[tuple(line[key] for key in keys)] = line
        return found

    def _append(self, name: str, line: Line) -> Line:
        line = line | {"code": self._codes[line["player"]]}
        with (self.folder / name).open("a") as file:
            file.write(json.dumps(line) + "\n")
        return line

    def missing(self, runs: Iterable[Run]) -> list[Run]:
        """Return the runs that are not finished; those that failed are tried again."""
        return [run for run in runs if (run.environment, run.player, run.replication) not in self._runs]

    def add(self, line: Line) -> None:
        """Keep one finished run."""
        self._runs[line["environment"], line["player"], line["replication"]] = self._append("results.jsonl", line)

    def lines(self, runs: Iterable[Run]) -> list[Line]:
        """Return what is known of these runs."""
        keys = ((run.environment, run.player, run.replication) for run in runs)
        return [self._runs[key] for key in keys if key in self._runs]

    def latency(self, player: str, rounds: int) -> Line | None:
        """Return the latency of a player over so many rounds, if it was measured."""
        return self._latencies.get((player, rounds))

    def add_latency(self, line: Line, rounds: int) -> None:
        """Keep one latency."""
        self._latencies[line["player"], rounds] = self._append("latency.jsonl", line | {"rounds": rounds})
