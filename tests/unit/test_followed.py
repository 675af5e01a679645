"""The copy of the subscriptions that messages are judged by."""

import asyncio

import pytest

from bot import followed as module
from bot.followed import Followed
from state.values import Conversation
from tests.unit.fake_store import Store
from tests.waiting import wait_until

HERE, THERE = Conversation("guild/301", "1"), Conversation("guild/301", "2")


async def test_what_is_followed_is_known_at_once_here_and_elsewhere_after_a_reading() -> None:
    """The process that heard the command need not read the list for it."""
    store = Store()
    here, elsewhere = Followed(store.port), Followed(store.another().port)
    await here.follow(HERE, "1")
    assert HERE.id in here
    assert HERE.id not in elsewhere
    await elsewhere.read()
    assert HERE.id in elsewhere
    await here.unfollow(HERE)
    assert HERE.id not in here
    await elsewhere.read()
    assert HERE.id not in elsewhere


async def test_the_whole_list_is_read_page_by_page() -> None:
    """More conversations than fit a page are all known."""
    store = Store()
    state = store.port
    conversations = [Conversation("guild/301", str(number)) for number in range(450)]
    for conversation in conversations:
        await state.subscribe(conversation)
    here = Followed(state)
    await here.read()
    assert all(conversation.id in here for conversation in conversations)
    assert store.steps.count("subscriptions") == 3


@pytest.mark.parametrize("now", ["followed", "left"])
async def test_what_changes_while_the_list_is_read_is_not_undone_by_it(now: str) -> None:
    """The reading began before the command, and may not know of it yet."""
    store = Store()
    here = Followed(store.port)
    await here.follow(THERE, "1")
    # The list has been read; its answer is on its way.
    answered = store.answering = asyncio.Event()
    reading = asyncio.create_task(here.read())
    await wait_until(lambda: "subscriptions" in store.steps, description="the list is being read")
    store.answering = None
    await (here.follow(HERE, "1") if now == "followed" else here.unfollow(THERE))
    answered.set()
    await reading
    assert (HERE.id in here) is (now == "followed")
    assert (THERE.id in here) is (now == "followed")


async def test_an_outage_of_the_store_is_waited_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is known stays known, and the list is read again later."""
    monkeypatch.setattr(module, "REFRESH", 0.005)
    store = Store()
    here = Followed(store.port)
    running = asyncio.create_task(here.run())
    try:
        await here.follow(THERE, "1")
        store.down = True
        tried = len(store.steps)
        await wait_until(lambda: len(store.steps) > tried + 2, description="readings have failed")
        assert THERE.id in here
        await store.another().port.subscribe(HERE)
        store.down = False
        await wait_until(lambda: HERE.id in here, description="the list is read again")
    finally:
        running.cancel()
        await asyncio.wait({running})
