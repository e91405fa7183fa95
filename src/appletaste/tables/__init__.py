"""A user's table, read: files and data frames as typed columns, each row with its line."""

from .records import Records, read_records

__all__ = ["Records", "read_records"]
