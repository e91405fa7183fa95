"""Can learning pay in a game? Observability, the class of the game, and its minimax rate.

A pair of neighbours is *locally* observable if l_a - l_b is a combination of the signals of the actions in its
neighbourhood, *globally* if of all signals. No neighbours: trivial, regret 0. All pairs local: easy, T^1/2. All global:
hard, T^2/3. Else hopeless, T (Bartok, Pal & Szepesvari 2011; Bartok et al. 2014; for games with degenerate and
duplicate actions Lattimore & Szepesvari 2019).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._files import for_json
from .cells import DEGENERATE, Cells, decompose
from .game import Floats, Game

#: The minimax regret of each class, as a power of the number of rounds, logarithms aside.
RATES = {"trivial": "1", "easy": "T^1/2", "hard": "T^2/3", "hopeless": "T"}


@dataclass(frozen=True)
class Pair:
    """Two neighbouring actions, and how their loss difference can be observed."""

    first: int
    second: int
    neighbourhood: tuple[int, ...]
    local: bool
    observable: bool  #: globally
    #: v_c for every action c that helps, one entry per symbol: l_first - l_second = sum_c S_c' v_c, of least norm;
    #: from the neighbourhood where that is enough, else from all actions; None where nothing is.
    observers: dict[int, Floats] | None
    residual: float  #: the largest error of that reconstruction


@dataclass(frozen=True)
class Analysis:
    """A game with its cells, its neighbours and its class."""

    game: Game
    cells: Cells
    pairs: tuple[Pair, ...]

    @property
    def class_(self) -> str:
        """The class: trivial, easy, hard or hopeless."""
        if not self.pairs:
            return "trivial"
        if all(pair.local for pair in self.pairs):
            return "easy"
        return "hard" if all(pair.observable for pair in self.pairs) else "hopeless"

    @property
    def rate(self) -> str:
        """The order of the minimax regret over T rounds, logarithms aside."""
        return RATES[self.class_]

    @property
    def informative(self) -> tuple[int, ...]:
        """The actions whose feedback tells some outcomes apart."""
        return tuple(a for a in range(len(self.game.losses)) if len(self.game.symbols(a)) > 1)

    def as_dict(self) -> dict[str, Any]:
        """Return everything known about the game for JSON; actions are named as in the game.

        Examples
        --------
        >>> found = analyse(Game([[0, 1], [1, 0]], [["-", "-"], ["-", "-"]], ["heads", "tails"])).as_dict()
        >>> found["class"], found["rate"], found["neighbours"][0]["observability"]
        ('hopeless', 'T', 'none')
        """
        names, reduced = self.game.actions, without_extras(self.game)
        found = {
            "name": self.game.name,
            "class": self.class_,
            "rate": self.rate,
            "in_words": explain(self),
            "class_without_degenerate_and_duplicate_actions": analyse(reduced).class_ if reduced else self.class_,
            "actions": [self._action(a) for a in range(len(names))],
            "neighbours": [
                {
                    "actions": [names[pair.first], names[pair.second]],
                    "neighbourhood": [names[c] for c in pair.neighbourhood],
                    "observability": "local" if pair.local else "global" if pair.observable else "none",
                }
                for pair in self.pairs
            ],
            "observer_vectors": [
                {
                    "actions": [names[pair.first], names[pair.second]],
                    "vectors": {
                        names[c]: [
                            {"symbol": symbol, "weight": weight}
                            for symbol, weight in zip(self.game.symbols(c), v, strict=True)
                        ]
                        for c, v in pair.observers.items()
                    },
                    "largest_error": pair.residual,
                }
                for pair in self.pairs
                if pair.observers is not None
            ],
        }
        return {name: for_json(part) for name, part in found.items()}

    def _action(self, a: int) -> dict[str, Any]:
        game, cells = self.game, self.cells
        witness = cells.witnesses[a]
        return {
            "name": game.actions[a],
            "kind": cells.kinds[a],
            "duplicates": [game.actions[b] for b in cells.copies[a]],
            "best_at": None if witness is None else dict(zip(game.outcomes, witness, strict=True)),
            "symbols": game.symbols(a),
            "informative": a in self.informative,
        }


def analyse(game: Game) -> Analysis:
    """Return the cells, the neighbours, their observability and the class of a game.

    Examples
    --------
    >>> tasting = Game([[0, 1], [1, 0]], [["-", "-"], ["good", "bad"]], ["pass", "act"])
    >>> found = analyse(tasting)
    >>> found.class_, found.rate
    ('easy', 'T^1/2')
    >>> {a: v.round(3).tolist() for a, v in found.pairs[0].observers.items()}
    {0: [0.0], 1: [-1.0, 1.0]}
    """
    cells = decompose(game)
    everyone = tuple(range(len(game.losses)))
    pairs = []
    for (a, b), neighbourhood in zip(cells.neighbours, cells.neighbourhoods, strict=True):
        difference = game.losses[a] - game.losses[b]
        near, near_error = observe(game, neighbourhood, difference)
        far, far_error = (near, near_error) if near is not None else observe(game, everyone, difference)
        pairs.append(Pair(a, b, neighbourhood, near is not None, far is not None, far, far_error))
    return Analysis(game, cells, tuple(pairs))


def observe(game: Game, actions: tuple[int, ...], difference: Floats) -> tuple[dict[int, Floats] | None, float]:
    """Return the shortest v with sum_a S_a' v_a = difference and its error; None if there is none.

    v = (S_1' ... S_k')^+ (l_a - l_b), the choice of Bartok & Szepesvari (2012).
    """
    signals = [game.signals(a) for a in actions]
    stacked = np.vstack(signals)
    v = np.linalg.pinv(stacked.T) @ difference
    error = float(np.abs(stacked.T @ v - difference).max())
    if error > 1e-8 * float(np.abs(difference).max()):
        return None, error
    parts = np.split(v, np.cumsum([len(rows) for rows in signals])[:-1])
    return dict(zip(actions, parts, strict=True)), error


def without_extras(game: Game) -> Game | None:
    """Return the game without its degenerate actions and its second copies; None if there are no such actions.

    The older classification assumes such games. Leaving the actions out can make a game harder, never easier: they
    cost nothing against their neighbours and may show something.
    """
    cells = decompose(game)
    kept = [a for a, kind in enumerate(cells.kinds) if kind != DEGENERATE and not any(b < a for b in cells.copies[a])]
    if len(kept) == len(cells.kinds):
        return None
    rows = [(game.loss[a], game.feedback[a], game.actions[a]) for a in kept]
    loss, feedback, actions = (list(part) for part in zip(*rows, strict=True))
    return Game(loss, feedback, actions, game.outcomes, f"{game.name}, reduced")


def explain(found: Analysis) -> list[str]:
    """Return a few sentences for whoever has to play the game."""
    names = found.game.actions
    shows = [names[a] for a in found.informative]
    if found.class_ == "trivial":
        best = [names[a] for a, kind in enumerate(found.cells.kinds) if kind == "pareto-optimal"]
        return [
            f"There is nothing to learn: '{best[0]}' is never worse than any other action, whatever happens.",
            "Play it every time.",
        ]
    blind = [pair for pair in found.pairs if not pair.observable]
    if blind:
        a, b = names[blind[0].first], names[blind[0].second]
        return [
            f"Learning can never pay here: nothing you can do shows whether '{a}' or '{b}' is better.",
            "Regret grows in proportion to the number of rounds, whatever you do. Change what is observed, "
            f"so that some action tells the outcomes that separate '{a}' from '{b}' apart.",
        ]
    far = [pair for pair in found.pairs if not pair.local]
    if far:
        a, b = names[far[0].first], names[far[0].second]
        near = set(far[0].neighbourhood)
        looks = [names[c] for c, v in (far[0].observers or {}).items() if c not in near and np.abs(v).max() > 1e-9]
        return [
            f"Learning pays, slowly: the choice between '{a}' and '{b}' cannot be learnt by playing either of them.",
            f"You must now and then play {_either(looks)} just to look, although it is not the best action there; "
            "about T^2/3 of T rounds is right, and regret per round falls as T^-1/3.",
        ]
    blind_actions = [name for name in names if name not in shows]
    sentences = [
        "Learning pays: what you need to see is shown by actions that are as good as the best where it matters.",
        f"Look at what {_either(shows)} shows; regret per round falls as T^-1/2.",
    ]
    if blind_actions:
        sentences.append(
            f"Playing {_either(blind_actions)} shows nothing: whoever settles on it too early never finds out."
        )
    return sentences


def _either(names: list[str]) -> str:
    quoted = [f"'{name}'" for name in names]
    return quoted[0] if len(quoted) == 1 else ", ".join(quoted[:-1]) + " or " + quoted[-1]
