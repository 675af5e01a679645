"""
Forgetting: a tombstone first, then batches, the tombstone last.

What is to be removed is found through the indexes and, for an owner, by a look through the whole
keyspace at the end, so that nothing is left that some index has lost.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence

from state.keys import Author, Owner
from state.mending import mended
from state.outcomes import Forgetting
from state.partition import partition_of
from state.redis import scripts
from state.redis.keys import conversation_named, name_of
from state.redis.reading import Reading
from state.redis.scripts import Script
from state.values import Conversation

#: Conversations touched, or keys removed, at once.
BATCH = 200

#: Names read at once.
PAGE = 1000


def conversation_in(name: str) -> str:
    """Return the name of the conversation that an entry of the index starts with."""
    return " ".join(name.split(" ", 2)[:2])


class Forgets(Reading):
    """Forget an owner, a conversation or an author."""

    async def forget(
        self, target: Owner | Conversation | Author, *, limit: int = 200
    ) -> Forgetting:
        """See `State.forget`."""
        if isinstance(target, Author):
            return await self._forget_author(target.id, limit)
        owner = target.id if isinstance(target, Owner) else target.owner
        partition = partition_of(owner, self.partitions)
        what = f"o {owner}" if isinstance(target, Owner) else f"c {name_of(target)}"
        await self._mark(partition, what, begin=True)
        names = (
            sorted(await self._conversations(partition, owner))
            if isinstance(target, Owner)
            else [name_of(target)]
        )
        removed = 0
        for start in range(0, len(names[:limit]), BATCH):
            batch = names[start : min(start + BATCH, limit)]
            removed += await self._each(scripts.FORGET, batch, [self._keys.beside(partition)])
        done = len(names) <= limit
        if done:
            await self._drop_keys_of(target, owner)
            await self._mark(partition, what, begin=False)
        return Forgetting(done, removed)

    async def _forget_author(self, author: str, limit: int) -> Forgetting:
        for partition in range(self.partitions):
            await self._mark(partition, f"a {author}", begin=True)
        removed = 0
        for partition in range(self.partitions):
            names = sorted(await self._conversations(partition))
            while names:
                left = limit - removed
                batch, names = (
                    names[: min(BATCH, left or BATCH)],
                    names[min(BATCH, left or BATCH) :],
                )
                found = await self._each(scripts.ERASE, batch, [], author, int(left > 0))
                if found and not left:
                    return Forgetting(done=False, removed=removed)
                removed += found
        for partition in range(self.partitions):
            await self._drop_keys(partition, f"k * p {author} *")
            await self._mark(partition, f"a {author}", begin=False)
        return Forgetting(done=True, removed=removed)

    async def _mark(self, partition: int, what: str, *, begin: bool) -> None:
        """Leave a tombstone, or take it away."""
        await self._run(scripts.TOMBSTONE, [self._keys.gone(partition)], [what, int(begin)])

    async def _each(
        self, script: Script, names: Sequence[str], keys: Sequence[str], *arguments: str | int
    ) -> int:
        """Run a script about each conversation; answer for how many it found something."""
        found = await asyncio.gather(
            *(self._one(conversation_named(name), script, keys, arguments) for name in names)
        )
        return sum(found)

    @mended
    async def _one(
        self,
        conversation: Conversation,
        script: Script,
        keys: Sequence[str],
        arguments: Sequence[str | int],
    ) -> int:
        """Run a script about one conversation; answer 1 if it found something, else 0."""
        reply = await self._ask(script, self._keys.of(conversation), keys, arguments)
        return int(reply[1])

    # --- what there is --------------------------------------------------------------------------

    async def _conversations(self, partition: int, owner: str | None = None) -> set[str]:
        """Name the conversations of one partition, or of one owner in it."""
        mine = "" if owner is None else f"{owner} "
        found = {name async for name in self._scanned(self._keys.wake(partition), f"{mine}*")}
        beside = self._keys.beside(partition)
        found |= {name[2:] async for name in self._scanned(beside, f"g {mine}*")}
        for kind in "cft":
            after: str | None = None
            while True:
                _, names = await self._listed(partition, f"{kind} {mine}", after, PAGE)
                found |= {conversation_in(mine + name) for name in names}
                if len(names) < PAGE:
                    break
                after = names[-1]
        return found

    async def _scanned(self, index: str, pattern: str) -> AsyncIterator[str]:
        """Yield the names of an index that match; ids have none of a pattern's characters."""
        async for names in self._calls.members_like(index, pattern, PAGE):
            for name in names:
                yield name.decode()

    # --- what lies beside -----------------------------------------------------------------------

    async def _drop_keys_of(self, target: Owner | Conversation, owner: str) -> None:
        """Remove the key-values of an owner or of a conversation, and the answers about them."""
        tag, partition = self._keys.tag_of(owner), partition_of(owner, self.partitions)
        if isinstance(target, Conversation):
            await self._drop_keys(partition, f"k {owner} c {target.id} *")
            await self._calls.command("DEL", f"{tag}:answers:{owner} c {target.id}")
            return
        await self._drop_keys(partition, f"k {owner} *")
        async for keys in self._calls.keys_like(f"{tag}:*:{owner} *", PAGE):
            if mine := [key for key in keys if self._keys.owner_in(key.decode()) == owner]:
                await self._calls.command("UNLINK", *mine)

    async def _drop_keys(self, partition: int, pattern: str) -> None:
        """Remove the key-values whose names match."""
        beside, tag = self._keys.beside(partition), self._keys.tag(partition)
        names = [name async for name in self._scanned(beside, pattern)]
        for start in range(0, len(names), BATCH):
            batch = names[start : start + BATCH]
            await self._calls.command("DEL", *(f"{tag}:key:{name[2:]}" for name in batch))
            await self._calls.command("ZREM", beside, *batch)
