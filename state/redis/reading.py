"""The steps that read, and the subscriptions."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from state.errors import Unacceptable
from state.mending import mended
from state.outcomes import Due, Entry, Subscriptions, View
from state.partition import partition_of
from state.redis import replies, scripts
from state.redis.handle import Handle
from state.redis.keys import conversation_named, name_of
from state.values import Conversation

Named = TypeVar("Named")


class Reading(Handle):
    """Views, history, due work and subscriptions of a Redis store."""

    async def due(self, partition: int, limit: int, *, ahead: float = 0.0) -> Due:
        """See `State.due`."""
        keys = [self._keys.wake(partition), self._keys.signals(partition)]
        names, signals = await self._run(scripts.DUE, keys, [limit, int(ahead * 1e6)])
        return Due(
            await self._named(keys[0], names, lambda name: conversation_named(name.decode())),
            await self._named(keys[1], signals, replies.signal_named),
        )

    async def _named(
        self, index: str, names: Sequence[bytes], read: Callable[[bytes], Named]
    ) -> tuple[Named, ...]:
        """Read names of an index; one that cannot be read names nothing, and is dropped from it."""
        found: list[Named] = []
        for name in names:
            try:
                found.append(read(name))
            except (ValueError, Unacceptable):
                await self._calls.command("ZREM", index, name)
        return tuple(found)

    @mended
    async def view(self, conversation: Conversation) -> View:
        """See `State.view`."""
        reply = await self._step(scripts.VIEW, conversation)
        now, live, followed = (reply.number() for _ in range(3))
        wake, dead, fields = reply.next(), reply.number(), reply.many()
        return View(
            replies.Turn(fields).running(now, live=bool(live)) if fields else None,
            tuple(replies.inbound(raw) for raw in reply.rest()),
            bool(followed),
            None if wake is None else (int(float(wake)) - now) / 1e6,
            dead,
        )

    @mended
    async def history(
        self, conversation: Conversation, *, before: int | None = None, limit: int = 50
    ) -> tuple[Entry, ...]:
        """See `State.history`."""
        below = "" if before is None else before
        reply = await self._step(scripts.HISTORY, conversation, below, limit)
        lines = (line.split(b" ", 2) for line in reply.rest())
        return tuple(Entry(int(number), payload) for number, _, payload in lines)

    @mended
    async def answer(self, conversation: Conversation, inbound: str) -> bytes | None:
        """See `State.answer`."""
        reply = await self._step(scripts.GIVEN, conversation, inbound)
        given: bytes | None = reply.next()
        return given

    @mended
    async def reset(self, conversation: Conversation) -> None:
        """See `State.reset`."""
        await self._step(scripts.RESET, conversation)

    # --- subscriptions --------------------------------------------------------------------------

    @mended
    async def subscribe(self, conversation: Conversation) -> None:
        """See `State.subscribe`."""
        await self._step(scripts.SUBSCRIBE, conversation)

    @mended
    async def unsubscribe(self, conversation: Conversation) -> None:
        """See `State.unsubscribe`."""
        await self._step(scripts.UNSUBSCRIBE, conversation)

    async def is_subscribed(self, conversation: Conversation) -> bool:
        """See `State.is_subscribed`."""
        index = self._keys.index(partition_of(conversation.owner, self.partitions))
        score = await self._calls.command("ZSCORE", index, f"f {name_of(conversation)}")
        return score is not None

    async def subscriptions(self, cursor: str | None = None, limit: int = 200) -> Subscriptions:
        """See `State.subscriptions`; partition by partition, the cursor is the last name given."""
        partition, after = 0, cursor
        if cursor is not None:
            partition = partition_of(cursor.partition(" ")[0], self.partitions)
        found: list[str] = []
        while partition < self.partitions and len(found) <= limit:
            _, names = await self._listed(partition, "f ", after, limit + 1 - len(found))
            found += names
            partition, after = partition + 1, None
        page = found[:limit]
        more = len(found) > len(page) and page
        return Subscriptions(
            tuple(conversation_named(name) for name in page), page[-1] if more else None
        )

    # --- the index ------------------------------------------------------------------------------

    async def _listed(
        self, partition: int, kind: str, after: str | None, most: int
    ) -> tuple[int, list[str]]:
        """
        List names of the index that start with *kind*, without it, after that of a page before.

        Answer the store's time (µs) and at most *most* of them. *kind* ends with a space.
        """
        start = f"[{kind}" if after is None else f"({kind}{after}"
        stop = f"({kind[:-1]}!"  # the exclamation mark is what follows a space
        keys = [self._keys.index(partition)]
        now, *names = await self._run(scripts.LISTED, keys, [start, stop, most])
        return int(now), [name.decode()[len(kind) :] for name in names]

    async def _field(self, kind: str, conversation: Conversation, field: str) -> bytes | None:
        """Read one field of one of a conversation's hashes."""
        of = self._keys.of(conversation)
        value: bytes | None = await self._calls.command("HGET", f"{of.tag}:{kind}:{of.name}", field)
        return value
