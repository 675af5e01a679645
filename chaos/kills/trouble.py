"""Stores that processes share while they are killed, and what happens to the store meanwhile."""

import random
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

import redis

from state.redis.slots import slot_of
from tests.crash.moves import Move, move
from tests.redis_cluster import running_cluster
from tests.redis_server import running_redis, stop

#: Seconds that Redis lives, and that a slot rests and each stage of its way takes, at least and at
#: most. Relation: some kills fall into each of them.
REDIS_LIVES, RESTS, STAGE = (0.5, 1.5), (0.3, 1.0), (0.02, 0.1)

#: The tag of the only partition.
PARTITION = b"interlock:0"


class Trouble(Protocol):
    """A store, and what may befall it."""

    url: str

    def strike(self) -> bool:
        """Let something happen if its time has come; whether something is over and done."""
        ...

    def end(self) -> None:
        """Leave the store in order."""
        ...


class File:
    """A file of SQLite's, to which nothing happens."""

    def __init__(self, _stack: ExitStack, folder: Path) -> None:
        """Lie in *folder*."""
        self.url = f"sqlite:{folder / 'state.db'}"

    def strike(self) -> bool:
        """See `Trouble.strike`."""
        return False

    def end(self) -> None:
        """See `Trouble.end`."""


class DyingRedis:
    """A Redis that is killed now and then, and comes back with what it had on disk."""

    def __init__(self, stack: ExitStack, _folder: Path) -> None:
        """Run until *stack* is closed."""
        self._stack = stack
        self._server = stack.enter_context(running_redis())
        self.url = self._server.url
        self._begin()

    def _begin(self) -> None:
        """Let every write be on disk before it is answered."""
        with redis.Redis.from_url(self._server.socket_url) as client:
            client.config_set("appendfsync", "always")
        self._dies_at = time.monotonic() + random.uniform(*REDIS_LIVES)

    def strike(self) -> bool:
        """See `Trouble.strike`."""
        if time.monotonic() < self._dies_at:
            return False
        before = self._server
        stop(before)
        port = int(before.url.rpartition(":")[2].partition("/")[0])
        self._server = self._stack.enter_context(running_redis(before.directory, port=port))
        self._begin()
        return True

    def end(self) -> None:
        """See `Trouble.end`."""


class MovingSlot:
    """A cluster whose only busy slot is always on its way from one server to another."""

    def __init__(self, stack: ExitStack, _folder: Path) -> None:
        """Run until *stack* is closed."""
        self._cluster = stack.enter_context(running_cluster())
        self.url = self._cluster.url
        self._stages: list[Callable[[], object]] = []
        self._next_at = time.monotonic()

    def strike(self) -> bool:
        """See `Trouble.strike`; a stage of the way, so that processes die in each of them."""
        if time.monotonic() < self._next_at:
            return False
        if not self._stages:
            way: Move = move(self._cluster, slot_of(PARTITION))
            self._stages = [way.begin, way.hand_over, way.end]
        self._stages.pop(0)()
        self._next_at = time.monotonic() + random.uniform(*(STAGE if self._stages else RESTS))
        return not self._stages

    def end(self) -> None:
        """See `Trouble.end`."""
        while self._stages:
            self._stages.pop(0)()


TROUBLES: dict[str, Callable[[ExitStack, Path], Trouble]] = {
    "sqlite": File,
    "redis": DyingRedis,
    "cluster": MovingSlot,
}

#: What the figures call it.
CALLED = {"redis": "Redis killed", "cluster": "slots moved"}
