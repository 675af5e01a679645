"""What `open` asks of a Redis server, and how it says no."""

import asyncio
import shutil
from collections.abc import Iterator

import pytest
import redis

from state.contract.scene import HERE, LEASE, begin, message
from state.errors import StateInvalid, StateUnavailable
from state.outcomes import Held, Lost
from state.redis import RedisState, opening
from tests.leftovers import Keyspace
from tests.redis_server import RedisServer, running_redis
from tests.waiting import wait_until


@pytest.fixture
def admin(redis_server: RedisServer) -> Iterator[redis.Redis]:
    """Give a client that may do everything on the shared server."""
    with redis.Redis.from_url(redis_server.socket_url, decode_responses=True) as client:
        yield client


@pytest.fixture
def own_server() -> Iterator[RedisServer]:
    """Give a server that the test may spoil."""
    with running_redis() as server:
        yield server


async def refused(url: str, prefix: str = "interlock") -> str:
    """Open, which must fail; return the one line that says why."""
    state = RedisState(url, prefix=prefix)
    with pytest.raises(StateInvalid) as caught:
        await state.open()
    await state.close()
    line = str(caught.value)
    assert "\n" not in line
    return line


async def test_the_first_to_open_decides_the_number_of_partitions(
    redis_url: str, redis_prefix: str
) -> None:
    """A store's own number wins over the argument: another would find nobody's keys."""
    first = RedisState(redis_url, prefix=redis_prefix, partitions=4)
    second = RedisState(redis_url, prefix=redis_prefix, partitions=32)
    await first.open()
    await second.open()
    assert (first.partitions, second.partitions) == (4, 4)
    await first.close()
    await second.close()


async def test_a_flushed_store_is_told_its_partitions_by_who_renews(
    redis_url: str, redis_keys: Keyspace
) -> None:
    """So that nobody who starts then creates it with others, and looks where no keys are."""
    before = RedisState(redis_url, prefix=redis_keys.prefix, partitions=4)
    await before.open()
    held = (await begin(before, message("m1"))).lease
    assert await before.renew([held], LEASE) == [Held()]
    redis_keys.clear()
    assert await before.renew([held], LEASE) == [Lost()]
    after = RedisState(redis_url, prefix=redis_keys.prefix, partitions=32)
    await after.open()
    assert after.partitions == 4
    await before.close()
    await after.close()


async def test_a_disk_that_cannot_be_written_is_told(own_server: RedisServer) -> None:
    """Redis refuses to change anything then; in one line, and nothing is changed."""
    state = RedisState(own_server.url)
    await state.open()
    with redis.Redis.from_url(own_server.socket_url) as client:
        client.config_set("save", "3600 1")
        shutil.rmtree(own_server.directory)
        client.bgsave()
        await wait_until(
            lambda: client.info("persistence")["rdb_last_bgsave_status"] == "err",
            description="the save has failed",
        )
    with pytest.raises(StateUnavailable, match="MISCONF") as refused:
        await begin(state, message("m1"))
    assert "\n" not in str(refused.value)
    assert (await state.view(HERE)).turn is None
    await state.close()


async def test_a_newer_schema_is_refused_with_both_versions(
    redis_url: str, redis_keys: Keyspace, admin: redis.Redis
) -> None:
    """Older code must not write what newer code reads."""
    meta = f"{{{redis_keys.prefix}}}:meta"
    admin.hset(meta, mapping={"schema": opening.SCHEMA + 1, "partitions": 16})
    line = await refused(redis_url, redis_keys.prefix)
    assert f"schema {opening.SCHEMA + 1}" in line
    assert f"knows {opening.SCHEMA}" in line


@pytest.mark.parametrize("kind", ["string", "hash"])
async def test_keys_of_another_program_are_left_alone(
    redis_url: str, redis_keys: Keyspace, admin: redis.Redis, kind: str
) -> None:
    """What lies under our prefix and is not ours makes us stay away."""
    meta = f"{{{redis_keys.prefix}}}:meta"
    if kind == "string":
        admin.set(meta, "theirs")
    else:
        admin.hset(meta, "theirs", "1")
    assert "another program" in await refused(redis_url, redis_keys.prefix)


