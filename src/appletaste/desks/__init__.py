"""A live desk in one file: made from a history, it decides tables, learns labels and hands out the work."""

from ..reports.model import Model, model_of
from .creating import Created, create_desk
from .deciding import Answer, decide_many
from .labelling import Outcome, label_many
from .opening import open_desk, read_desk
from .tables import Items, Labels, read_items, read_told
from .worklist import Case, pending_work

__all__ = [
    "Answer",
    "Case",
    "Created",
    "Items",
    "Labels",
    "Model",
    "Outcome",
    "create_desk",
    "decide_many",
    "label_many",
    "model_of",
    "open_desk",
    "pending_work",
    "read_desk",
    "read_items",
    "read_told",
]
