"""The identify gate of all processes."""

import asyncio

import pytest

from bot import shards
from bot.shards import IdentifyGate
from state.memory import Database, MemoryState


async def test_b80_one_shard_per_bucket_identifies_at_a_time_over_all_processes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Shards of other buckets need not wait; Discord is asked once how many buckets there are."""
    monkeypatch.setattr(shards, "EVERY", 0.2)
    database, asked = Database(), 0

    async def two() -> int:
        nonlocal asked
        asked += 1
        return 2

    states = [MemoryState(database), MemoryState(database)]
    for state in states:
        await state.open()
    gates = [IdentifyGate(state, two) for state in states]
    clock = asyncio.get_running_loop().time
    begun, at = clock(), dict[int, float]()

    async def identify(gate: IdentifyGate, shard: int) -> None:
        await gate.wait(shard)
        at[shard] = clock() - begun

    await asyncio.gather(*(identify(gates[shard // 2], shard) for shard in range(4)))

    for bucket in (0, 1):
        first, second = sorted(at[shard] for shard in range(4) if shard % 2 == bucket)
        assert first < 0.1
        assert second >= 0.19
    assert asked == 2
