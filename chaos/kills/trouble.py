"""Stores that processes share while they are killed, and what happens to the store meanwhile."""

import random
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

import redis

from state.redis.slots import slot_of
from tests.crash.moves import Move, move
from tests.redis_cluster import running_cluster
from tests.redis_server import running_redis, stop

#: Kills while Redis lives, and while a slot rests and is in each stage of its way, at least and at
#: most.
REDIS_LIVES, RESTS, STAGE = (15, 45), (10, 30), (1, 3)

#: The tag of the only partition.
PARTITION = b"interlock:0"


class Trouble(Protocol):
    """A store, and what may befall it."""

    url: str

    @property
    def blocks(self) -> bool:
        """Whether the store takes no steps until more has happened."""
        ...

    def strike(self) -> bool:
        """Be told of a kill; let something happen if it is time. Whether that is over and done."""
        ...

    def settle(self) -> None:
        """
        Return once the store has done whatever the dead had asked of it.

        A server that answers has read, in that round or before, from all who had written.
        """
        ...

    def end(self) -> None:
        """Leave the store in order."""
        ...


class File:
    """A file of SQLite's, to which nothing happens."""

    blocks = False

    def __init__(self, _stack: ExitStack, folder: Path) -> None:
        """Lie in *folder*."""
        self.url = f"sqlite:{folder / 'state.db'}"

    def strike(self) -> bool:
        """See `Trouble.strike`."""
        return False

    def settle(self) -> None:
        """See `Trouble.settle`: a process writes by itself, and writes no more."""

    def end(self) -> None:
        """See `Trouble.end`."""


class DyingRedis:
    """A Redis that is killed now and then, and comes back with what it had on disk."""

    blocks = False

    def __init__(self, stack: ExitStack, _folder: Path) -> None:
        """Run until *stack* is closed."""
        self._stack = stack
        self._server = stack.enter_context(running_redis())
        self.url = self._server.url
        self._begin()

    def _begin(self) -> None:
        """Let every write be on disk before it is answered."""
        self._client = self._stack.enter_context(redis.Redis.from_url(self._server.socket_url))
        self._client.config_set("appendfsync", "always")
        self._lives = random.randint(*REDIS_LIVES)

    def strike(self) -> bool:
        """See `Trouble.strike`."""
        self._lives -= 1
        if self._lives > 0:
            return False
        before = self._server
        stop(before)
        port = int(before.url.rpartition(":")[2].partition("/")[0])
        self._server = self._stack.enter_context(running_redis(before.directory, port=port))
        self._begin()
        return True

    def settle(self) -> None:
        """See `Trouble.settle`."""
        self._client.ping()

    def end(self) -> None:
        """See `Trouble.end`."""


class MovingSlot:
    """A cluster whose only busy slot is always on its way from one server to another."""

    def __init__(self, stack: ExitStack, _folder: Path) -> None:
        """Run until *stack* is closed."""
        self._cluster = stack.enter_context(running_cluster())
        self._clients = [stack.enter_context(s.client()) for s in self._cluster.servers]
        self.url = self._cluster.url
        self._stages: list[Callable[[], object]] = []
        self._rests = random.randint(*RESTS)

    @property
    def blocks(self) -> bool:
        """See `Trouble.blocks`."""
        return bool(self._stages)

    def strike(self) -> bool:
        """See `Trouble.strike`; a stage of the way, so that processes die in each of them."""
        self._rests -= 1
        if self._rests > 0:
            return False
        if not self._stages:
            way: Move = move(self._cluster, slot_of(PARTITION))
            self._stages = [way.begin, way.hand_over, way.end]
        self._stages.pop(0)()
        self._rests = random.randint(*(STAGE if self._stages else RESTS))
        return not self._stages

    def settle(self) -> None:
        """See `Trouble.settle`."""
        for client in self._clients:
            client.ping()

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
