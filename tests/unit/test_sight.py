"""Files of messages, fetched over a real socket: from Discord alone, and never more than asked."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from discord.http import Route

from bot.endings import Ending
from bot.errors import AttachmentUnreadable
from bot.sight import DiscordSight
from bot.speaking import NotSpeaking, Rejected, Unreachable
from tests.unit.fake_turn import HeldTurn
from tests.unit.fakes import speaking


class Cdn:
    """Serves what a test puts there."""

    def __init__(self, url: str, answer: "Answer") -> None:
        self.url = url
        self.answer = answer


class Answer:
    """What the server says."""

    def __init__(self) -> None:
        self.status, self.body, self.chunked = 200, b"a cat", False
        self.asked: list[str] = []

    async def give(self, request: web.Request) -> web.StreamResponse:
        """Answer any request."""
        self.asked.append(request.path)
        headers = {"Location": "/elsewhere"} if self.status == 302 else {}
        if not self.chunked:
            return web.Response(status=self.status, body=self.body, headers=headers)
        response = web.StreamResponse(status=self.status)  # without a length that could be checked
        await response.prepare(request)
        await response.write(self.body)
        return response


@pytest.fixture
async def cdn(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Cdn]:
    """Run a stand-in for Discord, which keeps files on the host of its API."""
    answer = Answer()
    app = web.Application()
    app.router.add_get("/{path:.*}", answer.give)
    async with TestServer(app) as server:
        monkeypatch.setattr(Route, "BASE", str(server.make_url("/api/v10")))
        yield Cdn(str(server.make_url("/attachments/a.txt")), answer)


def sight() -> DiscordSight:
    """Look through a client that is not asked for anything."""
    client: Any = None
    return DiscordSight(client)


async def test_a_file_is_fetched(cdn: Cdn) -> None:
    """All of it, up to exactly as many bytes as are wanted."""
    assert await sight().fetch(cdn.url, limit=5) == b"a cat"


@pytest.mark.parametrize("chunked", [False, True], ids=["told", "untold"])
async def test_no_more_is_taken_than_was_asked_for(cdn: Cdn, chunked: bool) -> None:
    """Whatever size the file was said to have."""
    cdn.answer.body, cdn.answer.chunked = b"x" * 1_000_000, chunked
    with pytest.raises(AttachmentUnreadable, match="more than 1000 bytes"):
        await sight().fetch(cdn.url, limit=1000)


@pytest.mark.parametrize("status", [302, 403, 404])
async def test_an_address_that_leads_nowhere_is_refused(cdn: Cdn, status: int) -> None:
    """As an expired one is; a redirect is not followed."""
    cdn.answer.status = status
    with pytest.raises(Rejected) as raised:
        await sight().fetch(cdn.url, limit=10)
    assert raised.value.status == status
    assert len(cdn.answer.asked) == 1


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_an_answer_that_may_be_better_later_is_an_outage(cdn: Cdn, status: int) -> None:
    """It is to be asked for again."""
    cdn.answer.status = status
    with pytest.raises(Unreachable):
        await sight().fetch(cdn.url, limit=10)


@pytest.mark.parametrize(
    "url",
    [
        "http://cdn.discordapp.com/a.txt",
        "https://cdn.discordapp.com.example.com/a.txt",
        "https://user@example.com/cdn.discordapp.com",
        "https://discord.com/a.txt",
        "http://169.254.169.254/latest/meta-data",
        "file:///etc/passwd",
    ],
)
async def test_nothing_is_fetched_from_elsewhere(cdn: Cdn, url: str) -> None:
    """An address could lead into the network that the bot runs in."""
    with pytest.raises(AttachmentUnreadable, match="not where Discord keeps files"):
        await sight().fetch(url, limit=10)
    assert cdn.answer.asked == []


async def test_on_discord_itself_files_are_not_where_the_api_is(
    cdn: Cdn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a stand-in keeps them there."""
    monkeypatch.setattr(Route, "BASE", "https://discord.com/api/v10")
    for url in ("https://discord.com/a.txt", cdn.url):
        with pytest.raises(AttachmentUnreadable):
            await sight().fetch(url, limit=10)


async def test_no_file_is_fetched_without_a_lease(cdn: Cdn) -> None:
    """Whoever has lost its turn asks Discord for nothing any more."""
    turn = await HeldTurn().begin()
    turn.holding.cancel(Ending.LOST)
    with speaking(turn.holding), pytest.raises(NotSpeaking):
        await sight().fetch(cdn.url, limit=10)
    assert cdn.answer.asked == []
