"""The studies behind ``appletaste theory``: every claim of the paper's theory beside a measurement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..engines import engine
from ..errors import OptionError
from ..keys import Key
from ..policies import policy
from ..posteriors import Gaussian
from ..problems import READINGS, problem
from ..problems.published_problems import read_losses
from ..problems.synthetic import Bounded
from ..simulate import play
from .assumptions import boundary_shares, informative_gaps, watch
from .bound import ratio_limit, regret_bound
from .classify import analyse
from .convergence import contraction, follow
from .growth import measure
from .known_games import KNOWN_GAMES


@dataclass(frozen=True)
class Size:
    """How much work a study does."""

    horizons: tuple[int, ...]
    dimensions: tuple[int, ...]
    replications: int
    runs: int  #: runs for the gaps between acts
    watched: int  #: rounds in which the information ratio is measured
    histories: int
    chains: int
    rounds: tuple[int, ...]  #: when the distance from the exact posterior is measured


FULL = Size((125, 250, 500, 1000, 2000), (2, 4, 8, 16), 100, 20, 500, 6, 300, (10, 100, 1000))
QUICK = Size((50, 100, 200), (2, 4, 8), 12, 4, 60, 2, 60, (10, 60))

Step = Callable[[str], None]


def study(
    *, quick: bool = False, seed: int = 1, jobs: int = 1, progress: Step | None = None, size: Size | None = None
) -> dict[str, Any]:
    """Run every study and return what was found, as plain dictionaries."""
    if jobs < 1:
        raise OptionError(f"jobs must be at least 1, got {jobs}")
    size = size or (QUICK if quick else FULL)
    say = progress or (lambda name: None)
    found: dict[str, Any] = {"seed": Key(seed).seed, "quick": quick}
    say("games")
    found["games"] = games()
    say("assumptions")
    found["assumptions"] = [assumptions(name, size, Key(seed)) for name in ("i", "ii", "iii")]
    gap = found["assumptions"][0]["gaps"]["largest_mean"]
    found["bounds"] = [bounds(reading, rounds, gap) for reading in READINGS for rounds in (500, 5000, 50_000)]
    say("growth of regret")
    found["growth"] = growth(size, seed, jobs)
    say("convergence")
    found["convergence"] = [row for d in (1, 2) for m in (1, 15) for row in convergence(d, m, size, Key(seed), jobs)]
    return found


def games() -> list[dict[str, Any]]:
    """Return the known games with our class and the one stated in the literature."""
    rows = []
    for name, known in KNOWN_GAMES.items():
        found = analyse(known.make())
        rows.append(
            {"name": name, "class": found.class_, "stated": known.class_, "rate": found.rate, "source": known.source}
        )
    return rows


def bounds(reading: str, rounds: int, gap: float, features: int = 5) -> dict[str, Any]:
    """Return Theorem 1's bound, corrected and as the paper has it, for problem (i)'s losses in one reading."""
    costs = read_losses(0.4, 0.05, reading)
    entry = Bounded().largest_entry
    corrected = regret_bound(costs, rounds, features, largest_entry=entry)
    paper = regret_bound(costs, rounds, features, largest_entry=entry, version="paper", gap=gap)
    return {
        "reading": reading,
        "rounds": rounds,
        "features": features,
        "gap": gap,
        "corrected": asdict(corrected),
        "paper": asdict(paper),
    }


def assumptions(name: str, size: Size, key: Key) -> dict[str, Any]:
    """Check Assumptions 1 to 3 and the information ratio on one of the paper's problems."""
    tables = [problem(name).draw(key.at("replication", r, "problem")) for r in range(size.runs)]
    costs, d = tables[0].costs, tables[0].n_features
    acts = [
        play(policy("pg-ts", n_features=d, costs=costs, seed=int(key.at("gaps", r).word())), table).act
        for r, table in enumerate(tables)
    ]
    thetas = np.vstack([key.at("thetas").generator().standard_normal((500, d)), np.zeros((1, d))])
    watched = problem(name, rounds=size.watched).draw(key.at("watched"))
    ratios = watch(watched, key.at("watch"), prior=Gaussian())
    values = np.array([found.ratio for found in ratios])
    return {
        "problem": name,
        "gaps": asdict(informative_gaps(acts)),
        "shares": asdict(boundary_shares(tables[0].items, thetas, costs, tables[0].theta)),
        "ratio": {
            "mean": float(values.mean()),
            "largest": float(values.max()),
            "limit": ratio_limit(costs),
            "within": all(found.ratio <= found.limit * (1 + 1e-9) for found in ratios),
            "mean_chance": float(np.mean([found.chance for found in ratios])),
        },
    }


def growth(size: Size, seed: int, jobs: int) -> dict[str, Any]:
    """Measure the growth of PG-TS's Bayesian regret in the setting of Theorem 1, beside the bound."""
    d, rounds = 4, size.horizons[-1] // 4
    over_rounds, over_features = measure(
        "pg-ts",
        horizons=size.horizons,
        dimensions=size.dimensions,
        features=d,
        rounds=rounds,
        replications=size.replications,
        seed=seed,
        jobs=jobs,
    )
    costs, entry = Bounded().costs, Bounded().largest_entry
    limits = {
        "rounds": [regret_bound(costs, t, d, largest_entry=entry).regret for t in size.horizons],
        "features": [regret_bound(costs, rounds, j, largest_entry=entry).regret for j in size.dimensions],
    }
    found: dict[str, Any] = {}
    for name, measured, fixed in (("rounds", over_rounds, d), ("features", over_features, rounds)):
        slope = np.polyfit(np.log(measured.sizes), np.log(limits[name]), 1)[0]
        found[name] = asdict(measured) | {"at": fixed, "bound": limits[name], "bound_exponent": float(slope)}
    return found


def convergence(features: int, sweeps: int, size: Size, key: Key, jobs: int) -> list[dict[str, Any]]:
    """Return distances from the exact posterior as rounds go by, averaged over histories of PG-TS.

    Items are spread out ten times more than in problem (i), so that a sweep forgets little and there is something to
    see: in problem (i) itself a single sweep a round cannot be told from the exact posterior.
    """
    tasks = [History(features, sweeps, size, key.at("history", h)) for h in range(size.histories)]
    with engine("local", jobs=jobs) as workers:
        played = dict(workers.run(History.follow, tasks))
    histories = [played[index] for index in range(len(tasks))]
    rows = []
    for k, t in enumerate(size.rounds):
        row: dict[str, Any] = {"features": features, "sweeps": sweeps, "round": t}
        for name in ("labels", "total_variation", "hellinger", "divergence", "noise", "step", "contraction"):
            row[name] = float(np.mean([history[k][name] for history in histories]))
        rows.append(row)
    return rows


@dataclass(frozen=True)
class History:
    """One history of PG-TS: the task that engines run."""

    features: int
    sweeps: int
    size: Size
    key: Key

    def follow(self) -> list[dict[str, float]]:
        """Follow the chains along it; depends on nothing but its settings."""
        features, rounds, key = self.features, self.size.rounds, self.key
        table = problem("synthetic", features=features, rounds=rounds[-1], context_variance=100.0).draw(key)
        seed = int(key.at("policy").word())
        acts = play(policy("pg-ts", n_features=features, costs=table.costs, seed=seed), table).act
        found = follow(table, acts, rounds, key.at("chains"), sweeps=self.sweeps, chains=self.size.chains)
        assert table.theta is not None
        return [
            asdict(row) | {"contraction": contraction(table.items[: row.round][acts[: row.round]], table.theta)}
            for row in found
        ]
