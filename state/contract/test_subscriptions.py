"""Subscriptions: which conversations are followed."""

import asyncio

import pytest

from state import State
from state.contract.factory import Clock
from state.contract.scene import (
    HERE,
    THERE,
    begin,
    everything,
    finish,
    is_due,
    message,
    op,
)
from state.values import Changes, Conversation

pytestmark = pytest.mark.asyncio

#: Followed conversations in the test of paging: more than a page and than a partition's worth.
MANY = 1000


async def listed(state: State, limit: int = 200) -> list[Conversation]:
    """Read every page of the followed conversations."""
    found: list[Conversation] = []
    cursor = None
    while True:
        page = await state.subscriptions(cursor, limit)
        assert len(page.conversations) <= limit
        found += page.conversations
        cursor = page.cursor
        if cursor is None:
            return found


async def test_following_twice_is_following(one: State, two: State) -> None:
    """Every process sees it, once. Contract 59."""
    assert not await one.is_subscribed(HERE)
    for state in (one, two, one):
        await state.subscribe(HERE)
    assert await two.is_subscribed(HERE)
    assert (await two.view(HERE)).subscribed
    assert await listed(two) == [HERE]
    assert not await one.is_subscribed(THERE)


async def test_following_no_more_what_nobody_follows_is_nothing(one: State, two: State) -> None:
    """Nor does it touch what is followed. Contract 60."""
    await one.subscribe(THERE)
    before = await everything(one)
    await one.unsubscribe(HERE)
    assert await everything(one) == before
    assert await listed(one) == [THERE]
    for state in (one, two):
        await state.unsubscribe(THERE)
        assert not await two.is_subscribed(THERE)
    assert await listed(one) == []


async def test_many_followed_conversations_are_paged(one: State, two: State) -> None:
    """Over all partitions, without repeats or gaps. Contract 59."""
    homes = {Conversation(f"guild/{n % 40}", f"{n}") for n in range(MANY)}
    await asyncio.gather(*(one.subscribe(home) for home in homes))
    found = await listed(two, 37)
    assert len(found) == MANY
    assert set(found) == homes


async def test_paging_survives_changes_in_between(one: State, two: State) -> None:
    """Those that stay followed all the while are told exactly once. Contract 59."""
    homes = [Conversation(f"guild/{n % 5}", f"{n}") for n in range(60)]
    for home in homes:
        await one.subscribe(home)
    page = await two.subscriptions(None, 20)
    found = list(page.conversations)
    gone = [found[0], found[-1], *[home for home in homes if home not in found][:2]]
    for home in gone:
        await one.unsubscribe(home)
    await one.subscribe(Conversation("guild/0", "9999"))
    while page.cursor is not None:
        page = await two.subscriptions(page.cursor, 20)
        found += page.conversations
    stayed = [home for home in homes if home not in gone]
    assert sorted((home for home in found if home in stayed), key=str) == sorted(stayed, key=str)
    assert len(found) == len(set(found))


async def test_following_asks_for_no_attention(one: State, clock: Clock) -> None:
    """An idle conversation stays idle, followed or not. Contract 51."""
    await one.subscribe(HERE)
    clock.move(3600)
    assert not await is_due(one)
    assert (await one.view(HERE)).wake is None


async def test_turns_leave_a_subscription_alone(one: State, two: State) -> None:
    """As does a subscription what is pending. Contract 59."""
    await one.subscribe(HERE)
    lease = (await begin(one, message("m1"))).lease
    await finish(one, lease, Changes(state=b"s"))
    lease = (await begin(one, message("m2"))).lease
    await one.fail(lease, "no", Changes(), retry_in=None, limit=1, op=op(), claim=None)
    await two.kill(HERE, by="eve", op=op())
    assert await listed(two) == [HERE]
    lease = (await begin(one, message("m3"))).lease
    await two.unsubscribe(HERE)
    view = await two.view(HERE)
    assert (view.turn is not None, view.subscribed) == (True, False)
    await finish(one, lease)
