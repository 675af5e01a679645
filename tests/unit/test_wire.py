"""Requests to Discord: nobody is pinged, nothing leaves without a lease, errors become ours."""

from collections.abc import AsyncIterator, Sequence
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import AsyncMock, MagicMock, Mock

import aiohttp
import discord
import pytest

from bot.endings import Ending
from bot.inbound import Person, Remark
from bot.replies import File
from bot.sight import DiscordSight
from bot.speaking import (
    Button,
    NotSpeaking,
    Outgoing,
    OwnMessage,
    Pieces,
    Rejected,
    Unreachable,
)
from bot.webhook import DiscordWebhook
from bot.wire import DiscordWire, own, trace_config, translated
from tests.unit.fake_turn import HeldTurn
from tests.unit.fakes import speaking

CONTENT = Outgoing("@everyone hello")


class Client:
    """A discord.py client whose one channel and message keep what is asked of them."""

    def __init__(self, history: Sequence[discord.Message] = ()) -> None:
        self.user = SimpleNamespace(id=1)
        self.application_id = 1
        self.message = MagicMock()
        for method in ("edit", "delete", "add_reaction", "remove_reaction"):
            setattr(self.message, method, AsyncMock())
        self.channel = MagicMock()
        self.channel.send = AsyncMock(return_value=sent(7, "hello"))
        self.channel.typing = AsyncMock()
        self.channel.get_partial_message.return_value = self.message
        self.channel.history = Mock(side_effect=lambda **_: _each(history))

    def get_partial_messageable(self, channel: int) -> MagicMock:
        """Give the channel, whichever is asked for."""
        return self.channel

    @property
    def wire(self) -> DiscordWire:
        """The wire over this client."""
        client: Any = self
        return DiscordWire(client, DiscordWebhook(client), DiscordSight(client))


async def _each(messages: Sequence[discord.Message]) -> AsyncIterator[discord.Message]:
    for message in messages:
        yield message


def sent(
    number: int, text: str, *, author: object = None, nonce: str | None = None, reply_to: int = 0
) -> discord.Message:
    """Make a message as discord.py gives it."""
    message = Mock(spec=discord.Message, id=number, content=text, author=author, nonce=nonce)
    message.interaction_metadata = None
    message.reference = SimpleNamespace(message_id=reply_to) if reply_to else None
    message.attachments, message.embeds = [], []
    return message


def refusal(status: int, code: int = 0) -> discord.HTTPException:
    """Make what discord.py raises for an answer of Discord."""
    kind = discord.DiscordServerError if status >= 500 else discord.HTTPException
    kind = discord.NotFound if status == 404 else kind
    response: Any = SimpleNamespace(status=status, reason="no")
    return kind(response, {"code": code, "message": "no"})


# --------------------------------------------------------------------------------------- who is hit


@pytest.mark.parametrize("ping", [True, False])
async def test_a_create_pings_nobody_but_perhaps_the_author_it_replies_to(ping: bool) -> None:
    """Whatever a model or a person has written."""
    client = Client()
    await client.wire.create("2", CONTENT, nonce="n", reply_to="3", ping=ping)
    asked = client.channel.send.call_args
    assert asked.args == ("@everyone hello",)
    assert asked.kwargs["nonce"] == "n"
    replied = {"replied_user": True} if ping else {}  # absent, it means False
    assert asked.kwargs["allowed_mentions"].to_dict() == {"parse": [], **replied}
    reference = asked.kwargs["reference"].to_dict()
    assert (reference["message_id"], reference["fail_if_not_exists"]) == (3, False)


async def test_a_create_may_notify_the_one_person_whom_it_is_for() -> None:
    """Whoever else it mentions, and never by everyone or a role."""
    client = Client()
    told = Outgoing("<@5> <@6> @everyone", notifies="5")
    await client.wire.create("2", told, nonce="n", reply_to=None, ping=True)
    mentions = client.channel.send.call_args.kwargs["allowed_mentions"].to_dict()
    assert (mentions["parse"], mentions["users"]) == ([], [5])


