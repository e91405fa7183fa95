"""From a user's table to vectors: reading it, encoding it, and a name for each coefficient."""

from .encoder import Encoder
from .feature_map import FeatureMap
from .reading import read_records
from .records import Records
from .transformer import TransformerMap

__all__ = ["Encoder", "FeatureMap", "Records", "TransformerMap", "read_records"]
