"""The steps on timers, and the list of those of one owner."""

from state.listings import Scheduled, Schedules
from state.memory import handover
from state.memory.reading import Reading
from state.values import (
    Conversation,
    Timer,
)


class Timers(Reading):
    """Schedule and unschedule of a `Database`; due timers are promoted by every hand-over."""

    async def schedule(self, conversation: Conversation, timer: Timer, *, op: str) -> int:
        """See `State.schedule`."""
        now = self._now()
        first: int | None = self._first_answer(conversation, op)
        if first is not None:
            return first
        record = self._record(conversation)
        generation = handover.set_alarm(record, timer, now)
        handover.rewake(record, now)
        return self._answer(conversation, op, generation)

    async def unschedule(self, conversation: Conversation, timer: str) -> bool:
        """See `State.unschedule`."""
        now = self._now()
        record = self._record(conversation)
        gone = record.alarms.pop(timer, None)
        handover.rewake(record, now)
        self._sweep(record)
        return gone is not None

    async def schedules(self, owner: str, cursor: str | None = None, limit: int = 200) -> Schedules:
        """See `State.schedules`; the cursor is the last `conversation timer` of the page before."""
        now = self._now()
        alarms = sorted(
            (f"{conversation.id} {alarm.timer.id}", conversation, alarm)
            for record in self._all()
            for alarm in record.alarms.values()
            if (conversation := record.conversation).owner == owner
        )
        rest = [entry for entry in alarms if cursor is None or entry[0] > cursor]
        page = rest[:limit]
        timers = tuple(
            Scheduled(conversation, alarm.timer, alarm.generation, (alarm.due - now) / 1e6)
            for _, conversation, alarm in page
        )
        return Schedules(timers, page[-1][0] if len(rest) > len(page) else None)
