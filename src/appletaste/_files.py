"""Files that are whole or not there: written aside and renamed; archives of arrays; folders of one kind of run."""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np

from .errors import AppleTasteError, DataError, InputError, SaveFileError

#: What made a run; written last, so it says that the run is whole.
MANIFEST = "manifest.json"
#: What a broken zip file, or settings that cannot be, raise beyond the ordinary.
DAMAGE = (zipfile.BadZipFile, zlib.error, AppleTasteError)


@contextmanager
def written_aside(path: str | PathLike[str]) -> Iterator[Path]:
    """Give a name to write to; after the block it is on disk and renamed, so that no reader ever sees half a file.

    Where the block fails, what stood there before still stands, and nothing is left beside it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with written_aside(Path(folder, "note.txt")) as aside:
    ...         _ = aside.write_text("whole")
    ...     [path.name for path in Path(folder).iterdir()]
    ['note.txt']
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {target.parent} to write {target.name} in")
    aside = target.with_name(f".{target.stem}.{os.getpid()}.part{target.suffix}")
    try:
        yield aside
        with aside.open("rb+") as file:
            os.fsync(file.fileno())
        aside.replace(target)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise


def write_aside(path: Path, content: bytes) -> None:
    """Write a file under another name and rename it: a reader sees all of it or none."""
    with written_aside(path) as aside:
        aside.write_bytes(content)


def check_folder(folder: Path, sign: str) -> None:
    """Refuse a folder that cannot take a run, or that holds anything but an earlier one with the same sign."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()) and not ((folder / MANIFEST).exists() and (folder / sign).exists()):
        raise InputError(f"{folder} holds other files; give --out a new folder, or one of the same kind of run")


def json_objects(text: IO[str], path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Give each JSON object of a file with its line, or say which line is none; blank lines are left out."""
    for number, line in enumerate(text, 1):
        if line.strip():
            try:
                row = json.loads(line)
            except json.JSONDecodeError as error:
                raise DataError(f"{path}, line {number}: not JSON ({error}); one object a line is expected") from None
            if not isinstance(row, dict):
                raise DataError(
                    f"{path}, line {number}: expected an object with a value for each field, got {line.strip()[:80]!r}"
                )
            yield number, row


def write_archive(path: str | PathLike[str], header: Mapping[str, Any], state: Mapping[str, Any]) -> None:
    """Write a header and arrays to one zip of NumPy arrays, no pickle (docs/save-format.md)."""
    arrays: dict[str, Any] = {f"state.{name}": array for name, array in state.items()}
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with written_aside(path) as aside, aside.open("wb") as file:
        np.savez(file, **arrays)


@contextmanager
def open_archive(
    path: str | PathLike[str], what: str, format_: int | None
) -> Iterator[tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]]:
    """Give the header and the arrays of a file; whatever they break within the block is said to be the file's fault.

    ``format_`` is the one format that can be read; None leaves that to the block.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_archive(f"{folder}/saved", {"format": 1, "name": "a"}, {"numbers": np.arange(3)})
    ...     with open_archive(f"{folder}/saved", "example", 1) as (header, state):
    ...         print(header["name"], state["numbers"])
    a [0 1 2]
    """
    try:
        with Path(path).open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            header = json.loads(file["header"].tobytes())
            if format_ is not None and header["format"] != format_:
                raise SaveFileError(f"{path} has save format {header['format']}; this version reads format {format_}")
            yield (
                header,
                {name.removeprefix("state."): file[name] for name in file.files if name.startswith("state.")},
            )
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file {path} to read a {what} from") from None
    except (IsADirectoryError, PermissionError, SaveFileError):
        raise
    except (OSError, ValueError, LookupError, TypeError, AttributeError, EOFError, RuntimeError, *DAMAGE) as error:
        # NumPy takes whatever it does not know for a pickle, and advises to load that
        told = "it is no file of NumPy arrays" if "pickle" in str(error) else error
        raise SaveFileError(f"{path} is not a readable appletaste {what}, or is damaged: {told}") from error
