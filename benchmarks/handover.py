"""Hand-over: twenty wait for one conversation, and go through it one after another."""

import asyncio
import time
from contextlib import AbstractAsyncContextManager, AsyncExitStack

from benchmarks.measure import Comparison, Cycle, Measurement, Row, Take, ratio
from benchmarks.peers import LOCKS
from benchmarks.plan import Plan
from benchmarks.server import running_redis
from benchmarks.turns import CONVERSATIONS, admitted, ended, opened
from state import State

_WAITERS = 20


async def measure(plan: Plan) -> list[Row]:
    """Compare with locks, whose waiters poll or block; ours are messages in an inbox."""
    compared = Comparison[float]()
    with running_redis() as server:
        async with AsyncExitStack() as open_now:
            ours = _ours(await open_now.enter_async_context(opened(server.url)))
            await ours()
            compared.add("redis", ours)

            async def prepared(lock: AbstractAsyncContextManager[Cycle]) -> Take[float]:
                cycle = await open_now.enter_async_context(lock)
                # Each waiter needs a connection, which is not to be timed.
                await asyncio.gather(*(cycle(number) for number in range(_WAITERS)))
                return _theirs(cycle)

            for name, lock in LOCKS.items():
                await compared.add_peer(name, prepared(lock(server.url)))
            taken = await compared.run(plan.rounds)
    of = f"handover.{_WAITERS}"
    rows: list[Row] = [Measurement(f"{name}.{of}.ms", "ms", runs) for name, runs in taken.items()]
    ours_ms = taken.pop("redis")
    rows += [ratio(f"redis.{of}.vs_{name}", runs, ours_ms) for name, runs in taken.items()]
    return rows + compared.missing(f"{of}.ms")


def _ours(state: State) -> Take[float]:
    async def take() -> float:
        here, answered = CONVERSATIONS[0], 0

        async def one() -> None:
            nonlocal answered
            turn = await admitted(state, here)
            while turn is not None:
                answered += 1
                turn = await ended(state, turn)

        began = time.perf_counter()
        await asyncio.gather(*(one() for _ in range(_WAITERS)))
        took = time.perf_counter() - began
        assert answered == _WAITERS, f"{answered} of {_WAITERS} answered"
        return took * 1000

    return take


def _theirs(cycle: Cycle) -> Take[float]:
    async def take() -> float:
        began = time.perf_counter()
        await asyncio.gather(*(cycle(0) for _ in range(_WAITERS)))
        return (time.perf_counter() - began) * 1000

    return take
