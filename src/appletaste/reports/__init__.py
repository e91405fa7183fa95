"""The monthly report: a decision log as one page for people, with pictures, Markdown and JSON."""

from .days import ByDay, by_day
from .facts import Facts, Slice, gather
from .report import Report, write_report

__all__ = ["ByDay", "Facts", "Report", "Slice", "by_day", "gather", "write_report"]
