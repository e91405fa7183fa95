"""The studies behind ``appletaste theory``: every claim of the paper's theory beside a measurement.

And the tables that ``appletaste theory`` and ``appletaste game`` show people.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..engines import engine
from ..errors import OptionError
from ..keys import Key
from ..pages.page import Table
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


def game_tables(game: dict[str, Any]) -> list[Table]:
    """Return the tables that a description of a game is printed as."""
    actions = [
        (
            row["name"],
            row["kind"],
            ", ".join(row["duplicates"]) or "-",
            "yes" if row["informative"] else "no",
            "-" if row["best_at"] is None else " ".join(f"{u:.2f}" for u in row["best_at"].values()),
        )
        for row in game["actions"]
    ]
    pairs = [
        (" / ".join(row["actions"]), row["observability"], ", ".join(row["neighbourhood"]))
        for row in game["neighbours"]
    ]
    observers = [
        (" / ".join(row["actions"]), name, ", ".join(f"{part['symbol']}: {part['weight']:.3g}" for part in parts))
        for row in game["observer_vectors"]
        for name, parts in row["vectors"].items()
        if any(abs(part["weight"]) > 1e-9 for part in parts)
    ]
    tables = [Table("actions", ("action", "kind", "same losses as", "informative", "best at, for example"), actions)]
    if pairs:
        tables.append(Table("neighbours", ("pair", "observable", "as good on their border"), pairs))
    if observers:
        title = "what tells their losses apart: these weights, summed over what the actions show"
        tables.append(Table(title, ("pair", "play", "weight of each symbol"), observers))
    return tables


def study_tables(measured: dict[str, Any]) -> list[Table]:
    """Return the tables that a study of the theory is printed as."""
    tables = [
        Table(
            "games from the literature",
            ("game", "class", "stated", "rate"),
            [(row["name"], row["class"], row["stated"], row["rate"]) for row in measured["games"]],
        ),
        Table(
            "Theorem 1: at most this much Bayesian regret (problem (i)'s losses; |theta| <= 1, entries of x within 3)",
            ("losses", "T", "d", "bound", "epsilon", "log K", "paper's", "with C", "its order", "any policy"),
            [
                (
                    row["reading"],
                    *(f"{row[key]}" for key in ("rounds", "features")),
                    f"{row['corrected']['regret']:.0f}",
                    f"{row['corrected']['epsilon']:.2g}",
                    f"{row['corrected']['entropy']:.1f}",
                    f"{row['paper']['regret']:.0f}",
                    f"{row['gap']:.1f}",
                    f"{row['paper']['paper_order']:.0f}",
                    f"{row['corrected']['at_most']:.0f}",
                )
                for row in measured["bounds"]
            ],
        ),
    ]
    for name, symbol in (("rounds", "T"), ("features", "d")):
        part = measured["growth"][name]
        low, high = part["exponent"]["low"], part["exponent"]["high"]
        title = f"measured Bayesian regret of PG-TS grows as {symbol}^{part['exponent']['value']:.2f}"
        title += f" (95 %: {low:.2f} to {high:.2f}); the bound as {symbol}^{part['bound_exponent']:.2f}"
        rows = [
            (
                str(size),
                f"{mean:.2f}",
                f"{se:.2f}",
                f"{bound:.0f}",
                f"{mean / (size if symbol == 'T' else part['at']):.4f}",
            )
            for size, mean, se, bound in zip(part["sizes"], part["mean"], part["se"], part["bound"], strict=True)
        ]
        tables.append(Table(title, (symbol, "regret", "s.e.", "bound", "regret per round"), rows))
    tables.append(
        Table(
            "what the theorems assume, on runs of PG-TS",
            (
                "problem",
                "mean gap",
                "longest",
                "C",
                "gap ~ u^",
                "act best on >=",
                "pass best on >=",
                "mean ratio",
                "largest",
                "limit",
                "within",
            ),
            [
                (
                    row["problem"],
                    f"{row['gaps']['mean']:.2f}",
                    str(row["gaps"]["longest"]),
                    f"{row['gaps']['largest_mean']:.1f}",
                    f"{row['gaps']['growth']:.2f}",
                    f"{row['shares']['act_smallest']:.3f}",
                    f"{row['shares']['pass_smallest']:.3f}",
                    f"{row['ratio']['mean']:.4f}",
                    f"{row['ratio']['largest']:.4f}",
                    f"{row['ratio']['limit']:.3f}",
                    "yes" if row["ratio"]["within"] else "NO",
                )
                for row in measured["assumptions"]
            ],
        )
    )
    tables.append(
        Table(
            "Theorem 2: the law of theta after M sweeps a round against the exact posterior (means over histories)",
            ("d, M", "round", "total variation", "noise", "Hellinger", "KL", "one label moves it", "per sweep"),
            [
                (
                    f"{row['features']}, {row['sweeps']}",
                    str(row["round"]),
                    *(f"{row[key]:.3f}" for key in ("total_variation", "noise", "hellinger", "divergence", "step")),
                    f"{row['contraction']:.3f}",
                )
                for row in measured["convergence"]
            ],
        )
    )
    return tables
