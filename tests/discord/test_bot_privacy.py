"""/forget and /export: what is kept about a person, told to them alone, and removed for good."""

import json
from typing import Any

import pytest

from sandbox import Sandbox
from tests.discord.bots import Room, running
from tests.discord.commanding import direct, privately, use

EXTENSIONS = ("cogs.echo", "cogs.privacy", "cogs.reminders")
ECHO = {"responder": "Echo"}


async def exported(room: Room, person: str) -> dict[str, Any]:
    """Use /export, and read the file."""
    outcome = await use(room, person, "export")
    assert outcome["ephemeral"]
    [file] = outcome["message"]["attachments"]
    assert file["filename"] == f"interlock-{room.world.person(person).id}.json"
    path = file["url"].partition("/attachments/")[2]
    stored = room.world.discord.files.file(f"attachments/{path}")
    assert stored is not None
    found: dict[str, Any] = json.loads(stored.content)
    return found


async def test_a_person_reads_what_is_kept_about_them(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What they said here, both sides of their direct messages, reminders; nobody else's words."""
    async with running(sandbox, monkeypatch, None, extensions=EXTENSIONS, conversation=ECHO) as bot:
        room, ada = Room(sandbox), direct(sandbox, "Ada")
        room.say("Ada", "hello")
        await room.until_replies("hello")
        room.say("Bo", "mine")
        await room.until_replies("hello", "mine")
        ada.say("Ada", "secret", addressed=False)
        await ada.until_replies("secret")
        await use(room, "Ada", "remind", when="1h", what="tea")
        await bot.conversations.idle()
        kept = await exported(room, "Ada")
    assert kept["person"] == {"id": str(room.world.person("Ada").id), "name": "Ada"}
    assert kept["conversations"] == {
        str(room.id): [{"by": "Ada", "text": "hello"}],
        str(ada.id): [{"by": "Ada", "text": "secret"}, {"by": "bot", "text": "secret "}],
    }
    [timer] = kept["timers"]
    assert timer["text"] == "tea"
    assert kept["given_up"] == []


async def test_a_person_is_forgotten_only_when_they_say_really(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Transcripts, direct messages and reminders go; what others said stays."""
    async with running(sandbox, monkeypatch, None, extensions=EXTENSIONS, conversation=ECHO) as bot:
        room, ada = Room(sandbox), direct(sandbox, "Ada")
        room.say("Ada", "hello")
        await room.until_replies("hello")
        room.say("Bo", "mine")
        await room.until_replies("hello", "mine")
        ada.say("Ada", "secret", addressed=False)
        await ada.until_replies("secret")
        await use(room, "Ada", "remind", when="1h", what="tea")
        await bot.conversations.idle()

        told = await privately(room, "Ada", "forget")
        assert "use `/forget` with `really: True`" in told
        assert (await exported(room, "Ada"))["conversations"] != {}

        told = await privately(room, "Ada", "forget", really=True)
        assert told == "All that was kept of you is removed. What you write from now on is new."
        kept = await exported(room, "Ada")
        assert (kept["conversations"], kept["timers"]) == ({}, [])
        others = await exported(room, "Bo")
        assert others["conversations"] == {str(room.id): [{"by": "Bo", "text": "mine"}]}

        room.say("Ada", "again")
        await room.until_replies("hello", "mine", "again")
