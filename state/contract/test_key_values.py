"""Key-values, lists and counters, each in its scope."""

import asyncio
from itertools import product

import pytest

from state import State
from state.contract.factory import Clock
from state.contract.scene import (
    CLAIM,
    ELSEWHERE,
    HERE,
    LOCAL,
    PERSONAL,
    SHARED,
    begin,
    everything,
    finish,
    message,
    op,
    taken_over,
)
from state.contract.test_payloads import PAYLOADS
from state.errors import LeaseLost, Unacceptable
from state.ids import PAYLOAD_LIMIT
from state.keys import Put, Scope
from state.outcomes import Drift
from state.values import Changes

pytestmark = pytest.mark.asyncio

#: Callers on each handle in a race.
RACERS = 20

SCOPES = (
    SHARED,
    LOCAL,
    PERSONAL,
    Scope("guild/1", "ann"),
    Scope("guild/1", person="10"),
    Scope("guild/1", "owner"),
    Scope("guild/12"),
    Scope("guild"),
    Scope("user/1", "10"),
)


async def test_a_value_is_what_was_put_last(one: State, two: State) -> None:
    """Absent before and after; nothing is not absent. Contract 61."""
    assert await one.get(SHARED, "k") is None
    for value in (b"1", b"22", b""):
        await one.put(SHARED, "k", value)
        assert await two.get(SHARED, "k") == value
    await two.delete(SHARED, "k")
    assert await one.get(SHARED, "k") is None
    await two.delete(SHARED, "k")


async def test_values_come_back_unchanged(one: State, two: State) -> None:
    """As values, in lists, and when a commit writes them. Contract 31, 61."""
    for n, (name, payload) in enumerate(PAYLOADS.items()):
        await one.put(SHARED, f"k{n}", payload)
        assert await two.get(SHARED, f"k{n}") == payload, name
        await one.append(SHARED, f"l{n}", payload, most=2, op=op())
        assert await two.items(SHARED, f"l{n}") == (payload,), name
        lease = (await begin(one, message(f"m{n}"))).lease
        await finish(one, lease, Changes(puts=(Put(LOCAL, "k", payload),)))
        assert await two.get(LOCAL, "k") == payload, name


async def test_keys_of_any_allowed_name_are_told_apart(one: State, two: State) -> None:
    """By case, by leading zeros, up to the longest. Contract 31, 61."""
    names = ("a", "A", "007", "7", "a:b", "a/b", "a.b", "x" * 128, "x" * 127, "-1", "null", "a@b")
    for name in names:
        await one.put(SHARED, name, name.encode())
    for name in names:
        assert await two.get(SHARED, name) == name.encode()


async def test_a_key_that_no_store_could_hold_is_refused(one: State) -> None:
    """As is a value over the limit; nothing was changed. Contract 75."""
    for key in ("", "x" * 129, "a b", "a\0b", "a\nb", "{a}", "naïve"):
        with pytest.raises(Unacceptable):
            await one.put(SHARED, key, b"v")
        with pytest.raises(Unacceptable):
            await one.get(SHARED, key)
    with pytest.raises(Unacceptable):
        await one.put(SHARED, "k", b"x" * (PAYLOAD_LIMIT + 1))
    with pytest.raises(Unacceptable):
        await one.append(SHARED, "k", b"x" * (PAYLOAD_LIMIT + 1), most=1, op=op())
    assert (await one.get(SHARED, "k"), await one.items(SHARED, "k")) == (None, ())


async def test_a_value_lives_as_long_as_it_was_given(one: State, two: State, clock: Clock) -> None:
    """Readable before, gone after; without a time it stays, and each put decides. Contract 61."""
    await one.put(SHARED, "short", b"1", ttl=8)
    await one.put(SHARED, "long", b"1")
    await one.put(SHARED, "shortened", b"1")
    await one.put(SHARED, "shortened", b"2", ttl=8)
    await one.put(SHARED, "kept", b"1", ttl=8)
    await one.put(SHARED, "kept", b"2")
    clock.move(7.875)
    assert await two.get(SHARED, "short") == b"1"
    clock.move(0.125)
    found = [await two.get(SHARED, key) for key in ("short", "long", "shortened", "kept")]
    assert found == [None, b"1", None, b"2"]
    clock.move(10**6)
    assert await two.get(SHARED, "long") == b"1"


