"""The scripts on a server in cluster mode, which refuses keys of two slots in one call."""

import random
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress

import pytest
import redis

from state.redis import RedisState
from tests.redis_server import server_binary
from tests.unit.redis_steps import Steps, answered
from tests.waiting import wait_until

SLOTS = 16_384


def free_port() -> int:
    """Find a free port that has one 10,000 higher, where a cluster's nodes talk to each other."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port: int = probe.getsockname()[1]
        if port < 55_000:
            return port


@pytest.fixture
def cluster_url() -> Iterator[str]:
    """Give a cluster of one node that serves every slot."""
    port = free_port()
    with tempfile.TemporaryDirectory() as directory:
        settings = [
            "--port",
            str(port),
            "--cluster-enabled",
            "yes",
            "--save",
            "",
            "--dir",
            directory,
        ]
        with subprocess.Popen(
            [server_binary(), *settings], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            yield f"redis://127.0.0.1:{port}/0"
            process.kill()


async def serving(url: str) -> bool:
    """Whether the node answers for all slots, which it is told to do first."""
    with redis.Redis.from_url(url) as client, suppress(redis.RedisError):
        client.execute_command("CLUSTER ADDSLOTS", *range(SLOTS))
    with redis.Redis.from_url(url) as client, suppress(redis.RedisError):
        return bool(client.set("{test}", "1"))
    return False


async def test_every_step_stays_in_the_slot_of_its_partition(cluster_url: str) -> None:
    """No script is refused for keys that do not lie together."""
    await wait_until(lambda: serving(cluster_url), description="the cluster serves all slots")
    steps = Steps(random.Random(random.getrandbits(32)))
    state = RedisState(cluster_url, prefix="test", partitions=4, clock=steps.clock)
    await state.open()
    for _ in range(400):
        steps.remember(await answered(steps.draw(), state))
    await state.close()
