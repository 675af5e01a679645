"""A reply ends while Discord does not answer: it does not wait, and leaves nothing behind."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from bot import delivery, draft, texts
from bot.buttons import stop_button
from bot.endings import Ending
from bot.responders import Turn
from bot.speaking import Outgoing, Unreachable
from state.values import Page
from tests.unit.fake_process import RULES, Script, hurry, running
from tests.unit.fake_store import Trouble
from tests.unit.fake_turn import HeldTurn
from tests.unit.fakes import Fault, message, speaking
from tests.waiting import wait_until


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)


async def one_word(turn: Turn) -> AsyncGenerator[str, None]:
    """Say one word and hang."""
    yield "word"
    await asyncio.Event().wait()


async def test_freezing_does_not_wait_for_the_next_try(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pause between two tries ends with the reply, so that its end has all of its time."""
    monkeypatch.setattr(delivery, "BACKOFF_FIRST", 60.0)
    turn = await HeldTurn().begin()
    turn.discord.next("create", Unreachable("503"))
    reply = turn.reply()
    reply.show([Outgoing("a")])
    await wait_until(lambda: turn.discord.asked("create"), description="the first try has failed")
    await asyncio.wait_for(reply.freeze(30), 10)
    assert len(turn.discord.requests) == 1


async def test_landing_tries_again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Discord may be back by the time that the last word is written."""
    monkeypatch.setattr(delivery, "BACKOFF_FIRST", 60.0)
    turn = await HeldTurn().begin()
    turn.discord.next("create", Unreachable("503"))
    reply = turn.reply()
    reply.show([Outgoing("a")])
    await wait_until(lambda: turn.discord.asked("create"), description="the first try has failed")
    await asyncio.wait_for(reply.land([Outgoing("all")]), 10)
    assert turn.discord.visible() == ["all"]


@pytest.mark.parametrize("abandoned", [False, True])
async def test_a_page_whose_answer_was_lost_is_marked(abandoned: bool) -> None:
    """Whether its try has failed or was abandoned: it is on Discord, with a button under it."""
    turn = await HeldTurn().begin()
    hold = asyncio.Event() if abandoned else None
    turn.discord.next("create", Fault(Unreachable("reset"), lost=True, hold=hold))
    reply = turn.reply()
    reply.show([Outgoing("a")])
    await wait_until(lambda: turn.discord.asked("create"), description="the page is on its way")
    await reply.freeze(0)
    await reply.settle()
    assert reply.begun
    await reply.mark("…", None)
    assert turn.discord.visible() == ["a…"]


async def test_a_page_is_marked_that_was_sent_while_the_store_was_away() -> None:
    """It is on Discord with a button under it, though nobody could journal that it is."""
    turn = await HeldTurn().begin()
    turn.store.plan = lambda _number, name: Trouble.REFUSED if name == "posted" else None
    reply = turn.reply()
    reply.show([Outgoing("a", button=stop_button("1"))])
    await wait_until(lambda: "posted" in turn.store.steps, description="it is to be journaled")
    await reply.freeze(0)
    await reply.settle()
    await reply.mark("…", None)
    assert turn.discord.visible() == ["a…"]
    assert turn.discord.messages[0].button is None


async def test_a_mark_takes_the_button_away_that_has_not_moved_on_yet() -> None:
    """It stands under the last page; a reply that was cut may have two of them."""
    turn = await HeldTurn().begin()
    reply, button = turn.reply(), stop_button("1")
    with speaking(turn.holding):
        reply.show([Outgoing("one", button=button)])
        await wait_until(turn.discord.visible, description="the first page is there")
        turn.discord.next("edit", Fault(hold=asyncio.Event()))
        reply.show([Outgoing("one"), Outgoing("two", button=button)])
        await wait_until(lambda: turn.discord.asked("edit"), description="it moves on")
        await reply.freeze(0)
        await reply.mark("…", None)
    assert turn.discord.visible() == ["one", "two…"]
    assert [message.button for message in turn.discord.messages] == [None, None]


async def test_a_page_too_many_whose_answer_a_dead_process_has_lost_is_deleted() -> None:
    """A replay that needs fewer pages leaves none of them behind, known or not."""
    turn = HeldTurn()
    first = turn.discord.put("one", reply_to=turn.asked.id)
    turn.left = (Page(0, 0, b"one", first), Page(1, 0, b"two"))
    turn.discord.put("two")
    turn.discord.shows_nonces = False
    await turn.begin()
    with speaking(turn.holding):
        await turn.reply().land([Outgoing("all")])
    assert turn.discord.visible() == ["all"]


async def test_a_kill_while_discord_is_away_is_marked_when_it_is_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The turn ends in time; the mark follows in a few tries, and takes the button with it."""
    monkeypatch.setattr(draft, "MARK_AGAIN", (0.01, 0.01, 0.01))
    async with running(Script(one_word), rules=replace(RULES, buttons=True)) as bot:
        await bot.hears(asked := message())
        await wait_until(lambda: bot.discord.replies(asked), description="it has begun")
        bot.discord.next("edit", Unreachable("503"), Unreachable("503"))
        await bot.requests.kill(asked.conversation, "101", "op")
        marked = "word" + texts.here().mark(Ending.KILLED)
        await wait_until(lambda: bot.discord.replies(asked) == [marked], description="the mark")
        assert bot.discord.messages[0].button is None
