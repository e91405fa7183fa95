"""A store in one file: SQLite in WAL mode with ``synchronous=FULL``, one connection that writes, a lock on the file.

A lock that one thread takes and another may give back.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from os import PathLike
from pathlib import Path
from threading import Lock, RLock, get_ident
from types import TracebackType
from typing import Any
from urllib.parse import quote

from ..._files import lock_beside, make_private, real_path
from ...errors import (
    InputError,
    InUseError,
    MissingExtraError,
    OutcomeUnknownError,
    StoppedError,
    StoreError,
)
from .memory import in_use, name_taken, no_stream, outcome_of
from .migrations import SQLITE, TABLE, Migration, still_to_run
from .sqlite_stream import SqlitePlace
from .store import NOTHING, Fill, Write


class Baton:
    """A lock; the thread that has it may take it again, or leave it to whichever thread enters next.

    Examples
    --------
    >>> from threading import Thread
    >>> baton = Baton()
    >>> baton.acquire()
    True
    >>> baton.leave()
    >>> baton.acquire(blocking=False)  # nobody has it, and it is not free
    False
    >>> def finish():
    ...     baton.enter()
    ...     baton.release()
    >>> other = Thread(target=finish)
    >>> other.start()
    >>> other.join()
    >>> with baton, baton:
    ...     print("free again")
    free again
    """

    __slots__ = ("_depth", "_lock", "_user")

    def __init__(self) -> None:
        self._lock, self._user, self._depth = Lock(), 0, 0

    def acquire(self, blocking: bool = True) -> bool:
        """Take it, or return False where another thread has it."""
        me = get_ident()
        if self._user != me:
            if not self._lock.acquire(blocking):
                return False
            self._user = me
        self._depth += 1
        return True

    def release(self) -> None:
        """Give it back, as often as it was taken."""
        self._depth -= 1
        if not self._depth:
            self._user = 0
            self._lock.release()

    def leave(self) -> None:
        """Keep it from all others until some thread enters; for one that took it once."""
        self._user = 0

    def enter(self) -> None:
        """Have what another thread has left."""
        self._user = get_ident()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


try:
    import apsw
except ImportError:
    raise MissingExtraError("a stream in a file", "stream") from None

#: SQLite versions in which a database in WAL mode can be damaged when two connections reset the log at once.
AFFECTED = ((3, 7, 0), (3, 51, 2))


def check_version(version: str) -> None:
    """Refuse a version of SQLite with the WAL-reset bug.

    Examples
    --------
    >>> check_version("3.54.1")
    """
    found = tuple(int(part) for part in version.split(".")[:3])
    if AFFECTED[0] <= found <= AFFECTED[1]:
        raise StoreError(
            f"SQLite {version} can damage a file that is written while it is copied (the WAL-reset bug, fixed in "
            "3.51.3): install the wheel of apsw, which brings its own SQLite: pip install --upgrade apsw"
        )


class SqliteStore:
    """Streams in one file.

    ``vfs`` names a file system of apsw, for tests that cut the power; ``read_only`` looks while another process writes.
    Without ``create`` a file that is not there is refused.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = SqliteStore(f"{folder}/shop.db")
    ...     place = store.create("orders", b"secret")
    ...     print(store.names(), place.head().seq)
    ...     store.close()
    ['orders'] 0
    """

    #: What a commit waits for: FULL is the disk.
    SYNCHRONOUS = "FULL"
    MIGRATIONS: tuple[Migration, ...] = SQLITE

    def __init__(
        self, path: str | PathLike[str], *, read_only: bool = False, create: bool = True, vfs: str | None = None
    ) -> None:
        check_version(apsw.sqlite_lib_version())
        self.address, self.read_only, self._vfs = os.fspath(path), read_only, vfs
        self.opens_with = self.address
        self._path = real_path(self.address)
        if self._path.is_dir() or not self._path.parent.is_dir():
            raise InputError(f"{self.address} cannot be a store: give the name of a file in a folder that is there")
        if (read_only or not create) and not self._path.exists():
            raise StoreError(
                f"there is no store {self.address}: look at the name of the file. 'appletaste stream create' and "
                "at.Stream.create make a store with the first stream in it, 'appletaste keys create' with the first key"
            )
        self.lock, self._looking = Baton(), RLock()
        self.broken = False
        self.places: dict[str, SqlitePlace] = {}
        self._guard: int | None = None if read_only else self._hold()
        try:
            if not read_only:
                self._own_file()
            self.connection = self._connect()
            if not read_only:
                self._migrate()
            #: A second connection, so that looking a decision up does not wait for a commit.
            self._second = self.connection if read_only or vfs else self._connect(looks=True)
        except (apsw.Error, UnicodeDecodeError) as error:
            self._let_go()
            raise StoreError(f"{self.address} cannot be opened as a store: {error}") from error
        except BaseException:
            self._let_go()
            raise

    def _hold(self) -> int:
        """Lock the file by one beside it: closing a second handle of the file itself would drop SQLite's own locks."""
        try:
            guard = lock_beside(self._path)
        except OSError as error:
            raise StoreError(
                f"{self.address} cannot be locked ({error}): whoever writes a store needs to write in its folder, too. "
                "Give the folder and the file beside it to the user of this process, or look only"
            ) from error
        if guard is None:
            raise InUseError(
                f"{self.address} is in use by another process, or by another store of this one. One process writes a "
                "file; others may look: open_store(path, read_only=True)"
            )
        return guard

    def _own_file(self) -> None:
        """Make a file that is not there for its owner alone, as SQLite makes its logs then; refuse one of two names."""
        if self._vfs is not None:
            return
        if not self._path.exists():
            make_private(self._path)
        names = self._path.stat().st_nlink
        if names > 1:  # each has a lock and a log of writes by its name, so that two processes would damage the file
            raise StoreError(
                f"{self.address} has {names} names (hard links), and a store that is written has one: delete the "
                "others, or copy the file with 'appletaste stream backup'; links made with 'ln -s' are fine"
            )

    def _let_go(self) -> None:
        if self._guard is not None:
            os.close(self._guard)
            self._guard = None

    def _connect(self, looks: bool = False) -> apsw.Connection:
        looks = looks or self.read_only
        if looks:
            connection = self._looking_at()
        else:
            flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
            connection = apsw.Connection(self.address, flags=flags, vfs=self._vfs, statementcachesize=200)
            connection.setbusytimeout(5000)
            if self._vfs is not None:
                connection.execute("PRAGMA locking_mode=EXCLUSIVE")  # a file system in Python has no shared memory
            self._check_ours(connection)
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute(f"PRAGMA synchronous={self.SYNCHRONOUS}")
            connection.execute("PRAGMA secure_delete=ON")  # what is erased is overwritten, wherever it was moved to
        connection.execute("PRAGMA cache_size=-8000")
        connection.wal_autocheckpoint(4000)  # pages: 16 MB of log
        return connection

    def _looking_at(self) -> apsw.Connection:
        """Return a connection that writes nothing.

        SQLite wants to write beside a file that is looked at, so that others may write it meanwhile. Where nobody can,
        the file is taken to stay as it is.
        """
        flags = apsw.SQLITE_OPEN_READONLY
        connection = apsw.Connection(self.address, flags=flags, vfs=self._vfs, statementcachesize=200)
        connection.setbusytimeout(5000)
        try:
            connection.execute("SELECT name FROM sqlite_schema").fetchall()
        except (apsw.ReadOnlyError, apsw.CantOpenError):
            connection.close()
            log = self._path.with_name(f"{self._path.name}-wal")
            if log.exists() and log.stat().st_size:
                raise StoreError(
                    f"{self.address} lies where nothing can be written, and its last writes are in {log.name}: copy "
                    "both files to a folder that can be written, and look there"
                ) from None
            name = f"file:{quote(str(self._path))}?immutable=1"
            flags |= apsw.SQLITE_OPEN_URI
            connection = apsw.Connection(name, flags=flags, statementcachesize=200)
        return connection

    def _check_ours(self, connection: apsw.Connection) -> None:
        """Refuse a file of another program before anything in it is changed."""
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema")}
        if tables and tables != {"migrations"} and not {"migrations", "streams", "events"} <= tables:
            connection.close()
            raise StoreError(
                f"{self.address} belongs to another program: it has {min(tables)!r} and no streams. Nothing "
                "was changed; give the name of a new file, or of a store"
            )

    def _migrate(self) -> None:
        run = self.connection.execute
        run(TABLE)
        done = list(run("SELECT number, checksum FROM migrations"))
        for step in still_to_run(self.MIGRATIONS, done, self.address):
            with self.connection:
                for statement in step.statements:
                    run(statement)
                run("INSERT INTO migrations VALUES (?, ?, ?)", (step.number, step.name, step.checksum))

    # ---- transactions

    @contextmanager
    def writing(self) -> Iterator[Any]:
        """Give what runs a statement within one transaction, which is on disk after the block.

        Whatever fails in the machine leaves the outcome unknown, and the store writes no more: after a failed sync
        nobody knows what the disk holds. Within another such block it is a part of that one.
        """
        with self.lock:
            if not self.broken and self.connection.in_transaction:
                yield self.connection
                return
            with self._watched() as connection:
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")

    def begin(self, work: Callable[[Any], None]) -> Callable[[], None] | None:
        """Do some work in a transaction, and return what commits it, for any thread to call.

        None, and nothing is done, while somebody else uses the file.
        """
        if not self.lock.acquire(blocking=False):
            return None
        try:
            with self._watched() as connection:
                connection.execute("BEGIN IMMEDIATE")
                work(connection)
        except BaseException:
            self.lock.release()
            raise
        self.lock.leave()
        return self._commit

    def _commit(self) -> None:
        self.lock.enter()
        try:
            with self._watched() as connection:
                connection.execute("COMMIT")
        finally:
            self.lock.release()

    @contextmanager
    def _watched(self) -> Iterator[Any]:
        """Give what runs a statement of a transaction, and end the transaction where one fails."""
        self._check_usable()
        try:
            yield self.connection
        except apsw.ConstraintError:
            self.connection.execute("ROLLBACK")
            raise
        except apsw.Error as error:
            self.broken = True
            raise OutcomeUnknownError(
                f"a write to {self.address} failed ({error}): whether it is stored is not known. The store has "
                "stopped; open it again, and repeat the request with the same id"
            ) from error
        except BaseException:
            if not self.broken and self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            raise

    def _check_usable(self) -> None:
        if self.broken:
            raise StoppedError(f"{self.address} has stopped after a failed write, or was closed: open the store again")
        if self.read_only:
            raise StoppedError(f"{self.address} was opened to look at: nothing is written")

    def ask(self, statement: str, values: tuple[Any, ...] = ()) -> list[Any]:
        """Return the rows of a question."""
        with self.lock:
            return self._asked(self.connection, statement, values)

    def look(self, statement: str, values: tuple[Any, ...]) -> list[Any]:
        """Return the rows of a question to what is committed, while a commit may be under way."""
        if self._second is self.connection:
            return self.ask(statement, values)
        if self.lock.acquire(blocking=False):  # nobody writes: this one has its pages at hand
            try:
                return self._asked(self.connection, statement, values)
            finally:
                self.lock.release()
        with self._looking:
            return self._asked(self._second, statement, values)

    def _asked(self, connection: apsw.Connection, statement: str, values: tuple[Any, ...]) -> list[Any]:
        if self.broken:
            raise StoppedError(f"{self.address} has stopped after a failed write, or was closed: open the store again")
        try:
            return connection.execute(statement, values).fetchall()
        except (apsw.Error, UnicodeDecodeError) as error:
            raise StoreError(f"{self.address} cannot be read: {error}") from error

    # ---- streams

    def names(self) -> list[str]:
        """Return the names of all streams."""
        return [name for (name,) in self.ask("SELECT name FROM streams ORDER BY name")]

    def create(self, name: str, secret: bytes, fill: Fill | None = None) -> SqlitePlace:
        """Make a stream, and own it; what ``fill`` writes is in the same transaction."""
        made: SqlitePlace | None = None
        try:
            with self.writing() as connection:
                connection.execute(
                    "INSERT INTO streams (name, secret, seq, digest) VALUES (?, ?, 0, ?) "
                    "ON CONFLICT (name) DO UPDATE SET secret = excluded.secret WHERE seq = 0",
                    (name, secret, NOTHING),
                )
                if not connection.changes():
                    raise name_taken(name)
                made = self.open(name)
                made.clear(connection)
                if fill is not None:
                    fill(made)
        except BaseException:
            if made is not None:
                made.release()
            raise
        return made

    def open(self, name: str) -> SqlitePlace:
        """Own a stream; a store that only looks owns nothing."""
        with self.lock:
            if name in self.places and not self.read_only:
                raise in_use(name)
            found = self.ask("SELECT number, secret FROM streams WHERE name = ?", (name,))
            if not found:
                raise no_stream(name, self.names(), self.address)
            self.places[name] = SqlitePlace(self, name, *found[0])
            return self.places[name]

    def append_all(self, writes: Sequence[Write]) -> list[Exception | None]:
        """Keep the rows of several streams, one after the other."""
        return [outcome_of(write) for write in writes]

    def sizes(self) -> dict[str, int]:
        """Return how many events each stream has."""
        return dict(self.ask("SELECT name, seq FROM streams ORDER BY name"))

    def put(self, space: str, key: str, value: bytes) -> None:
        """Keep a small value, in the place of the one before."""
        with self.writing() as connection:
            connection.execute("INSERT OR REPLACE INTO small_values VALUES (?, ?, ?)", (space, key, value))

    def get(self, space: str, key: str) -> bytes | None:
        """Return a small value; None: there is none."""
        found = self.ask("SELECT value FROM small_values WHERE space = ? AND key = ?", (space, key))
        return found[0][0] if found else None

    def values(self, space: str) -> dict[str, bytes]:
        """Return all small values of a space."""
        return dict(self.ask("SELECT key, value FROM small_values WHERE space = ? ORDER BY key", (space,)))

    def remove(self, space: str, key: str) -> None:
        """Forget a small value, if there is one."""
        with self.writing() as connection:
            connection.execute("DELETE FROM small_values WHERE space = ? AND key = ?", (space, key))

    def check(self) -> list[str]:
        """Return what SQLite finds wrong with the file; by a connection of its own, so that writers go on meanwhile."""
        if self._vfs is not None:  # one that no second connection can share
            rows = self.ask("PRAGMA integrity_check")
        else:
            try:
                with closing(self._looking_at()) as reader:
                    rows = reader.execute("PRAGMA integrity_check").fetchall()
            except (apsw.Error, UnicodeDecodeError) as error:
                raise StoreError(f"{self.address} cannot be read: {error}") from error
        found = [line for (line,) in rows]
        return [] if found == ["ok"] else found

    def backup(self, path: str | PathLike[str]) -> None:
        """Copy the file as it is at this moment, whole or not at all, while others go on."""
        target = Path(path)
        if target.exists():
            raise InputError(f"{target} is there already: give another name, or delete the file first")
        aside = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            aside.unlink(missing_ok=True)
            make_private(aside)
            copy = apsw.Connection(str(aside))
            with copy.backup("main", self.connection, "main") as work:
                while not work.done:
                    with self.lock:
                        work.step(256)
            copy.close()
            with aside.open("rb+") as file:
                os.fsync(file.fileno())
            aside.replace(target)
        except BaseException:
            aside.unlink(missing_ok=True)
            raise

    def close(self) -> None:
        """Let go of the file."""
        with self.lock, self._looking:
            failed, self.broken = self.broken, True
            self.places.clear()
            try:
                self._second.close(True)
                self.connection.close(True)
            except apsw.Error as error:  # tidying up the log of writes; all commits are in it
                if not failed:
                    raise StoreError(f"{self.address} could not be tidied up: {error}; nothing is lost") from error
            finally:
                self._let_go()
