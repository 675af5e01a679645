"""What it costs one process to keep ten thousand leases alive."""

import asyncio
import time
from contextlib import ExitStack

from benchmarks.measure import Measurement, Row
from benchmarks.plan import Plan
from benchmarks.server import Server, running_redis
from benchmarks.turns import CLAIM, begun, conversation_of, opened
from bot.locks import Holding, Locks

#: Turns begun at once on the way to that many.
_AT_ONCE = 200


async def measure(plan: Plan) -> list[Row]:
    """Run the bot's own heartbeat; its cost is spread over the time to the next one."""
    client: list[float] = []
    store: list[float] = []
    held: list[Holding] = []
    every = CLAIM.seconds / 3  # the heartbeat's rhythm
    with running_redis() as server, ExitStack() as open_now:
        async with opened(server.url) as state:
            locks = Locks(state, CLAIM)
            for first in range(0, plan.leases, _AT_ONCE):
                numbers = range(first, min(first + _AT_ONCE, plan.leases))
                turns = await asyncio.gather(*(begun(state, conversation_of(n)) for n in numbers))
                now = time.monotonic()
                held += [open_now.enter_context(locks.hold(turn, now)) for turn in turns]
            await locks.beat()
            for _ in range(plan.rounds):
                ours, theirs = await _beat(server, locks)
                client.append(100 * ours / every)
                store.append(100 * theirs / every)
            assert all(one.may_speak for one in held), "a lease was lost"
    return [
        Measurement(f"redis.renewal.{plan.leases}.percent", "% cpu", client),
        Measurement(f"redis.renewal.{plan.leases}.server_percent", "% cpu", store),
    ]


async def _beat(server: Server, locks: Locks) -> tuple[float, float]:
    """Renew every lease; processor seconds of this process and of the server."""
    ours, theirs = time.process_time(), server.cpu()
    await locks.beat()
    ours, theirs = time.process_time() - ours, server.cpu() - theirs
    return ours, theirs
