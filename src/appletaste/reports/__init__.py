"""The monthly report: a decision log as one page for people, with pictures, Markdown and JSON."""

from .facts import Facts, Slice, gather
from .report import Report, write_report

__all__ = ["Facts", "Report", "Slice", "gather", "write_report"]
