"""
Bytes that conversations take in Redis.

What is kept for repeats for a minute is taken away first, as that minute would.
"""

import asyncio
from collections.abc import Awaitable, Callable

from benchmarks.measure import Measurement, Row
from benchmarks.plan import Plan
from benchmarks.server import Server, running_redis
from benchmarks.turns import admitted, begun, conversation_of, opened, short_cycle
from state import DEFAULT_PARTITIONS
from state.ports import OP_WINDOW

#: Conversations at once.
_WIDTH = 200

#: Conversations for each partition, so that few of them fill what they share as many would: the
#: marks of an hour's duplicates lie in a thousand sets in all.
_TO_A_PARTITION = 6000

#: Cycles in each of so many conversations before anything is measured.
_WARM = 20

#: Seconds between two looks at the memory, and how many there are at most. Relation: the server
#: tidies its tables ten times a second.
_PAUSE, _LOOKS = 0.4, 25

Act = Callable[[int], Awaitable[object]]


async def measure(plan: Plan) -> list[Row]:
    """
    Let so many messages be answered in old conversations, then in as many new ones.

    The first show what a duplicate's mark takes; the second leave that mark and nothing else. Then
    a turn runs in each of these, and then another message waits in each.
    """
    with running_redis() as server:
        await _warm(server)
        partitions = min(DEFAULT_PARTITIONS, max(1, plan.stored // _TO_A_PARTITION))
        async with opened(server.url, partitions=partitions) as state:
            cycle = short_cycle(state, [conversation_of(number) for number in range(plan.stored)])
            acts: dict[str, Act] = {
                "mark": lambda number: cycle(number % _WIDTH),
                "idle": cycle,
                "active": lambda number: begun(state, conversation_of(number)),
                "waiting": lambda number: admitted(state, conversation_of(number)),
            }
            rows: list[Row] = []
            for name, act in acts.items():
                size, keys = await _grown(server, plan.stored, act)
                rows.append(Measurement(f"redis.bytes.{name}", "B", (size,)))
                if name == "idle":
                    rows.append(Measurement("redis.keys.idle", "keys", (keys,)))
    return rows


async def _grown(server: Server, count: int, act: Act) -> tuple[float, float]:
    """Act in each of so many conversations; bytes and lasting keys that each of them added."""
    size, keys = await _settled(server)
    await _each(count, act)
    size_now, keys_now = await _settled(server)
    return (size_now - size) / count, (keys_now - keys) / count


async def _warm(server: Server) -> None:
    """Let the server's own buffers grow to their size, and its log of slow commands stay empty."""
    server.client.config_set("slowlog-log-slower-than", -1)
    async with opened(server.url) as state:
        cycle = short_cycle(state)
        for _ in range(_WARM):
            await _each(_WIDTH, cycle)
    server.client.flushall()


async def _settled(server: Server) -> tuple[int, int]:
    """Let a minute's answers go, and the server's tables shrink after them; bytes and keys."""
    keys = _pass_a_minute(server)
    size = server.memory()
    for _ in range(_LOOKS):
        await asyncio.sleep(_PAUSE)
        before, size = size, server.memory()
        if size == before:
            break
    return size, keys


async def _each(count: int, act: Act) -> None:
    for first in range(0, count, _WIDTH):
        numbers = range(first, min(first + _WIDTH, count))
        await asyncio.gather(*(act(number) for number in numbers))


def _pass_a_minute(server: Server) -> int:
    """Delete what lives no longer than the answers kept for repeats; count what lives for ever."""
    client, lasting = server.client, 0
    keys = list(client.scan_iter(count=1000))
    for first in range(0, len(keys), 1000):
        some = keys[first : first + 1000]
        asking = client.pipeline(transaction=False)
        for key in some:
            asking.pttl(key)
        lives = asking.execute()
        lasting += lives.count(-1)
        gone = [key for key, life in zip(some, lives, strict=True) if 0 <= life <= OP_WINDOW * 1000]
        if gone:
            client.delete(*gone)
    return lasting
