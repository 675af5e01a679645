"""The machine's time, which runs ahead while a scene waits for nothing but the time itself."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from sandbox.backend import WallClock

# Real seconds without any event after which nothing is under way: sockets of this machine deliver
# at once, so this is for a machine that is slow to. Too short costs scene time, never an event.
QUIET = 0.00005

# Seconds by which the clock runs ahead at most before the loop looks around again; longer where so
# many would not do. Relation: far below the life of a lease, 15 s, also for a quarter of an hour.
STRIDE, STRIDES = 0.25, 400


class Clock:
    """
    Monotonic and wall time of this process, for the loop, the bot, its store and the sandbox.

    It goes as the real one does; inside `hurrying` it leaps over what nobody works in, to the next
    timer of the loop. So a minute of a scene takes some milliseconds, and a machine that is slow
    takes longer for it without anybody in the scene being late.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._ahead = 0.0
        self._until: float | None = None
        self._stride = STRIDE
        monotonic, wall = time.monotonic, time.time
        monkeypatch.setattr(time, "monotonic", lambda: monotonic() + self._ahead)
        monkeypatch.setattr(time, "time", lambda: wall() + self._ahead)
        monkeypatch.setattr("discord.utils.utcnow", self._today)
        monkeypatch.setattr(WallClock, "now", lambda _: self._today())
        selector = cast("Any", asyncio.get_running_loop())._selector
        self._select = selector.select
        monkeypatch.setattr(selector, "select", self._select_or_leap)

    def _today(self) -> datetime:
        return datetime.fromtimestamp(time.time(), UTC)

    def _select_or_leap(self, timeout: float | None = None) -> list[Any]:
        if self._until is None or timeout == 0:
            return list(self._select(timeout))
        if not (events := self._select(0)):
            time.sleep(QUIET)  # epoll itself cannot wait for less than a millisecond
            events = self._select(0)
        if not events:
            most = self._stride if timeout is None else min(timeout, self._stride)
            self.leap(max(0.0, min(most, self._until - time.monotonic())))
        return list(events)

    def leap(self, seconds: float) -> None:
        """Be so much later at once, as after a loop that was blocked for as long."""
        self._ahead += seconds

    @contextmanager
    def hurrying(self, seconds: float) -> Iterator[float]:
        """Let the next so many seconds go by as fast as they can; answer when they are over."""
        before = self._until, self._stride
        self._until = time.monotonic() + seconds
        self._stride = max(STRIDE, seconds / STRIDES)
        try:
            yield self._until
        finally:
            self._until, self._stride = before
