"""A disk in memory that loses and tears what was not synced when the power goes, or fails at its k-th operation."""

from __future__ import annotations

import random
from itertools import count

import apsw

_names = count()
SECTOR = 512


class Cut(apsw.IOError):
    """The power is gone."""


class File:
    """What is on disk, and what was written since the last sync."""

    def __init__(self, content: bytes = b"") -> None:
        self.durable, self.seen = bytearray(content), bytearray(content)
        self.since: list[tuple[int, bytes]] = []  # offset and data; offset -1: truncated to the size in data

    def write(self, offset: int, data: bytes) -> None:
        _put(self.seen, offset, data)
        self.since.append((offset, data))

    def truncate(self, size: int) -> None:
        del self.seen[size:]
        self.since.append((-1, size.to_bytes(8, "big")))

    def sync(self) -> None:
        self.durable, self.since = bytearray(self.seen), []

    def survivor(self, chance: random.Random) -> bytes:
        """Return what is left after a power cut: of unsynced writes any, in any order, some torn."""
        left = bytearray(self.durable)
        writes = [write for write in self.since if chance.random() < 0.5]
        if chance.random() < 0.3:
            chance.shuffle(writes)
        for offset, data in writes:
            if offset < 0:
                del left[int.from_bytes(data, "big") :]
            elif chance.random() < 0.25 and len(data) > SECTOR:
                _put(left, offset, data[: SECTOR * chance.randrange(1, len(data) // SECTOR + 1)])
            else:
                _put(left, offset, data)
        return bytes(left)


def _put(content: bytearray, offset: int, data: bytes) -> None:
    if len(content) < offset:
        content.extend(bytes(offset - len(content)))
    content[offset : offset + len(data)] = data


class Handle:
    """One open file, as SQLite asks for it."""

    def __init__(self, disk: Disk, file: File) -> None:
        self._disk, self._file = disk, file

    def excepthook(self, *_):
        """Say nothing: a failure that was asked for is no news."""

    def xRead(self, amount, offset):  # noqa: N802
        self._disk.alive()
        return bytes(self._file.seen[offset : offset + amount])

    def xWrite(self, data, offset):  # noqa: N802
        self._disk.step("write")
        self._file.write(offset, bytes(data))

    def xTruncate(self, size):  # noqa: N802
        self._disk.step("write")
        self._file.truncate(size)

    def xSync(self, flags):  # noqa: N802
        self._disk.step("sync")
        self._disk.syncs += 1
        self._file.sync()

    def xFileSize(self):  # noqa: N802
        return len(self._file.seen)

    def xLock(self, level):  # noqa: N802
        pass

    def xUnlock(self, level):  # noqa: N802
        pass

    def xCheckReservedLock(self):  # noqa: N802
        return False

    def xFileControl(self, op, pointer):  # noqa: N802
        return False

    def xSectorSize(self):  # noqa: N802
        return SECTOR

    def xDeviceCharacteristics(self):  # noqa: N802
        return 0

    def xClose(self):  # noqa: N802
        pass


class Disk(apsw.VFS):
    """A file system of its own: ``fail_at`` is the write or sync that fails; with ``cut`` the power goes then."""

    def __init__(self, files: dict[str, bytes] | None = None) -> None:
        self.name = f"disk{next(_names)}"
        super().__init__(self.name, base="")
        self.files = {path: File(content) for path, content in (files or {}).items()}
        self.steps = self.syncs = 0
        self.fail_at, self.cut, self.dead = 0, False, False
        self.error = apsw.IOError

    def excepthook(self, *_):
        """Say nothing: a failure that was asked for is no news."""

    def alive(self) -> None:
        if self.dead:
            raise Cut("the power is gone")

    def step(self, what: str) -> None:
        self.alive()
        self.steps += 1
        if self.steps == self.fail_at:
            self.dead = self.cut
            raise self.error(f"{what} number {self.steps} fails")

    def content(self) -> dict[str, bytes]:
        """Return the files as they are for a process that starts now, with the power on."""
        return {path: bytes(file.seen) for path, file in self.files.items()}

    def survivors(self, chance: random.Random) -> dict[str, bytes]:
        """Return the files as a power cut leaves them."""
        return {path: file.survivor(chance) for path, file in self.files.items()}

    def xFullPathname(self, name):  # noqa: N802
        return name

    def xAccess(self, path, flags):  # noqa: N802
        return path in self.files

    def xDelete(self, path, sync):  # noqa: N802
        self.alive()
        self.files.pop(path, None)

    def xOpen(self, name, flags):  # noqa: N802
        self.alive()
        path = name.filename() if isinstance(name, apsw.URIFilename) else name or f"temporary{next(_names)}"
        flags[1] = flags[0]
        return Handle(self, self.files.setdefault(path, File()))
