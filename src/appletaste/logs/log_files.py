"""The decision log on disk and as a data frame: Parquet, JSON Lines, pandas, polars or Arrow, column by column.

A log of any length is parts that are read one by one: row groups of Parquet files, blocks of lines of JSON Lines files.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .._files import check_no_store, check_writable, json_objects, written_aside
from ..errors import DataError, MissingExtraError
from ..records.events import UNKNOWN
from .fields import NAN_IS_NOTHING, writable
from .log_columns import FIELDS, READABLE, READS, SCHEMA_VERSION, transposed

Columns = Mapping[str, NDArray[Any]]
METADATA = b"appletaste.decision_log.schema_version"
NAMES = b"appletaste.decision_log.features"  # what the numbers in x are called, as JSON; in JSON Lines, ``features``
FEW = ("state", "policy", "stratum")  # columns of few texts
GROUP = 2**17  # rows of a row group of Parquet: what is read at a time
BATCH = 2**16  # rows of a row group that are made into arrays at a time, where a group has more
CHUNK = 10_000  # rows that JSON Lines are written in: as quick as all at once, without a Python object for every cell


def write_log(columns: Columns, path: str | PathLike[str], names: Sequence[str] | None = None) -> None:
    """Write the columns of a log to a file whose suffix says how, with what the features are called."""
    target = Path(path)
    writer = check_log_path(target)
    with written_aside(target, private=True) as aside:
        writer(columns, names, aside)


def check_log_path(target: Path) -> Callable[[Columns, Sequence[str] | None, Path], None]:
    """Return what writes a file of this name, or say why it cannot be written: before the work, not after it."""
    writer = _WRITERS.get(target.suffix)
    if writer is None:
        raise DataError(f"a decision log is written as .parquet or .jsonl, got {target.name!r}")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {target.parent} to write {target.name} in")
    check_writable(target)
    if target.suffix == ".parquet":
        _arrow()
    return writer


def read_columns(path: str | PathLike[str]) -> dict[str, Any]:
    """Return the columns of a file as they are, not yet checked."""
    source = Path(path)
    reader = READERS.get(source.suffix)
    if reader is None:
        check_no_store(source, "decision log")
        raise DataError(f"a decision log is a .parquet or .jsonl file, got {source.name!r}")
    if not source.exists():
        raise FileNotFoundError(f"there is no file {source}")
    return reader(source)


def plain(columns: Columns) -> dict[str, list[Any]]:
    """Return columns as lists of plain values, with None for what is not known."""
    found: dict[str, list[Any]] = {}
    for name, values in columns.items():
        found[name] = values.tolist()
        absent = _absent(name, values)
        if absent is not None and absent.any():
            found[name] = [None if gone else value for gone, value in zip(absent.tolist(), found[name], strict=True)]
    return found


def _absent(name: str, values: NDArray[Any]) -> NDArray[np.bool_] | None:
    """Return where nothing is known; None for a column that is always known."""
    if name in ("label", "truth", "report"):
        return np.asarray(values == UNKNOWN)
    if name not in NAN_IS_NOTHING:
        return None
    return np.asarray(values == "") if values.dtype.kind == "U" else np.isnan(values)


def _write_json_lines(columns: Columns, features: Sequence[str] | None, path: Path) -> None:
    encode = json.JSONEncoder(allow_nan=False).encode
    with path.open("w", encoding="utf-8") as file:
        for start in range(0, len(columns["id"]), CHUNK):
            chunk = plain({name: values[start : start + CHUNK] for name, values in columns.items()})
            if "why" in chunk:
                chunk["why"] = [writable(why) for why in chunk["why"]]
            names = ("schema_version", *chunk)
            for k, row in enumerate(zip(*chunk.values(), strict=True), start):
                line = dict(zip(names, (SCHEMA_VERSION, *row), strict=True))
                if features is not None and not k:  # in the first line alone
                    line["features"] = list(features)
                file.write(encode(line) + "\n")


def _read_json_lines(path: Path) -> dict[str, Any]:
    with path.open(encoding="utf-8") as file:
        return dict(transposed(_nameless(row) for _, row in json_objects(file, path)))


def _nameless(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row without what the features are called, which ``names_in`` reads."""
    row.pop("features", None)
    return row


