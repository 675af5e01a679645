"""Replies in threads, on the wire."""

import discord
import pytest

from sandbox import Sandbox
from sandbox.faults import Fault
from state.values import Conversation
from tests.discord.bots import Room, running
from tests.waiting import wait_until

THREADS = {"responder": "Echo", "reply_in": "thread", "follow_mode": "queue"}


def thread_on(room: Room, message: int) -> Room:
    """The thread that was opened on a message."""
    thread = Room(room.sandbox, "general")
    thread.id = message
    return thread


async def test_a_question_opens_a_thread_in_which_the_talk_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The reply is there and not in the channel; what is said next needs no mention."""
    async with Sandbox() as sandbox, running(sandbox, monkeypatch, conversation=THREADS):
        room = Room(sandbox)
        asked = room.say("Ada", "hello you")
        thread = thread_on(room, asked)
        await wait_until(lambda: asked in sandbox.world.discord.channels, description="a thread")
        assert sandbox.world.find_channel(asked).name == "hello you"
        await thread.until_replies("hello you")
        thread.say("Bo", "and I", addressed=False)
        await thread.until_replies("hello you", "and I")
        assert room.replies() == []


async def test_b60_a_thread_whose_opening_got_no_answer_is_opened_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """discord.py asks again, Discord says that it is there, and there the answer goes."""
    async with Sandbox() as sandbox, running(sandbox, monkeypatch, conversation=THREADS):
        room = Room(sandbox)
        sandbox.faults.add(Fault("POST", "/channels/*/threads", times=1, lose_reply=True))
        asked = room.say("Ada", "hello you")
        thread = thread_on(room, asked)
        await wait_until(lambda: asked in sandbox.world.discord.channels, description="a thread")
        await thread.until_replies("hello you")
        assert room.replies() == []


async def test_without_the_right_to_open_threads_the_channel_has_the_reply(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The answer matters more than where it stands."""
    async with Sandbox() as sandbox, running(sandbox, monkeypatch, conversation=THREADS) as bot:
        room = Room(sandbox)
        sandbox.world.change_channel(room.id, deny=["create_public_threads"])
        room.say("Ada", "hello you")
        await room.until_replies("hello you")
        await wait_until(lambda: not len(bot.locks), description="the turn is over")
        # The conversation is the channel's, too: there commands look for it, and buttons.
        channel = bot.get_channel(room.id)
        assert isinstance(channel, discord.TextChannel)
        there = Conversation(f"guild/{channel.guild.id}", str(room.id))
        assert await bot.state.history(there)
