"""What a call meets while its slot is on the way to another server, one stage at a time."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from unittest.mock import patch

import pytest

from state.contract.factory import Clock
from state.contract.scene import HERE, begin, finish, message, op
from state.errors import StateUnavailable
from state.keys import Scope
from state.redis import RedisState, calls
from state.redis.slots import slot_of
from state.values import Changes
from tests.crash.moves import Move, move, refused
from tests.redis_cluster import Cluster
from tests.waiting import wait_until

NOTES = Scope(HERE.owner)


@pytest.fixture
async def state(cluster: Cluster, clock: Clock) -> AsyncIterator[RedisState]:
    """Give an open adapter, all of it in one partition."""
    opened = RedisState(cluster.url, prefix=secrets.token_hex(8), partitions=1, clock=clock)
    await opened.open()
    yield opened
    await opened.close()


@pytest.fixture
def clock() -> Clock:
    """Give the store's clock."""
    return Clock()


def way(cluster: Cluster, tag: str) -> Move:
    """Plan the way of the slot of a hash tag."""
    return move(cluster, slot_of(tag[1:-1].encode()))


async def test_a_key_that_is_not_there_yet_is_made_where_it_will_belong(
    cluster: Cluster, state: RedisState
) -> None:
    """The old server asks for the new one, for this once; the gate grants once, not twice."""
    gate = state._keys.gate(0)
    moving, before = way(cluster, gate.partition(":")[0]), refused(cluster, "ASK")
    moving.begin()
    assert await state.identify_gate(0, every=60.0) == 0.0
    assert await state.identify_gate(0, every=60.0) > 0.0
    assert refused(cluster, "ASK") > before
    with moving.target.client() as there:
        assert gate.encode() in list(there.scan_iter())
    moving.end()
    assert await state.identify_gate(0, every=60.0) > 0.0


async def test_a_server_that_forgot_the_scripts_is_given_them_on_the_way(
    cluster: Cluster, state: RedisState
) -> None:
    """Each server has scripts of its own to forget, the one that is only asked for once too."""
    moving = way(cluster, state._keys.gate(0).partition(":")[0])
    moving.begin()
    for server in cluster.servers:
        server.asked("SCRIPT", "FLUSH")
    assert await state.identify_gate(0) == 0.0
    lease = (await begin(state, message("m1"))).lease
    assert await state.record(lease, "step", "", b"value") == b"value"
    moving.hand_over()
    moving.end()


async def test_a_script_waits_until_its_slot_has_moved(
    cluster: Cluster, state: RedisState, clock: Clock
) -> None:
    """
    Even with every key still there, which is when Redis would run it and stop it half-way.

    An expired list is deleted and begun anew: the server would allow the first and not the second.
    """
    await state.append(NOTES, "notes", b"old", most=5, op=op(), ttl=1.0)
    await state.forget(HERE)
    await state.put(NOTES, "lasting", b"value")
    clock.move(2.0)
    moving, anew = way(cluster, state._keys.tag(0)), op()
    moving.begin()
    with patch.object(calls, "CALL_TIMEOUT", 0.3), pytest.raises(StateUnavailable):
        await state.append(NOTES, "notes", b"new", most=5, op=anew)
    key = state._keys.scoped(NOTES, "notes")[0]
    with moving.source.client() as source:
        assert source.lrange(key, 1, -1) == [b"old"]
    moving.hand_over()
    moving.end()
    assert await state.append(NOTES, "notes", b"new", most=5, op=anew) == 1
    assert await state.items(NOTES, "notes") == (b"new",)


async def test_a_call_outlives_the_way_of_its_slot(cluster: Cluster, state: RedisState) -> None:
    """It waits while the keys are here and there, and is done once they are together."""
    lease = (await begin(state, message("m1"))).lease
    moving, before = way(cluster, state._keys.tag(0)), refused(cluster, "TRYAGAIN")
    moving.begin()
    ending = asyncio.create_task(finish(state, lease, Changes(transcript=(b"said",))))
    await wait_until(
        lambda: refused(cluster, "TRYAGAIN") > before + 2, description="it is refused a few times"
    )
    moving.hand_over()
    moving.end()
    await ending
    assert [entry.payload for entry in await state.history(HERE)] == [b"said"]


async def test_a_look_through_an_index_begins_anew_at_another_server(
    cluster: Cluster, state: RedisState
) -> None:
    """No server understands another's cursor; nothing is passed over."""
    names = {f"k {HERE.owner} o - {number}" for number in range(400)}
    for number in range(400):
        await state.put(NOTES, str(number), b"value")
    beside, seen, moved = state._keys.beside(0), set[str](), False
    async for found in state._calls.members_like(beside, "*", 10):
        seen |= {name.decode() for name in found}
        if not moved:
            moved = True
            await asyncio.to_thread(way(cluster, state._keys.tag(0)).whole)
    assert seen == names
