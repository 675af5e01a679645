"""The steps on timers."""

import asyncio

from state.listings import Scheduled, Schedules
from state.mending import mended
from state.partition import partition_of
from state.redis import replies, scripts, wire
from state.redis.reading import Reading
from state.values import Conversation, Timer


class Timing(Reading):
    """Inbounds with a time; due ones are promoted by every hand-over."""

    @mended
    async def schedule(self, conversation: Conversation, timer: Timer, *, op: str) -> int:
        """See `State.schedule`."""
        reply = await self._step(scripts.SCHEDULE, conversation, op, *wire.timer(timer))
        return reply.number()

    @mended
    async def unschedule(self, conversation: Conversation, timer: str) -> bool:
        """See `State.unschedule`."""
        reply = await self._step(scripts.UNSCHEDULE, conversation, timer)
        return reply.number() == 1

    async def schedules(self, owner: str, cursor: str | None = None, limit: int = 200) -> Schedules:
        """See `State.schedules`; the cursor is the last `conversation timer` of the page before."""
        partition = partition_of(owner, self.partitions)
        now, names = await self._listed(partition, f"t {owner} ", cursor, limit + 1)
        page = [name.split(" ") for name in names[:limit]]
        timers = await asyncio.gather(
            *(self._timer(Conversation(owner, where), timer, now) for where, timer in page)
        )
        found = tuple(timer for timer in timers if timer is not None)
        return Schedules(found, names[limit - 1] if len(names) > limit else None)

    @mended
    async def _timer(self, conversation: Conversation, timer: str, now: int) -> Scheduled | None:
        """Read a timer; None when it fired since it was listed."""
        stored = await self._field("alarms", conversation, timer)
        return None if stored is None else replies.scheduled(conversation, timer, stored, now)
