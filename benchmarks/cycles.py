"""
Turn cycles on Redis, beside what others offer.

A cycle is what every message costs: duplicate taken out, admitted, claimed, committed. The full one
also records a step and a page, before and after it is sent; the peers have nothing like it.
"""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager

from benchmarks import replay
from benchmarks.measure import (
    Burst,
    Comparison,
    Cycle,
    Measurement,
    Row,
    Take,
    bursts_of,
    ratio,
)
from benchmarks.peers import PEERS
from benchmarks.plan import Plan
from benchmarks.server import Server, running_redis
from benchmarks.turns import full_cycle, opened, short_cycle
from state import State

KINDS = {"cycle": short_cycle, "full": full_cycle}

#: Where ratios are told; elsewhere the rates stand alone.
_RATIOS = (1, 50)

#: Where the client's processor time is told, which explains the rates.
_EXPLAINED = 50

#: Whom the full cycle is compared with, which does more than any of them.
_FULL = ("redis_py_lock", "chat_sdk")

#: At which width all is measured again with an append-only file.
_DURABLE = 50


async def measure(plan: Plan) -> list[Row]:
    """Compare at each width without persistence, then once with it."""
    rows: list[Row] = []
    with running_redis() as server:
        for width in plan.widths:
            rows += await _compare(server, plan, width, "")
        rows += await _round_trips(server)
    with running_redis(durable=True) as server:
        rows += await _compare(server, plan, _DURABLE, "everysec.")
    return rows


async def _compare(server: Server, plan: Plan, width: int, mode: str) -> list[Row]:
    recording = await replay.record(server, width, plan.recorded)
    compared = Comparison[Burst]()
    async with AsyncExitStack() as open_now:

        async def bursts(opening: AbstractAsyncContextManager[Cycle]) -> Take[Burst]:
            cycle = await open_now.enter_async_context(opening)
            return await bursts_of(cycle, width, plan.burst)

        for kind, cycle_of in KINDS.items():
            compared.add(kind, await bursts(_ours(server.url, cycle_of)))
        for name, peer in PEERS.items() if width in plan.compared else ():
            await compared.add_peer(name, bursts(peer(server.url)))
        pool = await open_now.enter_async_context(replay.pooled(server, recording))
        compared.add("pool", pool)
        compared.add("floor", replay.pipelined(server, recording))
        taken = await compared.run(plan.rounds)
    rates = {name: [one.rate for one in bursts] for name, bursts in taken.items()}
    rows = list(_rows(rates, width, mode))
    if width == _EXPLAINED and not mode:
        rows += _client_time(taken, width)
    return rows + compared.missing(f"{mode}cycle.{width}")


@asynccontextmanager
async def _ours(url: str, cycle_of: Callable[[State], Cycle]) -> AsyncIterator[Cycle]:
    async with opened(url) as state:
        yield cycle_of(state)


def _rows(rates: Mapping[str, Sequence[float]], width: int, mode: str) -> Iterator[Row]:
    for kind in KINDS:
        yield Measurement(f"redis.{mode}{kind}.{width}", "cycles/s", rates[kind])
    others = [name for name in rates if name not in KINDS]
    for name in others:
        yield Measurement(f"{name}.{mode}cycle.{width}", "cycles/s", rates[name])
    if width in _RATIOS:
        for kind, peers in (("cycle", others), ("full", _FULL)):
            for name in peers:
                if name in rates:
                    yield ratio(f"redis.{mode}{kind}.{width}.vs_{name}", rates[kind], rates[name])


def _client_time(taken: Mapping[str, Sequence[Burst]], width: int) -> Iterator[Row]:
    """Tell what each costs this process's processor; our short cycle has its place elsewhere."""
    for name, bursts in taken.items():
        if name not in ("cycle", "floor"):
            of = "redis.full" if name == "full" else f"{name}.cycle"
            spent = [one.client_us for one in bursts]
            yield Measurement(f"{of}.{width}.client_us", "us cpu", spent)


async def _round_trips(server: Server) -> list[Row]:
    """Count the server's reads, of one conversation so that none falls together."""
    cycles = 100
    rows: list[Row] = []
    async with opened(server.url) as state:
        for kind, cycle_of in KINDS.items():
            cycle = cycle_of(state)
            await cycle(0)
            before = server.reads()
            for _ in range(cycles):
                await cycle(0)
            counted = server.reads() - before - 1  # one was the question itself
            rows.append(Measurement(f"redis.{kind}.1.round_trips", "reads", (counted / cycles,)))
    return rows
