"""Files that are whole or not there: written aside and renamed; JSON; archives of arrays; a folder for each run."""

from __future__ import annotations

import json
import math
import os
import stat
import sys
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from os import PathLike
from pathlib import Path
from typing import IO, Any, Protocol, runtime_checkable

import numpy as np

from .errors import AppleTasteError, DataError, InputError, Message, Remedy, SaveFileError

if sys.platform == "win32":
    import msvcrt

    def take_lock(file: int) -> None:
        """Lock an open file, or raise OSError at once; the machine lets go of it when this process ends."""
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def take_lock(file: int) -> None:
        """Lock an open file, or raise OSError at once; the machine lets go of it when this process ends."""
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def real_path(path: str | PathLike[str]) -> Path:
    """Return the file that a name leads to, by whatever links."""
    return Path(os.path.realpath(path))


def lock_beside(path: str | PathLike[str]) -> int | None:
    """Hold the lock of a file, whatever name it is called by; return what to close then. None: somebody else holds it.

    The lock is a file of its own. It stays: a lock that is deleted may be held twice.
    """
    real = real_path(path)
    lock = os.open(real.with_name(f".{real.name}.lock"), os.O_RDWR | os.O_CREAT, PRIVATE)
    try:
        take_lock(lock)
    except OSError:
        os.close(lock)
        return None
    return lock


def make_private(path: Path) -> None:
    """Make an empty file that its owner alone may read, whatever the umask; one that is there is refused."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE))


#: The mode of files that hold a seed, features or tokens.
PRIVATE = 0o600
#: What made a run; written last, so it says that the run is whole.
MANIFEST = "manifest.json"
#: How a file of SQLite begins.
SQLITE = b"SQLite format 3\0"
#: What a broken zip file, or settings that cannot be, raise beyond the ordinary.
DAMAGE = (zipfile.BadZipFile, zlib.error, AppleTasteError)


@contextmanager
def written_aside(path: str | PathLike[str], private: bool = False) -> Iterator[Path]:
    """Give a name to write to; after the block it is on disk and renamed, so that no reader ever sees half a file.

    Where the block fails, what stood there before still stands, and nothing is left beside it. A ``private`` file is
    for its owner alone from its first byte on; one that is written over keeps its mode.

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
    if target.is_symlink():
        target = real_path(target)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {target.parent} to write {target.name} in")
    aside = _aside(target)
    try:
        if private:
            aside.unlink(missing_ok=True)
            make_private(aside)
            if target.exists():
                aside.chmod(stat.S_IMODE(target.stat().st_mode))
        yield aside
        with aside.open("rb+") as file:
            os.fsync(file.fileno())
        aside.replace(target)
    except BaseException as error:
        aside.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno and error.filename in (None, str(aside)):
            error.filename = str(target)  # a full disk says no name by itself
        raise


def _aside(target: Path) -> Path:
    return target.with_name(f".{target.stem}.{os.getpid()}.part{target.suffix}")


def check_writable(target: Path) -> None:
    """Refuse a name that ``written_aside`` could not write: before the work, not after it."""
    if target.is_dir():
        raise InputError(f"{target} is a folder: name a file")
    try:
        _aside(target).touch()
        _aside(target).unlink()
    except OSError as error:
        error.filename = str(target)
        raise


def check_no_store(path: str | PathLike[str], what: str) -> None:
    """Refuse a store of streams where something else is wanted, and say which commands read one."""
    source = Path(path)
    if source.is_file():
        with source.open("rb") as file:
            if file.read(len(SQLITE)) == SQLITE:
                raise DataError(
                    f"{source} is a store of streams, a SQLite file, and no {what}. at.Stream.open({str(source)!r}, "
                    f"name) opens a stream of it; 'appletaste stream export {source} --stream NAME --out log.parquet' "
                    "writes its decision log"
                )


def write_aside(path: Path, content: bytes) -> None:
    """Write a file under another name and rename it: a reader sees all of it or none."""
    with written_aside(path) as aside:
        aside.write_bytes(content)


@runtime_checkable
class Telling(Protocol):
    """A result that says itself what JSON holds of it."""

    def as_dict(self) -> dict[str, Any]:
        """Return the result as a dictionary."""


def for_json(value: Any) -> Any:
    """Return a value as JSON holds it: results by ``as_dict()``, records and arrays plain, NaN and infinity as None.

    Examples
    --------
    >>> for_json({"mean": np.float64(0.5), "se": float("nan"), 3: np.arange(2)})
    {'mean': 0.5, 'se': None, '3': [0, 1]}
    """
    if isinstance(value, Telling):
        return for_json(value.as_dict())
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: for_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):  # a named tuple
        return for_json(value._asdict())
    if isinstance(value, Mapping):
        return {str(key): for_json(part) for key, part in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return for_json(value.tolist())
    if isinstance(value, list | tuple):
        return [for_json(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def json_text(value: Any, indent: int | None = 2) -> str:
    """Return a value as JSON that every reader takes."""
    return json.dumps(for_json(value), indent=indent, allow_nan=False)


def write_json(path: Path, value: Any, indent: int | None = 2) -> None:
    """Write a value as a JSON file, aside and renamed."""
    write_aside(path, f"{json_text(value, indent)}\n".encode())


def check_folder(folder: Path, sign: str) -> None:
    """Refuse a folder that cannot take a run, or that holds anything but an earlier one with the same sign."""
    if folder.exists() and not folder.is_dir():
        told = f"{folder} is a file, and a folder is written: name a new folder with "
        raise InputError(Message(told, Remedy("folder")))
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()) and not ((folder / MANIFEST).exists() and (folder / sign).exists()):
        told = f"{folder} holds other files; name a new folder, or one of the same kind of run, with "
        raise InputError(Message(told, Remedy("folder")))
    check_writable(folder / MANIFEST)


def json_objects(text: IO[str], path: Path, before: int = 0) -> Iterator[tuple[int, dict[str, Any]]]:
    """Give each JSON object of a file with its line, or say which line is none; blank lines are left out.

    ``before`` is how many lines of the file come before the text.
    """
    for number, line in enumerate(text, before + 1):
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
    with written_aside(path, private=True) as aside, aside.open("wb") as file:
        np.savez(file, **arrays)


def fingerprint(path: str | PathLike[str]) -> str | None:
    """Return what tells an archive from another one: the checksums of its members; None: there is no such file.

    Only the table of contents is read.
    """
    try:
        with zipfile.ZipFile(path) as file:
            return " ".join(f"{member.filename}:{member.CRC:08x}:{member.file_size}" for member in file.infolist())
    except (OSError, zipfile.BadZipFile):
        return None


@contextmanager
def open_archive(
    path: str | PathLike[str], what: str
) -> Iterator[tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]]:
    """Give the header and the arrays of a file; whatever they break within the block is said to be the file's fault.

    The header says what the file holds (``kind``) and in which ``format``.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_archive(f"{folder}/saved", {"format": 1, "name": "a"}, {"numbers": np.arange(3)})
    ...     with open_archive(f"{folder}/saved", "example") as (header, state):
    ...         print(header["name"], state["numbers"])
    a [0 1 2]
    """
    check_no_store(path, what)
    try:
        with Path(path).open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            header = json.loads(file["header"].tobytes())
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
        told = "the file holds no NumPy arrays" if "pickle" in str(error) else error
        raise SaveFileError(f"{path} is not a readable appletaste {what}, or is damaged: {told}") from error
