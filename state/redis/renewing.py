"""Renewals, and what they tell of a store that was set back."""

import asyncio
from collections.abc import Sequence
from time import monotonic
from typing import Any

from state.outcomes import Held, Lost
from state.partition import partition_of
from state.ports import BEAT_WINDOW, WENT_BACK
from state.redis import scripts, wire
from state.redis.handle import Handle
from state.redis.keys import name_of
from state.redis.opening import found_again
from state.redis.resp import Argument
from state.values import Lease, SignalKind

#: Leases renewed by one script, which holds up every other caller of its server meanwhile.
RENEW_BATCH = 200


class Renewing(Handle):
    """The renewals of a Redis store."""

    async def renew(self, leases: Sequence[Lease], seconds: float) -> list[Held | Lost]:
        """See `State.renew`."""
        places: dict[int, list[int]] = {}
        for place, lease in enumerate(leases):
            partition = partition_of(lease.conversation.owner, self.partitions)
            places.setdefault(partition, []).append(place)
        # Each partition is waited for, so that none is left behind when another fails.
        found = await asyncio.gather(
            *(
                self._renew(part, [leases[n] for n in mine], seconds)
                for part, mine in places.items()
            ),
            return_exceptions=True,
        )
        answers: list[Held | Lost] = [Lost()] * len(leases)
        for mine, batch in zip(places.values(), found, strict=True):
            if isinstance(batch, BaseException):
                raise batch
            for place, answer in zip(mine, batch, strict=True):
                answers[place] = answer
        return answers

    async def _renew(
        self, partition: int, leases: Sequence[Lease], seconds: float
    ) -> list[Held | Lost]:
        """Renew the leases of one partition, all from how far this handle came there."""
        came, beaten = self._beats.get(partition, (0, 0.0))
        # Half of the window, so that what was forgotten in time is not taken for lost.
        came = came if monotonic() - beaten < BEAT_WINDOW / 2 else 0
        batches = await asyncio.gather(
            *(
                self._renewed(partition, leases[start : start + RENEW_BATCH], seconds, came)
                for start in range(0, len(leases), RENEW_BATCH)
            ),
            return_exceptions=True,
        )
        answers: list[Held | Lost] = []
        for batch in batches:
            if isinstance(batch, BaseException):
                raise batch
            number, held = batch
            answers += held
            came = max(came, number) if number else 0
            if not number:
                self._happened = (WENT_BACK,)
                await found_again(self._calls, self._prefix, self.partitions)
        self._beats[partition] = came, monotonic()
        return answers

    async def _renewed(
        self, partition: int, leases: Sequence[Lease], seconds: float, came: int
    ) -> tuple[int, list[Held | Lost]]:
        turns = [self._keys.of(lease.conversation).turn for lease in leases]
        own = self._keys.came(partition, self._name)
        keys = [self._keys.wake(partition), self._keys.gone(partition), own, *turns]
        named = [part for le in leases for part in (name_of(le.conversation), le.token)]
        asked: list[Argument] = [wire.microseconds(seconds), came, *named]
        number, *reply = await self._run(scripts.RENEW, keys, asked)
        return number, [held_or_lost(item) for item in reply]


def held_or_lost(item: Any) -> Held | Lost:  # noqa: ANN401 (0, a signal or None)
    """Read what became of one lease in a renewal."""
    if item == 0:
        return Lost()
    if item is None:
        return Held()
    try:
        kind, _, by = item.decode("utf-8", "surrogatepass").partition(" ")
        return Held(SignalKind(kind), by)
    except ValueError:
        return Held()  # the next step sets it aside; it costs nobody else a lease
