"""The record of a stream of decisions: its table, its files, and the same in the words of other libraries."""

from .decision_log import DecisionLog

__all__ = ["DecisionLog"]
