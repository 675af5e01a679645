"""A server of a cluster dies and comes back: what it holds waits, and the rest goes on."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from functools import partial
from unittest.mock import patch

import pytest
from redis.asyncio import Connection

from state.contract.factory import Clock
from state.contract.scene import begin, finish, message, op
from state.errors import StateUnavailable
from state.redis import RedisState, calls
from state.redis.slots import slot_of
from state.values import Conversation, Lease, SignalKind
from tests.redis_cluster import Cluster, Server, stop
from tests.waiting import wait_until

#: Seconds within which a server serves again, and within which a replica takes its place.
COMES_BACK, TAKES_OVER = 15.0, 30.0

pytestmark = pytest.mark.timeout(4 * TAKES_OVER)


@pytest.fixture
async def state(mortal_cluster: Cluster) -> AsyncIterator[RedisState]:
    """Give an open adapter whose clock stands still: no lease ends while servers come back."""
    opened = RedisState(mortal_cluster.url, clock=Clock())
    await opened.open()
    yield opened
    await opened.close()


def homes(state: RedisState, cluster: Cluster) -> dict[int, Conversation]:
    """Find a conversation on each server, by its port."""
    found: dict[int, Conversation] = {}
    for number in range(100):
        where = Conversation(f"guild/{number}", "10")
        tag = state._keys.tag_of(where.owner)[1:-1].encode()
        found.setdefault(cluster.holder(slot_of(tag)).port, where)
        if len(found) == len(cluster.servers):
            return found
    raise AssertionError("some server has no partition")


def at(cluster: Cluster, port: int) -> Server:
    """Return the server on a port."""
    return next(server for server in cluster.servers if server.port == port)


async def test_a_dead_server_is_an_error_of_ours_until_it_is_back(
    state: RedisState, mortal_cluster: Cluster
) -> None:
    """Its turns can be ended after it came back; those of other servers notice nothing."""
    (dead, there), *others = homes(state, mortal_cluster).items()
    lease = (await begin(state, message("m1"), at=there)).lease
    server = at(mortal_cluster, dead)
    stop(server)
    with patch.object(calls, "CALL_TIMEOUT", 0.5):
        for _ in range(3):
            with pytest.raises(StateUnavailable, match="did not answer"):
                await state.record(lease, "step", "", b"value")
    for _, where in others:
        await finish(state, (await begin(state, message("m1"), at=where)).lease)
    mortal_cluster.restart(server)
    await wait_until(
        partial(recorded, state, lease), timeout=COMES_BACK, description="the server serves again"
    )
    await finish(state, lease)


async def test_a_store_is_opened_once_every_server_answers(mortal_cluster: Cluster) -> None:
    """Each is asked what it may lose; the address of any that lives leads to the others."""
    first, second, _ = mortal_cluster.servers
    stop(first)
    for named in (first, second):
        state = RedisState(f"redis+cluster://{named.address}")
        with patch.object(calls, "CALL_TIMEOUT", 0.5), pytest.raises(StateUnavailable):
            await state.open()
        await state.close()
    mortal_cluster.restart(first)
    state = RedisState(f"redis+cluster://{second.address}")
    await wait_until(partial(opened, state), timeout=COMES_BACK, description="the store is opened")
    await state.close()


async def test_a_replica_that_takes_over_is_found(
    state: RedisState, mortal_cluster: Cluster
) -> None:
    """By asking the servers that live; the turn goes on where its primary died."""
    port, where = next(iter(homes(state, mortal_cluster).items()))
    primary = at(mortal_cluster, port)
    replica = mortal_cluster.add_replica(primary)
    lease = (await begin(state, message("m1"), at=where)).lease
    told = written(primary)
    await wait_until(lambda: written(replica) >= told, description="the replica has the turn")
    stop(primary)
    await wait_until(
        partial(recorded, state, lease), timeout=TAKES_OVER, description="the replica takes over"
    )
    await finish(state, lease)


def written(server: Server) -> int:
    """Tell how far a server has come in what its primary writes."""
    return int(server.asked("INFO", "replication").partition("master_repl_offset:")[2].split()[0])


async def recorded(state: RedisState, lease: Lease) -> bool:
    """Try to record a step."""
    try:
        return await state.record(lease, "step", "", b"value") == b"value"
    except StateUnavailable:
        return False


async def opened(state: RedisState) -> bool:
    """Try to open."""
    try:
        await state.open()
    except StateUnavailable:
        return False
    return True


class Ear:
    """Hears the hints of one handle."""

    def __init__(self, state: RedisState) -> None:
        self._state = state
        self.heard: list[Conversation] = []
        self.task = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        async with aclosing(self._state.hints()) as signals:
            async for signal in signals:
                self.heard.append(signal.conversation)

    async def hears_of(self, where: Conversation) -> None:
        """Signal again and again until a hint comes: nobody tells when the connection stands."""
        self.heard.clear()

        async def told() -> bool:
            await self._state.signal(where, "m1", SignalKind.STOP, by="ann", op=op())
            return where in self.heard

        await wait_until(told, timeout=COMES_BACK, description="a hint is heard")


async def test_hints_are_heard_after_the_death_of_the_server_that_was_listened_to(
    state: RedisState, mortal_cluster: Cluster
) -> None:
    """Any other server tells what is published, wherever that is."""
    ear, places = Ear(state), homes(state, mortal_cluster)
    for where in places.values():
        await begin(state, message("m1"), at=where)
        await ear.hears_of(where)
    (listener,) = state._listeners
    assert isinstance(listener._connection, Connection)
    dead = listener._connection.port
    stop(at(mortal_cluster, dead))
    for port, where in places.items():
        if port != dead:
            await ear.hears_of(where)
    await state.close()
    await ear.task
