"""The scripts on a cluster, which refuses keys of two slots in one call."""

import random
from collections.abc import Iterator

import pytest

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
