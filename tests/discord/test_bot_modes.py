"""What a message does that arrives while the bot is busy, is edited, or is deleted."""

from typing import Any

import pytest

from bot import rates, texts
from bot.endings import Ending
from sandbox import Sandbox
from tests.discord.bots import Room, running
from tests.waiting import wait_until

ECHO: dict[str, Any] = {"extensions": ("cogs.echo", "cogs.demo", "cogs.control")}


async def test_collect_answers_all_that_waited_in_one_turn(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Oldest first; the reply goes to the first of them."""
    async with running(sandbox, monkeypatch, conversation={"mode": "collect"}):
        room = Room(sandbox)
        room.say("Ada", "count to 3 slowly")
        await wait_until(room.replies, description="the stream")
        room.say("Bo", "hello from Bo")
        room.say("Cy", "hello from Cy")

        await wait_until(lambda: len(room.replies()) == 2, description="one more reply")
        await wait_until(
            lambda: "hello from Bo\n> hello from Cy" in room.replies()[1], description="both in it"
        )


async def test_debounce_waits_for_quiet_and_answers_all_of_it(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An idle conversation starts nothing before the quiet period is over."""
    settings = {"mode": "debounce", "debounce": "400ms", "debounce_most": "5s"}
    async with running(sandbox, monkeypatch, conversation=settings):
        room = Room(sandbox)
        room.say("Bo", "one")
        room.say("Cy", "two")
        assert room.replies() == []

        await wait_until(lambda: room.replies() != [], description="the reply")
        await wait_until(lambda: "one\n> two" in room.replies()[0], description="both in it")
        assert len(room.replies()) == 1


async def test_interrupt_lets_the_newest_take_over_whoever_wrote_it(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The partial reply is marked, and the newcomer answered."""
    async with running(sandbox, monkeypatch, conversation={"mode": "interrupt"}):
        room = Room(sandbox)
        room.say("Ada", "count to 1000 slowly")
        await wait_until(room.replies, description="the stream")

        room.say("Bo", "count to 2")

        await room.until_replies(texts.here().mark(Ending.SUPERSEDED), "1 2")


async def test_drop_refuses_with_a_notice(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The person is told, and the reply goes on."""
    async with running(sandbox, monkeypatch, conversation={"mode": "drop"}):
        room = Room(sandbox)
        room.say("Ada", "count to 4 slowly")
        await wait_until(room.replies, description="the stream")

        room.say("Bo", "count to 2")

        await wait_until(lambda: texts.here().busy in room.replies(), description="the notice")
        await wait_until(lambda: room.replies()[0] == "1 2 3 4", description="the reply")
        assert "1 2" not in room.replies()


async def test_a_full_inbox_refuses_with_one_notice_for_all(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The notice is edited rather than repeated."""
    async with running(sandbox, monkeypatch, conversation={"inbox": 1, "inbox_per_person": 1}):
        room = Room(sandbox)
        room.say("Ada", "count to 1000 slowly")
        await wait_until(room.replies, description="the stream")
        room.say("Bo", "count to 2")
        room.say("Cy", "count to 3")
        await wait_until(lambda: len(room.replies()) == 2, description="a notice")

        room.say("Bo", "count to 4")

        share = texts.here().share_full.format(count=1)
        await wait_until(lambda: room.replies()[1] == share, description="the notice is edited")
        assert len(room.replies()) == 2
        room.say("Ada", "stop")
        await wait_until(lambda: "1 2" in room.replies(), description="who waits is answered")


async def test_a_waiting_message_that_is_deleted_is_not_answered(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B125: it is withdrawn."""
    async with running(sandbox, monkeypatch):
        room = Room(sandbox)
        room.say("Ada", "count to 3 slowly")
        await wait_until(room.replies, description="the stream")
        second = room.say("Bo", "count to 2")
        room.say("Cy", "count to 5")

        room.world.delete(second)

        await room.until_replies("1 2 3", "1 2 3 4 5")


async def test_deleting_the_message_of_a_running_turn_stops_it(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B103, B125: the reply ends as by stop, without an error."""
    async with running(sandbox, monkeypatch):
        room = Room(sandbox)
        first = room.say("Ada", "count to 1000 slowly")
        await wait_until(room.replies, description="the stream")

        room.world.delete(first)

        await room.until_replies(texts.here().mark(Ending.STOPPED))


async def test_a_waiting_message_is_answered_in_its_new_text(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It keeps its place."""
    async with running(sandbox, monkeypatch):
        room = Room(sandbox)
        room.say("Ada", "count to 3 slowly")
        await wait_until(room.replies, description="the stream")
        second = room.say("Bo", "count to 2")
        room.say("Cy", "count to 5")

        room.world.edit(second, f"<@{sandbox.application_id}> count to 4")

        await room.until_replies("1 2 3", "1 2 3 4", "1 2 3 4 5")


async def test_an_edit_is_answered_instead_before_the_first_page_and_not_after_it(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a tool works nothing is on Discord yet."""
    async with running(sandbox, monkeypatch, extensions=("cogs.echo", "cogs.demo")):
        monkeypatch.setattr("bot.delivery.GATHER", 0.5)
        room = Room(sandbox)
        first = room.say("Ada", "count to 100 slowly")

        room.world.edit(first, f"<@{sandbox.application_id}> count to 4 slowly")

        await wait_until(room.replies, description="the stream")
        room.world.edit(first, f"<@{sandbox.application_id}> count to 200")
        [reply] = await room.until_replies("1 2 3 4")
        assert "you interrupted me" in reply


async def test_a_message_that_comes_to_address_the_bot_by_an_edit_is_judged_once(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if it were new; a further edit after the answer changes nothing."""
    async with running(sandbox, monkeypatch):
        room = Room(sandbox)
        first = room.say("Ada", "count to 3", addressed=False)

        room.world.edit(first, f"<@{sandbox.application_id}> count to 3")
        await room.until_replies("1 2 3")
        room.world.edit(first, f"<@{sandbox.application_id}> count to 4")
        room.say("Bo", "count to 2")

        await room.until_replies("1 2 3", "1 2")


async def test_who_asks_too_much_in_a_minute_is_told_once(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And answered again when the minute is over."""
    async with running(sandbox, monkeypatch, limits={"person_turns_per_minute": 2}):
        room = Room(sandbox)
        for number in (1, 2, 3, 4):
            room.say("Ada", f"count to {number}")
        room.say("Bo", "count to 5")

        await wait_until(lambda: "1 2 3 4 5" in room.replies(), description="Bo is answered")
        assert room.replies().count(texts.here().person_rate) == 1
        assert "1 2 3" not in room.replies()
        monkeypatch.setattr(rates, "MINUTE", 0.0)
        room.say("Ada", "count to 6")
        await wait_until(lambda: "1 2 3 4 5 6" in room.replies(), description="Ada is answered")


async def test_a_guild_that_has_used_up_its_day_is_told_so(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The day's turns are counted by the store."""
    async with running(sandbox, monkeypatch, limits={"owner_turns_per_day": 1}):
        room = Room(sandbox)
        room.say("Ada", "count to 2")
        await room.until_replies("1 2")
        room.say("Bo", "count to 3")

        await room.until_replies("1 2", texts.here().owner_rate)


@pytest.mark.parametrize("access", [{"dms": False}, {"guilds": ["1"]}])
async def test_who_is_not_let_in_is_not_answered(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, access: dict[str, object]
) -> None:
    """The other kind of place is answered as ever."""
    async with running(sandbox, monkeypatch, access=access):
        room, world = Room(sandbox), sandbox.world
        direct = world.open_dm(world.person("Bo").id)
        closed, open_ = (direct.id, room.id) if "dms" in access else (room.id, direct.id)
        mention = f"<@{sandbox.application_id}> "

        world.say(closed, world.person("Bo").id, mention + "count to 2")
        world.say(open_, world.person("Bo").id, mention + "count to 3")

        await wait_until(
            lambda: world.messages(open_)[-1].content == "1 2 3", description="the answer"
        )
        assert len(world.messages(closed)) == 1
