"""What is believed about theta, asked through the score of one item."""

from .base import Belief, Posterior, Score
from .gibbs import Gibbs
from .map import Map
from .prior import Ball, Box, Gaussian

__all__ = ["Ball", "Belief", "Box", "Gaussian", "Gibbs", "Map", "Posterior", "Score"]
