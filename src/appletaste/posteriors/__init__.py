"""What is believed about theta, asked through the score of one item."""

from .adf import Adf
from .belief import Arrays, Belief, Certificate, Doubt, Outlook, Posterior, Score, Vector, link_of
from .exact import Exact
from .gibbs import Gibbs
from .laplace import Laplace
from .laplace_belief import LaplaceBelief
from .map import Map
from .polya_gamma import random_polyagamma
from .prior import Ball, Box, Gaussian
from .scores import DrawnScore, NormalScore, NormalScores
from .wide import WideBelief

__all__ = [
    "Adf",
    "Arrays",
    "Ball",
    "Belief",
    "Box",
    "Certificate",
    "Doubt",
    "DrawnScore",
    "Exact",
    "Gaussian",
    "Gibbs",
    "Laplace",
    "LaplaceBelief",
    "Map",
    "NormalScore",
    "NormalScores",
    "Outlook",
    "Posterior",
    "Score",
    "Vector",
    "WideBelief",
    "link_of",
    "random_polyagamma",
]
