"""What a forget leaves in Redis: nothing that names whom it was about, but usage."""

from collections.abc import AsyncIterator

import pytest

from state.errors import Unacceptable
from state.keys import Author, Owner, Put, Scope
from state.outcomes import Placed
from state.redis import RedisState
from state.values import (
    Changes,
    Claim,
    Conversation,
    Could,
    Inbound,
    Lease,
    Policy,
    Timer,
)
from tests.leftovers import Keyspace

OWNER = "guild/1"
HERE = Conversation(OWNER, "10")
CLAIM = Claim(30.0)


@pytest.fixture
async def state(redis_url: str, redis_prefix: str) -> AsyncIterator[RedisState]:
    """Give an open adapter with one partition."""
    opened = RedisState(redis_url, prefix=redis_prefix, partitions=1)
    await opened.open()
    yield opened
    await opened.close()


async def start(state: RedisState, name: str, where: Conversation = HERE) -> Lease:
    """Let *name*, which ann wrote, start a turn."""
    inbound, could = Inbound(name, "ann", b"secret"), Could(trigger=True)
    answer = await state.admit(where, inbound, could, Policy(), op=f"in{name}", claim=CLAIM)
    assert isinstance(answer, Placed)
    assert answer.turnover.started is not None
    return answer.turnover.started.lease


async def fill(state: RedisState, where: Conversation = HERE) -> None:
    """Leave something of every kind behind in *where*."""
    lease = await start(state, "dead", where)
    await state.fail(lease, "it broke", Changes(), retry_in=None, limit=1, op="failed", claim=CLAIM)
    lease = await start(state, "kept", where)
    await state.record(lease, "step", "", b"secret")
    changes = Changes(
        state=b"secret",
        state_version=1,
        transcript=(b"secret", b"ours"),
        authors=("ann",),
        timers=(Timer("timer", Inbound("timer", "ann", b"secret"), 60.0),),
        puts=(Put(Scope(where.owner, where.id), "key", b"secret"),),
        answer=b"secret",
        usage={"tokens": 3},
    )
    await state.commit(lease, changes, op="committed", claim=CLAIM)
    lease = await start(state, "running", where)
    await state.page(lease, 0, 0, b"secret")
    await start_waiting(state, where)
    await state.subscribe(where)
    await state.put(Scope(where.owner), "key", b"secret")
    await state.append(Scope(where.owner, person="ann"), "list", b"secret", most=3, op="append")


async def start_waiting(state: RedisState, where: Conversation) -> None:
    """Let something wait behind the running turn."""
    inbound = Inbound("1100000000000000000", "ann", b"secret")
    await state.admit(where, inbound, Could(trigger=True), Policy(), op="wait", claim=CLAIM)


def naming(keyspace: Keyspace, name: str) -> list[str]:
    """List keys and entries of sorted sets that name *name*."""
    keys = keyspace.keys()
    client = keyspace._client
    sets = [key for key in keys if client.type(key) == b"zset"]
    entries = [str(entry) for key in sets for entry in client.zrange(key, 0, -1)]
    return [found for found in (*keys, *entries) if name in found]


async def test_forgetting_an_owner_leaves_nothing_but_usage(
    state: RedisState, redis_keys: Keyspace
) -> None:
    """No key names it any more, in one batch or in several, and others' stay."""
    other = Conversation("guild/11", "10")
    await fill(state)
    await fill(state, Conversation(OWNER, "20"))
    await fill(state, other)
    before = naming(redis_keys, other.owner)
    batches = [await state.forget(Owner(OWNER), limit=1)]
    while not batches[-1].done:
        batches.append(await state.forget(Owner(OWNER), limit=1))
    assert sum(batch.removed for batch in batches) == 2
    left = [name for name in naming(redis_keys, OWNER) if other.owner not in name]
    assert [name.partition("}:")[2] for name in left] == [f"usage:{OWNER}"]
    assert naming(redis_keys, other.owner) == before


async def test_forgetting_a_conversation_leaves_its_owner_s_own_keys(
    state: RedisState, redis_keys: Keyspace
) -> None:
    """Its answers, seen ids, timers, letters and keys go; the owner's and its people's stay."""
    await fill(state)
    assert (await state.forget(HERE)).removed == 1
    left = [name for name in naming(redis_keys, f"{OWNER} ") if " 10" in name]
    assert left == []
    assert await state.get(Scope(OWNER), "key") == b"secret"
    assert await state.items(Scope(OWNER, person="ann"), "list") == (b"secret",)
    assert (await start(state, "kept")).turn == "kept"


async def test_forgetting_an_author_leaves_no_word_of_theirs(
    state: RedisState, redis_keys: Keyspace
) -> None:
    """No value holds what they wrote; what others wrote is where it was."""
    await fill(state)
    bob = Inbound("2", "bob", b"mine")
    await state.admit(HERE, bob, Could(trigger=True), Policy(), op="bob", claim=CLAIM)
    await state.delete(Scope(OWNER), "key")
    await state.delete(Scope(OWNER, "10"), "key")
    assert (await state.forget(Author("ann"))).done
    view = await state.view(HERE)
    assert view.turn is None
    assert view.waiting == (bob,)
    assert [entry.payload for entry in await state.history(HERE)] == [b"ours"]
    assert (await state.dead_letters(OWNER)).letters == ()
    assert (await state.schedules(OWNER)).timers == ()
    assert await state.items(Scope(OWNER, person="ann"), "list") == ()


async def test_a_commit_writes_keys_of_its_own_owner_only(state: RedisState) -> None:
    """Those of another may lie on another node, where no one step reaches."""
    lease = await start(state, "m1")
    changes = Changes(puts=(Put(Scope("guild/2"), "key", b"value"),))
    with pytest.raises(Unacceptable, match="guild/2"):
        await state.commit(lease, changes, op="c", claim=CLAIM)
    assert (await state.view(HERE)).turn is not None
