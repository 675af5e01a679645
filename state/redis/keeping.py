"""The steps on key-values and usage."""

import datetime as dt
from typing import Any

from state.errors import Gone, Unacceptable
from state.ids import PAYLOAD_LIMIT, checked_id
from state.keys import Scope
from state.redis import scripts, wire
from state.redis.handle import Handle
from state.redis.keys import whose_key
from state.redis.resp import Argument

_FIRST_DAY = dt.date(1970, 1, 1)


class Keeping(Handle):
    """Small things kept beside conversations."""

    async def get(self, scope: Scope, key: str) -> bytes | None:
        """See `State.get`."""
        value: bytes | None = (await self._keyed(scripts.GET, scope, key))[0]
        return value

    async def put(self, scope: Scope, key: str, value: bytes, *, ttl: float | None = None) -> None:
        """See `State.put`."""
        await self._keyed(scripts.PUT, scope, key, wire.life(ttl), bounded(value))

    async def put_if_absent(
        self, scope: Scope, key: str, value: bytes, *, op: str, ttl: float | None = None
    ) -> bool:
        """See `State.put_if_absent`."""
        given = (wire.life(ttl), bounded(value), op)
        return bool((await self._keyed(scripts.PUT_IF_ABSENT, scope, key, *given))[0])

    async def delete(self, scope: Scope, key: str) -> None:
        """See `State.delete`."""
        await self._keyed(scripts.DELETE, scope, key)

    async def append(
        self, scope: Scope, key: str, value: bytes, *, most: int, op: str, ttl: float | None = None
    ) -> int:
        """See `State.append`."""
        given = (wire.life(ttl), bounded(value), op, most)
        return int((await self._keyed(scripts.APPEND, scope, key, *given))[0])

    async def items(self, scope: Scope, key: str) -> tuple[bytes, ...]:
        """See `State.items`."""
        return tuple(await self._keyed(scripts.ITEMS, scope, key))

    async def increment(
        self, scope: Scope, key: str, *, op: str, by: int = 1, window: float | None = None
    ) -> int:
        """See `State.increment`."""
        given = (wire.life(window), by, op)
        return int((await self._keyed(scripts.INCREMENT, scope, key, *given))[0])

    async def usage(self, owner: str, day: str) -> dict[str, int]:
        """See `State.usage`."""
        try:
            number = (dt.date.fromisoformat(day) - _FIRST_DAY).days
        except ValueError:  # nothing was ever used on what is no day
            return {}
        found = await self._run(scripts.USAGE, [self._keys.usage(owner)], [number])
        names = (name.decode("utf-8", "surrogatepass") for name in found[::2])
        return dict(zip(names, map(int, found[1::2]), strict=True))

    async def _keyed(
        self, script: scripts.Script, scope: Scope, key: str, *arguments: Argument
    ) -> list[Any]:
        """Run a script about one key; return its reply after the kind."""
        keys = self._keys.scoped(scope, checked_id(key, "key"))
        name = f"k {whose_key(scope)} {key}"
        told: list[Any]
        kind, *told = await self._run(script, keys, [name, *arguments])
        if kind == b"gone":
            raise Gone(f"{scope.owner} is being forgotten; try again in a moment")
        return told


def bounded(value: bytes) -> bytes:
    """Return *value* if it is small enough, else raise `Unacceptable`."""
    if len(value) > PAYLOAD_LIMIT:
        raise Unacceptable(f"a value of {len(value)} bytes; {PAYLOAD_LIMIT} are allowed")
    return value