async def test_a_wrong_password_is_told_without_the_password(
    redis_server: RedisServer, redis_keys: Keyspace, admin: redis.Redis
) -> None:
    """One line that names the setting, and no secret in it."""
    admin.acl_setuser(redis_keys.prefix, enabled=True, passwords=["+right"], keys=["*"])
    address = redis_server.url.removeprefix("redis://")
    try:
        line = await refused(f"redis://{redis_keys.prefix}:wr0ng@{address}")
    finally:
        admin.acl_deluser(redis_keys.prefix)
    assert "user or password" in line
    assert "wr0ng" not in line


async def test_a_database_that_is_not_there_is_told(redis_server: RedisServer) -> None:
    """A number too high is the operator's mistake, not an outage."""
    assert "no such database" in await refused(redis_server.url.removesuffix("/0") + "/99")


async def test_a_read_only_replica_is_refused(own_server: RedisServer) -> None:
    """It would take no lease, so the line asks for its primary."""
    with redis.Redis.from_url(own_server.socket_url) as client:
        client.replicaof("127.0.0.1", "1")
    assert "primary" in await refused(own_server.url)


async def test_what_may_lose_data_is_told_and_no_obstacle(own_server: RedisServer) -> None:
    """Eviction and a missing append-only file are sentences for the operator."""
    with redis.Redis.from_url(own_server.socket_url) as client:
        client.config_set("maxmemory-policy", "allkeys-lru")
        client.config_set("appendonly", "no")
    state = RedisState(own_server.url)
    await state.open()
    eviction, persistence = state.notices
    assert "noeviction" in eviction
    assert "appendonly" in persistence
    await state.close()


async def test_a_server_that_is_set_up_well_needs_no_notice(
    redis_url: str, redis_prefix: str
) -> None:
    """The tests' server keeps an append-only file and evicts nothing."""
    state = RedisState(redis_url, prefix=redis_prefix)
    await state.open()
    assert state.notices == ()
    await state.close()


async def test_a_server_that_is_not_there_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line names the address; another try is allowed."""
    monkeypatch.setattr("state.redis.calls.CALL_TIMEOUT", 0.3)
    state = RedisState("redis://somebody:secret@127.0.0.1:1/0")
    for _ in range(2):
        with pytest.raises(StateUnavailable, match=r"127\.0\.0\.1:1") as caught:
            await state.open()
        assert "secret" not in str(caught.value)
    await state.close()


@pytest.mark.parametrize(
    "url",
    [
        "redis://127.0.0.1:port/0",
        "redis://h/0?db=first",
        "redis://h/0?protocol=3",
        "redis://h/0?retries=5",
        "rediss://h/0?ssl_ca_certs=/no/such/file",
        "redis+cluster://h/1",
    ],
)
def test_a_malformed_address_is_told_at_once(url: str) -> None:
    """Nothing has to be connected to see it, nor is any option read and ignored."""
    with pytest.raises(StateInvalid, match=r"state\.url"):
        RedisState(url)


@pytest.mark.parametrize("prefix", ["", "a b", "a{b}", "a\n", "x" * 65])
def test_a_prefix_that_would_break_the_hash_tag_is_refused(prefix: str) -> None:
    """Braces, spaces and line ends have no place in keys."""
    with pytest.raises(StateInvalid, match=r"state\.prefix"):
        RedisState("redis://127.0.0.1/0", prefix=prefix)


async def test_openings_at_once_share_one_attempt(redis_url: str, redis_prefix: str) -> None:
    """However many ask, one connection is made."""
    state = RedisState(redis_url, prefix=redis_prefix)
    await asyncio.gather(*(state.open() for _ in range(5)))
    made = state._calls
    await state.open()
    assert state._calls is made
    await state.close()
    await state.close()


async def test_a_cancelled_opening_leaves_nothing_behind(redis_url: str, redis_prefix: str) -> None:
    """Close ends an attempt that nobody waits for any more."""
    state = RedisState(redis_url, prefix=redis_prefix)
    opening = asyncio.create_task(state.open())
    await asyncio.sleep(0)
    opening.cancel()
    await asyncio.gather(opening, return_exceptions=True)
    await state.close()
    with pytest.raises(StateUnavailable, match="not open"):
        await state.ping()
