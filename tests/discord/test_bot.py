"""The whole bot, by the stock client, against the sandbox: what people see."""

import asyncio
import time
from pathlib import Path

import pytest

from bot import texts
from bot.endings import Ending
from sandbox import Sandbox
from state import connect
from tests.discord.bots import Room, running
from tests.waiting import wait_until


async def test_a_message_to_the_bot_is_answered_by_a_stream_with_typing(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reply grows in one message, typing is shown before it is complete, and never after."""
    async with running(sandbox, monkeypatch):
        room = Room(sandbox)
        asked = room.say("Ada", "count to 12")

        await room.until_replies("1 2 3 4 5 6 7 8 9 10 11 12")

        [reply] = [m for m in room.world.messages(room.id) if m.content.startswith("1")]
        assert reply.reference is not None
        assert int(reply.reference["message_id"]) == asked
        assert len(room.requests("POST", "/messages")) == 1
        typings = room.requests("POST", "/typing")
        assert len(typings) == 1


async def test_a_second_person_waits_with_an_hourglass_and_is_answered_next(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mark comes while the other reply is written, and is gone when the turn comes."""
    async with running(sandbox, monkeypatch):
        room = Room(sandbox)
        room.say("Ada", "count to 5 slowly")
        second = room.say("Bo", "count to 3")

        def marks() -> list[str]:
            [message] = [m for m in room.world.messages(room.id) if m.id == second]
            return [str(emoji) for emoji in message.reactions]

        await wait_until(lambda: any(texts.WAITING in m for m in marks()), description="the mark")
        await room.until_replies("1 2 3 4 5", "1 2 3")
        await wait_until(lambda: not marks(), description="the mark is gone")


async def test_stop_by_the_author_ends_the_stream_and_the_next_is_answered(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within two seconds the reply is marked, and whoever waits is answered."""
    async with running(sandbox, monkeypatch):
        room = Room(sandbox)
        room.say("Ada", "count to 1000 slowly")
        await wait_until(room.replies, description="the stream")
        room.say("Bo", "count to 2")
        told = time.monotonic()

        room.say("Ada", "Stop!", addressed=False)

        await wait_until(
            lambda: room.replies()[0].endswith(texts.here().mark(Ending.STOPPED)),
            description="the mark",
        )
        assert time.monotonic() - told < 2
        await room.until_replies(texts.here().mark(Ending.STOPPED), "1 2")


async def test_a_bare_stop_by_somebody_else_stops_nothing(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the author, or a moderator who addresses the bot, may stop a reply."""
    async with running(sandbox, monkeypatch):
        room = Room(sandbox)
        room.say("Bo", "count to 6 slowly")
        await wait_until(room.replies, description="the stream")

        room.say("Cy", "stop", addressed=False)
        room.say("Ada", "stop", addressed=False)

        await room.until_replies("1 2 3 4 5 6")


async def test_a_moderator_who_addresses_the_bot_stops_anybodys_reply(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ada has Manage Messages."""
    async with running(sandbox, monkeypatch):
        room = Room(sandbox)
        room.say("Bo", "count to 1000 slowly")
        await wait_until(room.replies, description="the stream")

        room.say("Ada", "stop")

        await room.until_replies(texts.here().mark(Ending.STOPPED))


async def test_kill_ends_the_reply_and_drops_what_waits(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer names those who are affected, and the next message is answered as usual."""
    async with running(sandbox, monkeypatch):
        room = Room(sandbox)
        room.say("Bo", "count to 1000 slowly")
        await wait_until(room.replies, description="the stream")
        room.say("Cy", "count to 2")
        await asyncio.sleep(0.1)

        record = sandbox.interactions.use(
            channel_id=room.id, user_id=room.world.person("Ada").id, command="kill", options={}
        )
        outcome = await sandbox.interactions.outcome(record)

        assert outcome["content"] == "Stopped Bo's reply; dropped 1 waiting message (Cy)."
        await wait_until(
            lambda: room.replies()[0].endswith(texts.here().mark(Ending.KILLED)),
            description="the mark",
        )
        room.say("Cy", "count to 3")
        await wait_until(lambda: room.replies()[-1] == "1 2 3", description="the next reply")
        assert "1 2" not in room.replies()


async def test_kill_without_the_right_takes_only_ones_own(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cy drops their own waiting message; Bo's reply goes on."""
    async with running(sandbox, monkeypatch):
        room = Room(sandbox)
        room.say("Bo", "count to 6 slowly")
        await wait_until(room.replies, description="the stream")
        room.say("Cy", "count to 2")
        await asyncio.sleep(0.1)

        record = sandbox.interactions.use(
            channel_id=room.id, user_id=room.world.person("Cy").id, command="kill", options={}
        )
        outcome = await sandbox.interactions.outcome(record)

        assert outcome["content"] == "Dropped 1 waiting message (Cy)."
        await wait_until(lambda: room.replies()[0].endswith("6"), description="the reply goes on")


async def test_a_follow_up_takes_over(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """The partial reply stays and is marked; the new one knows of it."""
    async with running(sandbox, monkeypatch):
        room = Room(sandbox)
        room.say("Ada", "count to 1000 slowly")
        await wait_until(room.replies, description="the stream")

        room.say("Ada", "count to 3")

        first, second = await room.until_replies(texts.here().mark(Ending.SUPERSEDED), "1 2 3")
        assert first.startswith("1")
        assert "you interrupted me" in second


async def test_a_direct_message_needs_no_mention(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everything in a DM addresses the bot."""
    async with running(sandbox, monkeypatch):
        world = sandbox.world
        channel = world.open_dm(world.person("Bo").id)

        world.say(channel.id, world.person("Bo").id, "count to 3")

        await wait_until(
            lambda: world.messages(channel.id)[-1].content == "1 2 3", description="the answer"
        )


async def test_a_reply_to_one_of_its_messages_addresses_the_bot_and_so_does_its_role(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B127: people ping the bot's own role by autocomplete."""
    async with running(
        sandbox, monkeypatch, extensions=("cogs.echo",), conversation={"responder": "Echo"}
    ):
        room = Room(sandbox)
        room.say("Ada", "one")
        await room.until_replies("one")
        [reply] = [m for m in room.world.messages(room.id) if m.content == "one"]
        world, bo = room.world, room.world.person("Bo").id

        world.say(room.id, bo, "two", reply_to=reply.id)
        await room.until_replies("one", "two")
        cy = world.person("Cy").id  # Bo so soon again would be the rest of a paste
        world.say(room.id, cy, f"<@&{world.bot_role(world.guild).id}> three")
        await room.until_replies("one", "two", "three")


async def test_unaddressed_messages_and_everyone_are_left_alone(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B129: no turn, and not even a request."""
    async with running(sandbox, monkeypatch):
        room = Room(sandbox)
        room.say("Ada", "hello all", addressed=False)
        room.say("Ada", "@everyone meeting", addressed=False)
        room.say("Bo", "count to 2")

        await room.until_replies("1 2")
        assert len(room.requests("POST", "/messages")) == 1


async def test_a_followed_channel_is_answered_without_being_addressed(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until /unfollow."""
    async with running(sandbox, monkeypatch):
        room = Room(sandbox)
        ada = room.world.person("Ada").id
        use = sandbox.interactions.use
        record = use(channel_id=room.id, user_id=ada, command="follow", options={})
        await sandbox.interactions.outcome(record)

        room.say("Bo", "count to 2", addressed=False)
        await wait_until(lambda: "1 2" in room.replies(), description="an answer")

        record = use(channel_id=room.id, user_id=ada, command="unfollow", options={})
        await sandbox.interactions.outcome(record)
        room.say("Bo", "count to 3", addressed=False)
        room.say("Bo", "count to 4")
        await wait_until(lambda: "1 2 3 4" in room.replies(), description="an answer")
        assert "1 2 3" not in room.replies()


async def test_on_sigterm_running_turns_end_and_what_waits_stays_for_the_next_process(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Drained: the reply is completed, the waiting message is answered after the next start."""
    url = f"sqlite:{tmp_path / 'bot.db'}"
    room = Room(sandbox)
    state = connect(url)
    await state.open()
    async with running(sandbox, monkeypatch, state) as bot:
        room.say("Ada", "count to 4 slowly")
        await wait_until(room.replies, description="the stream")
        room.say("Bo", "count to 2")
        await asyncio.sleep(0.2)
        bot.end()
        await wait_until(lambda: not len(bot.locks), description="drained")
    await state.close()
    assert room.replies() == ["1 2 3 4"]

    state = connect(url)
    await state.open()
    async with running(sandbox, monkeypatch, state):
        await room.until_replies("1 2 3 4", "1 2")
    await state.close()


async def test_a_turn_that_outlasts_the_drain_is_parked_and_taken_up_where_it_stands(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The next process edits the half-written reply on, at once and not after the lease's life."""
    url = f"sqlite:{tmp_path / 'bot.db'}"
    room = Room(sandbox)
    state = connect(url)
    await state.open()
    async with running(sandbox, monkeypatch, state, process={"drain": "100ms"}) as bot:
        room.say("Ada", "count to 8 slowly")
        await wait_until(room.replies, description="the stream")
        bot.end()
    await state.close()
    [partial] = room.replies()
    assert not partial.endswith("8")

    state = connect(url)
    await state.open()
    async with running(sandbox, monkeypatch, state):
        await room.until_replies("1 2 3 4 5 6 7 8")
    await state.close()
    assert len(room.requests("POST", "/messages")) == 1
