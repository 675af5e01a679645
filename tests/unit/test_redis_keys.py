"""What lies in Redis: nothing of idle conversations, little of seen ids, and only declared keys."""

import random
import re
from collections.abc import AsyncIterator, Iterator
from importlib.resources import files

import pytest
import redis

from state.keys import Scope
from state.outcomes import Duplicate, Ignored, Placed
from state.partition import partition_of
from state.redis import RedisState, keys, scripts
from state.redis.resp import parse
from state.values import Changes, Claim, Conversation, Could, Inbound, Lease, Policy
from tests.leftovers import Keyspace
from tests.redis_server import running_redis

HERE = Conversation("guild/1", "10")
CLAIM = Claim(30.0)

#: A message of 2023 as Discord numbers them.
SNOWFLAKE = 1_100_000_000_000_000_000


@pytest.fixture
async def state(redis_url: str, redis_prefix: str) -> AsyncIterator[RedisState]:
    """Give an open adapter with one partition."""
    opened = RedisState(redis_url, prefix=redis_prefix, partitions=1)
    await opened.open()
    yield opened
    await opened.close()


@pytest.fixture
def small_server() -> Iterator[redis.Redis]:
    """Give a client of a server that holds nothing else."""
    with running_redis() as server, redis.Redis.from_url(server.url) as client:
        yield client


async def started(state: RedisState, name: str, where: Conversation = HERE) -> Lease:
    """Let *name* start a turn."""
    inbound, could = Inbound(name, "ann", b"hello"), Could(trigger=True)
    answer = await state.admit(where, inbound, could, Policy(), op=f"in{name}", claim=CLAIM)
    assert isinstance(answer, Placed)
    assert answer.turnover.started is not None
    return answer.turnover.started.lease


async def turn(state: RedisState, name: str, where: Conversation = HERE) -> None:
    """Play one turn with a step and a page."""
    lease = await started(state, name, where)
    await state.record(lease, "step", "", b"value")
    await state.page(lease, 0, 0, b"page")
    await state.commit(lease, Changes(), op=f"out{name}", claim=CLAIM)


async def test_an_idle_conversation_leaves_only_what_expires(
    state: RedisState, no_leftover_keys: Keyspace
) -> None:
    """Markers of operations and seen ids have a time to live; nothing else of a turn stays."""
    no_leftover_keys.allow("*:meta", "*:counter")
    await turn(state, str(SNOWFLAKE))
    await turn(state, "timer")
    left = no_leftover_keys.keys()
    kinds = {key.split(":")[2] for key in left if "}:meta" not in key}
    assert kinds == {"answers", "counter", "seen"}


async def test_what_a_conversation_kept_goes_with_its_last_trace(
    state: RedisState, no_leftover_keys: Keyspace
) -> None:
    """Transcript, its numbering, state and subscription are gone once they were all dropped."""
    no_leftover_keys.allow("*:meta", "*:counter")
    lease = await started(state, "m1")
    changes = Changes(state=b"state", state_version=1, transcript=(b"hello",))
    await state.commit(lease, changes, op="out", claim=CLAIM)
    await state.subscribe(HERE)
    await state.reset(HERE)
    await state.unsubscribe(HERE)


async def test_seen_ids_take_twenty_bytes_at_most(small_server: redis.Redis) -> None:
    """In a quiet hour and in a busy one, with other conversations' ids in the same bucket."""
    port = small_server.get_connection_kwargs()["port"]
    state = RedisState(f"redis://127.0.0.1:{port}/0", partitions=1)
    await state.open()
    nothing, policy = Could(), Policy()

    async def say(number: int) -> None:
        where = Conversation("guild/1", str(number % 97))
        inbound = Inbound(str(SNOWFLAKE + number * 4096), "ann", b"")
        await state.admit(where, inbound, nothing, policy, op=f"op{number}", claim=None)

    def bytes_of_seen() -> int:
        found = small_server.scan_iter("*:seen:*", count=1000)
        return sum(small_server.memory_usage(key, samples=0) or 0 for key in found)

    said = 0
    for volume in (400, 8000):
        for number in range(said, volume):
            await say(number)
        said = volume
        assert bytes_of_seen() / volume <= 20
    await state.close()


@pytest.mark.parametrize(
    "name", [str(SNOWFLAKE), f"{SNOWFLAKE}@edited-1", "18446744073709551616", "m1"]
)
async def test_an_id_is_seen_once_in_its_own_conversation(state: RedisState, name: str) -> None:
    """Ids of every shape are duplicates where they were seen, and nowhere else."""
    inbound = Inbound(name, "ann", b"")
    there = Conversation("guild/1", "11")

    async def say(where: Conversation, op: str) -> object:
        return await state.admit(where, inbound, Could(), Policy(), op=op, claim=None)

    assert await say(HERE, "a") == Ignored()
    assert await say(HERE, "b") == Duplicate()
    assert await say(there, "c") == Ignored()
    assert await say(there, "d") == Duplicate()


async def test_a_full_bucket_forgets_nothing(
    state: RedisState, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ids before and after the overflow into finer buckets are all known."""
    numbers = list(range(scripts.BUCKET_SIZE + 200))
    random.shuffle(numbers)

    async def say(number: int, op: str) -> object:
        inbound = Inbound(str(SNOWFLAKE + number), "ann", b"")
        return await state.admit(HERE, inbound, Could(), Policy(), op=op, claim=None)

    for number in numbers:
        assert await say(number, f"first{number}") == Ignored()
    for number in numbers:
        assert await say(number, f"second{number}") == Duplicate()


def test_all_keys_of_an_owner_share_one_hash_tag() -> None:
    """Redis Cluster keeps them on one node, so that a script may touch them together."""
    layout = keys.Keys("app", 16)
    of = layout.of(HERE)
    tag = f"{{app:{partition_of(HERE.owner, 16)}}}:"
    buckets, _ = of.seen(str(SNOWFLAKE))
    sent, at = [], 0
    while at < len(of.packed + buckets):
        key, at = parse(of.packed + buckets, at)
        sent.append(key.decode())
    assert len(sent) == keys.COUNT + 2
    named = [*sent, of.turn, of.hints]
    named += [*layout.scoped(Scope(HERE.owner), "key"), layout.usage(HERE.owner)]
    assert all(name.startswith(tag) for name in named)


@pytest.mark.parametrize(
    "file",
    [
        *(file for file in files(scripts).iterdir() if file.name.endswith(".lua")),
        *(files(scripts) / "shared").iterdir(),
    ],
    ids=lambda file: file.name,
)
def test_scripts_touch_declared_keys_only(file) -> None:  # type: ignore[no-untyped-def] # noqa: ANN001
    """Each key in a call is a name that stands for one of KEYS, never one made up in Lua."""
    text = re.sub(r"--.*", "", file.read_text("utf-8"))
    declared = {
        *("coarse", "fine", "bucket", "wake", "gone", "usage", "key", "beside", "channel", "beat")
    }
    for place in re.findall(r"\bcall\('[A-Z]+', ([^,)]+)", text):
        assert place.isupper() or place.startswith("KEYS[") or place in declared, place
