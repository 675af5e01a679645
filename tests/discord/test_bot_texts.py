"""The bot's own words, on the wire, in the language of each place."""

import pytest

from bot.texts import shipped
from sandbox import Sandbox
from tests.discord.bots import Room, running
from tests.waiting import wait_until


async def test_each_channel_is_answered_in_its_language(monkeypatch: pytest.MonkeyPatch) -> None:
    """Marks, buttons and commands alike; the operator's words come before ours."""
    async with Sandbox() as sandbox:
        german, english = Room(sandbox), Room(sandbox, "random")
        async with running(
            sandbox,
            monkeypatch,
            conversation={"responder": "Demo"},
            channels={str(german.id): {"language": "de"}},
            texts={"de": {"mark_stopped": "-# aus"}},
        ):
            for room, language in ((german, "de"), (english, "en")):
                room.say("Ada", "count to 100 slowly")
                await wait_until(room.own, description="it begins")
                label = room.own()[0].components[0]["components"][0]["label"]
                assert label == shipped(language).stop_button
                room.say("Ada", "stop")
            await german.until_replies("\n-# aus")
            await english.until_replies(shipped("en").mark_stopped)

            for room, language in ((german, "de"), (english, "en")):
                ada = sandbox.world.person("Ada").id
                record = sandbox.interactions.use(room.id, ada, "queue", {})
                outcome = await sandbox.interactions.outcome(record)
                assert outcome["content"] == shipped(language).nothing_here
