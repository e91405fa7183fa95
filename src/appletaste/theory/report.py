"""What ``appletaste game`` and ``appletaste theory`` show: tables for people."""

from __future__ import annotations

from typing import Any

from ..pages.table import Table
from .studies import study

__all__ = ["game_tables", "study", "study_tables"]


def game_tables(found: dict[str, Any]) -> list[Table]:
    """Return the tables that a description of a game is printed as."""
    actions = [
        (
            row["name"],
            row["kind"],
            ", ".join(row["duplicates"]) or "-",
            "yes" if row["informative"] else "no",
            "-" if row["best_at"] is None else " ".join(f"{u:.2f}" for u in row["best_at"].values()),
        )
        for row in found["actions"]
    ]
    pairs = [
        (" / ".join(row["actions"]), row["observability"], ", ".join(row["neighbourhood"]))
        for row in found["neighbours"]
    ]
    observers = [
        (" / ".join(row["actions"]), name, ", ".join(f"{part['symbol']}: {part['weight']:.3g}" for part in parts))
        for row in found["observer_vectors"]
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


def study_tables(found: dict[str, Any]) -> list[Table]:
    """Return the tables that a study of the theory is printed as."""
    tables = [
        Table(
            "games from the literature",
            ("game", "class", "stated", "rate"),
            [(row["name"], row["class"], row["stated"], row["rate"]) for row in found["games"]],
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
                for row in found["bounds"]
            ],
        ),
    ]
    for name, symbol in (("rounds", "T"), ("features", "d")):
        part = found["growth"][name]
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
                for row in found["assumptions"]
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
                for row in found["convergence"]
            ],
        )
    )
    return tables
