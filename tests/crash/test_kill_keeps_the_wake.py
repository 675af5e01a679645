"""
A race that was fixed: a kill or a stop of an idle conversation took the wake of what else was due.

Found by the simulation, as schedules that never drained.
"""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from state import State
from state.contract.factory import Clock, FileFactory, MemoryFactory, PrefixFactory, StateFactory
from state.contract.scene import CLAIM, HERE, LEASE, begin, ids, is_due, message, op, say, started
from state.values import SignalKind, Timer

REMINDER = Timer("t", message("t"), delay=30.0)


@pytest.fixture
def clock() -> Clock:
    """Give the store's clock."""
    return Clock()


@pytest.fixture(params=["memory", "sqlite", "redis"])
async def state(
    request: pytest.FixtureRequest,
    clock: Clock,
    tmp_path: Path,
    redis_url: str,
    redis_prefix: str,
) -> AsyncIterator[State]:
    """Give an open store of each kind."""
    factories: dict[str, StateFactory] = {
        "memory": MemoryFactory(),
        "sqlite": FileFactory(f"sqlite:{tmp_path / 'state.db'}"),
        "redis": PrefixFactory(redis_url, redis_prefix),
    }
    factory = factories[request.param]
    opened = factory.make(clock)
    await opened.open()
    yield opened
    await opened.close()


async def test_a_kill_of_an_idle_conversation_keeps_its_timer(state: State, clock: Clock) -> None:
    """The timer fires when it is due, though nothing else would wake the conversation."""
    await state.schedule(HERE, REMINDER, op=op())
    await state.kill(HERE, by="eve", op=op())
    clock.move(REMINDER.delay)
    assert await is_due(state)
    fired = started(await state.claim(HERE, op=op(), claim=CLAIM))
    assert ids(fired.inbounds)[0].startswith("t@")


async def test_a_turn_that_is_ended_unheld_leaves_the_timer_its_wake(
    state: State, clock: Clock
) -> None:
    """A stop settles a parked turn at once, and a timer of the conversation still fires."""
    await state.schedule(HERE, REMINDER, op=op())
    turn = await begin(state, message("m1"))
    await state.park(turn.lease, op=op())
    await state.signal(HERE, "m1", SignalKind.STOP, by="ann", op=op())
    clock.move(REMINDER.delay)
    assert await is_due(state)


async def test_a_kill_leaves_a_conversation_that_is_held_its_wake(
    state: State, clock: Clock
) -> None:
    """When whoever acquired it dies, the messages that came after the kill are found."""
    await state.acquire(HERE, op=op(), claim=CLAIM)
    await state.kill(HERE, by="eve", op=op())
    await say(state, message("m1"))
    clock.move(LEASE)
    assert await is_due(state)
