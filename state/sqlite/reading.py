"""The steps of `state.ports.Reading`: what needs neither lease nor operation id."""

from state.mending import mended
from state.outcomes import Due, Entry, Subscriptions, View
from state.sqlite import inbox
from state.sqlite.handle import Handle
from state.sqlite.signals import SIGNAL, signal_in
from state.sqlite.transaction import Transaction, conversation_of
from state.sqlite.unreadable import conversation_in
from state.values import Conversation


class Reading(Handle):
    """Views, due work, transcripts and subscriptions."""

    async def due(self, partition: int, limit: int, *, ahead: float = 0.0) -> Due:
        """See `State.due`."""
        return await self._read(lambda tx: due(tx, partition, limit, ahead))

    @mended
    async def view(self, conversation: Conversation) -> View:
        """See `State.view`."""
        return await self._read(lambda tx: view(tx, conversation))

    @mended
    async def history(
        self, conversation: Conversation, *, before: int | None = None, limit: int = 50
    ) -> tuple[Entry, ...]:
        """See `State.history`."""
        return await self._read(lambda tx: history(tx, conversation, before, limit))

    @mended
    async def reset(self, conversation: Conversation) -> None:
        """See `State.reset`."""
        await self._write(lambda tx: reset(tx, conversation))

    @mended
    async def subscribe(self, conversation: Conversation) -> None:
        """See `State.subscribe`."""
        await self._write(lambda tx: follow(tx, conversation, subscribed=True))

    @mended
    async def unsubscribe(self, conversation: Conversation) -> None:
        """See `State.unsubscribe`."""
        await self._write(lambda tx: follow(tx, conversation, subscribed=False))

    async def is_subscribed(self, conversation: Conversation) -> bool:
        """See `State.is_subscribed`."""
        return await self._read(lambda tx: is_subscribed(tx, conversation))

    async def subscriptions(self, cursor: str | None = None, limit: int = 200) -> Subscriptions:
        """See `State.subscriptions`."""
        return await self._read(lambda tx: subscriptions(tx, cursor, limit))


def due(tx: Transaction, partition: int, limit: int, ahead: float) -> Due:
    """See `State.due`."""
    waking = tx.execute(
        "SELECT CAST(key AS BLOB) FROM conversation WHERE partition = ? AND wake <= ? "
        "ORDER BY wake, key LIMIT ?",
        (partition, tx.now + int(ahead * 1e6), limit),
    )
    # What cannot be read keeps nothing else from being looked at.
    conversations = tuple(where for (key,) in waking if (where := conversation_in(key)))
    signalled = tx.execute(
        f"SELECT {SIGNAL} FROM conversation "  # noqa: S608 (our columns)
        "WHERE partition = ? AND signal IS NOT NULL ORDER BY key LIMIT ?",
        (partition, limit),
    )
    return Due(conversations, tuple(found for row in signalled if (found := signal_in(*row))))


def view(tx: Transaction, conversation: Conversation) -> View:
    """See `State.view`."""
    record = tx.find(conversation)
    if record is None:
        return View(None, (), subscribed=False, wake=None)
    return View(
        inbox.running(tx, record),
        inbox.inbounds(tx, record, inbox.entries(tx, record)),
        bool(record.subscribed),
        None if record.wake is None else (record.wake - tx.now) / 1e6,
        record.dead,
    )


def history(
    tx: Transaction, conversation: Conversation, before: int | None, limit: int
) -> tuple[Entry, ...]:
    """See `State.history`."""
    record = tx.find(conversation)
    if record is None or limit <= 0:
        return ()
    end = record.entries + 1 if before is None else before
    rows = tx.execute(
        "SELECT number, payload FROM transcript WHERE conversation = ? AND number < ? "
        "ORDER BY number DESC LIMIT ?",
        (record.key, end, limit),
    ).fetchall()
    return tuple(Entry(*row) for row in reversed(rows))


def reset(tx: Transaction, conversation: Conversation) -> None:
    """See `State.reset`."""
    record = tx.load(conversation)
    tx.execute("DELETE FROM state WHERE conversation = ?", (record.key,))
    tx.execute("DELETE FROM transcript WHERE conversation = ?", (record.key,))
    record.stateful = record.kept = 0
    record.detached = int(record.turn is not None)
    tx.store(record)


def follow(tx: Transaction, conversation: Conversation, *, subscribed: bool) -> None:
    """See `State.subscribe` and `State.unsubscribe`."""
    record = tx.load(conversation)
    record.subscribed = int(subscribed)
    tx.store(record)


def is_subscribed(tx: Transaction, conversation: Conversation) -> bool:
    """See `State.is_subscribed`."""
    record = tx.find(conversation)
    return record is not None and bool(record.subscribed)


def subscriptions(tx: Transaction, cursor: str | None, limit: int) -> Subscriptions:
    """See `State.subscriptions`; the cursor is the last key of the page before."""
    rows = tx.execute(
        "SELECT key FROM conversation WHERE subscribed = 1 AND key > ? ORDER BY key LIMIT ?",
        (cursor or "", limit + 1),
    )
    keys = [key for (key,) in rows]
    page = keys[:limit]
    more = len(keys) > len(page)
    return Subscriptions(tuple(map(conversation_of, page)), page[-1] if more and page else None)
