"""The rights of the user in Redis: which are enough, and what is told at the start if one lacks."""

import random
import re
from collections.abc import Iterator
from importlib.resources import files

import pytest
import redis

from state.errors import StateInvalid
from state.redis import RedisState, scripts
from tests.redis_cluster import running_cluster
from tests.redis_server import RedisServer
from tests.rights import CLUSTER, PASSWORD, allow
from tests.unit.redis_steps import Steps, answered


@pytest.fixture
def admin(redis_server: RedisServer) -> Iterator[redis.Redis]:
    """Give a client that may do everything on the shared server."""
    with redis.Redis.from_url(redis_server.socket_url) as client:
        yield client


@pytest.fixture
def user_url(redis_server: RedisServer, admin: redis.Redis, redis_prefix: str) -> Iterator[str]:
    """Give the shared server's address for a user with the least rights, named like the prefix."""
    allow(admin, redis_prefix, redis_prefix)
    yield f"redis://{redis_prefix}:{PASSWORD}@{redis_server.url.removeprefix('redis://')}"
    admin.acl_deluser(redis_prefix)


async def walk(url: str, prefix: str) -> None:
    """Open, take random steps, close."""
    steps = Steps(random.Random(random.getrandbits(32)))
    state = RedisState(url, prefix=prefix, clock=steps.clock)
    await state.open()
    await state.ping()
    for _ in range(200):
        steps.remember(await answered(steps.draw(), state))
    await state.close()


async def test_the_least_rights_are_enough(user_url: str, redis_prefix: str) -> None:
    """No step asks for anything that an ordinary application may not do."""
    await walk(user_url, redis_prefix)


async def test_a_cluster_takes_two_rights_more(redis_server: object) -> None:
    """To learn who holds what, and to follow a key that is being moved."""
    with running_cluster(2) as cluster:
        for server in cluster.servers:
            with server.client() as client:
                allow(client, "bot", "interlock", CLUSTER)
        await walk(cluster.url.replace("://", f"://bot:{PASSWORD}@"), "interlock")


@pytest.mark.parametrize(
    ("denied", "told"),
    [
        ("-evalsha", "evalsha"),
        ("-script|load", "load"),
        ("-info", "info"),
        ("-publish", "+publish"),
        ("-subscribe", "subscribe"),
        ("-time", "+time"),
        ("-hset -zadd", "+hset +zadd"),
        ("-del", "+del"),
        ("-@list", "+lindex +llen +lpop +lpush +lrange +lrem +lset +ltrim +rpush"),
        ("-unlink", "unlink"),
        ("-scan", "scan"),
        ("resetkeys ~elsewhere:*", "keys"),
        ("resetchannels &elsewhere:*", "channel"),
    ],
)
async def test_a_right_that_lacks_is_told_at_the_start(
    user_url: str, admin: redis.Redis, redis_prefix: str, denied: str, told: str
) -> None:
    """By its name, in one line, and not in the middle of somebody's turn."""
    allow(admin, redis_prefix, redis_prefix, denied)
    state = RedisState(user_url, prefix=redis_prefix)
    with pytest.raises(StateInvalid) as caught:
        await state.open()
    await state.close()
    line = str(caught.value)
    assert told in line
    assert "denies its user" in line
    assert "\n" not in line


def test_each_command_of_the_scripts_is_tried() -> None:
    """What a script calls and the trial does not would be found missing in somebody's turn."""
    used: set[str] = set()
    for folder in (files(scripts), files(scripts) / "shared"):
        for file in folder.iterdir():
            if file.name.endswith(".lua"):
                used |= set(re.findall(r"call\('([A-Z]+)'", file.read_text("utf-8")))
    tried = re.findall(r"^  \{'([A-Z]+)'", scripts.RIGHTS.text, re.MULTILINE)
    assert set(tried) == used
    assert len(tried) == len(used)
