"""A handle on one file: opening, closing, and asking its thread to run a step."""

import asyncio
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar, cast

from state.errors import StateError, StateInvalid, StateUnavailable
from state.mending import UNREADABLE
from state.partition import DEFAULT_PARTITIONS
from state.sqlite import file, unreadable
from state.sqlite.hints import channel_of
from state.sqlite.transaction import Transaction
from state.sqlite.writer import Settings, Writer
from state.values import Conversation

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Beat:
    """How far a handle came with its renewals, as it was told, and when that was (µs)."""

    process: str = field(default_factory=lambda: secrets.token_hex(8))
    number: int = 0
    at: int = 0


class Handle:
    """What the steps of `SqliteState` run through."""

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
        self._happened: tuple[str, ...] = ()
        self._beat = Beat()

    @property
    def partitions(self) -> int:
        """The number of partitions, fixed when the file was created."""
        return self._settings.partitions

    @property
    def notices(self) -> tuple[str, ...]:
        """What an operator should know: whether a power cut may cost the last commits."""
        if self._settings.synchronous == "NORMAL":
            normal = "synchronous=normal: a power cut may cost the last commits; a crash does not."
            return (normal, *self._happened)
        return self._happened

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

    async def _set_aside(self, conversation: Conversation) -> None:
        """Make dead letters of what cannot be read."""
        await self._write(lambda tx: unreadable.set_aside(tx, conversation))

    async def _listed(
        self, step: Callable[[Transaction], Answer], lowest: str, beyond: str
    ) -> Answer:
        """Read a list over a range of keys, without what cannot be read there."""
        try:
            return await self._read(step)
        except UNREADABLE:
            await self._write(lambda tx: unreadable.set_aside_range(tx, lowest, beyond))
        return await self._read(step)

    def _open_writer(self) -> Writer:
        if self._writer is None or not self._writer.ready:
            raise StateUnavailable("the state is not open: await state.open() first")
        return self._writer
