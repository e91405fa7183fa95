"""The record of a stream of decisions: its table, its files, and the same in the words of other libraries."""

from .decision_log import DecisionLog
from .exports import obp_feedback, vw_dsjson, vw_text

__all__ = ["DecisionLog", "obp_feedback", "vw_dsjson", "vw_text"]
