"""The operator's steps on dead letters."""

import asyncio

from state.listings import DeadLetter, DeadLetters
from state.mending import mended
from state.partition import partition_of
from state.redis import replies, scripts
from state.redis.reading import Reading
from state.values import Conversation


class Operating(Reading):
    """What operators do about turns that were given up."""

    async def dead_letters(
        self, owner: str | None, cursor: str | None = None, limit: int = 200
    ) -> DeadLetters:
        """See `State.dead_letters`; the cursor is the last `owner conversation time letter`."""
        listed, whole = await self._dead_letters(owner, cursor, limit)
        if not whole:  # something was set aside on the way, and has a name of its own now
            listed, _ = await self._dead_letters(owner, cursor, limit)
        return listed

    async def _dead_letters(
        self, owner: str | None, cursor: str | None, limit: int
    ) -> tuple[DeadLetters, bool]:
        """List dead letters, and answer whether all that were named are there."""
        now, names = await self._dead(owner, cursor, limit + 1)
        page = [name.split(" ") for name in names[:limit]]
        letters = await asyncio.gather(
            *(
                self._letter(Conversation(whose, where), letter, now)
                for whose, where, _, letter in page
            )
        )
        found = tuple(letter for letter in letters if letter is not None)
        page_ends = names[limit - 1] if len(names) > limit else None
        return DeadLetters(found, page_ends), len(found) == len(letters)

    async def _dead(self, owner: str | None, after: str | None, most: int) -> tuple[int, list[str]]:
        """List what names the dead letters of an owner, or of all, partition after partition."""
        if owner is not None:
            partition = partition_of(owner, self.partitions)
            after = after and after.removeprefix(f"{owner} ")
            now, names = await self._listed(partition, f"l {owner} ", after, most)
            return now, [f"{owner} {name}" for name in names]
        partition = partition_of(after.partition(" ")[0], self.partitions) if after else 0
        now, names = 0, list[str]()
        while partition < self.partitions and len(names) < most:
            now, found = await self._listed(partition, "l ", after, most - len(names))
            names += found
            partition, after = partition + 1, None
        return now, names

    @mended
    async def _letter(self, conversation: Conversation, letter: str, now: int) -> DeadLetter | None:
        """Read a dead letter; None when it was requeued since it was listed."""
        stored = await self._field("dead", conversation, letter)
        return None if stored is None else replies.dead_letter(conversation, letter, stored, now)

    @mended
    async def requeue(self, conversation: Conversation, letter: str, *, op: str) -> bool:
        """See `State.requeue`."""
        reply = await self._step(scripts.REQUEUE, conversation, op, letter)
        return reply.number() == 1

    @mended
    async def discard(self, conversation: Conversation, letter: str) -> bool:
        """See `State.discard`."""
        reply = await self._step(scripts.DISCARD, conversation, letter)
        return reply.number() == 1
