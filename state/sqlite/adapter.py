"""The state port over one SQLite file: each step is one function of an immediate transaction."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import TypeVar, cast

from state.errors import StateError, StateInvalid, StateUnavailable
from state.outcomes import (
    Admission,
    Busy,
    Drift,
    Due,
    Entry,
    Held,
    Killed,
    Lost,
    NotRunning,
    Retrying,
    Signalled,
    Subscriptions,
    Turnover,
    View,
)
from state.partition import DEFAULT_PARTITIONS
from state.sqlite import file, journal, reading, requests, steps
from state.sqlite.hints import channel_of
from state.sqlite.records import Transaction
from state.sqlite.writer import Settings, Writer
from state.values import (
    Changes,
    Claim,
    Conversation,
    Could,
    Inbound,
    Lease,
    Page,
    Policy,
    Signal,
    SignalKind,
)

Answer = TypeVar("Answer")


class SqliteState:
    """
    Every step of `state.ports.State` over one file, which several processes may share.

    `:memory:` is private to its handle.
    """

    def __init__(
        self,
        path: str,
        *,
        partitions: int = DEFAULT_PARTITIONS,
        clock: Callable[[], float] | None = None,
        synchronous: str = "FULL",
    ) -> None:
        """
        Name the file; `open` opens it.

        *partitions* is what a new file is created with. *clock* (seconds) replaces this machine's
        in tests. *synchronous* is SQLite's: FULL keeps every acknowledged step through a power
        cut, NORMAL through the death of the process. Raise `StateInvalid` for another level.
        """
        level = synchronous.upper()
        if level not in file.SYNCHRONOUS:
            known = ", ".join(file.SYNCHRONOUS).lower()
            raise StateInvalid(f"synchronous={synchronous}: one of {known} is expected")
        self._settings = Settings(path, partitions, clock or time.time, level)
        self._channel = channel_of(path)
        self._writer: Writer | None = None

    @property
    def partitions(self) -> int:
        """The number of partitions, fixed when the file was created."""
        return self._settings.partitions

    async def open(self) -> None:
        """See `State.open`."""
        if self._writer is None or self._writer.failed:
            self._writer = Writer(self._settings, self._channel)
        writer = self._writer
        try:
            self._settings.partitions = await asyncio.shield(writer.opened)
        except StateError:
            await writer.stop()
            raise

    async def close(self) -> None:
        """See `State.close`."""
        writer, self._writer = self._writer, None
        if writer is not None:
            await writer.stop()

    async def ping(self) -> None:
        """See `State.ping`."""
        await self._read(lambda tx: tx.execute("SELECT partitions FROM store").fetchone())

    async def _write(self, step: Callable[[Transaction], Answer]) -> Answer:
        return cast("Answer", await self._open_writer().ask(step, writes=True))

    async def _read(self, step: Callable[[Transaction], Answer]) -> Answer:
        return cast("Answer", await self._open_writer().ask(step, writes=False))

    def _open_writer(self) -> Writer:
        if self._writer is None or not self._writer.ready:
            raise StateUnavailable("the state is not open: await state.open() first")
        return self._writer

    # --- admission and hand-over ---------------------------------------------------------------

    async def admit(
        self,
        conversation: Conversation,
        inbound: Inbound,
        could: Could,
        policy: Policy,
        *,
        op: str,
        claim: Claim | None,
    ) -> Admission:
        """See `State.admit`."""
        return await self._write(
            lambda tx: steps.admit(tx, conversation, inbound, could, policy, op, claim)
        )

    async def claim(self, conversation: Conversation, *, op: str, claim: Claim) -> Turnover | Busy:
        """See `State.claim`."""
        return await self._write(lambda tx: steps.claim(tx, conversation, op, claim))

    async def renew(self, leases: Sequence[Lease], seconds: float) -> list[Held | Lost]:
        """See `State.renew`."""
        return await self._write(lambda tx: [steps.renew(tx, lease, seconds) for lease in leases])

    async def supersede(
        self,
        lease: Lease,
        *,
        op: str,
        claim: Claim,
        carry: bytes | None = None,
        changes: Changes | None = None,
    ) -> Turnover:
        """See `State.supersede`."""
        return await self._write(lambda tx: steps.supersede(tx, lease, op, claim, carry, changes))

    async def take(self, lease: Lease, key: str, author: str | None = None) -> tuple[Inbound, ...]:
        """See `State.take`."""
        return await self._write(lambda tx: journal.take(tx, lease, key, author))

    async def record(self, lease: Lease, name: str, key: str, value: bytes) -> bytes:
        """See `State.record`."""
        return await self._write(lambda tx: journal.record(tx, lease, name, key, value))

    async def page(self, lease: Lease, number: int, issue: int, intent: bytes) -> Page:
        """See `State.page`."""
        return await self._write(lambda tx: journal.page(tx, lease, number, issue, intent))

    async def posted(self, lease: Lease, number: int, issue: int, message_id: str) -> None:
        """See `State.posted`."""
        await self._write(lambda tx: journal.posted(tx, lease, number, issue, message_id))

    async def commit(
        self, lease: Lease, changes: Changes, *, op: str, claim: Claim | None
    ) -> Turnover | Drift:
        """See `State.commit`."""
        return await self._write(lambda tx: steps.commit(tx, lease, changes, op, claim))

    async def fail(
        self,
        lease: Lease,
        error: str,
        changes: Changes,
        *,
        retry_in: float | None,
        limit: int,
        op: str,
        claim: Claim | None,
    ) -> Turnover | Retrying:
        """See `State.fail`."""
        return await self._write(
            lambda tx: steps.fail(tx, lease, error, changes, retry_in, limit, op, claim)
        )

    async def park(self, lease: Lease, *, op: str) -> None:
        """See `State.park`."""
        await self._write(lambda tx: steps.park(tx, lease, op))

    # --- requests to a holder -------------------------------------------------------------------

    async def signal(
        self, conversation: Conversation, turn: str, kind: SignalKind, *, by: str, op: str
    ) -> Signalled | NotRunning:
        """See `State.signal`."""
        return await self._write(lambda tx: requests.signal(tx, conversation, turn, kind, by, op))

    async def kill(
        self, conversation: Conversation, *, by: str, op: str, author: str | None = None
    ) -> Killed:
        """See `State.kill`."""
        return await self._write(lambda tx: requests.kill(tx, conversation, by, op, author))

    async def hints(self) -> AsyncGenerator[Signal, None]:
        """See `State.hints`; those of other processes come within a fifth of a second."""
        with self._channel.listener() as queue:
            self._open_writer().wake()
            while True:
                yield await queue.get()

    # --- reading --------------------------------------------------------------------------------

    async def due(self, partition: int, limit: int) -> Due:
        """See `State.due`."""
        return await self._read(lambda tx: reading.due(tx, partition, limit))

    async def view(self, conversation: Conversation) -> View:
        """See `State.view`."""
        return await self._read(lambda tx: reading.view(tx, conversation))

    async def history(
        self, conversation: Conversation, *, before: int | None = None, limit: int = 50
    ) -> tuple[Entry, ...]:
        """See `State.history`."""
        return await self._read(lambda tx: reading.history(tx, conversation, before, limit))

    async def reset(self, conversation: Conversation) -> None:
        """See `State.reset`."""
        await self._write(lambda tx: reading.reset(tx, conversation))

    # --- subscriptions --------------------------------------------------------------------------

    async def subscribe(self, conversation: Conversation) -> None:
        """See `State.subscribe`."""
        await self._write(lambda tx: reading.subscribe(tx, conversation))

    async def unsubscribe(self, conversation: Conversation) -> None:
        """See `State.unsubscribe`."""
        await self._write(lambda tx: reading.unsubscribe(tx, conversation))

    async def is_subscribed(self, conversation: Conversation) -> bool:
        """See `State.is_subscribed`."""
        return await self._read(lambda tx: reading.is_subscribed(tx, conversation))

    async def subscriptions(self, cursor: str | None = None, limit: int = 200) -> Subscriptions:
        """See `State.subscriptions`."""
        return await self._read(lambda tx: reading.subscriptions(tx, cursor, limit))
