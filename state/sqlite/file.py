"""
The database file: connections to it, and its errors in one line each.

The file carries our application id, so that another program's is refused untouched, and the number
of its schema, so that a newer one is refused and an older one brought up to date.
"""

import sqlite3
import time
from collections.abc import Callable
from typing import TypeVar

from state.errors import StateError, StateInvalid, StateUnavailable, Unacceptable, Unreadable
from state.sqlite import schema

Answer = TypeVar("Answer")

#: STRICT tables need 3.37, RETURNING 3.35.
OLDEST_SQLITE = (3, 37)

#: Levels of `PRAGMA synchronous` that survive the death of the process. FULL survives a power cut
#: too; NORMAL may then lose the newest commits, never the file.
SYNCHRONOUS = ("FULL", "NORMAL", "EXTRA")

#: Milliseconds that SQLite waits for another process's lock before it lets us look at deadlines.
BUSY_TIMEOUT = 200

#: Seconds for which an opening waits for other processes that open the same file.
#: Relation: below the 5 s within which every call of the port answers.
OPEN_TIMEOUT = 4.0

#: Bytes to which the log shrinks again after a burst. Four times what a checkpoint leaves of it.
JOURNAL_SIZE_LIMIT = 16 << 20

_UNUSABLE = frozenset({sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_READONLY})


def connect(path: str, synchronous: str, partitions: int) -> tuple[sqlite3.Connection, int]:
    """
    Open *path*, creating or migrating its schema; answer the connection and its partitions.

    *partitions* is what a new file is created with. Raise `StateInvalid` for a file that must not
    be used and `StateUnavailable` for one that is not there.
    """
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        wanted = ".".join(map(str, OLDEST_SQLITE))
        raise StateInvalid(f"SQLite {sqlite3.sqlite_version} is too old, {wanted} is needed")
    connection = None
    try:
        connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT / 1000, isolation_level=None)
        return connection, _prepare(connection, path, synchronous, partitions)
    except BaseException as error:
        if connection is not None:
            connection.close()
        if isinstance(error, sqlite3.Error):
            raise unusable(error, path) from error
        raise


def _prepare(connection: sqlite3.Connection, path: str, synchronous: str, partitions: int) -> int:
    execute = connection.execute
    deadline = time.monotonic() + OPEN_TIMEOUT
    _patiently(deadline, lambda: schema.check_owner(connection, path))
    # A switch to WAL needs the file alone and does not wait for it, whatever the timeout is.
    _patiently(deadline, lambda: execute("PRAGMA journal_mode = WAL").fetchone())
    execute(f"PRAGMA synchronous = {synchronous}")
    execute(f"PRAGMA journal_size_limit = {JOURNAL_SIZE_LIMIT}")
    _patiently(deadline, lambda: execute("BEGIN IMMEDIATE"))
    try:
        schema.check_owner(connection, path)
        schema.migrate(connection, path, partitions)
        # A write, so that a file that can only be read is refused here, not at the first message.
        execute("UPDATE store SET partitions = partitions")
        (kept,) = execute("SELECT partitions FROM store").fetchone()
        execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            execute("ROLLBACK")
        raise
    return int(kept)


def _patiently(deadline: float, attempt: Callable[[], Answer]) -> Answer:
    """Repeat *attempt* while another process is in the way, up to *deadline*."""
    while True:
        try:
            return attempt()
        except sqlite3.OperationalError as error:
            if not busy(error) or time.monotonic() > deadline:
                raise
        time.sleep(0.01)


# --- errors -------------------------------------------------------------------------------------


def busy(error: Exception) -> bool:
    """Whether another connection held the lock that was needed."""
    return _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def unusable(error: sqlite3.Error, path: str) -> StateError:
    """Return the error of ours that *error* is while a file is opened."""
    if _code(error) in _UNUSABLE:
        return StateInvalid(f"{path}: {error}")
    return unavailable(error, path)


def unavailable(error: sqlite3.Error, path: str) -> StateError:
    """Return the error of ours that *error* is while a step runs."""
    if _code(error) == sqlite3.SQLITE_TOOBIG:
        return Unacceptable(f"{path}: {error}")
    if "Could not decode" in str(error):
        return Unreadable(f"{path}: {error}".partition("\n")[0])
    return StateUnavailable(f"{path}: {error}")


def _code(error: Exception) -> int:
    """Return the primary result code; the bits above it tell details of it."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF
