"""The scripts on a cluster, which refuses keys of two slots in one call."""

import random
from collections.abc import Iterator

import pytest

from state.errors import StateInvalid
from state.redis import RedisState
from tests.redis_cluster import running_cluster
from tests.unit.redis_steps import Steps, answered


@pytest.fixture
def cluster_url(redis_server: object) -> Iterator[str]:
    """Give a cluster of one server that holds every slot."""
    with running_cluster(1) as cluster:
        yield cluster.url


async def test_every_step_stays_in_the_slot_of_its_partition(cluster_url: str) -> None:
    """No script is refused for keys that do not lie together."""
    steps = Steps(random.Random(random.getrandbits(32)))
    state = RedisState(cluster_url, prefix="test", partitions=4, clock=steps.clock)
    await state.open()
    for _ in range(400):
        steps.remember(await answered(steps.draw(), state))
    await state.close()


async def test_a_server_of_a_cluster_is_refused_as_a_single_one(cluster_url: str) -> None:
    """It holds but a part of the keys; the line says what to write instead."""
    state = RedisState(cluster_url.replace("+cluster", ""))
    with pytest.raises(StateInvalid, match=r"write \+cluster"):
        await state.open()


async def test_a_single_server_is_refused_as_a_cluster(redis_url: str) -> None:
    """It has no slots to ask for; the line says what to take away."""
    state = RedisState(redis_url.replace("redis:", "redis+cluster:"))
    with pytest.raises(StateInvalid, match=r"take \+cluster away"):
        await state.open()
