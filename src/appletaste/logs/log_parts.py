"""A log as parts that are read one by one: row groups of Parquet files, blocks of lines of JSON Lines files."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from .._files import check_no_store, json_objects
from ..errors import DataError
from .log_columns import FIELDS, transposed
from .log_files import READERS, parquet_batches, parquet_groups

#: Bytes of JSON Lines in a part.
BLOCK = 2**24


#: How many rows of the file are before a batch, its size, its columns, and all fields of which there is anything.
Batch = tuple[int, int, dict[str, Any], set[str]]


class Part(NamedTuple):
    """Some consecutive rows of a file: a row group of Parquet, or the bytes from ``start`` to ``end``."""

    path: str
    start: int
    end: int
    first: int  #: rows of the file before these
    rows: int
    lines: int = 0  #: lines of the file before these

    def batches(self, names: Sequence[str]) -> Iterator[Batch]:
        """Give the columns of these names, some rows at a time."""
        if self.path.endswith(".parquet"):
            yield from parquet_batches(Path(self.path), self.start, self.first, names)
            return
        with Path(self.path).open("rb") as file:
            file.seek(self.start)
            text = io.StringIO(file.read(self.end - self.start).decode())
        columns = transposed(row for _, row in json_objects(text, Path(self.path), self.lines))
        for name in sorted(columns.keys() - FIELDS.keys() - {"schema_version"}):
            raise DataError(f"{self.path}: there is no field {name!r}; fields: {', '.join(FIELDS)}")
        if self.rows:
            fields = {name for name, values in columns.items() if any(value is not None for value in values)}
            yield (
                self.first,
                self.rows,
                {name: columns[name] for name in ("schema_version", *names) if name in columns},
                fields,
            )


def log_files(path: str | PathLike[str]) -> list[Path]:
    """Return the files of a log: the one, or those of a folder in the order of their names.

    Names that begin with a dot or an underscore are left out: other tools keep notes there.
    """
    source = Path(path)
    if not source.is_dir():
        if source.suffix not in READERS and (source.suffix or source.exists()):
            check_no_store(source, "decision log")
            raise DataError(f"a decision log is a .parquet or .jsonl file, or a folder of them, got {source.name!r}")
        if not source.exists():
            raise FileNotFoundError(f"there is no {'file' if source.suffix else 'file or folder'} {source}")
        return [source]
    inside = sorted(one for one in source.iterdir() if not one.name.startswith((".", "_")))
    found = [one for one in inside if one.suffix in READERS]
    if not found:
        raise DataError(f"{source} holds no .parquet or .jsonl file, so there is no decision log in it")
    if len(found) < len(inside):
        other = next(one for one in inside if one not in found)
        raise DataError(
            f"{source} holds {other.name!r}: a folder of decision logs holds .parquet and .jsonl files alone"
        )
    return found


def parts_of(path: str | PathLike[str]) -> list[Part]:
    """Return the parts of a log in order, by looking at how long its files are and no further."""
    return [
        part for file in log_files(path) for part in (_groups(file) if file.suffix == ".parquet" else _blocks(file))
    ]


def _groups(path: Path) -> Iterator[Part]:
    first = 0
    for group, rows in enumerate(parquet_groups(path)):
        yield Part(str(path), group, group + 1, first, rows)
        first += rows


def _blocks(path: Path) -> Iterator[Part]:
    start = first = lines = 0
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            block += file.readline()
            split = block.splitlines()
            rows = sum(1 for line in split if line.strip())
            yield Part(str(path), start, start + len(block), first, rows, lines)
            start, first, lines = start + len(block), first + rows, lines + len(split)
