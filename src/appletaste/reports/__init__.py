"""The monthly report: a decision log as one page for people, with pictures, Markdown and JSON."""

from .facts import Facts, Slice, gather
from .report import write_report

__all__ = ["Facts", "Slice", "gather", "write_report"]
