"""Events that no client would send, but that a gateway may bring: drawn from a seed."""

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

from simcord.enums import InteractionType

from bot.buttons import choice
from bot.testing.traffic import snowflake
from sandbox import Sandbox
from tests.discord.bots import Room

Json = dict[str, Any]

#: What people write, or programs in their name. Up to Discord's 4,000 characters.
TEXTS = (
    "",
    " ",
    "a",
    "x" * 2000,
    "word " * 800,
    "🦊" * 500,
    "👩‍👩‍👧‍👦🏳️‍🌈",
    "<:fox:123456789012345678>",
    "שלום עולם \u202e reversed",
    "z\u0351\u036f" * 300,
    "a\x00b\x00",
    "\ud800 torn \udfff",
    "```py\nunclosed",
    "@everyone @here <@&1> <@1> <#1> </kill:1>",
    "<@101> " * 250,
    "stop",
    "やめて！",
    "\u200b\u200b\u200b",
    "count to 3",
    "fail",
    "https://example.org/" + "a" * 900,
)

#: Ids of buttons: of our kinds and of nobody's.
CUSTOM_IDS = (
    "",
    "x" * 100,
    "interlock",
    "interlock:",
    "interlock:stop:",
    "interlock:stop:1",
    "interlock:stop:" + "9" * 80,
    "interlock:retry:1",
    "interlock:retry:\x00",
    "interlock:kill:1",
    "interlock:choose:short:0",
    choice("A" * 22, 0),
    choice("A" * 22, 99),
    "interlock:choose:" + "-" * 22 + ":٣",
)

#: What Discord leaves out of a message now and then.
OPTIONAL = ("member", "nonce", "mention_channels", "referenced_message", "components")

#: Kinds of messages: typed ones, system messages, and some that do not exist yet.
KINDS = (0, 0, 0, 0, 19, 20, 23, 6, 7, 18, 21, 46, 999)


class Fuzz:
    """Makes events out of what the sandbox really sends about one message."""

    def __init__(self, sandbox: Sandbox, seed: int) -> None:
        self.draw = random.Random(seed)
        room = self._room = Room(sandbox)
        self._interactions = sandbox.interactions
        self._ada = room.world.person("Ada").id
        room.say("Ada", "hello", addressed=False)
        (session,) = sandbox.connections.sessions.values()
        self._message = json.loads(session._frames[-1])["d"]
        self._us = {
            "id": str(sandbox.application_id),
            "username": "us",
            "discriminator": "0000",
            "avatar": None,
            "bot": True,
        }
        self._channels = (*[str(room.id)] * 6, str(Room(sandbox, "random").id), "404", "1")
        self._known = [self._message["id"]]

    def events(self, count: int) -> Iterator[tuple[str, Json]]:
        """Draw so many events: mostly messages, then edits, deletions, presses and commands."""
        makers = (*[self.message] * 12, *[self.edit, self.deletion] * 3, self.press, self.command)
        for _ in range(count):
            yield self.draw.choice(makers)()

    def message(self) -> tuple[str, Json]:
        """A message by anybody, of any kind, anywhere."""
        draw, made = self.draw, copy.deepcopy(self._message)
        made["id"] = snowflake(draw.choice((0, 0, 0, 5, 100_000)))
        made["channel_id"] = draw.choice(self._channels)
        made["type"], made["content"] = draw.choice(KINDS), draw.choice(TEXTS)
        made["author"]["id"] = str(10_000 + draw.randrange(500))
        made["author"]["bot"] = draw.random() < 0.1
        made["mentions"] = [self._us] * draw.choice((*[0] * 28, 1, 100))
        made["mention_roles"] = ["1"] * draw.choice((0, 0, 0, 100))
        made["mention_everyone"] = draw.random() < 0.1
        made["attachments"] = [_file(number) for number in range(draw.choice((0, 0, 0, 1, 10)))]
        made["flags"] = draw.choice((0, 0, 0, 1 << 13, 1 << 30))
        if draw.random() < 0.1:
            made["webhook_id"] = "77"
        if draw.random() < 0.2:
            made["message_reference"] = {
                "type": 0,
                "message_id": draw.choice(self._known),
                "channel_id": made["channel_id"],
            }
            made["referenced_message"] = draw.choice((None, self._message))
        if draw.random() < 0.02:  # a direct message, to a bot that knows of no such channel
            del made["guild_id"], made["member"]
        for name in OPTIONAL:
            if draw.random() < 0.05:
                made.pop(name, None)
        self._known = [*self._known[-200:], made["id"]]
        return "MESSAGE_CREATE", made

    def edit(self) -> tuple[str, Json]:
        """An edit of a message that was heard, or never was."""
        made = self.message()[1] | {"id": self.draw.choice((*self._known, "404"))}
        made["edited_timestamp"] = self.draw.choice((None, "2026-01-01T00:00:00.000000+00:00"))
        return "MESSAGE_UPDATE", made

    def deletion(self) -> tuple[str, Json]:
        """The deletion of a message that was heard, or never was."""
        message = self.draw.choice((*self._known, "404"))
        return "MESSAGE_DELETE", {"id": message, "channel_id": self.draw.choice(self._channels)}

    def press(self) -> tuple[str, Json]:
        """A press of a button that we have not made."""
        data = {"custom_id": self.draw.choice(CUSTOM_IDS), "component_type": 2}
        event, made = self._interaction(InteractionType.MESSAGE_COMPONENT, data)
        return event, made | {"message": self._message}

    def command(self) -> tuple[str, Json]:
        """A command that there is, or is not, in a channel that may be gone."""
        name = self.draw.choice(("kill", "stop", "queue", "new", "gone", ""))
        data = {"id": "1", "name": name, "type": 1, "options": []}
        return self._interaction(InteractionType.APPLICATION_COMMAND, data)

    def _interaction(self, kind: InteractionType, data: Json) -> tuple[str, Json]:
        record, made = self._interactions._open(kind, self._room.id, self._ada, data)
        if kind is InteractionType.MESSAGE_COMPONENT:
            record.source_message_id = int(self._message["id"])
        where = self.draw.choice(self._channels)
        channel = made.get("channel", {}) | {"id": where}
        return "INTERACTION_CREATE", {**made, "channel_id": where, "channel": channel}


def _file(number: int) -> Json:
    return {
        "id": str(number),
        "filename": "a\u202e.png",
        "size": 1 << 40,
        "url": "https://cdn.discordapp.com/x",
        "proxy_url": "",
    }
