"""
Messages that nobody answers, since they came while the turn before them ended.

In each conversation a second message comes at a random moment around the end of the first one's
turn. Once all is quiet, a message that still waits while nobody holds its conversation is stranded.
"""

import asyncio
import itertools
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from benchmarks.measure import Comparison, Measurement, Row, Take
from benchmarks.peers import chat_sdk_app
from benchmarks.plan import Plan
from benchmarks.server import running_redis
from benchmarks.turns import admitted, conversation_of, ended, opened

#: Conversations at once.
_WIDTH = 20

#: Seconds of a turn, and until when the second message comes. Relation: three times the turn, so
#: that it comes during it, around its end, and after it.
_TURN = 0.005
_SPREAD = 3 * _TURN


@dataclass(frozen=True, slots=True)
class Bot:
    """Hears one message in the conversation of that number; counts what waits there."""

    hear: Callable[[int], Awaitable[None]]
    waiting: Callable[[int], Awaitable[int]]


async def measure(plan: Plan) -> list[Row]:
    """Put the same load on our admit and commit, and on chat-sdk's strategy `queue`."""
    compared = Comparison[float]()
    with running_redis() as server:
        async with AsyncExitStack() as open_now:

            async def pairs(bot: AbstractAsyncContextManager[Bot]) -> Take[float]:
                return pairs_of(await open_now.enter_async_context(bot), plan.pairs)

            compared.add("redis", await pairs(_ours(server.url)))
            await compared.add_peer("chat_sdk", pairs(_chat_sdk(server.url)))
            taken = await compared.run(plan.rounds)
    named = "stranded.percent"
    rows: list[Row] = [Measurement(f"{name}.{named}", "%", runs) for name, runs in taken.items()]
    return rows + compared.missing(named)


def pairs_of(bot: Bot, count: int) -> Take[float]:
    """Say two messages in each of so many conversations; the share of second ones stranded."""
    numbers = itertools.count()
    chance = random.Random(1)  # the same moments in every run

    async def pair(number: int) -> None:
        first = asyncio.ensure_future(bot.hear(number))
        await asyncio.sleep(chance.uniform(0, _SPREAD))
        await asyncio.gather(first, bot.hear(number))

    async def take() -> float:
        stranded = 0
        for _ in range(0, count, _WIDTH):
            speaking = [next(numbers) for _ in range(_WIDTH)]
            await asyncio.gather(*(pair(number) for number in speaking))
            stranded += sum([await bot.waiting(number) for number in speaking])
        return 100 * stranded / count

    return take


@asynccontextmanager
async def _ours(url: str) -> AsyncIterator[Bot]:
    async with opened(url) as state:

        async def hear(number: int) -> None:
            turn = await admitted(state, conversation_of(number))
            while turn is not None:
                await asyncio.sleep(_TURN)
                turn = await ended(state, turn)

        async def waiting(number: int) -> int:
            return len((await state.view(conversation_of(number))).waiting)

        yield Bot(hear, waiting)


@asynccontextmanager
async def _chat_sdk(url: str) -> AsyncIterator[Bot]:
    async def respond(*_: object) -> None:
        await asyncio.sleep(_TURN)

    async with chat_sdk_app(url, respond) as (hear, state):

        async def waiting(number: int) -> int:
            depth: int = await state.queue_depth(f"mock:{number}:{number}")
            return depth

        yield Bot(lambda number: hear(f"mock:{number}:{number}"), waiting)
