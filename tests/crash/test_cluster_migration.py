"""A slot moves to and fro while turns run in it: none is lost, and nothing happens twice."""

import asyncio
import itertools
import os
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

import pytest

from state.contract.scene import ROOMY, TRIGGER, message, op, started
from state.errors import StateUnavailable
from state.keys import Scope
from state.outcomes import Turnover
from state.redis import RedisState
from state.redis.cluster import ClusterCalls
from state.redis.slots import slot_of
from state.values import Changes, Claim, Conversation
from tests.crash.moves import move, refused
from tests.redis_cluster import Cluster
from tests.rights import CLUSTER, PASSWORD, allow
from tests.waiting import wait_until

#: How often the slot moves; more by hand, with MIGRATIONS.
MOVES = int(os.environ.get("MIGRATIONS", "6"))

#: Conversations in which turns follow each other all the while.
BUSY = 8

#: Conversations that only have a state: they make the way of the slot long.
IDLE = 150

#: By how much the pause between two cuts grows while nobody gets an answer. Relation: small, since
#: nobody gets one while the slot moves, which is when cuts tell most.
SLOWER = 1.1

#: Whom the servers know the processes by.
USER = PREFIX = "wanderers"

OWNER = "guild/1"
COUNTED = Scope(OWNER)

#: Longer than any slot is on its way.
CLAIM = Claim(600.0)

Answer = TypeVar("Answer")

pytestmark = pytest.mark.timeout(60 + 5 * MOVES)


@pytest.fixture
async def pair(cluster: Cluster) -> AsyncIterator[tuple[RedisState, RedisState]]:
    """Give two processes' handles; all is in one partition, so in one slot."""
    for server in cluster.servers:
        with server.client() as client:
            allow(client, USER, PREFIX, CLUSTER)
    url = cluster.url.replace("://", f"://{USER}:{PASSWORD}@")
    both = [RedisState(url, prefix=PREFIX, partitions=1) for _ in range(2)]
    for state in both:
        await state.open()
    yield both[0], both[1]
    for state in both:
        await state.close()
    cluster.clear(PREFIX)


async def insisted(step: Callable[[], Awaitable[Answer]]) -> Answer:
    """Repeat a step, under its operation id, while a slot takes longer than one call may."""
    while True:
        try:
            return await step()
        except StateUnavailable:
            await asyncio.sleep(0.05)


@dataclass
class Talk:
    """One conversation in which message after message is answered."""

    state: RedisState
    where: Conversation
    said: list[bytes] = field(default_factory=list)

    async def go_on(self, over: asyncio.Event) -> None:
        """Answer messages until it is *over*; each must start a turn at once, and only once."""
        for number in itertools.count():
            if over.is_set():
                return
            await self._answer(f"{number}")

    async def _answer(self, name: str) -> None:
        state, payload = self.state, name.encode()
        ops = [op() for _ in range(3)]
        answer = await insisted(
            lambda: state.admit(self.where, message(name), TRIGGER, ROOMY, op=ops[0], claim=CLAIM)
        )
        lease = started(answer).lease
        assert lease.turn == name
        recorded = await insisted(lambda: state.record(lease, "step", "", payload))
        assert recorded == payload
        await insisted(lambda: state.increment(COUNTED, "answers", op=ops[1]))
        changes = Changes(transcript=(payload,), keep=100_000)
        done = await insisted(lambda: state.commit(lease, changes, op=ops[2], claim=CLAIM))
        assert done == Turnover()
        self.said.append(payload)


async def idle(state: RedisState, name: str) -> None:
    """Leave a conversation that has a state and nothing else."""
    where = Conversation(OWNER, name)
    answer = await state.admit(where, message("m"), TRIGGER, ROOMY, op=op(), claim=CLAIM)
    changes = Changes(state=b"kept" * 100)
    await state.commit(started(answer).lease, changes, op=op(), claim=CLAIM)


def further(talks: list[Talk], before: list[int]) -> bool:
    """Whether each has said more."""
    return all(len(talk.said) > said for talk, said in zip(talks, before, strict=True))


async def cut(states: Iterable[RedisState], talks: list[Talk], over: asyncio.Event) -> int:
    """
    Cut connections on which replies are outstanding, of steps that were taken; count them.

    More and more seldom while nobody gets an answer: on a busy machine none would come at all.
    """
    cuts, said, slower = 0, 0, 1.0
    while not over.is_set():
        before, said = said, sum(len(talk.said) for talk in talks)
        slower = 1.0 if said > before else slower * SLOWER
        for state in states:
            assert isinstance(state._calls, ClusterCalls)
            for line in state._calls._nodes._lines.values():
                if line.mux is not None and line.mux._waiting and not line.mux._out:
                    line.mux.abandon()
                    cuts += 1
        with suppress(TimeoutError):
            async with asyncio.timeout(random.uniform(0.01, 0.1) * slower):
                await over.wait()
    return cuts


async def test_turns_go_on_while_their_slot_moves(
    cluster: Cluster, pair: tuple[RedisState, RedisState]
) -> None:
    """
    Each message is answered once and in its order, whatever the servers answer on the way.

    Two processes speak, in conversations of their own, and their connections are cut.
    Nothing but the port's own errors is met.
    """
    await asyncio.gather(*(idle(pair[0], f"idle-{number}") for number in range(IDLE)))
    talks = [Talk(pair[n % 2], Conversation(OWNER, f"busy-{n}")) for n in range(BUSY)]
    slot, over = slot_of(pair[0]._keys.tag(0)[1:-1].encode()), asyncio.Event()
    async with asyncio.TaskGroup() as group:
        cutting = group.create_task(cut(pair, talks, over))
        for talk in talks:
            group.create_task(talk.go_on(over))
        for _ in range(MOVES):
            assert await asyncio.to_thread(move(cluster, slot).whole) > IDLE
            said = [len(talk.said) for talk in talks]
            await wait_until(partial(further, talks, said), description="all conversations go on")
        over.set()
    for talk in talks:
        history = await talk.state.history(talk.where, limit=100_000)
        assert [entry.payload for entry in history] == talk.said
    answered = await pair[0].increment(COUNTED, "answers", op=op(), by=0)
    assert answered == sum(len(talk.said) for talk in talks)
    assert cutting.result() > MOVES
    for code in ("MOVED", "TRYAGAIN"):
        assert refused(cluster, code) > 0, f"no call met {code}"
