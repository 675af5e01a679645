"""
The database file: connections to it, its schema, and its errors in one line each.

The file carries our application id, so that another program's is refused untouched, and the number
of its schema, so that a newer one is refused and an older one brought up to date.
"""

import sqlite3
import time
from collections.abc import Callable
from importlib.resources import files
from typing import TypeVar

from state.errors import StateError, StateInvalid, StateUnavailable, Unacceptable, Unreadable

Answer = TypeVar("Answer")

#: "ILCK", in the header field that SQLite leaves to the application.
APPLICATION_ID = 0x494C434B

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
    _patiently(deadline, lambda: _check_owner(connection, path))
    # A switch to WAL needs the file alone and does not wait for it, whatever the timeout is.
    _patiently(deadline, lambda: execute("PRAGMA journal_mode = WAL").fetchone())
    execute(f"PRAGMA synchronous = {synchronous}")
    execute(f"PRAGMA journal_size_limit = {JOURNAL_SIZE_LIMIT}")
    _patiently(deadline, lambda: execute("BEGIN IMMEDIATE"))
    try:
        _check_owner(connection, path)
        _migrate(connection, path, partitions)
        # A write, so that a file that can only be read is refused here, not at the first message.
        execute("UPDATE store SET partitions = partitions")
        (kept,) = execute("SELECT partitions FROM store").fetchone()
        execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            execute("ROLLBACK")
        raise
    return int(kept)


def _check_owner(connection: sqlite3.Connection, path: str) -> None:
    (owner,) = connection.execute("PRAGMA application_id").fetchone()
    (objects,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if owner != APPLICATION_ID and (owner or objects):
        raise StateInvalid(f"{path} is the database of another program")


def _migrate(connection: sqlite3.Connection, path: str, partitions: int) -> None:
    """Run the migrations that the file has not seen; its `user_version` counts them."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    scripts = migrations()
    if version > len(scripts):
        raise StateInvalid(
            f"{path} has schema {version}, newer than {len(scripts)}, the newest that this "
            "version of Interlock knows"
        )
    for script in scripts[version:]:
        for statement in statements(script):
            connection.execute(statement)
    if version == 0:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("INSERT INTO store VALUES (?)", (partitions,))
        connection.executemany(
            "INSERT INTO counter VALUES (?, 0)", ((number,) for number in range(partitions))
        )
    if version < len(scripts):
        connection.execute(f"PRAGMA user_version = {len(scripts)}")


def migrations() -> list[str]:
    """Read the migrations, oldest first."""
    folder = files("state.sqlite") / "migrations"
    scripts = (entry for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return [entry.read_text() for entry in sorted(scripts, key=lambda entry: entry.name)]


def statements(script: str) -> list[str]:
    """Split a script into statements; `executescript` would commit the open transaction first."""
    found, statement = [], ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            found.append(statement)
            statement = ""
    return found


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
