"""What the bot does about each of Discord's refusals: the table of errors, row by row."""

import asyncio

import pytest

from bot import texts
from sandbox import Sandbox
from sandbox.faults import Fault
from tests.discord.bots import Room, running
from tests.waiting import wait_until

CREATE = "/channels/*/messages"
EDIT = "/channels/*/messages/*"


async def test_b107_a_channel_that_is_deleted_while_idle_is_followed_no_more(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of it stays in the store."""
    async with running(sandbox, monkeypatch) as bot:
        room = Room(sandbox)
        ada = room.world.person("Ada").id
        record = sandbox.interactions.use(
            channel_id=room.id, user_id=ada, command="follow", options={}
        )
        await sandbox.interactions.outcome(record)
        assert str(room.id) in bot.followed

        room.world.delete_channel(room.id)

        await wait_until(lambda: str(room.id) not in bot.followed, description="forgotten")
        assert (await bot.state.subscriptions()).conversations == ()


async def test_b115_no_right_to_send_is_remembered_and_costs_no_further_turn(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One refused request, then silence in that channel; other channels are answered."""
    async with running(sandbox, monkeypatch) as bot:
        room, other = Room(sandbox), Room(sandbox, "random")
        sandbox.faults.add(
            Fault("POST", f"/channels/{room.id}/messages", times=1, status=403, code=50013)
        )
        room.say("Ada", "count to 3")
        await wait_until(
            lambda: len(room.requests("POST", "/messages")) == 1, description="one try"
        )
        await wait_until(lambda: not len(bot.locks), description="the turn ends")

        room.say("Bo", "count to 2")
        other.say("Cy", "count to 4")

        await other.until_replies("1 2 3 4")
        assert room.replies() == []


async def test_a_channel_where_the_bot_may_not_send_is_not_even_tried(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its rights are known before any work is paid for."""
    async with running(sandbox, monkeypatch):
        room, other = Room(sandbox), Room(sandbox, "random")
        room.world.change_channel(room.id, deny=["send_messages"])
        room.say("Ada", "count to 3")
        other.say("Cy", "count to 4")

        await other.until_replies("1 2 3 4")
        assert room.requests("POST", f"{room.id}/messages") == []


async def test_a_refused_typing_indicator_ends_only_itself(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B115: the reply is written all the same, and typing is tried twice at most."""
    monkeypatch.setattr("bot.typing_indicator.EVERY", 0.05)
    async with running(sandbox, monkeypatch):
        room = Room(sandbox)
        sandbox.faults.add(Fault("POST", "/channels/*/typing", status=403, code=50013))
        room.say("Ada", "count to 4 slowly")

        await room.until_replies("1 2 3 4")
        assert len(room.requests("POST", "/typing")) == 2


async def test_b115_without_the_right_to_read_history_the_reply_is_sent_plainly(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """160002: a reply reference needs that right."""
    async with running(sandbox, monkeypatch):
        room = Room(sandbox)
        sandbox.faults.add(Fault("POST", CREATE, times=1, status=400, code=160002))
        room.say("Ada", "count to 3")

        await room.until_replies("1 2 3")
        [first, second] = room.requests("POST", "/messages")
        assert "message_reference" in first.body
        assert "message_reference" not in second.body


@pytest.mark.parametrize(("status", "code"), [(400, 50083), (400, 30046)])
async def test_b102_a_page_that_cannot_be_edited_goes_on_in_a_new_message(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, status: int, code: int
) -> None:
    """An archived thread, and a message edited too often."""
    async with running(sandbox, monkeypatch):
        room = Room(sandbox)
        sandbox.faults.add(Fault("PATCH", EDIT, times=1, status=status, code=code))
        room.say("Ada", "count to 5 slowly")

        await wait_until(lambda: len(room.replies()) == 2, description="a new message")
        await wait_until(lambda: room.replies()[1] == "1 2 3 4 5", description="all of it")


async def test_b102_an_old_message_edited_too_often_is_told_by_429_each_time_discord_py_tries(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """30046 is a limit to Discord: discord.py waits and tries five times before it gives up."""
    async with running(sandbox, monkeypatch):
        room = Room(sandbox)
        sandbox.faults.add(Fault("PATCH", EDIT, times=5, retry_after=0.001, code=30046))
        room.say("Ada", "count to 5 slowly")

        await wait_until(lambda: len(room.replies()) == 2, description="a new message")
        await wait_until(lambda: room.replies()[1] == "1 2 3 4 5", description="all of it")


async def test_a_page_that_somebody_deletes_is_sent_anew(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """10008 on an edit."""
    async with running(sandbox, monkeypatch):
        room = Room(sandbox)
        room.say("Ada", "count to 6 slowly")
        await wait_until(room.replies, description="the stream")
        [reply] = [m for m in room.world.messages(room.id) if m.content.startswith("1")]

        room.world.delete(reply.id)

        await wait_until(lambda: room.replies() == ["1 2 3 4 5 6"], description="all of it, once")


async def test_what_automod_blocks_is_told_once(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """200000: the person is told, and the next message is answered."""
    async with running(sandbox, monkeypatch):
        room = Room(sandbox)
        sandbox.faults.add(Fault("POST", CREATE, times=1, status=400, code=200000))
        room.say("Ada", "count to 3")
        await room.until_replies(texts.here().censored)

        room.say("Bo", "count to 2")
        await room.until_replies(texts.here().censored, "1 2")


async def test_b35_kill_reaches_a_reply_that_discord_does_not_take(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within two seconds the conversation is free, whatever Discord does."""
    monkeypatch.setattr("bot.delivery.BACKOFF_FIRST", 0.05)
    async with running(sandbox, monkeypatch) as bot:
        room = Room(sandbox)
        sandbox.faults.add(Fault("POST", CREATE, latency=30.0))
        room.say("Bo", "count to 3")
        await wait_until(lambda: len(bot.locks) == 1, description="the turn")
        await asyncio.sleep(0.5)

        record = sandbox.interactions.use(
            channel_id=room.id, user_id=room.world.person("Ada").id, command="kill", options={}
        )
        await sandbox.interactions.outcome(record)

        await wait_until(lambda: not len(bot.locks), timeout=2.5, description="it is free")
        sandbox.faults.clear()
