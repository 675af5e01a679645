"""Records of Redis that no script of ours wrote: foreign bytes, and other types under our keys."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import redis

from state.contract.factory import Clock
from state.contract.scene import (
    ALL,
    CLAIM,
    HERE,
    LEASE,
    THERE,
    begin,
    due,
    finish,
    ids,
    message,
    op,
    placed,
    say,
)
from state.errors import LeaseLost
from state.keys import Author
from state.outcomes import Due, Duplicate, Held, Turnover
from state.redis import RedisState
from state.redis.driver import unreadable
from state.redis.keys import ConversationKeys, Keys
from state.values import Changes, Could, Timer

#: The rest of a message that the turn answers.
JOINS = Could(trigger=True, joins="m1")


@pytest.fixture
async def state(redis_url: str, redis_prefix: str) -> AsyncIterator[RedisState]:
    """Give an open state under a prefix of the test's own."""
    state = RedisState(redis_url, prefix=redis_prefix, clock=Clock())
    await state.open()
    yield state
    await state.close()


@pytest.fixture
def keys(redis_prefix: str) -> ConversationKeys:
    """Give the keys of the conversation that the tests are about."""
    return Keys(redis_prefix, 16).of(HERE)


@pytest.fixture
def other(redis_socket_url: str) -> "redis.Redis":
    """Give a client of another program."""
    return redis.Redis.from_url(redis_socket_url)


async def errors(state: RedisState) -> list[str]:
    """List the errors of the dead letters."""
    return [letter.error for letter in (await state.dead_letters(HERE.owner, limit=ALL)).letters]


@pytest.mark.parametrize("kind", ["turn", "inbox", "kept", "transcript", "dead", "alarms", "given"])
@pytest.mark.parametrize("value", ["a string", "another type"])
async def test_a_key_of_another_type_is_set_aside(
    state: RedisState, keys: ConversationKeys, other: "redis.Redis", kind: str, value: str
) -> None:
    """The conversation starts anew under it, with its bytes in a dead letter."""
    await begin(state, message("m0"), at=THERE)
    key = f"{keys.tag}:{kind}:{keys.name}"
    if value == "a string":
        other.set(key, "foreign")
    else:
        other.zadd(key, {"foreign": 1})
    with other:
        held = (await begin(state, message("m1"))).lease
        await state.schedule(HERE, Timer("t", message("m2"), 60), op=op())
        await finish(state, held, Changes(state=b"s", transcript=(b"t",), answer=b"a"))
        await state.view(HERE)
        await state.history(HERE)
        assert await state.answer(HERE, "m1") == b"a"
        (letter,) = (await state.dead_letters(HERE.owner)).letters
    assert "cannot be read" in letter.error
    assert b"foreign" in (letter.raw or b"")


async def test_a_step_that_breaks_off_is_repeated_from_its_beginning(
    state: RedisState, keys: ConversationKeys, other: "redis.Redis"
) -> None:
    """A message is no duplicate of its own first try, and that of others still is."""
    await begin(state, message("m1"))
    with other:
        other.hset(keys.turn, "inbounds", b"\xff foreign")
    assert await say(state, message("m1")) == Duplicate("m1")
    answer = placed(await say(state, message("m2"), could=JOINS))
    assert answer.turnover.started is not None
    assert ids(answer.turnover.started.inbounds) == ["m2"]
    assert await errors(state) == ["a turn that cannot be read"]


async def test_the_leases_of_others_are_renewed_beside_what_cannot_be_read(
    state: RedisState, keys: ConversationKeys, other: "redis.Redis"
) -> None:
    """Whether its turn is of another type, or its signal is none."""
    mine = (await begin(state, message("m1"))).lease
    theirs = (await begin(state, message("m2"), at=THERE)).lease
    with other:
        other.hset(keys.turn, "signal", b"dance \xff")
        assert await state.renew([mine, theirs], LEASE) == [Held(), Held()]
        other.set(keys.turn, "foreign")
        assert (await state.renew([mine, theirs], LEASE))[1] == Held()
    with pytest.raises(LeaseLost):
        await finish(state, mine)


async def test_names_that_are_none_are_dropped_from_the_indexes(
    state: RedisState, keys: ConversationKeys, other: "redis.Redis"
) -> None:
    """Else the loop over what is due would meet them for ever."""
    await say(state, message("m1"), claim=None)
    with other:
        other.zadd(f"{keys.tag}:wake", {b"\xff": 0, b"no-space": 0, b"a b c{": 0})
        other.zadd(f"{keys.tag}:signals", {b"\xff": 0, b"a b": 0})
        await due(state)
        assert await due(state) == Due((HERE,), ())
        assert other.zcard(f"{keys.tag}:signals") == 0
        assert other.zcard(f"{keys.tag}:wake") == 1


async def test_a_dead_letter_that_cannot_be_read_is_listed(
    state: RedisState, keys: ConversationKeys, other: "redis.Redis"
) -> None:
    """With its bytes, which go with a person whom they name."""
    held = (await begin(state, message("m1"))).lease
    await state.fail(held, "e", Changes(), retry_in=None, limit=1, op=op(), claim=None)
    with other:
        dead = f"{keys.tag}:dead:{keys.name}"
        (name,) = other.hkeys(dead)
        other.hset(dead, name, b"ann wrote \xff")
    assert await errors(state) == ["a dead letter that cannot be read"]
    await state.forget(Author("ann"))
    assert await errors(state) == []