async def test_an_edit_pings_nobody() -> None:
    """Discord judges the mentions of an edit anew."""
    client = Client()
    await client.wire.edit("2", "3", CONTENT)
    asked = client.message.edit.call_args.kwargs
    assert asked["content"] == "@everyone hello"
    assert asked["allowed_mentions"].to_dict()["parse"] == []
    assert asked["view"] is None


async def test_a_file_goes_with_the_message_and_a_plain_message_without() -> None:
    """The rest of a long reply is named so that it opens as text."""
    client = Client()
    await client.wire.create(
        "2",
        Outgoing("rest", Pieces(files=(File("reply.md", b"text"),))),
        nonce="n",
        reply_to=None,
        ping=False,
    )
    asked = client.channel.send.call_args.kwargs
    (file,) = asked["files"]
    assert (file.filename, file.fp.read()) == ("reply.md", b"text")
    assert asked["reference"] is None
    await client.wire.create("2", CONTENT, nonce="n", reply_to=None, ping=False)
    assert client.channel.send.call_args.kwargs.get("files") is None


async def test_a_button_is_known_by_its_id_alone() -> None:
    """discord.py keeps nothing of it, so that it outlives the process."""
    client = Client()
    await client.wire.edit("2", "3", Outgoing("text", button=Button("Stop", "interlock:stop:1")))
    view = client.message.edit.call_args.kwargs["view"]
    (button,) = view.children
    assert (button.label, button.custom_id) == ("Stop", "interlock:stop:1")
    assert view.is_finished()


# ------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize("status", [500, 502, 503, 504, 429])
async def test_an_answer_that_tells_nothing_of_the_outcome_is_unreachable(status: int) -> None:
    """Also a limit that discord.py has waited for in vain: it is to be tried again."""
    with pytest.raises(Unreachable, match=str(status)):
        async with translated():
            raise refusal(status)


async def test_too_many_edits_of_an_old_message_are_a_refusal_although_discord_says_429() -> None:
    """30046: waiting does not help, a new message does."""
    with pytest.raises(Rejected) as rejected:
        async with translated():
            raise refusal(429, 30046)
    assert rejected.value.code == 30046


@pytest.mark.parametrize(
    "error",
    [
        aiohttp.ServerDisconnectedError(),
        aiohttp.ClientPayloadError(),
        ConnectionResetError(104, "reset"),
        TimeoutError(),
    ],
)
async def test_a_connection_that_breaks_is_unreachable(error: Exception) -> None:
    """On Linux discord.py does not repeat by itself after a reset."""
    with pytest.raises(Unreachable, match=type(error).__name__):
        async with translated():
            raise error


@pytest.mark.parametrize(("status", "code"), [(400, 50035), (403, 50013), (404, 10008)])
async def test_a_refusal_keeps_both_numbers(status: int, code: int) -> None:
    """What it means is decided elsewhere."""
    with pytest.raises(Rejected) as raised:
        async with translated():
            raise refusal(status, code)
    assert (raised.value.status, raised.value.code) == (status, code)


@pytest.mark.parametrize("error", [ValueError("a bug"), NotSpeaking()])
async def test_anything_else_is_left_as_it_is(error: Exception) -> None:
    """It is none of Discord's."""
    with pytest.raises(type(error)):
        async with translated():
            raise error


async def test_what_is_gone_already_is_deleted() -> None:
    """A message or reaction that somebody else removed first."""
    client = Client()
    client.message.delete.side_effect = refusal(404, 10008)
    client.message.remove_reaction.side_effect = refusal(404, 10014)
    await client.wire.delete("2", "3")
    await client.wire.unreact("2", "3", "⏳")


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("create", ("2", CONTENT)),
        ("edit", ("2", "3", CONTENT)),
        ("delete", ("2", "3")),
        ("type", ("2",)),
        ("react", ("2", "3", "⏳")),
        ("unreact", ("2", "3", "⏳")),
    ],
)
async def test_every_request_translates_its_errors(method: str, arguments: tuple[Any]) -> None:
    """Nothing of discord.py gets out."""
    client = Client()
    parts = ("edit", "delete", "add_reaction", "remove_reaction")
    for each in (client.channel.send, client.channel.typing):
        each.side_effect = refusal(503)
    for part in parts:
        getattr(client.message, part).side_effect = refusal(503)
    options = {"nonce": "n", "reply_to": None, "ping": False} if method == "create" else {}
    with pytest.raises(Unreachable):
        await getattr(client.wire, method)(*arguments, **options)