async def test_of_many_who_put_if_absent_one_does(one: State, two: State, clock: Clock) -> None:
    """All others leave what it put; after its time one does again. Contract 62."""
    for _ in range(2):
        answers = await asyncio.gather(
            *(
                state.put_if_absent(SHARED, "k", f"{n}".encode(), op=op(), ttl=8)
                for n, state in product(range(RACERS), (one, two))
            )
        )
        assert answers.count(True) == 1
        assert await two.get(SHARED, "k") == f"{answers.index(True) // 2}".encode()
        clock.move(8)
        assert await one.get(SHARED, "k") is None


async def test_a_list_is_cut_to_its_newest(one: State, two: State) -> None:
    """In the order of appending; the answer is its length. Contract 63."""
    assert await one.items(SHARED, "l") == ()
    lengths = [
        await (one, two)[n % 2].append(SHARED, "l", f"{n}".encode(), most=3, op=op())
        for n in range(5)
    ]
    assert lengths == [1, 2, 3, 3, 3]
    assert await two.items(SHARED, "l") == (b"2", b"3", b"4")
    assert await one.append(SHARED, "l", b"5", most=1, op=op()) == 1
    assert await two.items(SHARED, "l") == (b"5",)
    await two.delete(SHARED, "l")
    assert await one.items(SHARED, "l") == ()


async def test_a_list_lives_from_its_last_append(one: State, two: State, clock: Clock) -> None:
    """Each one refreshes its time, or takes it away. Contract 63."""
    await one.append(SHARED, "l", b"1", most=9, op=op(), ttl=8)
    clock.move(6)
    await one.append(SHARED, "l", b"2", most=9, op=op(), ttl=8)
    clock.move(6)
    assert await two.items(SHARED, "l") == (b"1", b"2")
    clock.move(2)
    assert await two.items(SHARED, "l") == ()
    await one.append(SHARED, "l", b"3", most=9, op=op(), ttl=8)
    await one.append(SHARED, "l", b"4", most=9, op=op())
    clock.move(10**6)
    assert await two.items(SHARED, "l") == (b"3", b"4")


async def test_of_many_who_append_none_is_lost(one: State, two: State) -> None:
    """As long as there is room. Contract 63."""
    values = {f"{n}".encode() for n in range(2 * RACERS)}
    await asyncio.gather(
        *(
            (one, two)[n % 2].append(SHARED, "l", value, most=2 * RACERS, op=op())
            for n, value in enumerate(values)
        )
    )
    assert set(await one.items(SHARED, "l")) == values


async def test_a_counter_adds_up(one: State, two: State) -> None:
    """From nothing, up and down; every racer counts once and learns its own sum. Contract 64."""
    sums = await asyncio.gather(
        *(state.increment(SHARED, "n", op=op()) for _ in range(RACERS) for state in (one, two))
    )
    assert sorted(sums) == list(range(1, 2 * RACERS + 1))
    assert await two.increment(SHARED, "n", op=op(), by=-50) == 2 * RACERS - 50
    await one.delete(SHARED, "n")
    assert await two.increment(SHARED, "n", op=op(), by=7) == 7


async def test_a_counters_window_begins_with_its_first(
    one: State, two: State, clock: Clock
) -> None:
    """Later ones do not prolong it; then it begins anew. Contract 64."""
    assert await one.increment(SHARED, "n", op=op(), window=8) == 1
    clock.move(5)
    assert await two.increment(SHARED, "n", op=op(), window=8) == 2
    clock.move(2.875)
    assert await two.increment(SHARED, "n", op=op(), window=8) == 3
    clock.move(0.125)
    assert await one.increment(SHARED, "n", op=op(), window=8) == 1


async def test_scopes_do_not_see_each_others_keys(one: State, two: State) -> None:
    """However alike the names of owner, conversation and person are. Contract 65, 68."""
    for n, scope in enumerate(SCOPES):
        await one.put(scope, "k", f"{n}".encode())
        await one.append(scope, "l", f"{n}".encode(), most=9, op=op())
        assert await one.increment(scope, "n", op=op(), by=n + 1) == n + 1
    for n, scope in enumerate(SCOPES):
        assert await two.get(scope, "k") == f"{n}".encode(), scope
        assert await two.items(scope, "l") == (f"{n}".encode(),), scope
    await two.delete(SCOPES[0], "k")
    assert await one.get(SCOPES[0], "k") is None
    assert all([await one.get(scope, "k") is not None for scope in SCOPES[1:]])


async def test_keys_are_no_part_of_a_conversation(one: State, two: State) -> None:
    """A reset leaves them, and they ask for no attention. Contract 51, 61."""
    before = await everything(one)
    await one.put(LOCAL, "k", b"v")
    assert await everything(one) == before
    await two.reset(HERE)
    assert await one.get(LOCAL, "k") == b"v"


