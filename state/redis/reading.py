"""The steps that read, and the subscriptions: what needs neither lease nor operation id."""

from state.outcomes import Due, Entry, Subscriptions, View
from state.partition import partition_of
from state.redis import scripts, wire
from state.redis.handle import Handle
from state.redis.keys import conversation_named, name_of
from state.values import Conversation


class Reading(Handle):
    """Views, history, due work and subscriptions of a Redis store."""

    async def due(self, partition: int, limit: int) -> Due:
        """See `State.due`."""
        keys = [self._keys.wake(partition), self._keys.signals(partition)]
        names, signals = await self._run(scripts.DUE, keys, [limit])
        return Due(
            tuple(conversation_named(name) for name in names),
            tuple(wire.signal_named(signal) for signal in signals),
        )

    async def view(self, conversation: Conversation) -> View:
        """See `State.view`."""
        reply = await self._step(scripts.VIEW, conversation)
        _, now, live, followed = reply.next(), *(int(reply.next()) for _ in range(3))
        wake, dead, fields = reply.next(), int(reply.next()), reply.many()
        return View(
            wire.Turn(fields).running(now, live=bool(live)) if fields else None,
            tuple(wire.inbound(raw) for raw in reply.rest()),
            bool(followed),
            None if wake is None else (int(float(wake)) - now) / 1e6,
            dead,
        )

    async def history(
        self, conversation: Conversation, *, before: int | None = None, limit: int = 50
    ) -> tuple[Entry, ...]:
        """See `State.history`."""
        reply = await self._step(
            scripts.HISTORY, conversation, "" if before is None else before, limit
        )
        _, first = reply.next(), int(reply.next())
        return tuple(Entry(first + place, payload) for place, payload in enumerate(reply.rest()))

    async def reset(self, conversation: Conversation) -> None:
        """See `State.reset`."""
        await self._step(scripts.RESET, conversation)

    # --- subscriptions: single commands where one command is the whole step ----------------------

    async def subscribe(self, conversation: Conversation) -> None:
        """See `State.subscribe`."""
        await self._calls.command("ZADD", self._followed(conversation), 0, name_of(conversation))

    async def unsubscribe(self, conversation: Conversation) -> None:
        """See `State.unsubscribe`."""
        await self._step(scripts.UNSUBSCRIBE, conversation)

    async def is_subscribed(self, conversation: Conversation) -> bool:
        """See `State.is_subscribed`."""
        score = await self._calls.command(
            "ZSCORE", self._followed(conversation), name_of(conversation)
        )
        return score is not None

    async def subscriptions(self, cursor: str | None = None, limit: int = 200) -> Subscriptions:
        """See `State.subscriptions`; partition by partition, the cursor is the last name given."""
        partition, after = 0, "-"
        if cursor is not None:
            partition = partition_of(cursor.partition(" ")[0], self.partitions)
            after = f"({cursor}"
        found: list[bytes] = []
        while partition < self.partitions and len(found) <= limit:
            key, wanted = self._keys.followed(partition), limit + 1 - len(found)
            found += await self._calls.command("ZRANGEBYLEX", key, after, "+", "LIMIT", 0, wanted)
            partition, after = partition + 1, "-"
        page = found[:limit]
        more = len(found) > len(page) and page
        return Subscriptions(
            tuple(conversation_named(name) for name in page), page[-1].decode() if more else None
        )

    def _followed(self, conversation: Conversation) -> str:
        return self._keys.followed(partition_of(conversation.owner, self.partitions))