# ------------------------------------------------------------------------------------------ reading


async def test_our_own_messages_are_read_back_oldest_first() -> None:
    """The newest of the channel: what is looked for was sent a moment ago."""
    client = Client()
    history = [
        sent(9, "new", author=client.user, nonce="n"),
        sent(8, "theirs", author=SimpleNamespace(id=2)),
        sent(7, "old", author=client.user, reply_to=5),
    ]
    client.channel.history.side_effect = lambda **_: _each(history)
    assert await client.wire.recent("2", "5") == [
        OwnMessage("7", "old", None, "5"),
        OwnMessage("9", "new", "n", None),
    ]
    asked = client.channel.history.call_args.kwargs
    assert (asked["after"].id, asked["limit"], asked["oldest_first"]) == (5, 100, False)


def written(number: int, text: str, author: object, *mentions: object) -> discord.Message:
    """Make a message of somebody's as discord.py gives it."""
    message = Mock(spec=discord.Message, id=number, content=text, author=author)
    message.mentions, message.is_system = list(mentions), lambda: False
    return message


async def test_what_was_said_is_told_oldest_first_with_names_for_mentions() -> None:
    """Without pins and joins, and without our own mention: it is as a turn's own text."""
    client = Client()
    client.user.display_name = "us"
    ada = SimpleNamespace(id=2, display_name="Ada")
    joined = written(8, "", ada)
    cast("Any", joined).is_system = lambda: True
    history = [
        written(9, "pong", client.user),
        joined,
        written(7, "<@1> ask <@!2>", ada, client.user, ada),
    ]
    client.channel.history.side_effect = lambda **_: _each(history)
    assert await client.wire.sight.said("2", before="10", limit=3) == [
        Remark("7", Person("2", "Ada"), "ask @Ada"),
        Remark("9", Person("1", "us"), "pong", ours=True),
    ]
    asked = client.channel.history.call_args.kwargs
    assert (asked["before"].id, asked["limit"]) == (10, 3)


def test_a_message_of_ours_is_reduced_to_what_settles_an_outcome() -> None:
    """A number as nonce, as other clients send, is text like any."""
    message = sent(7, "hello", nonce="1", reply_to=5)
    message.nonce = 17
    assert own(message) == OwnMessage("7", "hello", "17", "5")


# -------------------------------------------------------------------------------------------- lease


async def begins_request() -> None:
    """Do what aiohttp does when a request of the client begins."""
    trace = trace_config()
    trace.freeze()
    nothing: Any = None
    await trace.on_request_start.send(nothing, nothing, nothing)


async def test_a_request_may_begin_while_its_speaker_may_speak() -> None:
    """And at any time when it is nobody's turn: a command, a notice, the login."""
    turn = await HeldTurn().begin()
    await begins_request()
    with speaking(turn.holding):
        await begins_request()


@pytest.mark.parametrize("why", ["deadline", "lost"])
async def test_no_request_begins_once_its_speaker_may_not(why: str) -> None:
    """discord.py sleeps and re-sends inside one call; each of its requests is looked at."""
    turn = await HeldTurn().begin()
    if why == "lost":
        turn.holding.cancel(Ending.LOST)
    else:
        turn.holding.deadline = 0.0
    with speaking(turn.holding), pytest.raises(NotSpeaking):
        await begins_request()


async def test_a_task_that_outlives_its_turn_is_nobodys_turn() -> None:
    """A cog may start something for good while it answers; it must not be refused for ever."""
    turn = await HeldTurn().begin()
    turn.holding.deadline = 0.0
    turn.holding.over = True
    with speaking(turn.holding):
        await begins_request()