def names_in(path: str | PathLike[str]) -> tuple[str, ...] | None:
    """Return what the features are called, if all files of a log say so and say the same."""
    found = {_names_of(file) for file in files_of(path)}
    return found.pop() if len(found) == 1 else None


def _names_of(path: Path) -> tuple[str, ...] | None:
    if path.suffix == ".parquet":
        arrow = _arrow()
        with _whole(arrow, path), arrow.parquet.ParquetFile(path) as file:
            told = (file.schema_arrow.metadata or {}).get(NAMES)
        names = None if told is None else json.loads(told)
    else:
        with path.open(encoding="utf-8") as file:
            names = next((row.get("features") for _, row in json_objects(file, path)), None)
    if names is not None and not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
        raise DataError(f"{path}: features is a list of texts, one name for each number in x, got {names!r}")
    return None if names is None else tuple(names)


def _arrow() -> Any:
    try:
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("a decision log in Parquet", "parquet") from None
    return pyarrow


def _write_parquet(columns: Columns, features: Sequence[str] | None, path: Path) -> None:
    arrow = _arrow()
    table = arrow.table({name: _to_arrow(arrow, name, values) for name, values in columns.items()})
    named = {} if features is None else {NAMES: json.dumps(list(features)).encode()}
    marked = table.replace_schema_metadata({METADATA: str(SCHEMA_VERSION).encode(), **named})
    arrow.parquet.write_table(marked, path, row_group_size=GROUP)


def _text(why: Mapping[str, float]) -> str:
    """Return reasons as JSON: what ``json.dumps`` writes, in a third of its time."""
    if not all(map(math.isfinite, why.values())):
        return json.dumps(writable(why), allow_nan=False)
    return "{" + ", ".join([f"{_quoted(name)}: {float(number)!r}" for name, number in why.items()]) + "}"


_quoted = cache(json.dumps)  # the names are few


def _to_arrow(arrow: Any, name: str, values: NDArray[Any]) -> Any:
    """Return a column for Arrow: x as a list of fixed length in every row, ``why`` as JSON text."""
    if name == "why":
        return arrow.array([_text(why) for why in values], type=arrow.string())
    if name == "x" and values.shape[1]:
        return arrow.FixedSizeListArray.from_arrays(arrow.array(values.ravel()), values.shape[1])
    if name == "x":  # no features at all, which a fixed length of 0 cannot say how often
        return arrow.array([[]] * len(values), type=arrow.list_(arrow.float64()))
    return arrow.array(values, mask=_absent(name, values))


def _read_parquet(path: Path) -> dict[str, Any]:
    arrow = _arrow()
    with _whole(arrow, path):
        table = arrow.parquet.read_table(path)
    _check_version(path, table.schema)
    columns = dict(zip(table.column_names, table.columns, strict=True))
    del table  # so that every column is given up as soon as there is an array of it
    return {name: _from_arrow(arrow, name, columns.pop(name)) for name in tuple(columns)}


@contextmanager
def _whole(arrow: Any, path: Path) -> Iterator[None]:
    """Say of a file that cannot be read that it is not whole."""
    try:
        yield
    except FileNotFoundError:
        raise
    except (arrow.ArrowException, OSError) as error:
        raise DataError(f"{path}: not a whole Parquet file ({error}); write it again") from None


def _check_version(path: Path, schema: Any) -> None:
    version = (schema.metadata or {}).get(METADATA)
    if version is not None and version not in {str(known).encode() for known in READABLE}:
        raise DataError(f"{path}: schema_version is {version.decode()}; {READS}")


