"""The decision log on disk: Parquet and JSON Lines, with the version of its fields, written aside and renamed."""

from __future__ import annotations

import json
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

from .._files import json_objects, written_aside
from ..errors import DataError, MissingExtraError
from .columns import SCHEMA_VERSION

Rows = list[dict[str, Any]]
METADATA = b"appletaste.decision_log.schema_version"


def write_log(rows: Rows, path: str | PathLike[str]) -> None:
    """Write rows to a file whose suffix says how."""
    target = Path(path)
    writer = check_log_path(target)
    with written_aside(target) as aside:
        writer(rows, aside)


def check_log_path(target: Path) -> Callable[[Rows, Path], None]:
    """Return what writes a file of this name, or say why it cannot be written: before the work, not after it."""
    writer = _WRITERS.get(target.suffix)
    if writer is None:
        raise DataError(f"a decision log is written as .parquet or .jsonl, got {target.name!r}")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {target.parent} to write {target.name} in")
    if target.suffix == ".parquet":
        _arrow()
    return writer


def read_rows(path: str | PathLike[str]) -> Rows:
    """Return the rows of a file, or say which version it has if it is a later one."""
    source = Path(path)
    reader = _READERS.get(source.suffix)
    if reader is None:
        raise DataError(f"a decision log is a .parquet or .jsonl file, got {source.name!r}")
    if not source.exists():
        raise FileNotFoundError(f"there is no file {source}")
    return reader(source)


def _check_version(version: Any, where: str) -> None:
    if version != SCHEMA_VERSION:
        raise DataError(f"{where}: schema_version is {version!r}; this version of appletaste reads {SCHEMA_VERSION}")


def _write_json_lines(rows: Rows, path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps({"schema_version": SCHEMA_VERSION, **row}, allow_nan=False) + "\n")


def _read_json_lines(path: Path) -> Rows:
    rows: Rows = []
    with path.open(encoding="utf-8") as file:
        for number, row in json_objects(file, path):
            _check_version(row.pop("schema_version", SCHEMA_VERSION), f"{path}, line {number}")
            rows.append(row)
    return rows


def _arrow() -> Any:
    try:
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("a decision log in Parquet", "parquet") from None
    return pyarrow


def _write_parquet(rows: Rows, path: Path) -> None:
    arrow = _arrow()
    columns = {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}
    table = arrow.table(columns).replace_schema_metadata({METADATA: str(SCHEMA_VERSION).encode()})
    arrow.parquet.write_table(table, path)


def _read_parquet(path: Path) -> Rows:
    arrow = _arrow()
    try:
        table = arrow.parquet.read_table(path)
    except FileNotFoundError:
        raise
    except (arrow.ArrowException, OSError) as error:
        raise DataError(f"{path}: not a whole Parquet file ({error}); write it again") from None
    version = (table.schema.metadata or {}).get(METADATA)
    if version is not None:
        _check_version(int(version), str(path))
    rows: Rows = table.to_pylist()
    return rows


_WRITERS: dict[str, Callable[[Rows, Path], None]] = {".jsonl": _write_json_lines, ".parquet": _write_parquet}
_READERS: dict[str, Callable[[Path], Rows]] = {".jsonl": _read_json_lines, ".parquet": _read_parquet}
