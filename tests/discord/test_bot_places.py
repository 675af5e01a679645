"""Places with settings of their own: channels, threads, categories, guilds, side by side."""

from typing import Any

import pytest

from bot import texts
from bot.inbound import conversation_of
from sandbox import Sandbox
from tests.discord.bots import Room, running
from tests.waiting import wait_until


async def test_two_channels_are_answered_each_in_its_own_way(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another responder and mode in the one; the other goes by what is for all."""
    general, quiet = Room(sandbox), Room(sandbox, "quiet")
    own = {"responder": "Echo", "reactions": False, "mode": "drop"}
    settings: dict[str, Any] = {"channels": {str(quiet.id): own}}
    async with running(sandbox, monkeypatch, **settings):
        quiet.say("Ada", "count to 4 slowly")
        await quiet.until_replies("count to 4 slowly")

        general.say("Ada", "count to 4 slowly")
        await wait_until(general.replies, description="the stream")
        general.say("Bo", "count to 2")
        await general.until_replies("1 2 3 4", "1 2")


async def test_a_thread_goes_by_its_channel_unless_it_has_settings_of_its_own(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an inbox of one message does, and what a claim drops unanswered."""
    general = Room(sandbox)
    said = general.say("Ada", "let us talk there", addressed=False)
    ada = sandbox.world.person("Ada").id
    thread = sandbox.world.open_thread(general.id, ada, "talk", message_id=said)
    guild = str(sandbox.world.channel("general").guild_id)
    settings: dict[str, Any] = {
        "guilds": {guild: {"inbox": 1, "expire_after": "2m"}},
        "channels": {
            str(general.id): {"responder": "Echo", "expire_after": "3m"},
            str(thread.id): {"mode": "drop"},
        },
    }
    async with running(sandbox, monkeypatch, **settings) as bot:
        room = Room(sandbox)
        room.id = thread.id
        room.say("Ada", "hello")
        await room.until_replies("hello")

        def expiry(channel: int) -> float:
            claim = bot.conversations.claim(conversation_of(str(channel), guild, ""))
            assert claim is not None
            return claim.expire_after

        assert [expiry(id_) for id_ in (general.id, thread.id, Room(sandbox, "quiet").id)] == [
            180.0,
            180.0,
            120.0,
        ]


async def test_a_guild_may_turn_waiting_into_refusals(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is said about a refusal is by the rules of the place as well."""
    general = Room(sandbox)
    guild = str(sandbox.world.channel("general").guild_id)
    own = {"inbox_per_person": 1, "reactions": False}
    async with running(sandbox, monkeypatch, guilds={guild: own}):
        general.say("Ada", "count to 4 slowly")
        await wait_until(general.replies, description="the stream")
        general.say("Bo", "count to 2")
        general.say("Bo", "hello again")
        refusal = texts.here().share_full.format(count=1)
        await wait_until(lambda: refusal in general.replies(), description="the notice")
        await wait_until(lambda: "1 2" in general.replies(), description="the reply that waited")
        assert general.requests("PUT", "/@me") == []
