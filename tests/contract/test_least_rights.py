"""A slice of the suite by a user of Redis who may do nothing but what the README names."""

from collections.abc import Iterator

import pytest
import redis

from state.contract import checks
from state.contract.factory import PrefixFactory
from tests.redis_server import RedisServer
from tests.rights import PASSWORD, allow

#: Those that come to every kind of key, and to what travels beside the scripts.
SLICE = {"test_commit", "test_forgetting", "test_hints", "test_key_values", "test_shards"}

globals().update(
    {
        name: check
        for name, check in checks().items()
        if getattr(check, "__module__", "").rpartition(".")[2] in SLICE
    }
)


@pytest.fixture
def state_contract(redis_server: RedisServer, redis_prefix: str) -> Iterator[PrefixFactory]:
    """Give a prefix and a user for it alone, who goes with the test."""
    address = redis_server.url.removeprefix("redis://")
    with redis.Redis.from_url(redis_server.socket_url) as admin:
        allow(admin, redis_prefix, redis_prefix)
        yield PrefixFactory(f"redis://{redis_prefix}:{PASSWORD}@{address}", redis_prefix)
        admin.acl_deluser(redis_prefix)
