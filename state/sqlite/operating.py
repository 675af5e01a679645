"""The steps of `state.ports.Operating`: dead letters, and forgetting."""

from state.keys import Author, Owner
from state.listings import DeadLetter, DeadLetters
from state.mending import UNREADABLE, mended
from state.outcomes import Forgetting
from state.sqlite import endings, forgetting, handover, inbox, unreadable
from state.sqlite.handle import Handle
from state.sqlite.records import Record, Waiting
from state.sqlite.transaction import Transaction, conversation_of, keys_of
from state.values import Conversation, Inbound


class Operating(Handle):
    """What operators do to conversations, and what the law asks of them."""

    async def dead_letters(
        self, owner: str | None, cursor: str | None = None, limit: int = 200
    ) -> DeadLetters:
        """See `State.dead_letters`."""
        return await self._listed(
            lambda tx: dead_letters(tx, owner, cursor, limit), *keys_of(owner)
        )

    @mended
    async def requeue(self, conversation: Conversation, letter: str, *, op: str) -> bool:
        """See `State.requeue`."""
        return await self._write(lambda tx: requeue(tx, conversation, letter, op))

    @mended
    async def discard(self, conversation: Conversation, letter: str) -> bool:
        """See `State.discard`."""
        return await self._write(lambda tx: discard(tx, conversation, letter))

    async def forget(
        self, target: Owner | Conversation | Author, *, limit: int = 200
    ) -> Forgetting:
        """See `State.forget`."""
        try:
            return await self._write(lambda tx: forgetting.forget(tx, target, limit))
        except UNREADABLE:
            everywhere = ("", "~")  # beyond all keys
            await self._write(lambda tx: unreadable.set_aside_range(tx, *everywhere))
        return await self._write(lambda tx: forgetting.forget(tx, target, limit))


def dead_letters(tx: Transaction, owner: str | None, cursor: str | None, limit: int) -> DeadLetters:
    """See `State.dead_letters`; the cursor is the last `owner conversation time name` so far."""
    lowest, beyond = keys_of(owner)
    after, at, name = cursor.rsplit(" ", 2) if cursor else (lowest, "0", "")
    rows = tx.execute(
        "SELECT id, conversation, name, error, state, raw, at FROM dead_letter "
        "WHERE conversation < ? AND (conversation, at, name) > (?, ?, ?) "
        "ORDER BY conversation, at, name LIMIT ?",
        (beyond, after, int(at), name, limit + 1),
    ).fetchall()
    page = rows[:limit]
    letters = tuple(
        DeadLetter(
            name, conversation_of(key), _inbounds(tx, row), error, state, raw, (tx.now - at) / 1e6
        )
        for row, key, name, error, state, raw, at in page
    )
    if len(rows) <= limit or not page:
        return DeadLetters(letters, None)
    _, key, name, _, _, _, at = page[-1]
    return DeadLetters(letters, f"{key} {at:020} {name}")


def _inbounds(tx: Transaction, letter: int) -> tuple[Inbound, ...]:
    rows = tx.execute(
        "SELECT name, author, payload FROM dead_inbound WHERE dead_letter = ? ORDER BY id",
        (letter,),
    )
    return tuple(Inbound(*row) for row in rows)


def requeue(tx: Transaction, conversation: Conversation, letter: str, op: str) -> bool:
    """See `State.requeue`."""
    first: bool | None = tx.first_answer(conversation, op)
    if first is not None:
        return first
    record = tx.load(conversation)
    found = _letter(tx, record, letter, "raw IS NULL")
    if found is not None:
        _requeue(tx, record, found)
        tx.store(record)
    tx.remember(conversation, op, found is not None)
    return found is not None


def _requeue(tx: Transaction, record: Record, letter: int) -> None:
    """Put a letter's inbounds last in line, each continuing the one before: they are one turn."""
    before: str | None = None
    for inbound in _inbounds(tx, letter):
        entry = Waiting.of(inbound, tx.now)
        entry.joins = before
        inbox.append(tx, record, entry)
        before = inbound.id
    endings.drop_letter(tx, record, letter)
    if record.turn is None and not record.held(tx.now):
        handover.leave_wake(tx, record)


def discard(tx: Transaction, conversation: Conversation, letter: str) -> bool:
    """See `State.discard`."""
    record = tx.load(conversation)
    found = _letter(tx, record, letter)
    if found is None:
        return False
    endings.drop_letter(tx, record, found)
    tx.store(record)
    return True


def _letter(tx: Transaction, record: Record, name: str, which: str = "TRUE") -> int | None:
    """The row of a dead letter."""
    found = tx.execute(
        f"SELECT id FROM dead_letter WHERE conversation = ? AND name = ? AND {which} "  # noqa: S608 (our conditions)
        "ORDER BY id LIMIT 1",
        (record.key, name),
    ).fetchone()
    return int(found[0]) if found else None