def parquet_groups(path: Path) -> list[int]:
    """Return how many rows each row group of a file has; what is wrong with its fields is said here."""
    arrow = _arrow()
    with _whole(arrow, path), arrow.parquet.ParquetFile(path) as file:
        _check_version(path, file.schema_arrow)
        for name in file.schema_arrow.names:
            if name not in FIELDS and name != "schema_version":
                raise DataError(f"{path}: there is no field {name!r}; fields: {', '.join(FIELDS)}")
        return [file.metadata.row_group(k).num_rows for k in range(file.num_row_groups)]


def parquet_batches(
    path: Path, group: int, first: int, names: Sequence[str]
) -> Iterator[tuple[int, int, dict[str, Any], set[str]]]:
    """Give the columns of a row group, some rows at a time, between how many rows are before and all fields it has."""
    arrow = _arrow()
    with _whole(arrow, path), arrow.parquet.ParquetFile(path) as file:
        wanted = [name for name in ("schema_version", *names) if name in file.schema_arrow.names]
        fields = _fields(file.metadata.row_group(group), file.schema_arrow.names)
        for batch in file.iter_batches(BATCH, row_groups=[group], columns=wanted, use_threads=False):
            table = arrow.Table.from_batches([batch])
            columns = {name: _from_arrow(arrow, name, table.column(name)) for name in wanted}
            yield first, len(batch), columns, fields
            first += len(batch)


def _fields(group: Any, names: Sequence[str]) -> set[str]:
    """Return the fields of which a row group has any value, as far as its statistics know."""
    empty = set()
    for k in range(group.num_columns):
        column = group.column(k)
        known = column.statistics
        if known is not None and known.has_null_count and known.null_count == column.num_values:
            empty.add(column.path_in_schema.split(".")[0])
    return set(names) - empty


def _from_arrow(arrow: Any, name: str, column: Any) -> Any:
    """Return a column of Arrow as an array of its own, or as a list where an array would not say what is absent."""
    if column.null_count == len(column):
        return None
    kind = column.type.value_type if arrow.types.is_dictionary(column.type) else column.type
    if (arrow.types.is_string(kind) or arrow.types.is_large_string(kind)) and name != "why":
        return _from_texts(arrow, name, column)
    if name == "x" and not column.null_count:
        found = _from_lists(arrow, column)
        if found is not None:
            return found
    if arrow.types.is_nested(kind):
        return column.to_pylist()
    values = column.cast(kind).to_numpy()
    if column.null_count and values.dtype.kind == "f" and name not in NAN_IS_NOTHING:
        return np.where(column.is_null().to_numpy(), None, values)
    return values if values.flags.writeable else values.copy()


def _from_texts(arrow: Any, name: str, column: Any) -> NDArray[np.str_]:
    """Return texts, empty where there are none; few texts in many rows are each made once."""
    if name in FEW and not arrow.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    if not arrow.types.is_dictionary(column.type):
        column = column.fill_null("")
        found = _ascii(arrow, column.combine_chunks())
        return np.array(column.to_numpy(), dtype=np.str_) if found is None else found
    chunks = []
    for chunk in column.chunks:
        levels = np.array([*chunk.dictionary.to_pylist(), ""], dtype=np.str_)
        chunks.append(levels[chunk.indices.fill_null(len(levels) - 1).to_numpy()])
    return np.concatenate(chunks)


def _ascii(arrow: Any, texts: Any) -> NDArray[np.str_] | None:
    """Return texts of which none is much longer than the others from their bytes, in a third of the time; None: others.

    An ASCII letter is one byte for Arrow, and four for NumPy.
    """
    _, ends, letters = texts.buffers()
    if letters is None or not len(texts):
        return None
    kind = np.int64 if arrow.types.is_large_string(texts.type) else np.int32
    edges = np.frombuffer(ends, dtype=kind)[texts.offset : texts.offset + len(texts) + 1]
    codes = np.frombuffer(letters, dtype=np.uint8)[edges[0] : edges[-1]]
    lengths = np.diff(edges)
    longest = int(lengths.max())
    if not len(codes) or len(texts) * longest > 4 * len(codes) or codes.max() >= 128:
        return None
    if int(lengths.min()) == longest:
        points = codes.astype(np.uint32)
    else:
        points = np.zeros((len(texts), longest), dtype=np.uint32)
        points[np.arange(longest) < lengths[:, None]] = codes
    return points.reshape(-1).view(f"U{longest}")


