"""The operator's steps on dead letters."""

import asyncio

from state.listings import DeadLetters
from state.partition import partition_of
from state.redis import replies, scripts
from state.redis.reading import Reading
from state.values import Conversation


class Operating(Reading):
    """What operators do about turns that were given up."""

    async def dead_letters(
        self, owner: str, cursor: str | None = None, limit: int = 200
    ) -> DeadLetters:
        """See `State.dead_letters`; the cursor is the last `conversation time letter` before."""
        partition = partition_of(owner, self.partitions)
        now, names = await self._listed(partition, f"l {owner} ", cursor, limit + 1)
        page = [name.split(" ") for name in names[:limit]]
        stored = await asyncio.gather(
            *(self._field("dead", Conversation(owner, where), letter) for where, _, letter in page)
        )
        letters = tuple(
            replies.dead_letter(Conversation(owner, where), letter, one, now)
            for (where, _, letter), one in zip(page, stored, strict=True)
            if one is not None  # requeued since it was listed
        )
        return DeadLetters(letters, names[limit - 1] if len(names) > limit else None)

    async def requeue(self, conversation: Conversation, letter: str, *, op: str) -> bool:
        """See `State.requeue`."""
        reply = await self._step(scripts.REQUEUE, conversation, op, letter)
        return reply.number() == 1

    async def discard(self, conversation: Conversation, letter: str) -> bool:
        """See `State.discard`."""
        reply = await self._step(scripts.DISCARD, conversation, letter)
        return reply.number() == 1
