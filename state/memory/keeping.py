"""Key-values, usage and answers."""

import datetime as dt
from collections import Counter

from state.errors import Unacceptable
from state.ids import PAYLOAD_LIMIT, checked_id
from state.keys import Owner, Scope
from state.memory.handle import Handle, Kept
from state.memory.records import Record
from state.ports import USAGE_DAYS
from state.values import (
    Changes,
    Conversation,
)


class Keeping(Handle):
    """Small things kept beside the conversations of a `Database`."""

    async def get(self, scope: Scope, key: str) -> bytes | None:
        """See `State.get`."""
        kept = self._kept(scope, key)
        return kept.value if kept is not None and isinstance(kept.value, bytes) else None

    async def put(self, scope: Scope, key: str, value: bytes, *, ttl: float | None = None) -> None:
        """See `State.put`."""
        self._kept(scope, key)
        self._keep(scope, key, _bounded(value), ttl)

    async def put_if_absent(
        self, scope: Scope, key: str, value: bytes, *, op: str, ttl: float | None = None
    ) -> bool:
        """See `State.put_if_absent`."""
        first: bool | None = self._first_answer(_place(scope), op)
        if first is not None:
            return first
        absent = self._kept(scope, key) is None
        if absent:
            self._keep(scope, key, _bounded(value), ttl)
        return self._answer(_place(scope), op, absent)

    async def delete(self, scope: Scope, key: str) -> None:
        """See `State.delete`."""
        self._kept(scope, key)
        self._db.keys.pop((scope, key), None)

    async def append(
        self, scope: Scope, key: str, value: bytes, *, most: int, op: str, ttl: float | None = None
    ) -> int:
        """See `State.append`."""
        first: int | None = self._first_answer(_place(scope), op)
        if first is not None:
            return first
        kept = self._kept(scope, key)
        earlier = kept.value if kept is not None and isinstance(kept.value, list) else []
        longer = [*earlier, _bounded(value)]
        newest = longer[max(0, len(longer) - most) :]
        self._keep(scope, key, newest, ttl)
        return self._answer(_place(scope), op, len(newest))

    async def items(self, scope: Scope, key: str) -> tuple[bytes, ...]:
        """See `State.items`."""
        kept = self._kept(scope, key)
        return tuple(kept.value) if kept is not None and isinstance(kept.value, list) else ()

    async def increment(
        self, scope: Scope, key: str, *, op: str, by: int = 1, window: float | None = None
    ) -> int:
        """See `State.increment`."""
        first: int | None = self._first_answer(_place(scope), op)
        if first is not None:
            return first
        kept = self._kept(scope, key)
        if kept is not None and isinstance(kept.value, int):
            kept.value += by
            return self._answer(_place(scope), op, kept.value)
        self._keep(scope, key, by, window)
        return self._answer(_place(scope), op, by)

    async def usage(self, owner: str, day: str) -> dict[str, int]:
        """See `State.usage`."""
        self._now()
        return dict(self._db.usage.get((owner, day), {}))

    async def answer(self, conversation: Conversation, inbound: str) -> bytes | None:
        """See `State.answer`."""
        self._now()
        record = self._db.records.get(conversation)
        if record is None:
            return None
        self._sweep(record)
        given = record.given.get(inbound)
        return given[1] if given else None

    def _write_beside(self, record: Record, changes: Changes, now: int) -> None:
        """Write what a commit keeps beside its conversation."""
        for put in changes.puts:
            if put.value is None:
                self._db.keys.pop((put.scope, put.key), None)
            else:
                self._keep(put.scope, put.key, put.value, put.ttl)
        self._use(record, changes, now)

    def _use(self, record: Record, changes: Changes, now: int) -> None:
        """Add to the owner's usage of today."""
        if not changes.usage:
            return
        owner, today = record.conversation.owner, dt.datetime.fromtimestamp(now / 1e6, dt.UTC)
        usage, key = self._db.usage, (owner, _day(today))
        if key not in usage:
            oldest = _day(today - dt.timedelta(days=USAGE_DAYS))
            for old in [k for k in usage if k[0] == owner and k[1] < oldest]:
                del usage[old]
        usage.setdefault(key, Counter()).update(changes.usage)

    def _kept(self, scope: Scope, key: str) -> Kept | None:
        """What is kept under a key now; expired things are dropped on the way."""
        now = self._now()
        checked_id(key, "key")
        self._not_gone(Owner(scope.owner))
        kept = self._db.keys.get((scope, key))
        if kept is not None and kept.until is not None and kept.until <= now:
            del self._db.keys[scope, key]
            return None
        return kept

    def _keep(
        self, scope: Scope, key: str, value: bytes | list[bytes] | int, ttl: float | None
    ) -> None:
        until = None if ttl is None else self._now() + int(ttl * 1e6)
        self._db.keys[scope, key] = Kept(value, until)


def refuse_foreign(owner: str, changes: Changes) -> None:
    """Refuse to write another owner's key, which may lie in another partition."""
    for put in changes.puts:
        if put.scope.owner != owner:
            raise Unacceptable(f"a commit of {owner} cannot write a key of {put.scope.owner}")


def _day(moment: dt.datetime) -> str:
    return moment.date().isoformat()


def _place(scope: Scope) -> Conversation:
    """Where the answers to a scope's operations are remembered."""
    return Conversation(scope.owner, scope.conversation or scope.person or "owner")


def _bounded(value: bytes) -> bytes:
    if len(value) > PAYLOAD_LIMIT:
        raise Unacceptable(f"a value of {len(value)} bytes; {PAYLOAD_LIMIT} are allowed")
    return value
