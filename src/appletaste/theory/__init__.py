"""What theory says about deciding under one-sided feedback, computed and set beside what is measured."""

from ..problems.synthetic import Bounded
from .assumptions import (
    Gaps,
    Ratio,
    Shares,
    boundary_shares,
    information_ratio,
    informative_gaps,
    watch,
)
from .bound import Bound, regret_bound
from .classify import Analysis, analyse
from .convergence import Distance, GridPosterior, contraction, distances, exact_posterior, follow
from .game import Game, read_game
from .growth import Exponent, fit_exponent, measure
from .known_games import KNOWN_GAMES, KnownGame

__all__ = [
    "KNOWN_GAMES",
    "Analysis",
    "Bound",
    "Bounded",
    "Distance",
    "Exponent",
    "Game",
    "Gaps",
    "GridPosterior",
    "KnownGame",
    "Ratio",
    "Shares",
    "analyse",
    "boundary_shares",
    "contraction",
    "distances",
    "exact_posterior",
    "fit_exponent",
    "follow",
    "information_ratio",
    "informative_gaps",
    "measure",
    "read_game",
    "regret_bound",
    "watch",
]
