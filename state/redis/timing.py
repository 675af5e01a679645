"""The steps on timers."""

import asyncio

from state.listings import Schedules
from state.partition import partition_of
from state.redis import replies, scripts, wire
from state.redis.reading import Reading
from state.values import Conversation, Timer


class Timing(Reading):
    """Inbounds with a time; due ones are promoted by every hand-over."""

    async def schedule(self, conversation: Conversation, timer: Timer, *, op: str) -> int:
        """See `State.schedule`."""
        reply = await self._step(scripts.SCHEDULE, conversation, op, *wire.timer(timer))
        return reply.number()

    async def unschedule(self, conversation: Conversation, timer: str) -> bool:
        """See `State.unschedule`."""
        reply = await self._step(scripts.UNSCHEDULE, conversation, timer)
        return reply.number() == 1

    async def schedules(self, owner: str, cursor: str | None = None, limit: int = 200) -> Schedules:
        """See `State.schedules`; the cursor is the last `conversation timer` of the page before."""
        partition = partition_of(owner, self.partitions)
        now, names = await self._listed(partition, f"t {owner} ", cursor, limit + 1)
        page = [name.split(" ") for name in names[:limit]]
        alarms = await asyncio.gather(
            *(self._field("alarms", Conversation(owner, where), timer) for where, timer in page)
        )
        timers = tuple(
            replies.scheduled(Conversation(owner, where), timer, alarm, now)
            for (where, timer), alarm in zip(page, alarms, strict=True)
            if alarm is not None  # fired since it was listed
        )
        return Schedules(timers, names[limit - 1] if len(names) > limit else None)
