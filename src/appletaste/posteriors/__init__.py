"""What is believed about theta, asked through the score of one item."""

from .base import Arrays, Belief, Outlook, Posterior, Score, Vector
from .draws import DrawnScore
from .gibbs import Gibbs
from .map import Map
from .prior import Ball, Box, Gaussian

__all__ = [
    "Arrays",
    "Ball",
    "Belief",
    "Box",
    "DrawnScore",
    "Gaussian",
    "Gibbs",
    "Map",
    "Outlook",
    "Posterior",
    "Score",
    "Vector",
]
