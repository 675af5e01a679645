"""
What is outside of the bot and survives it: a chat service, a provider, a gateway that resumes.

A file of SQLite's, so that any number of processes that die at any moment can share it.
"""

import itertools
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from bot.speaking import NotSpeaking, Outgoing, OwnMessage, Rejected, Sight, Webhook, speaker

#: Milliseconds for which one process waits for another's write. Relation: longer than any freeze,
#: in which a write may stand still.
PATIENCE = 60_000

#: Messages of one channel after which people wait for an answer.
UNANSWERED = 4

CANNOT_READ_HISTORY = 160002

_SCHEMA = """
CREATE TABLE IF NOT EXISTS post (
    id INTEGER PRIMARY KEY AUTOINCREMENT, channel TEXT, nonce TEXT, text TEXT, reply_to TEXT
);
CREATE INDEX IF NOT EXISTS post_by_nonce ON post (nonce);
CREATE INDEX IF NOT EXISTS post_by_channel ON post (channel);
CREATE TABLE IF NOT EXISTS effect (key TEXT PRIMARY KEY, runs INTEGER);
CREATE TABLE IF NOT EXISTS heard (channel TEXT PRIMARY KEY, count INTEGER);
CREATE TABLE IF NOT EXISTS quiet (since TEXT);
"""


@dataclass(frozen=True, slots=True)
class Post:
    """A visible message."""

    id: int
    channel: str
    text: str
    reply_to: str | None


class Outside:
    """One process's connection to the outside of people who use no commands."""

    webhook = cast("Webhook", None)
    sight = cast("Sight", None)

    def __init__(self, path: Path, *, knows_nonces: bool = True) -> None:
        """Open the file; one that does not *know nonces* cannot be read back either."""
        self._knows_nonces = knows_nonces
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute(f"PRAGMA busy_timeout = {PATIENCE}")
        # Only processes die here, not the machine: what was written stays without a sync.
        self._db.execute("PRAGMA synchronous = OFF")

    def create_tables(self) -> None:
        """Make an empty file ready."""
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.executescript(_SCHEMA)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield self._db
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    # --- the gateway -----------------------------------------------------------------------------

    def next_of(self, channel: str) -> int | None:
        """The number of the message to be heard next, None while people have nothing to say."""
        heard, answered, quiet = self._db.execute(
            "SELECT (SELECT count FROM heard WHERE channel = ?1),"
            " (SELECT count(*) FROM post WHERE channel = ?1), (SELECT count(*) FROM quiet)",
            (channel,),
        ).fetchone()
        patient = (heard or 0) - answered >= UNANSWERED
        return None if quiet or patient else (heard or 0) + 1

    def acknowledge(self, channel: str, number: int) -> None:
        """Note that a message was taken, so that it is not told again to who resumes."""
        self._db.execute(
            "INSERT INTO heard VALUES (?, ?) "
            "ON CONFLICT (channel) DO UPDATE SET count = max(count, excluded.count)",
            (channel, number),
        )

    def heard(self) -> dict[str, int]:
        """How many messages of each channel were taken."""
        return dict(self._db.execute("SELECT channel, count FROM heard").fetchall())

    def fall_silent(self) -> None:
        """Let people say nothing more."""
        self._db.execute("INSERT INTO quiet VALUES ('now')")

    # --- a provider ------------------------------------------------------------------------------

    async def charge(self, key: str) -> str:
        """Run an effect that heeds its key."""
        self._db.execute(
            "INSERT INTO effect VALUES (?, 1) ON CONFLICT (key) DO UPDATE SET runs = runs + 1",
            (key,),
        )
        return f"receipt of {key}"

    def effects(self) -> dict[str, int]:
        """How often each effect ran."""
        return dict(self._db.execute("SELECT key, runs FROM effect").fetchall())

    # --- the chat service, as `bot.speaking.Wire` ------------------------------------------------

    async def create(
        self, channel: str, content: Outgoing, *, nonce: str, reply_to: str | None, ping: bool
    ) -> OwnMessage:
        """Send a message, or answer the one that is there under its nonce."""
        _check_lease()
        with self._writing() as db:
            known = db.execute(
                "SELECT id, text, reply_to FROM post WHERE nonce = ?", (nonce,)
            ).fetchone()
            if known and self._knows_nonces:
                return OwnMessage(str(known[0]), known[1], nonce, known[2])
            made = db.execute(
                "INSERT INTO post (channel, nonce, text, reply_to) VALUES (?, ?, ?, ?)",
                (channel, nonce, content.content, reply_to),
            )
        return OwnMessage(str(made.lastrowid), content.content, nonce, reply_to)

    def file_limit(self, guild: str | None) -> int:
        """Take files of any size."""
        return 1 << 40

    async def edit(self, channel: str, message: str, content: Outgoing) -> None:
        """Replace a message's text."""
        _check_lease()
        self._db.execute("UPDATE post SET text = ? WHERE id = ?", (content.content, int(message)))

    async def delete(self, channel: str, message: str) -> None:
        """Delete a message."""
        _check_lease()
        self._db.execute("DELETE FROM post WHERE id = ?", (int(message),))

    async def recent(self, channel: str, after: str) -> Sequence[OwnMessage]:
        """Our own messages of a channel."""
        if not self._knows_nonces:
            raise Rejected(403, CANNOT_READ_HISTORY, "may not read here")
        rows = self._db.execute(
            "SELECT id, text, nonce, reply_to FROM post"
            " WHERE channel = ? ORDER BY id DESC LIMIT 50",
            (channel,),
        ).fetchall()
        return [OwnMessage(str(id_), text, *rest) for id_, text, *rest in reversed(rows)]

    async def open_thread(self, channel: str, message: str, name: str, person: str) -> None:
        """Open nothing: what is said here is answered beside it."""

    async def type(self, channel: str) -> None:
        """Show nothing."""

    async def react(self, channel: str, message: str, emoji: str) -> None:
        """Show nothing."""

    async def unreact(self, channel: str, message: str, emoji: str) -> None:
        """Show nothing."""

    def posts(self) -> dict[str, list[Post]]:
        """List what is visible, by channel, oldest first."""
        rows = self._db.execute(
            "SELECT id, channel, text, reply_to FROM post ORDER BY channel, id"
        ).fetchall()
        posts = (Post(*row) for row in rows)
        return {
            channel: list(mine) for channel, mine in itertools.groupby(posts, lambda p: p.channel)
        }


def _check_lease() -> None:
    """Refuse a request of a turn without a lease, as the real client's trace does."""
    holding = speaker.get()
    if holding is not None and not holding.may_speak:
        raise NotSpeaking