async def test_a_commit_writes_and_deletes_keys(one: State, two: State, clock: Clock) -> None:
    """In any scope of its owner, with their times; the last of one name stands. Contract 35."""
    await one.put(SHARED, "old", b"1")
    lease = (await begin(one, message("m1"))).lease
    puts = (
        Put(SHARED, "old", None),
        Put(LOCAL, "k", b"1"),
        Put(LOCAL, "k", b"2", ttl=8),
        Put(PERSONAL, "k", b"3"),
        Put(SHARED, "none", None),
    )
    await finish(one, lease, Changes(puts=puts))
    assert await two.get(SHARED, "old") is None
    assert (await two.get(LOCAL, "k"), await two.get(PERSONAL, "k")) == (b"2", b"3")
    clock.move(8)
    assert (await two.get(LOCAL, "k"), await two.get(PERSONAL, "k")) == (None, b"3")


async def test_a_commit_writes_no_key_of_another_owner(one: State, two: State) -> None:
    """It may lie in another partition: the whole commit is refused. Contract 35, 75, 76."""
    lease = (await begin(one, message("m1"))).lease
    before = await everything(two)
    for owner in (ELSEWHERE.owner, "guild/12"):
        puts = (Put(LOCAL, "k", b"1"), Put(Scope(owner), "k", b"1"))
        with pytest.raises(Unacceptable):
            await one.commit(lease, Changes(state=b"s", puts=puts), op=op(), claim=CLAIM)
        assert await two.get(Scope(owner), "k") is None
    assert await everything(two) == before
    assert await two.get(LOCAL, "k") is None
    await finish(one, lease)


async def test_a_commit_that_is_refused_writes_no_key(one: State, two: State, clock: Clock) -> None:
    """Neither one that drifted nor one that came too late. Contract 33, 38, 75."""
    lease = (await begin(one, message("m1"))).lease
    await one.record(lease, "a", "1", b"x")
    changes = Changes(puts=(Put(LOCAL, "k", b"1"),), usage={"n": 1}, asked=frozenset())
    assert isinstance(await one.commit(lease, changes, op=op(), claim=CLAIM), Drift)
    await taken_over(two, clock)
    with pytest.raises(LeaseLost):
        await one.commit(lease, changes, op=op(), claim=CLAIM)
    assert await two.get(LOCAL, "k") is None


async def test_what_is_kept_can_be_sent_twice(one: State, two: State, clock: Clock) -> None:
    """One effect and the first answer, for each step on keys and in each scope. Contract 73."""
    for scope in (SHARED, LOCAL, PERSONAL):
        first, second, third = op(), op(), op()
        for state in (one, two):
            assert await state.put_if_absent(scope, "k", b"1", op=first)
            assert await state.append(scope, "l", b"1", most=9, op=second, ttl=8) == 1
            assert await state.increment(scope, "n", op=third, by=5, window=8) == 5
            clock.move(1)
        assert await one.items(scope, "l") == (b"1",)
        assert await one.increment(scope, "n", op=op()) == 6
        clock.move(6)
        assert await one.items(scope, "l") == ()


async def test_keys_survive_a_turn_and_their_process(one: State, two: State) -> None:
    """They are the store's. Contract 61."""
    await one.put(LOCAL, "k", b"1")
    await one.append(LOCAL, "l", b"1", most=3, op=op())
    await one.increment(LOCAL, "n", op=op())
    await finish(one, (await begin(one, message("m1"))).lease)
    await one.close()
    assert await two.get(LOCAL, "k") == b"1"
    assert await two.items(LOCAL, "l") == (b"1",)
    assert await two.increment(LOCAL, "n", op=op()) == 2


async def test_a_scope_is_a_conversations_or_a_persons(one: State) -> None:
    """Not both, and of names that every store can hold. Contract 65."""
    with pytest.raises(Unacceptable):
        Scope("guild/1", "10", "ann")
    for owner in ("", "a b", "{a}", "x" * 129):
        with pytest.raises(Unacceptable):
            Scope(owner)
    with pytest.raises(Unacceptable):
        Put(SHARED, "k", b"x" * (PAYLOAD_LIMIT + 1))
    for scope in (Scope("x" * 128), Scope("x", "x" * 128), Scope("x", person="x" * 128)):
        await one.put(scope, "k", b"1")
        assert await one.get(scope, "k") == b"1"
        own = op()
        for _ in range(2):
            assert await one.put_if_absent(scope, "other", b"1", op=own)