def _from_lists(arrow: Any, column: Any) -> NDArray[np.float64] | None:
    """Return lists of numbers as a matrix if all are of one length."""
    lists = column.combine_chunks()
    if not hasattr(lists, "flatten") or not arrow.types.is_primitive(lists.type.value_type):
        return None
    numbers = lists.flatten()
    if numbers.null_count or not len(lists) or len(numbers) % len(lists):
        return None
    width = len(numbers) // len(lists)
    if not arrow.types.is_fixed_size_list(lists.type) and (np.diff(lists.offsets.to_numpy()) != width).any():
        return None
    return np.array(numbers.cast(arrow.float64()).to_numpy()).reshape(len(lists), width)


_WRITERS: dict[str, Callable[[Columns, Sequence[str] | None, Path], None]] = {
    ".jsonl": _write_json_lines,
    ".parquet": _write_parquet,
}
READERS: dict[str, Callable[[Path], dict[str, Any]]] = {".jsonl": _read_json_lines, ".parquet": _read_parquet}


#: pandas' two ways to say that nothing is there.
_NOTHING = ("NAType", "NaTType")


class Frame(Protocol):
    """What all data frames have."""

    @property
    def columns(self) -> Any:
        """The columns, or their names."""


def frame_columns(given: Any) -> dict[str, Any] | None:
    """Return the columns of a data frame, None or NaN where nothing is known; None: it is no data frame.

    Examples
    --------
    >>> import pandas
    >>> frame_columns(pandas.DataFrame({"act": [True, False], "label": [1.0, None], "stratum": ["card", None]}))
    {'act': array([ True, False]), 'label': array([ 1., nan]), 'stratum': ['card', None]}
    """
    if hasattr(given, "to_pydict"):  # Arrow
        return dict(given.to_pydict())
    if hasattr(given, "iloc") and hasattr(given, "columns"):  # pandas
        return {str(name): _plain(np.asarray(column)) for name, column in given.items()}
    if hasattr(given, "get_columns") and hasattr(given, "to_dict"):  # polars
        return dict(given.to_dict(as_series=False))
    return None


def _plain(column: NDArray[Any]) -> Any:
    """Return a column of objects as a list with None where pandas says NaN, NA or NaT; any other as it is."""
    if column.dtype != object:
        return column
    return [None if _is_nothing(value) else value for value in column.tolist()]


def _is_nothing(value: Any) -> bool:
    return type(value).__name__ in _NOTHING or (isinstance(value, float) and value != value)


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
        columns = transposed(_nameless(row) for _, row in json_objects(text, Path(self.path), self.lines))
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


def files_of(path: str | PathLike[str]) -> list[Path]:
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
    inside = sorted(file for file in source.iterdir() if not file.name.startswith((".", "_")))
    logs = [file for file in inside if file.suffix in READERS]
    if not logs:
        raise DataError(f"{source} holds no .parquet or .jsonl file, so there is no decision log in it")
    if len(logs) < len(inside):
        other = next(file for file in inside if file not in logs)
        raise DataError(
            f"{source} holds {other.name!r}: a folder of decision logs holds .parquet and .jsonl files alone"
        )
    return logs


def parts_of(path: str | PathLike[str]) -> list[Part]:
    """Return the parts of a log in order, by looking at how long its files are and no further."""
    return [part for file in files_of(path) for part in (_groups(file) if file.suffix == ".parquet" else _blocks(file))]


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
