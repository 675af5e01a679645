"""Embeds, files and buttons as discord.py sends them."""

from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock, Mock

import discord
import pytest

from bot.replies import Embed, Field, File
from bot.speaking import Button, Outgoing, Pieces
from bot.wire import DiscordWire

CARD = Embed(
    "title",
    "text",
    "https://example.org",
    0x23A55A,
    [Field("a", "1", inline=True), Field("b", "2")],
    "https://example.org/image.png",
    "https://example.org/small.png",
    "author",
    "footer",
)
NOTE = File("note.txt", b"note", "a note", spoiler=True)
BOTH = Pieces(files=(NOTE,), embeds=(CARD,))


class Client:
    """A client whose channel and message note what is asked of them."""

    def __init__(self) -> None:
        answer = Mock(spec=discord.Message, id=7, content="", nonce=None, reference=None)
        answer.attachments, answer.embeds, answer.interaction_metadata = [], [], None
        self.message = Mock(edit=AsyncMock())
        self.channel = Mock(
            send=AsyncMock(return_value=answer),
            get_partial_message=Mock(return_value=self.message),
        )
        self.client: Any = Mock(
            get_partial_messageable=Mock(return_value=self.channel),
            get_guild=lambda id_: SimpleNamespace(filesize_limit=100) if id_ == 1 else None,
        )
        self.wire = DiscordWire(self.client, Mock(), Mock())

    async def created(self, content: Outgoing) -> dict[str, Any]:
        """What discord.py is asked to send."""
        await self.wire.create("2", content, nonce="n", reply_to=None, ping=False)
        return dict(self.channel.send.call_args.kwargs)

    async def edited(self, content: Outgoing) -> dict[str, Any]:
        """What discord.py is asked to change."""
        await self.wire.edit("2", "3", content)
        return dict(self.message.edit.call_args.kwargs)


def read(file: discord.File) -> tuple[str, bytes, str | None]:
    """Say what a file is called, holds and is described as."""
    return file.filename, file.fp.read(), file.description


async def test_an_embed_arrives_with_all_of_its_parts() -> None:
    """Nothing that an author writes is lost on the way."""
    [embed] = (await Client().created(Outgoing("a", BOTH)))["embeds"]
    sent = embed.to_dict()
    assert {key: part for key, part in sent.items() if key != "flags"} == {
        "type": "rich",
        "title": "title",
        "description": "text",
        "url": "https://example.org",
        "color": 0x23A55A,
        "fields": [
            {"name": "a", "value": "1", "inline": True},
            {"name": "b", "value": "2", "inline": False},
        ],
        "image": {"url": "https://example.org/image.png"},
        "thumbnail": {"url": "https://example.org/small.png"},
        "author": {"name": "author"},
        "footer": {"text": "footer"},
    }


async def test_a_file_can_be_sent_again_from_its_beginning() -> None:
    """A request reads it to its end; the repeat of one has the same content."""
    client = Client()
    for _ in range(2):
        [file] = (await client.created(Outgoing("a", BOTH)))["files"]
        assert read(file) == ("SPOILER_note.txt", b"note", "a note")


async def test_an_edit_touches_only_the_files_and_embeds_that_it_names() -> None:
    """What is not named stays; an empty list takes all of them away."""
    client = Client()
    assert {"attachments", "embeds"}.isdisjoint(await client.edited(Outgoing("a")))
    assert (await client.edited(Outgoing("a", Pieces((), ()))))["attachments"] == []
    asked = await client.edited(Outgoing("a", BOTH))
    assert [read(file)[0] for file in asked["attachments"]] == ["SPOILER_note.txt"]
    assert len(asked["embeds"]) == 1


async def test_our_button_stands_in_a_row_below_those_of_the_responder() -> None:
    """A link has its address and no id; discord.py keeps nothing of any."""
    buttons = (
        *(Button(str(n), f"id{n}", "danger") for n in range(6)),
        Button("Docs", "x", url="u"),
    )
    content = Outgoing("a", Pieces(buttons=buttons), Button("Stop", "stop"), "reading")
    asked = await Client().edited(content)
    items = [(item.label, item.custom_id, item.url, item.row) for item in asked["view"].children]
    assert items[:2] == [("0", "id0", None, 0), ("1", "id1", None, 0)]
    assert items[5:] == [("5", "id5", None, 1), ("Docs", None, "u", 1), ("Stop", "stop", None, 2)]
    assert asked["view"].children[0].style is discord.ButtonStyle.danger
    assert asked["view"].is_finished()
    assert asked["content"] == content.content


@pytest.mark.parametrize(("guild", "limit"), [("1", 100), ("2", 10_485_760), (None, 10_485_760)])
def test_a_file_may_be_as_large_as_its_guild_allows(guild: str | None, limit: int) -> None:
    """A boosted guild takes more; where nothing is known, Discord's default holds."""
    assert Client().wire.file_limit(guild) == limit
