"""Rows for other programs: a CSV file, or JSON Lines where the name says so, written whole or not at all."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .._files import json_text, write_aside
from ..errors import InputError


def check_rows_path(path: Path | None, *taken: str | Path) -> None:
    """Refuse, before any work, a name that rows cannot be written to: of another kind, or of a file that is read."""
    if path is None:
        return
    if path.suffix not in (".csv", ".jsonl"):
        raise InputError(f"--out is a file named .csv or .jsonl, got {str(path)!r}")
    if path.is_dir() or not path.parent.is_dir():
        raise InputError(
            f"--out {path}: {'that is a folder' if path.is_dir() else f'there is no folder {path.parent}'}"
        )
    for other in taken:
        if path.exists() and Path(other).exists() and path.samefile(other):
            raise InputError(f"--out {path} would write over {other}, which this command reads: give another name")


def write_rows(path: Path, names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows with these fields; in CSV a list is joined by semicolons, and yes and no stand for true and false."""
    text = io.StringIO(newline="")
    if path.suffix == ".jsonl":
        text.writelines(json_text({name: row[name] for name in names}, None) + "\n" for row in rows)
    else:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([_cell(row[name]) for name in names] for row in rows)
    write_aside(path, text.getvalue().encode())


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return "; ".join(map(str, value))
    if isinstance(value, float):
        return "" if value != value else f"{value:.6g}"
    return "" if value is None else value


def counted(number: int, what: str) -> str:
    """Return how many there are of something.

    Examples
    --------
    >>> counted(1, "label"), counted(1200, "item")
    ('1 label', '1,200 items')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"
