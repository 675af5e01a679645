"""The steps of `state.ports.Keeping`: key-values, usage and answers."""

import datetime as dt

from state.errors import Unacceptable
from state.ids import PAYLOAD_LIMIT, checked_id
from state.keys import Owner, Scope
from state.ports import USAGE_DAYS
from state.sqlite.handle import Handle
from state.sqlite.purging import ANSWER_MICROSECONDS
from state.sqlite.transaction import Transaction, key_of
from state.values import Changes, Conversation


class Keeping(Handle):
    """Small things kept beside conversations."""

    async def get(self, scope: Scope, key: str) -> bytes | None:
        """See `State.get`."""
        checked_id(key, "key")
        return await self._read(lambda tx: get(tx, scope, key))

    async def put(self, scope: Scope, key: str, value: bytes, *, ttl: float | None = None) -> None:
        """See `State.put`."""
        _check(key, value)
        await self._write(lambda tx: put(tx, scope, key, value, ttl))

    async def put_if_absent(
        self, scope: Scope, key: str, value: bytes, *, op: str, ttl: float | None = None
    ) -> bool:
        """See `State.put_if_absent`."""
        _check(key, value)
        return await self._write(lambda tx: put_if_absent(tx, scope, key, value, op, ttl))

    async def delete(self, scope: Scope, key: str) -> None:
        """See `State.delete`."""
        checked_id(key, "key")
        await self._write(lambda tx: delete(tx, scope, key))

    async def append(
        self, scope: Scope, key: str, value: bytes, *, most: int, op: str, ttl: float | None = None
    ) -> int:
        """See `State.append`."""
        _check(key, value)
        return await self._write(lambda tx: append(tx, scope, key, value, most, op, ttl))

    async def items(self, scope: Scope, key: str) -> tuple[bytes, ...]:
        """See `State.items`."""
        checked_id(key, "key")
        return await self._read(lambda tx: items(tx, scope, key))

    async def increment(
        self, scope: Scope, key: str, *, op: str, by: int = 1, window: float | None = None
    ) -> int:
        """See `State.increment`."""
        checked_id(key, "key")
        return await self._write(lambda tx: increment(tx, scope, key, op, by, window))

    async def usage(self, owner: str, day: str) -> dict[str, int]:
        """See `State.usage`."""
        return await self._read(lambda tx: usage(tx, owner, day))

    async def answer(self, conversation: Conversation, inbound: str) -> bytes | None:
        """See `State.answer`."""
        return await self._read(lambda tx: answer(tx, conversation, inbound))


def _check(key: str, value: bytes) -> None:
    checked_id(key, "key")
    if len(value) > PAYLOAD_LIMIT:
        raise Unacceptable(f"a value of {len(value)} bytes; {PAYLOAD_LIMIT} are allowed")


# --- key-values ---------------------------------------------------------------------------------


def get(tx: Transaction, scope: Scope, key: str) -> bytes | None:
    """See `State.get`."""
    tx.refuse_target(Owner(scope.owner))
    found = _living(tx, scope, key)
    return found[1] if found else None


def put(tx: Transaction, scope: Scope, key: str, value: bytes, ttl: float | None) -> None:
    """See `State.put`."""
    tx.refuse_target(Owner(scope.owner))
    _keep(tx, scope, key, value, None, ttl)


def put_if_absent(
    tx: Transaction, scope: Scope, key: str, value: bytes, op: str, ttl: float | None
) -> bool:
    """See `State.put_if_absent`."""
    first: bool | None = tx.first_answer(_place(scope), op)
    if first is not None:
        return first
    tx.refuse_target(Owner(scope.owner))
    absent = _living(tx, scope, key) is None
    if absent:
        _keep(tx, scope, key, value, None, ttl)
    tx.remember(_place(scope), op, absent)
    return absent


def delete(tx: Transaction, scope: Scope, key: str) -> None:
    """See `State.delete`."""
    tx.refuse_target(Owner(scope.owner))
    _drop(tx, scope, key)


def append(
    tx: Transaction, scope: Scope, key: str, value: bytes, most: int, op: str, ttl: float | None
) -> int:
    """See `State.append`."""
    first: int | None = tx.first_answer(_place(scope), op)
    if first is not None:
        return first
    tx.refuse_target(Owner(scope.owner))
    found = _living(tx, scope, key)
    if found is not None and found[1] is None and found[2] is None:
        pair = found[0]
        tx.execute("UPDATE pair SET until = ? WHERE id = ?", (_until(tx, ttl), pair))
    else:
        pair = _keep(tx, scope, key, None, None, ttl)
    tx.execute("INSERT INTO item (pair, value) VALUES (?, ?)", (pair, value))
    tx.execute(
        "DELETE FROM item WHERE pair = ? AND id NOT IN "
        "(SELECT id FROM item WHERE pair = ? ORDER BY id DESC LIMIT ?)",
        (pair, pair, most),
    )
    (length,) = tx.execute("SELECT count(*) FROM item WHERE pair = ?", (pair,)).fetchone()
    tx.remember(_place(scope), op, length)
    return int(length)


