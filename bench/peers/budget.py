"""Who plays how often: a plan that ends in half an hour on two cores, the same on every machine.

Fast players play every replication of an environment, slow ones the first few of them, so that all differences are
between runs on the same items. Our own slow policies, and one mode of a peer that takes as long, sit out where a single
replication would take too long; the report says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from .environments import Environment
from .play import Run
from .players import Configuration

#: How many replications fast players play, and slow ones.
USUAL = (40, 6)
REPLICATIONS = {
    **dict.fromkeys(("i", "iii", "costly"), (100, 16)),
    "icept": (40, 5),
    "d50": (20, 4),
    "d200": (10, 2),
    "long": (10, 2),
    "random": (300, 32),
    "german_credit": (20, 6),
    "spambase": (8, 2),
    "mushroom": (4, 1),
    "phishing": (4, 1),
    "bank_marketing": (1, 1),  # one order only: it is played as it is
}
#: A player is slow from this many microseconds a round on (with 20 features), or if it gets slower with every label.
SLOW = 150.0
#: One replication of a player that may sit out takes at most this many seconds.
LONGEST = 3.5
#: Peers that may sit out: this one takes 1.5 ms a round whatever the number of features.
OPTIONAL = ("vw-graph",)
#: And this is how often they play at most.
FEW = 4


def why_not(environment: Environment, player: Configuration) -> str:
    """Return why a player sits out in an environment; empty if it plays."""
    each = player.seconds(environment.rounds, environment.features)
    if player.name in OPTIONAL and environment.name == "random":
        return "too slow for a whole suite"
    if (player.ours or player.name in OPTIONAL) and each > LONGEST:
        return f"too slow: about {each:.0f} s a replication"
    return ""


def replications(environment: Environment, player: Configuration, most: int | None = None) -> int:
    """Return how many replications a player plays in an environment."""
    if why_not(environment, player):
        return 0
    slow = player.microseconds[0] >= SLOW or player.grows
    planned = REPLICATIONS.get(environment.name, USUAL)[slow]
    planned = min(planned, FEW) if player.name in OPTIONAL else planned
    return planned if most is None else min(planned, most)


def plan(
    environments: Iterable[Environment], players: Iterable[Configuration], data: Path, most: int | None = None
) -> list[Run]:
    """Return all runs: replication by replication, so that whatever is finished early can be compared."""
    players = list(players)
    runs = []
    for environment in environments:
        counts = {player.name: replications(environment, player, most) for player in players}
        for number in range(max(counts.values(), default=0)):
            runs += [Run(environment.name, name, number, data) for name, count in counts.items() if number < count]
    return runs
