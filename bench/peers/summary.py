"""What the results say: means, paired differences, ratios, and whether our promises hold.

Players have different numbers of replications, always the first ones. Every comparison of two players is therefore made
on the replications that both have played; regrets of one environment are compared through the reference player.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from .players import Configuration
from .store import Line

FEW_ACTS = 3
ERRORS = 2.0  #: a difference of fewer standard errors is a draw
FLOOR = 1e-6  #: a regret of nothing at all, so that ratios exist

#: Regret by replication.
Regrets = dict[int, float]


@dataclass(frozen=True)
class Cell:
    """One player in one environment."""

    count: int
    mean: float
    se: float
    difference: float  #: to the reference, on common replications
    difference_se: float
    ratio: float  #: mean regret divided by the reference's, on common replications
    locked: int  #: runs with fewer than three acts
    error: str = ""


def mean_and_error(values: Iterable[float]) -> tuple[float, float]:
    """Return a mean and its standard error; NaN where there are too few."""
    known = np.fromiter(values, dtype=float)
    if known.size == 0:
        return math.nan, math.nan
    return float(known.mean()), float(known.std(ddof=1) / math.sqrt(known.size)) if known.size > 1 else math.nan


def paired_difference(mine: Regrets, other: Regrets) -> tuple[float, float]:
    """Return the mean of mine - other over common replications, and its standard error."""
    return mean_and_error(mine[r] - other[r] for r in sorted(mine.keys() & other.keys()))


def ratio_of_means(mine: Regrets, other: Regrets) -> float:
    """Return the ratio of the mean regrets over common replications."""
    common = mine.keys() & other.keys()
    if not common:
        return math.nan
    return max(sum(mine[r] for r in common), FLOOR) / max(sum(other[r] for r in common), FLOOR)


@dataclass(frozen=True)
class Summary:
    """All cells by environment and player, and who is who."""

    cells: dict[str, dict[str, Cell]]
    regrets: dict[str, dict[str, Regrets]]
    players: dict[str, Configuration]
    reference: str

    @property
    def peers(self) -> list[str]:
        return [name for name, player in self.players.items() if not player.ours]

    @property
    def compared(self) -> list[str]:
        """The environments in which the reference and at least one peer have played."""
        return [name for name in self.cells if self.reference in self.regrets[name] and self.best_peer(name)]

    def best_peer(self, environment: str) -> str:
        """Return the peer with the least regret beside the reference; empty if none has played."""
        ratios = {name: self.ratio(environment, name) for name in self.peers}
        known = {name: ratio for name, ratio in ratios.items() if not math.isnan(ratio)}
        return min(known, key=known.__getitem__) if known else ""

    def ratio(self, environment: str, player: str) -> float:
        """Return a player's regret divided by the reference's."""
        cell = self.cells[environment].get(player)
        return cell.ratio if cell else math.nan

    def to_best_peer(self, environment: str, player: str) -> float:
        """Return a player's regret divided by the best peer's."""
        return self.ratio(environment, player) / self.ratio(environment, self.best_peer(environment))

    def geometric_mean(self, player: str, without: Collection[str] = ()) -> tuple[float, int]:
        """Return the geometric mean of regret / best peer's regret, and over how many environments."""
        ratios = [self.to_best_peer(name, player) for name in self.compared if name not in without]
        known = [math.log(ratio) for ratio in ratios if not math.isnan(ratio)]
        return (math.exp(sum(known) / len(known)) if known else math.nan), len(known)

    def verdict(self, environment: str, player: str) -> str:
        """Return whether a player has won, drawn or lost an environment; empty if it did not play there.

        A player of ours meets the best peer, a peer the reference. Won and lost are two standard errors of the paired
        difference or more; with one common replication nothing is decided.
        """
        regrets = self.regrets[environment]
        rival = self.best_peer(environment) if self.players[player].ours else self.reference
        difference, error = paired_difference(regrets.get(player, {}), regrets.get(rival, {}))
        if math.isnan(difference):
            return ""
        if math.isnan(error) or abs(difference) < ERRORS * error or not difference:
            return "drawn"
        return "won" if difference < 0 else "lost"

    def score(self, player: str) -> tuple[int, int, int]:
        """Return how many environments a player has won, drawn and lost."""
        found = [self.verdict(name, player) for name in self.compared]
        return found.count("won"), found.count("drawn"), found.count("lost")

    def relative_regret(self, environment: str = "random") -> dict[str, tuple[float, float, float, int]]:
        """Return regret relative to the mean over players (mean, s.e.), the total, and over how many tables.

        Only tables that every player has met count; players that learn nothing are left out of the mean.
        """
        mine = {
            name: regrets
            for name, regrets in self.regrets.get(environment, {}).items()
            if regrets and not self.players[name].reference
        }
        if not mine:
            return {}
        common = sorted(set.intersection(*(set(regrets) for regrets in mine.values())))
        if not common:
            return {}
        level = {r: max(float(np.mean([regrets[r] for regrets in mine.values()])), FLOOR) for r in common}
        return {
            name: (*mean_and_error(regrets[r] / level[r] for r in common), sum(regrets[r] for r in common), len(common))
            for name, regrets in mine.items()
        }


def summarise(lines: Iterable[Line], players: Mapping[str, Configuration], reference: str) -> Summary:
    """Return the summary of finished runs."""
    regrets: dict[str, dict[str, Regrets]] = {}
    locked: dict[tuple[str, str], int] = {}
    errors: dict[tuple[str, str], str] = {}
    for line in lines:
        place = (line["environment"], line["player"])
        mine = regrets.setdefault(place[0], {}).setdefault(place[1], {})
        if "error" in line:
            errors[place] = line["error"]
            continue
        mine[line["replication"]] = line["regret"]
        locked[place] = locked.get(place, 0) + (line["acts"] < FEW_ACTS)
    cells = {
        environment: {
            name: Cell(
                len(mine),
                *mean_and_error(mine.values()),
                *paired_difference(mine, everyone.get(reference, {})),
                ratio_of_means(mine, everyone.get(reference, {})),
                locked.get((environment, name), 0),
                errors.get((environment, name), ""),
            )
            for name, mine in everyone.items()
        }
        for environment, everyone in regrets.items()
    }
    return Summary(cells, regrets, dict(players), reference)
