"""The steps of `state.ports.Timing`. Due timers are promoted by every hand-over."""

from state.listings import Scheduled, Schedules
from state.mending import mended
from state.sqlite import alarms, handover
from state.sqlite.handle import Handle
from state.sqlite.transaction import Transaction, conversation_of, keys_of
from state.values import CatchUp, Conversation, Inbound, Timer


class Timing(Handle):
    """Inbounds with a time."""

    @mended
    async def schedule(self, conversation: Conversation, timer: Timer, *, op: str) -> int:
        """See `State.schedule`."""
        return await self._write(lambda tx: schedule(tx, conversation, timer, op))

    @mended
    async def unschedule(self, conversation: Conversation, timer: str) -> bool:
        """See `State.unschedule`."""
        return await self._write(lambda tx: unschedule(tx, conversation, timer))

    async def schedules(self, owner: str, cursor: str | None = None, limit: int = 200) -> Schedules:
        """See `State.schedules`."""
        return await self._listed(lambda tx: schedules(tx, owner, cursor, limit), *keys_of(owner))


def schedule(tx: Transaction, conversation: Conversation, timer: Timer, op: str) -> int:
    """See `State.schedule`."""
    first: int | None = tx.first_answer(conversation, op)
    if first is not None:
        return first
    record = tx.load(conversation)
    generation = alarms.set_alarm(tx, record, timer)
    handover.rewake(tx, record)
    tx.store(record)
    tx.remember(conversation, op, generation)
    return generation


def unschedule(tx: Transaction, conversation: Conversation, timer: str) -> bool:
    """See `State.unschedule`."""
    record = tx.load(conversation)
    removed = alarms.remove(tx, record, timer)
    handover.rewake(tx, record)
    tx.store(record)
    return removed


def schedules(tx: Transaction, owner: str, cursor: str | None, limit: int) -> Schedules:
    """See `State.schedules`; the cursor is the last `conversation timer` of the page before."""
    lowest, beyond = keys_of(owner)
    conversation, _, timer = (cursor or "").partition(" ")
    rows = tx.execute(
        "SELECT conversation, name, inbound, author, payload, delay, every, catch_up, "
        "generation, due FROM timer WHERE conversation < ? AND (conversation, name) > (?, ?) "
        "ORDER BY conversation, name LIMIT ?",
        (beyond, lowest + conversation, timer, limit + 1),
    ).fetchall()
    timers = tuple(_scheduled(tx, *row) for row in rows[:limit])
    more = len(rows) > limit and timers
    last = timers[-1] if more else None
    return Schedules(timers, f"{last.conversation.id} {last.timer.id}" if last else None)


def _scheduled(
    tx: Transaction,
    key: str,
    name: str,
    inbound: str,
    author: str,
    payload: bytes,
    delay: float,
    every: float | None,
    catch_up: str,
    generation: int,
    due: int,
) -> Scheduled:
    timer = Timer(name, Inbound(inbound, author, payload), delay, every, CatchUp(catch_up))
    return Scheduled(conversation_of(key), timer, generation, (due - tx.now) / 1e6)
