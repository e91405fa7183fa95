"""Games from the literature with the class that is stated there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

from ..costs import Costs
from .game import Game, Symbol


@dataclass(frozen=True)
class KnownGame:
    """A game, the class that the literature gives it, and where."""

    make: Callable[[], Game]
    class_: str
    source: str


def apple_tasting(costs: Costs | None = None) -> Game:
    """Return apple tasting with costs: L = [[correct_pass, miss], [false_alarm, hit]], and only an act shows the label.

    Examples
    --------
    >>> apple_tasting(Costs(miss=1, false_alarm=0.4, hit=0.05)).loss
    ((0.0, 1.0), (0.4, 0.05))
    """
    costs = costs or Costs(miss=1.0, false_alarm=1.0, hit=0.0)
    loss = [[costs.correct_pass, costs.miss], [costs.false_alarm, costs.hit]]
    feedback = [["nothing", "nothing"], ["negative", "positive"]]
    return Game(loss, feedback, ["pass", "act"], ["negative", "positive"], "apple tasting")


def label_efficient() -> Game:
    """Return label-efficient prediction: guess a bit, or pay 1 to see it."""
    feedback = [["0", "1"], ["-", "-"], ["-", "-"]]
    return Game([[1, 1], [0, 1], [1, 0]], feedback, ["ask", "say 0", "say 1"], name="label-efficient prediction")


def matching_pennies(look: float | None = None, shown: bool = False) -> Game:
    """Return matching pennies: guess a coin that is shown or not; ``look`` is the price of seeing it instead."""
    loss, feedback = [[0.0, 1.0], [1.0, 0.0]], [["h", "t"] if shown else ["-", "-"] for _ in range(2)]
    actions = ["heads", "tails"]
    if look is not None:
        loss.append([look, look])
        feedback.append(["h", "t"])
        actions.append("look")
    return Game(loss, feedback, actions, ["h", "t"], "matching pennies")


def dynamic_pricing(prices: int = 4, unsold: float = 2.0) -> Game:
    """Return dynamic pricing: the buyer takes a price up to a secret value; one sees only whether it was taken.

    A sale loses value - price, no sale loses ``unsold``.
    """
    loss = [[float(v - p) if p <= v else unsold for v in range(prices)] for p in range(prices)]
    feedback: list[list[Symbol]] = [["sold" if p <= v else "not" for v in range(prices)] for p in range(prices)]
    return Game(loss, feedback, [f"price {p + 1}" for p in range(prices)], name="dynamic pricing")


def graph(sees: list[list[int]], name: str) -> Game:
    """Return prediction with a feedback graph: arm a shows the losses, 0 or 1, of the arms in ``sees[a]``."""
    outcomes = list(product((0, 1), repeat=len(sees)))
    loss = [[float(outcome[a]) for outcome in outcomes] for a in range(len(sees))]
    feedback: list[list[Symbol]] = [["".join(str(u[b]) for b in seen) for u in outcomes] for seen in sees]
    return Game(loss, feedback, name=name)


def bandit(arms: int = 3) -> Game:
    """Return the Bernoulli bandit: an arm shows its own loss."""
    return graph([[a] for a in range(arms)], "bandit")


def full_information(arms: int = 3) -> Game:
    """Return prediction with expert advice: every arm shows all losses."""
    return graph([list(range(arms))] * arms, "full information")


def dueling(arms: int = 3) -> Game:
    """Return utility-based dueling bandits: play two arms, lose their mean, see which of the two was better."""
    outcomes = list(product((0, 1), repeat=arms))
    pairs = [(a, b) for a in range(arms) for b in range(a, arms)]
    loss = [[1 - (u[a] + u[b]) / 2 for u in outcomes] for a, b in pairs]
    feedback: list[list[Symbol]] = [[u[a] - u[b] for u in outcomes] for a, b in pairs]
    return Game(loss, feedback, [f"{a} against {b}" for a, b in pairs], name="dueling bandits")


def trivial() -> Game:
    """Return a game with one action that is never worse than the other."""
    return Game([[0, 1, 2], [1, 1, 3]], [["-"] * 3, ["a", "b", "c"]], ["good", "bad"], name="trivial")


def one_armed() -> Game:
    """Return the one-armed bandit: walk away for nothing, or play for -1 or +1 and see."""
    return Game([[0, 0], [1, -1]], [["-", "-"], ["lost", "won"]], ["walk away", "play"], name="one-armed bandit")


def copied() -> Game:
    """Return matching pennies in which a copy of one guess shows the coin: duplicates can carry the information."""
    feedback = [["-", "-"], ["-", "-"], ["h", "t"]]
    return Game([[0, 1], [1, 0], [0, 1]], feedback, ["heads", "tails", "heads, shown"], name="copied")


BARTOK = "Bartok, Foster, Pal, Rakhlin & Szepesvari 2014"
LATTIMORE = "Lattimore & Szepesvari 2019; Bandit Algorithms, ch. 37"
ALON = "Alon, Cesa-Bianchi, Dekel & Koren 2015"

#: Every known game by its name.
KNOWN_GAMES: dict[str, KnownGame] = {
    "apple-tasting": KnownGame(apple_tasting, "easy", f"Helmbold, Littlestone & Long 2000; {BARTOK}"),
    "label-efficient": KnownGame(label_efficient, "hard", f"Cesa-Bianchi, Lugosi & Stoltz 2005; {BARTOK}"),
    "dynamic-pricing": KnownGame(dynamic_pricing, "hard", f"Kleinberg & Leighton 2003; {BARTOK}"),
    "bandit": KnownGame(bandit, "easy", f"Auer et al. 2002; {BARTOK}"),
    "full-information": KnownGame(full_information, "easy", f"Littlestone & Warmuth 1994; {BARTOK}"),
    "one-armed-bandit": KnownGame(one_armed, "easy", "Antos, Bartok, Pal & Szepesvari 2013 (two actions)"),
    "matching-pennies-shown": KnownGame(lambda: matching_pennies(shown=True), "easy", LATTIMORE),
    "matching-pennies-blind": KnownGame(matching_pennies, "hopeless", LATTIMORE),
    "spam-cheap": KnownGame(lambda: matching_pennies(look=0.3), "easy", LATTIMORE),
    "spam-fair": KnownGame(lambda: matching_pennies(look=0.5), "easy", f"{LATTIMORE} (degenerate action)"),
    "spam-dear": KnownGame(lambda: matching_pennies(look=0.7), "hard", LATTIMORE),
    "spam-free": KnownGame(lambda: matching_pennies(look=0.0), "trivial", LATTIMORE),
    "copied-action": KnownGame(copied, "easy", f"{LATTIMORE} (duplicate action)"),
    "dueling-bandits": KnownGame(dueling, "easy", "Gajane & Urvoy 2015"),
    "loopless-clique": KnownGame(lambda: graph([[1, 2], [0, 2], [0, 1]], "loopless clique"), "easy", ALON),
    "loopless-cycle": KnownGame(lambda: graph([[1], [2], [0]], "loopless cycle"), "hard", ALON),
    "unseen-arm": KnownGame(lambda: graph([[0, 1], [0, 1], []], "unseen arm"), "hopeless", ALON),
    "trivial": KnownGame(trivial, "trivial", BARTOK),
}
