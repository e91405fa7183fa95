"""One player on one replication of one environment: the task that workers run."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from appletaste import Key
from appletaste.problems import Table

from .environments import Environment, drawn_environments
from .players import Player, find_player
from .random_environments import random_suite
from .real import real_environments

SEED = 2024


def all_environments(data: Path) -> dict[str, Environment]:
    """Return every environment by name, in the order of the report."""
    found = [*drawn_environments(), random_suite(), *real_environments(data)]
    return {environment.name: environment for environment in found}


@lru_cache(maxsize=2)  # players of one replication usually come one after the other
def table_of(environment: str, replication: int, data: Path) -> Table:
    """Return the table that every player meets in a replication."""
    key = Key(SEED).at("bench-peers", environment, replication)
    return all_environments(data)[environment].draw(key)


def seed_of(player: str, environment: str, replication: int) -> int:
    """Return a player's own seed: from 1 to 2^31 - 1, which every library takes."""
    word = int(Key(SEED).at("bench-peers", environment, replication, "player", player).word())
    return 1 + word % (2**31 - 2)


def act_all(player: Player, table: Table) -> np.ndarray:
    """Return what a player did on every item of a table; it is told a label only where it acted."""
    acts = np.zeros(table.rounds, dtype=bool)
    for t in range(table.rounds):
        x = table.items[t]
        act = player.decide(x)
        player.learn(x, act, int(table.labels[t]) if act else None)
        acts[t] = act
    return acts


def attempt(player: str, table: Table, seed: int) -> tuple[np.ndarray, float] | str:
    """Return what a player did on a table and how many seconds it took, or what it said when it failed."""
    started = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the same line of a library, thousands of times
            acts = act_all(find_player(player).make(table.n_features, table.costs, seed, table.rounds), table)
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:300]
    return acts, time.perf_counter() - started


@dataclass(frozen=True)
class Run:
    """A player, an environment and the number of a replication."""

    environment: str
    player: str
    replication: int
    data: Path

    def play(self) -> dict[str, Any]:
        """Return one line of the results; a player that raises is recorded with what it said, not left out."""
        table = table_of(self.environment, self.replication, self.data)
        line: dict[str, Any] = {
            "environment": self.environment,
            "player": self.player,
            "replication": self.replication,
            "rounds": table.rounds,
        }
        found = attempt(self.player, table, seed_of(self.player, self.environment, self.replication))
        if isinstance(found, str):
            return line | {"error": found}
        acts, seconds = found
        return line | {"regret": float(table.regret_of(acts).sum()), "acts": int(acts.sum()), "seconds": seconds}
