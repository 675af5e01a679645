"""The Redis adapter against the memory adapter: same random steps, same answers and views."""

import random
from collections.abc import AsyncIterator

import pytest

from state import State
from state.memory import Database, MemoryState
from state.outcomes import Due, View
from state.redis import RedisState
from tests.unit.redis_draws import CONVERSATIONS, SCOPES
from tests.unit.redis_steps import Steps, answered

PARTITIONS = 2

STEPS = 120


def in_order(due: Due) -> tuple[object, object]:
    """Compare what is due whatever the order of equals."""
    return sorted(map(repr, due.conversations)), sorted(map(repr, due.signals))


async def everything(state: State, said: list[str]) -> list[object]:
    """Read all that can be read."""
    seen: list[object] = [
        in_order(await state.due(partition, 100)) for partition in range(PARTITIONS)
    ]
    for where in CONVERSATIONS:
        view: View = await state.view(where)
        seen += [view, view.turn and view.turn.token]
        seen += [await state.history(where), await state.history(where, before=4, limit=2)]
        seen += [await state.answer(where, name) for name in said[-4:]]
    for owner in {where.owner for where in CONVERSATIONS}:
        seen += [await state.schedules(owner), await state.dead_letters(owner)]
        seen.append(await state.usage(owner, "2023-11-14"))
    for scope in SCOPES:
        for key in "kl":
            seen += [await state.get(scope, key), await state.items(scope, key)]
    followed = await state.subscriptions()
    return [*seen, set(followed.conversations)]


@pytest.fixture
async def run() -> Steps:
    """Give a run with a seed of pytest-randomly's."""
    return Steps(random.Random(random.getrandbits(32)))


@pytest.fixture
async def redis(redis_socket_url: str, redis_prefix: str, run: Steps) -> AsyncIterator[RedisState]:
    """Give an open Redis adapter under the run's clock."""
    state = RedisState(
        redis_socket_url, prefix=redis_prefix, partitions=PARTITIONS, clock=run.clock
    )
    await state.open()
    yield state
    await state.close()


@pytest.mark.parametrize("attempt", range(8))
async def test_random_steps_agree_with_the_memory_adapter(
    run: Steps, redis: RedisState, attempt: int
) -> None:
    """Every answer and every view is the memory adapter's, with repeats and stale leases."""
    memory = MemoryState(Database(PARTITIONS), run.clock)
    await memory.open()
    for _ in range(STEPS):
        call = run.draw()
        expected = await answered(call, memory)
        assert await answered(call, redis) == expected
        assert await everything(redis, run.said) == await everything(memory, run.said)
        run.remember(expected)
        if run.chance.random() < 0.3:
            run.now += run.chance.choice([0.125, 1.0, 6.0])