def items(tx: Transaction, scope: Scope, key: str) -> tuple[bytes, ...]:
    """See `State.items`."""
    tx.refuse_target(Owner(scope.owner))
    found = _living(tx, scope, key)
    if found is None:
        return ()
    rows = tx.execute("SELECT value FROM item WHERE pair = ? ORDER BY id", (found[0],))
    return tuple(value for (value,) in rows)


def increment(
    tx: Transaction, scope: Scope, key: str, op: str, by: int, window: float | None
) -> int:
    """See `State.increment`."""
    first: int | None = tx.first_answer(_place(scope), op)
    if first is not None:
        return first
    tx.refuse_target(Owner(scope.owner))
    found = _living(tx, scope, key)
    total = by
    if found is not None and found[2] is not None:
        total += found[2]
        tx.execute("UPDATE pair SET count = ? WHERE id = ?", (total, found[0]))
    else:
        _keep(tx, scope, key, None, by, window)
    tx.remember(_place(scope), op, total)
    return total


def _living(tx: Transaction, scope: Scope, key: str) -> tuple[int, bytes | None, int | None] | None:
    """The row id, value and count of what is kept under a key and has not expired."""
    found: tuple[int, bytes | None, int | None] | None = tx.execute(
        "SELECT id, value, count FROM pair "
        "WHERE owner = ? AND conversation = ? AND person = ? AND key = ? "
        "AND coalesce(until > ?, 1)",
        (*_columns(scope), key, tx.now),
    ).fetchone()
    return found


def _keep(
    tx: Transaction,
    scope: Scope,
    key: str,
    value: bytes | None,
    count: int | None,
    ttl: float | None,
) -> int:
    """Write a pair in the place of whatever was there; answer its row id."""
    _drop(tx, scope, key)
    written = tx.execute(
        "INSERT INTO pair (owner, conversation, person, key, value, count, until) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (*_columns(scope), key, value, count, _until(tx, ttl)),
    )
    return int(written.lastrowid or 0)


def _drop(tx: Transaction, scope: Scope, key: str) -> None:
    gone = tx.execute(
        "DELETE FROM pair WHERE owner = ? AND conversation = ? AND person = ? AND key = ? "
        "RETURNING id",
        (*_columns(scope), key),
    ).fetchone()
    if gone is not None:
        tx.execute("DELETE FROM item WHERE pair = ?", gone)


def _until(tx: Transaction, ttl: float | None) -> int | None:
    return None if ttl is None else tx.now + int(ttl * 1e6)


def _columns(scope: Scope) -> tuple[str, str, str]:
    return scope.owner, scope.conversation or "", scope.person or ""


def _place(scope: Scope) -> Conversation:
    """Where the answers to a scope's operations are remembered."""
    return Conversation(scope.owner, scope.conversation or scope.person or "owner")


# --- usage and answers --------------------------------------------------------------------------


def refuse_foreign(owner: str, changes: Changes) -> None:
    """Refuse to write another owner's key, which may lie in another partition."""
    for pair in changes.puts:
        if pair.scope.owner != owner:
            raise Unacceptable(f"a commit of {owner} cannot write a key of {pair.scope.owner}")


def write_beside(tx: Transaction, owner: str, changes: Changes) -> None:
    """Write what a commit keeps beside its conversation."""
    for pair in changes.puts:
        if pair.value is None:
            _drop(tx, pair.scope, pair.key)
        else:
            _keep(tx, pair.scope, pair.key, pair.value, None, pair.ttl)
    use(tx, owner, changes)


def use(tx: Transaction, owner: str, changes: Changes) -> None:
    """Add to the owner's usage of today."""
    if not changes.usage:
        return
    today = dt.datetime.fromtimestamp(tx.now / 1e6, dt.UTC).date()
    for name, amount in changes.usage.items():
        tx.execute(
            "INSERT INTO usage VALUES (?, ?, ?, ?) "
            "ON CONFLICT DO UPDATE SET amount = amount + excluded.amount",
            (owner, today.isoformat(), name, amount),
        )
    oldest = today - dt.timedelta(days=USAGE_DAYS)
    tx.execute("DELETE FROM usage WHERE owner = ? AND day < ?", (owner, oldest.isoformat()))


def usage(tx: Transaction, owner: str, day: str) -> dict[str, int]:
    """See `State.usage`."""
    rows = tx.execute("SELECT name, amount FROM usage WHERE owner = ? AND day = ?", (owner, day))
    return dict(rows.fetchall())


def answer(tx: Transaction, conversation: Conversation, inbound: str) -> bytes | None:
    """See `State.answer`."""
    found = tx.execute(
        "SELECT value FROM answer WHERE conversation = ? AND inbound = ? AND at >= ?",
        (key_of(conversation), inbound, tx.now - ANSWER_MICROSECONDS),
    ).fetchone()
    return found[0] if found else None
