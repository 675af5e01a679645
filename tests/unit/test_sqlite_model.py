"""The SQLite adapter against the executable specification, step by random step."""

from collections.abc import Awaitable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from state.errors import StateError
from state.memory import Database, MemoryState
from state.ports import State
from state.sqlite import SqliteState
from tests.unit.sqlite_odds import CONVERSATIONS, OWNERS, SCOPES
from tests.unit.sqlite_walk import Walk

PARTITIONS = 4
STEPS = 120
SEEDS = 12


class Clock:
    """A clock that only the test moves, shared by both stores."""

    def __init__(self) -> None:
        """Start on a day of 2026."""
        self.now = 1_780_000_000.0

    def __call__(self) -> float:
        """Tell the time in seconds."""
        return self.now


async def told(step: Awaitable[Any]) -> object:
    """Answer what a step answers, an error of ours as itself."""
    try:
        return await step
    except StateError as error:
        return type(error), str(error)


async def everything(state: State) -> list[object]:
    """Read all that a store shows."""
    shown: list[object] = [await state.subscriptions(limit=2)]
    for owner in OWNERS:
        shown += [await state.schedules(owner, limit=2), await state.dead_letters(owner, limit=2)]
        shown.append(await state.usage(owner, "2026-05-28"))
    for scope in SCOPES:
        for key in "kl":
            shown.append(await told(state.get(scope, key)))
            shown.append(await told(state.items(scope, key)))
    for conversation in CONVERSATIONS:
        shown.append(await state.view(conversation))
        shown.append(await state.history(conversation, limit=5))
        shown.append(await state.is_subscribed(conversation))
    for partition in range(PARTITIONS):
        due = await state.due(partition, 10)  # what is due since the same moment has no order
        shown.append(sorted(map(repr, (*due.conversations, *due.signals))))
    return shown


async def walk(
    seed: int, models: tuple[State, ...], adapters: tuple[State, ...], clock: Clock
) -> None:
    """Take the same steps on both stores, on handles drawn anew for each."""
    drawn = Walk(seed)
    for number in range(STEPS):
        clock.now += drawn.random.choice([0.0] * 12 + [0.001] * 6 + [1.0] * 4 + [8.0, 40.0])
        step, handle = drawn.step(), drawn.random.randrange(len(models))
        expected = await told(step(models[handle]))
        assert await told(step(adapters[handle])) == expected, f"step {number} of walk {seed}"
        drawn.learn(expected)
        left, right = await everything(models[0]), await everything(adapters[0])
        assert right == left, f"after step {number} of walk {seed}"


@pytest.mark.parametrize("seed", range(SEEDS))
async def test_every_answer_and_every_view_is_the_specifications(seed: int, tmp_path: Path) -> None:
    """Two handles on one file answer as two handles on the specification, whatever is asked."""
    clock, database = Clock(), Database(PARTITIONS)
    models = (MemoryState(database, clock), MemoryState(database, clock))
    path = str(tmp_path / "state.db")
    adapters = tuple(
        SqliteState(path, partitions=PARTITIONS, clock=clock, synchronous="normal")
        for _ in range(2)
    )
    async with AsyncExitStack() as stack:
        handles: tuple[State, ...] = (*models, *adapters)
        for handle in handles:
            stack.push_async_callback(handle.close)
            await handle.open()
        await walk(seed, models, adapters, clock)
