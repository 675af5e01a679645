"""What a schedule stands on: a store under a virtual clock, and how a step of it is taken."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

from state import State, connect

#: Where the virtual clock begins: in the present, as the numbers of tokens begin with it.
EPOCH = 1_700_000_000.0


class Ground:
    """A store in memory, whose steps await nothing: each schedule has its own."""

    #: Whoever runs a schedule keeps it; the store's clock tells it.
    now = EPOCH

    def advance(self, work: Coroutine[Any, Any, Any]) -> tuple[bool, Any]:
        """Go on with a step of the store; whether it is done, and its answer."""
        try:
            work.send(None)
        except StopIteration as done:
            return True, done.value
        return False, None  # it awaits something, as only a broken store's does

    def handle(self, make: Callable[[], State]) -> State:
        """A process's handle on the store, which *make* makes."""
        return make()

    def drive(self, work: Coroutine[Any, Any, Any]) -> Any:  # noqa: ANN401 (each its own)
        """Take a whole step."""
        done, answer = self.advance(work)
        while not done:
            done, answer = self.advance(work)
        return answer


class SharedGround(Ground):
    """
    A store of any kind, on which one schedule comes after the other.

    Its clock never goes back, so each schedule begins where the one before has ended.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, url: str, prefix: str) -> None:
        """Take steps in *loop*, which stands still between them."""
        self._loop = loop
        self.state: State = connect(url, prefix=prefix, partitions=1, clock=lambda: self.now)

    def handle(self, make: Callable[[], State]) -> State:
        """See `Ground.handle`; the one that is open."""
        return self.state

    def advance(self, work: Coroutine[Any, Any, Any]) -> tuple[bool, Any]:
        """Take a whole step at once, as the store does."""
        return True, self._loop.run_until_complete(work)


@contextmanager
def shared_ground(url: str, prefix: str = "chaos") -> Iterator[SharedGround]:
    """Open a store until the block ends."""
    with asyncio.Runner() as runner:
        ground = SharedGround(runner.get_loop(), url, prefix)
        runner.run(ground.state.open())
        try:
            yield ground
        finally:
            runner.run(ground.state.close())
