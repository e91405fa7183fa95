"""Saved files: one zip of NumPy arrays with a JSON header, no pickle (docs/save-format.md)."""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from .errors import AppleTasteError, SaveFileError

#: What a broken zip file, or settings that cannot be, raise beyond the ordinary.
DAMAGE = (zipfile.BadZipFile, zlib.error, AppleTasteError)


def write_archive(path: str | PathLike[str], header: Mapping[str, Any], state: Mapping[str, Any]) -> None:
    """Write a header and arrays to a file, aside first and then renamed, so that no reader ever sees half of one."""
    arrays: dict[str, Any] = {f"state.{name}": array for name, array in state.items()}
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {target.parent} to save {target.name} in")
    aside = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with aside.open("wb") as file:
            np.savez(file, **arrays)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(target)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise


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
