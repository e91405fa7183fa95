"""From the columns of a table to vectors: encoding them, and a name for each coefficient."""

from .encoder import Encoder
from .feature_map import FeatureMap
from .transformer import TransformerMap

__all__ = ["Encoder", "FeatureMap", "TransformerMap"]
