"""What happens to a file: another process locks it, its disk fills up, somebody replaces it."""

import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from state import State
from state.contract.faults import FOREIGN, Faults, Poison
from state.sqlite import SqliteState
from state.sqlite.transaction import key_of
from state.values import Conversation

POISONS = {
    Poison.WAITING: """
        UPDATE inbound SET name = CAST(?1 AS TEXT) WHERE conversation = ?2 AND place =
        (SELECT min(place) FROM inbound WHERE conversation = ?2 AND part IS NULL)
    """,
    Poison.TURN: "UPDATE inbound SET name = CAST(? AS TEXT) WHERE conversation = ? AND part = 0",
    Poison.TIMER: "UPDATE timer SET author = CAST(? AS TEXT) WHERE conversation = ?",
}


class FileFaults(Faults):
    """Faults of one file."""

    def __init__(self, path: Path, handles: Sequence[State]) -> None:
        """Take the file's path, and the list to which its handles are added."""
        self._path, self._handles = path, handles
        self._locker: sqlite3.Connection | None = None

    async def stop(self) -> None:
        """See `Faults.stop`: another process begins to write and never ends."""
        self._locker = sqlite3.connect(self._path, isolation_level=None)
        self._locker.execute("BEGIN IMMEDIATE")

    async def start(self) -> None:
        """See `Faults.start`."""
        if self._locker is not None:
            self._locker.close()

    async def fill(self) -> None:
        """See `Faults.fill`: the file may not grow."""
        await self._limit(1)  # SQLite takes the present size for less than that

    async def make_room(self) -> None:
        """See `Faults.make_room`."""
        await self._limit(1 << 30)

    async def _limit(self, pages: int) -> None:
        for handle in self._handles:
            if isinstance(handle, SqliteState):
                await handle._read(lambda tx: tx.execute(f"PRAGMA max_page_count = {pages}"))

    async def copy(self) -> None:
        """See `Faults.copy`."""
        self._backup.unlink(missing_ok=True)
        with closing(sqlite3.connect(self._path)) as connection:
            connection.execute("VACUUM INTO ?", (str(self._backup),))

    async def restore(self) -> None:
        """See `Faults.restore`: as an operator does it who has not stopped the bot."""
        await self.flush()
        shutil.copy(self._backup, self._path.with_suffix(".restored"))
        self._path.with_suffix(".restored").rename(self._path)

    @property
    def _backup(self) -> Path:
        return self._path.with_name(f"{self._path.name}.backup")

    async def flush(self) -> None:
        """See `Faults.flush`: the file is deleted, and what SQLite keeps beside it."""
        for end in ("", "-wal", "-shm"):
            self._path.with_name(f"{self._path.name}{end}").unlink(missing_ok=True)

    async def poison(self, at: Conversation, what: Poison) -> None:
        """See `Faults.poison`: text that is none, which SQLite takes as it is."""
        with closing(sqlite3.connect(self._path)) as connection, connection:
            changed = connection.execute(POISONS[what], (FOREIGN, key_of(at))).rowcount
        assert changed == 1, changed

    async def newer(self) -> None:
        """See `Faults.newer`."""
        with closing(sqlite3.connect(self._path)) as connection:
            connection.execute("PRAGMA user_version = 99")