@pytest.mark.parametrize(
    "text",
    [
        "OOM command not allowed when used memory > 'maxmemory'. script: a, on @user_script:47.",
        "READONLY You can't write against a read only replica. script: a, on @user_script:1.",
        "MISCONF Redis is configured to save RDB snapshots. script: a, on @user_script:1.",
        "ERR Script attempted to access a non local key in a cluster node, on @user_script:9.",
        "ERR The user executing the script can't run this command script: a, on @user_script:3.",
    ],
)
def test_the_state_of_a_server_is_taken_for_no_foreign_record(text: str) -> None:
    """Else each step would look for one, and take twice its time to say that nothing is known."""
    assert not unreadable(text)


async def test_an_answer_that_was_kept_and_cannot_be_read_is_dropped(
    state: RedisState, keys: ConversationKeys, other: "redis.Redis"
) -> None:
    """The step that it was the answer to happens as if it were the first."""
    own = op()
    with other:
        other.rpush(f"{keys.tag}:answers:{keys.name}", f"{own} {2**52} \xc1 foreign")
        assert await state.claim(HERE, op=own, claim=CLAIM) == Turnover()


async def test_what_was_answered_stays_seen_when_a_record_cannot_be_read(
    state: RedisState, keys: ConversationKeys, other: "redis.Redis"
) -> None:
    """Its second delivery breaks off over that record, and is no first one for it."""
    await finish(state, (await begin(state, message("m1"))).lease)
    with other:
        other.set(keys.turn, "foreign")
        assert await say(state, message("m1")) == Duplicate(None)


async def test_two_messages_that_break_off_at_once_are_both_taken(
    state: RedisState, keys: ConversationKeys, other: "redis.Redis"
) -> None:
    """One of them sets aside what was in the way; the other finds nothing there any more."""
    await begin(state, message("m1"))
    with other:
        other.hset(keys.turn, "inbounds", b"\xff foreign")
    both = [say(state, message(name), could=JOINS) for name in ("m2", "m3")]
    assert [placed(answer).place for answer in await asyncio.gather(*both)] == [0, 1]


@pytest.mark.parametrize("kind", ["dead", "alarms"])
async def test_nothing_names_what_was_in_a_key_of_another_type(
    state: RedisState, keys: ConversationKeys, other: "redis.Redis", kind: str
) -> None:
    """Lists do not count it, and a forget leaves no word of it."""
    await state.schedule(HERE, Timer("t", message("m2"), 60), op=op())
    held = (await begin(state, message("m1"))).lease
    await state.fail(held, "e", Changes(), retry_in=None, limit=1, op=op(), claim=None)
    with other:
        other.set(f"{keys.tag}:{kind}:{keys.name}", "foreign")
        await state.forget(HERE)
        assert other.zrange(f"{keys.tag}:index", 0, -1) == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("M:0:0", b"\xff"),
        ("token", b"\xff"),
        ("attempts", b"nan"),
        ("inbounds", b"5:ab"),
    ],
)
async def test_a_turn_is_set_aside_over_any_of_its_fields(
    state: RedisState, keys: ConversationKeys, other: "redis.Redis", field: str, value: bytes
) -> None:
    """Whatever would be read of it next, and not only what scripts read."""
    lease = (await begin(state, message("m1"))).lease
    await state.page(lease, 0, 0, b"intent")
    await state.posted(lease, 0, 0, "77")
    await say(state, message("m2"))
    with other:
        other.hset(keys.turn, field, value)
        await state.view(HERE)
        answer = await state.steal(HERE, lease.token, op=op(), claim=CLAIM)
        if not isinstance(answer, Turnover):  # the view has set its turn aside, and its token
            answer = await state.claim(HERE, op=op(), claim=CLAIM)
    assert isinstance(answer, Turnover)
    assert answer.started is not None
    assert ids(answer.started.inbounds) == ["m2"]


async def test_a_lease_that_ends_at_no_time_is_set_aside(
    state: RedisState, keys: ConversationKeys, other: "redis.Redis"
) -> None:
    """Else nobody could ever take its conversation up."""
    await begin(state, message("m1"))
    await say(state, message("m2"))
    with other:
        other.hset(keys.turn, "expires", "1e400")
        answer = await state.claim(HERE, op=op(), claim=CLAIM)
    assert isinstance(answer, Turnover)
    assert answer.started is not None
    assert ids(answer.started.inbounds) == ["m2"]


async def test_a_turn_is_committed_though_its_transcript_has_no_count(
    state: RedisState, keys: ConversationKeys, other: "redis.Redis"
) -> None:
    """The commit that breaks off over it has ended nothing, and is repeated without it."""
    lease = (await begin(state, message("m1"))).lease
    with other:
        other.hset(f"{keys.tag}:kept:{keys.name}", "entries", "nan")
        await finish(state, lease, Changes(state=b"s", transcript=(b"t",)))
    assert [entry.payload for entry in await state.history(HERE)] == [b"t"]
    assert (await begin(state, message("m2"))).state == b"s"
