"""What ``appletaste game`` and ``appletaste theory`` show: plain dictionaries for machines, sheets for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from .classify import Analysis, analyse, explain, without_extras
from .game import Game
from .studies import study

__all__ = ["Sheet", "describe_game", "game_sheets", "study", "study_sheets"]


@dataclass(frozen=True)
class Sheet:
    """One table of a report; the first column is text, the others numbers."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def describe_game(game: Game) -> dict[str, Any]:
    """Return everything known about a game as plain dictionaries; actions are named as in the game.

    Examples
    --------
    >>> found = describe_game(Game([[0, 1], [1, 0]], [["-", "-"], ["-", "-"]], ["heads", "tails"]))
    >>> found["class"], found["rate"], found["neighbours"][0]["observability"]
    ('hopeless', 'T', 'none')
    """
    found = analyse(game)
    reduced = without_extras(game)
    return {
        "name": game.name,
        "class": found.class_,
        "rate": found.rate,
        "in_words": explain(found),
        "class_without_degenerate_and_duplicate_actions": analyse(reduced).class_ if reduced else found.class_,
        "actions": [_action(found, a) for a in range(len(game.losses))],
        "neighbours": [
            {
                "actions": [game.actions[pair.first], game.actions[pair.second]],
                "neighbourhood": [game.actions[c] for c in pair.neighbourhood],
                "observability": "local" if pair.local else "global" if pair.observable else "none",
            }
            for pair in found.pairs
        ],
        "observer_vectors": [
            {
                "actions": [game.actions[pair.first], game.actions[pair.second]],
                "vectors": {
                    game.actions[c]: [
                        {"symbol": symbol, "weight": float(weight)}
                        for symbol, weight in zip(game.symbols(c), v, strict=True)
                    ]
                    for c, v in pair.observers.items()
                },
                "largest_error": pair.residual,
            }
            for pair in found.pairs
            if pair.observers is not None
        ],
    }


def _action(found: Analysis, a: int) -> dict[str, Any]:
    game, cells = found.game, found.cells
    witness = cells.witnesses[a]
    return {
        "name": game.actions[a],
        "kind": cells.kinds[a],
        "duplicates": [game.actions[b] for b in cells.copies[a]],
        "best_at": None if witness is None else dict(zip(game.outcomes, map(float, witness), strict=True)),
        "symbols": game.symbols(a),
        "informative": a in found.informative,
    }


def game_sheets(found: dict[str, Any]) -> list[Sheet]:
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
    sheets = [Sheet("actions", ("action", "kind", "same losses as", "informative", "best at, for example"), actions)]
    if pairs:
        sheets.append(Sheet("neighbours", ("pair", "observable", "as good on their border"), pairs))
    if observers:
        title = "what tells their losses apart: these weights, summed over what the actions show"
        sheets.append(Sheet(title, ("pair", "play", "weight of each symbol"), observers))
    return sheets


def study_sheets(found: dict[str, Any]) -> list[Sheet]:
    """Return the tables that a study of the theory is printed as."""
    sheets = [
        Sheet(
            "games from the literature",
            ("game", "class", "stated", "rate"),
            [(row["name"], row["class"], row["stated"], row["rate"]) for row in found["games"]],
        ),
        Sheet(
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
        sheets.append(Sheet(title, (symbol, "regret", "s.e.", "bound", "regret per round"), rows))
    sheets.append(
        Sheet(
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
    sheets.append(
        Sheet(
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
    return sheets


def plain(value: Any) -> Any:
    """Return numbers and dataclasses as JSON takes them: no NumPy types; not-a-number and infinity as null."""
    if hasattr(value, "__dataclass_fields__"):
        return plain(asdict(value))
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else None
    return value.item() if isinstance(value, np.generic) else value
