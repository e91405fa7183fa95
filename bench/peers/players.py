"""Who plays: the configurations of the peers, and every policy of the appletaste registry.

A player is built from the number of features, the costs and a seed. ``microseconds`` is what a round of decide and
learn takes, roughly, with 20 features and with 200; it sets how many replications a player gets (see ``budget``).
Nothing is imported before it is asked for, so that a player's memory can be measured.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Protocol

import numpy as np

from appletaste import Costs

#: The policy that we recommend: the others are compared with it.
RECOMMENDED = "voi"
#: Where the recommended one is not in the registry, the first of these that is takes its place in the report.
STAND_INS = ("ids-traditional", "pg-ids-traditional")
#: Policies that learn nothing, shown for scale; they are never "best".
REFERENCES = ("always", "never")
#: What simulation alone can build.
LEFT_OUT = ("oracle",)


class Player(Protocol):
    """One run of one policy; ``learn`` follows every ``decide``, with a label if and only if it acted."""

    def decide(self, x: np.ndarray) -> bool: ...
    def learn(self, x: np.ndarray, act: bool, label: int | None) -> None: ...


@dataclass(frozen=True)
class Configuration:
    """A named way to build players."""

    name: str
    library: str  #: the distribution, as it is installed
    module: str  #: the file under ``libraries`` that speaks to it
    build: str  #: the class there
    settings: dict[str, Any] = field(default_factory=dict)
    says: str = ""  #: the configuration in words, for the report
    microseconds: tuple[float, float] = (12.0, 300.0)
    grows: bool = False  #: a round takes longer the more labels there are; ``microseconds`` are then for T = 2000
    knows_horizon: bool = False  #: built with ``horizon=T`` besides

    @property
    def ours(self) -> bool:
        return self.library == "appletaste"

    @property
    def reference(self) -> bool:
        return self.name in REFERENCES

    def make(self, features: int, costs: Costs, seed: int, rounds: int) -> Player:
        """Return a player before its first item."""
        kind = getattr(importlib.import_module(f"bench.peers.libraries.{self.module}"), self.build)
        horizon = {"horizon": max(2, rounds)} if self.knows_horizon else {}
        return kind(features, costs, seed, **self.settings, **horizon)

    def seconds(self, rounds: int, features: int) -> float:
        """Return roughly how long one replication takes."""
        low, high = self.microseconds
        each = max(low + (high - low) * (features - 20) / 180, 0.6 * low)
        return 1e-6 * rounds * each * (rounds / 2000 if self.grows else 1.0)


def _vw(name: str, arguments: str, says: str) -> Configuration:
    settings = {"arguments": arguments}
    return Configuration(
        f"vw-{name}", "vowpalwabbit", "vowpal_wabbit", "VowpalWabbit", settings, says, microseconds=(40.0, 125.0)
    )


def _bb(name: str, policy: str, approximator: str, says: str, microseconds: tuple[float, float]) -> Configuration:
    settings = {"policy": policy, "approximator": f"{approximator}Approximator"}
    return Configuration(
        f"bb-{name}", "bayesianbandits", "bayesian_bandits", "LogisticAgent", settings, says, microseconds
    )


def _linear(name: str, policy: str, alpha: float, known_pass: bool, says: str) -> Configuration:
    settings = {"policy": policy, "alpha": alpha, "known_pass": known_pass}
    return Configuration(
        f"mabwiser-{name}", "mabwiser", "mabwiser_linear", "Linear", settings, says, microseconds=(320.0, 1850.0)
    )


def _cb(name: str, policy: str, microseconds: tuple[float, float]) -> Configuration:
    says = f"`{policy}`, its score against the threshold, refitted at 5 % more labels"
    settings = {"policy": policy}
    return Configuration(
        f"cb-{name}", "contextualbandits", "contextual_bandits", "Logistic", settings, says, microseconds
    )


PEERS = (
    _vw("squarecb", "--squarecb", "`--cb_explore_adf --squarecb`"),
    _vw("regcb", "--regcbopt --mellowness 0.1", "`--cb_explore_adf --regcbopt --mellowness 0.1`"),
    _vw("bag", "--bag 5", "`--cb_explore_adf --bag 5`"),
    _vw("epsilon", "--epsilon 0.05", "`--cb_explore_adf --epsilon 0.05`"),
    Configuration(
        "vw-graph",
        "vowpalwabbit",
        "vowpal_wabbit",
        "GraphFeedback",
        {"arguments": "--gamma_scale 200"},
        "`--cb_explore_adf --graph_feedback --gamma_scale 200`, graph `0,1,1 1,1,1`",
        microseconds=(1600.0, 1800.0),
    ),
    _linear("linucb", "LinUCB", 0.25, False, "`LinUCB(alpha=0.25)`, two arms, a constant feature"),
    _linear("lints", "LinTS", 0.3, True, "`LinTS(alpha=0.3)`, the act arm against 0, a constant feature"),
    _bb("ids", "InformationDirectedSampling", "Laplace", "GLM, Laplace (default), IDS", (980.0, 2150.0)),
    _bb("ids-rvga", "InformationDirectedSampling", "RVGA", "GLM, R-VGA, IDS", (1050.0, 2500.0)),
    _bb("ucb", "UpperConfidenceBound", "Laplace", "GLM, Laplace (default), UCB 0.68", (660.0, 1700.0)),
    _bb("ucb-rvga", "UpperConfidenceBound", "RVGA", "GLM, R-VGA, UCB 0.68", (720.0, 2100.0)),
    _bb("ts", "ThompsonSampling", "Laplace", "GLM, Laplace (default), Thompson sampling", (430.0, 1000.0)),
    _cb("logistic-ucb", "LogisticUCB", (420.0, 1600.0)),
    _cb("logistic-ts", "LogisticTS", (560.0, 1000.0)),
    Configuration(
        "river-linucb",
        "river",
        "river_linear",
        "LinUcb",
        says="`LinUCBDisjoint(alpha=1, beta=4)`, a constant feature",
        microseconds=(65.0, 250.0),
    ),
)

#: Rough microseconds of those of our policies that are much slower or faster than the rest.
OUR_MICROSECONDS = {
    "always": (5.0, 5.0),
    "never": (5.0, 5.0),
    "pg-ts": (200.0, 5500.0),
    "pg-ids": (200.0, 5500.0),
    "pg-ids-traditional": (200.0, 5500.0),
    "greedy": (50.0, 1300.0),
    "cbp-side": (110.0, 4500.0),
    "suplogistic": (20.0, 1100.0),
    "exact-ts": (60.0, 2000.0),
    "exact-ids": (60.0, 2000.0),
    "exact-voi": (60.0, 2000.0),
}


#: Those that go through every label again for every decision.
GROWING = ("pg-ts", "pg-ids", "pg-ids-traditional", "greedy", "cbp-side", "suplogistic")


def registry_players() -> list[Configuration]:
    """Return every policy of the registry with its defaults, and a variant where it can be told the horizon.

    A policy that cannot do without a horizon (its default is a number) appears only as the one that knows it.
    """
    from appletaste import list_policies

    found = []
    for info in list_policies():
        if info.name in LEFT_OUT:
            continue
        needs = "horizon" in info.options and info.options["horizon"] is not None
        for knows in (False, True) if "horizon" in info.options else (False,):
            if needs and not knows:
                continue
            found.append(
                Configuration(
                    f"{info.name}-T" if knows else info.name,
                    "appletaste",
                    "appletaste_policies",
                    "RegistryPolicy",
                    {"name": info.name},
                    info.summary + (" The horizon is known." if knows else ""),
                    OUR_MICROSECONDS.get(info.name, (12.0, 300.0)),
                    info.name in GROWING,
                    knows,
                )
            )
    return sorted(found, key=lambda player: player.name not in (RECOMMENDED, f"{RECOMMENDED}-T"))


def all_players() -> dict[str, Configuration]:
    """Return every player by name: ours, then the peers."""
    return {player.name: player for player in (*registry_players(), *PEERS)}


def find_player(name: str) -> Configuration:
    """Return one player; a peer is found without a look at the registry."""
    return next((player for player in PEERS if player.name == name), None) or all_players()[name]


def reference_of(names: list[str]) -> str:
    """Return the player the others are compared with: the recommended one, or what stands in for it."""
    for name in (RECOMMENDED, *STAND_INS, *names):
        if name in names:
            return name
    raise ValueError("no players")


def why_absent(player: Configuration) -> str:
    """Return why a player cannot play here, in a line; empty if it can."""
    try:
        version(player.library)
    except PackageNotFoundError:
        return f"{player.library} is not installed"
    try:
        importlib.import_module(f"bench.peers.libraries.{player.module}")
    except Exception as error:  # whatever a broken installation raises
        return f"import of {player.library} failed: {type(error).__name__}: {error}"
    return ""
