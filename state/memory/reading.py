"""The steps that read, and the subscriptions: what needs neither lease nor operation id."""

from state.memory.handle import Handle
from state.memory.records import Record
from state.outcomes import (
    Due,
    Entry,
    Subscriptions,
    View,
)
from state.values import (
    Conversation,
)


class Reading(Handle):
    """Views, history, due work and subscriptions of a `Database`."""

    async def due(self, partition: int, limit: int, *, ahead: float = 0.0) -> Due:
        """See `State.due`."""
        until = self._now() + int(ahead * 1e6)
        records = self._db.records.items()
        pending = [(c, r) for c, r in records if r.wake is not None or r.turn is not None]
        mine = [r for c, r in pending if self._partition(c) == partition]
        for record in mine:
            self._set_aside(record)
        waking = sorted((r for r in mine if r.wake is not None and r.wake <= until), key=wake_of)
        signals = [r.turn.signal for r in mine if r.turn and r.turn.signal]
        return Due(tuple(r.conversation for r in waking[:limit]), tuple(signals[:limit]))

    async def view(self, conversation: Conversation) -> View:
        """See `State.view`."""
        now = self._now()
        record = self._find(conversation) or Record(conversation)
        running = record.turn.running(now, record.living(now)) if record.turn else None
        return View(
            running,
            tuple(waiting.inbound for waiting in record.inbox),
            record.subscribed,
            None if record.wake is None else (record.wake - now) / 1e6,
            len(record.dead),
        )

    async def history(
        self, conversation: Conversation, *, before: int | None = None, limit: int = 50
    ) -> tuple[Entry, ...]:
        """See `State.history`."""
        self._now()
        record = self._db.records.get(conversation) or Record(conversation)
        lines = (line.entry for line in record.transcript)
        older = [entry for entry in lines if before is None or entry.number < before]
        return tuple(older[-limit:]) if limit > 0 else ()

    async def reset(self, conversation: Conversation) -> None:
        """See `State.reset`."""
        self._now()
        record = self._record(conversation)
        record.state, record.state_version = None, 0
        record.transcript.clear()
        if record.turn is not None:
            record.turn.detached = True
        self._sweep(record)

    # --- subscriptions --------------------------------------------------------------------------

    async def subscribe(self, conversation: Conversation) -> None:
        """See `State.subscribe`."""
        self._now()
        self._record(conversation).subscribed = True

    async def unsubscribe(self, conversation: Conversation) -> None:
        """See `State.unsubscribe`."""
        self._now()
        record = self._record(conversation)
        record.subscribed = False
        self._sweep(record)

    async def is_subscribed(self, conversation: Conversation) -> bool:
        """See `State.is_subscribed`."""
        self._now()
        return conversation in self._db.records and self._db.records[conversation].subscribed

    async def subscriptions(self, cursor: str | None = None, limit: int = 200) -> Subscriptions:
        """See `State.subscriptions`; the cursor is the last `owner id` of the page before."""
        self._now()
        keys = sorted((f"{c.owner} {c.id}", c) for c, r in self._db.records.items() if r.subscribed)
        rest = [(key, c) for key, c in keys if cursor is None or key > cursor]
        page = rest[:limit]
        more = len(rest) > len(page)
        return Subscriptions(tuple(c for _, c in page), page[-1][0] if more and page else None)


def wake_of(record: Record) -> int:
    """The wake of a record that has one."""
    return record.wake or 0
