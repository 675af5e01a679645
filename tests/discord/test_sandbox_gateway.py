"""The gateway: sessions, resumes, shards, and what it refuses."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import discord
import pytest

from sandbox import Sandbox
from sandbox.protocol import SENDS, IdentifyGate, Terms
from sandbox.sessions import REPLAY, Session
from tests.discord.sandbox_client import connected
from tests.waiting import wait_until


async def test_a_dropped_socket_is_resumed_and_what_was_missed_is_replayed() -> None:
    """No event is lost and none comes twice; nothing is identified anew."""
    async with Sandbox() as sandbox, connected(sandbox) as bot:
        world = sandbox.world
        general, bo = world.channel("general").id, world.person("Bo").id
        world.say(general, bo, "before")
        await bot.next("message")
        sandbox.connections.drop()
        world.say(general, bo, "while away")
        await wait_until(lambda: sandbox.connections.resumes, description="the session is resumed")
        world.say(general, bo, "after")
        await bot.next("message", count=3)
        said = [one.content for one in bot.of("message")]
        assert said == ["before", "while away", "after"]
        assert sandbox.connections.identifies == 1


async def test_a_client_that_is_asked_to_reconnect_resumes() -> None:
    """Operation 7 keeps the session."""
    async with Sandbox() as sandbox, connected(sandbox) as bot:
        sandbox.connections.reconnect()
        await bot.next("resumed")
        assert (sandbox.connections.identifies, sandbox.connections.resumes) == (1, 1)


async def test_an_invalid_session_is_identified_anew_and_misses_events() -> None:
    """Operation 9 ends the session: what happens until the new READY is not told."""
    async with Sandbox() as sandbox, connected(sandbox) as bot:
        world = sandbox.world
        general, bo = world.channel("general").id, world.person("Bo").id
        sandbox.connections.invalidate()
        world.say(general, bo, "missed")
        await wait_until(lambda: sandbox.connections.identifies == 2, description="a new identify")
        await bot.next("ready", count=2)
        world.say(general, bo, "heard")
        assert (await bot.next("message")).content == "heard"


async def test_a_silent_socket_holds_everything_back_until_it_is_cleared() -> None:
    """Silence is a network that swallows: the socket stays open, and nothing is lost after all."""
    async with Sandbox() as sandbox, connected(sandbox) as bot:
        world = sandbox.world
        sandbox.connections.silence()
        world.say(world.channel("general").id, world.person("Bo").id, "muffled")
        await bot.application_info()  # a whole round trip of requests, and still no event
        assert bot.of("message") == []
        sandbox.connections.unmute()
        assert (await bot.next("message")).content == "muffled"
        assert sandbox.connections.resumes == 0


async def test_each_guild_is_told_to_its_shard_and_dms_to_shard_0() -> None:
    """Two processes with one shard each hear their own guilds; DMs come to the first."""
    async with (
        Sandbox(shards=2) as sandbox,
        connected(sandbox, shards=[0], count=2) as zero,
        connected(sandbox, shards=[1], count=2) as one,
    ):
        world = sandbox.world
        bo = world.person("Bo").id
        guild = world.add_guild("Second", shard=1)
        channel = world.add_channel(guild.id, "there")
        world.say(world.channel("general").id, bo, "here")
        world.say(channel.id, bo, "there")
        world.say(world.open_dm(bo).id, bo, "private")
        await zero.next("message", count=2)
        assert [one.content for one in zero.of("message")] == ["here", "private"]
        assert (await one.next("message")).content == "there"
        assert [len(zero.guilds), len(one.guilds)] == [1, 1]


async def test_one_client_runs_two_shards() -> None:
    """Each shard has a session of its own, and one can be dropped without the other."""
    async with Sandbox(shards=2) as sandbox, connected(sandbox, shards=[0, 1], count=2) as bot:
        assert sandbox.connections.identifies == 2
        sandbox.connections.drop(shard=1)
        await wait_until(lambda: bot.of("shard_resumed"), description="a shard is resumed")
        assert bot.of("shard_resumed") == [1]


async def test_the_members_of_a_guild_are_told_on_request() -> None:
    """A client with the members intent asks for everybody at its start."""
    async with Sandbox() as sandbox, connected(sandbox) as bot:
        names = {member.display_name for member in bot.guilds[0].members}
        assert names >= {"Ada", "Bo", "Cy", "Interlock"}
        [ada] = await bot.guilds[0].query_members("ada")
        assert ada.id == sandbox.world.person("Ada").id


@asynccontextmanager
async def socket(
    sandbox: Sandbox, query: str = ""
) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    """Open a bare socket and take its HELLO."""
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(f"{sandbox.gateway}?v=10&encoding=json{query}") as opened,
    ):
        hello = await opened.receive_json()
        assert hello["op"] == 10
        assert hello["d"]["heartbeat_interval"] == 41_250
        yield opened


def identify(sandbox: Sandbox, **fields: object) -> dict[str, Any]:
    """Write an identify."""
    return {"op": 2, "d": {"token": sandbox.token, "intents": 0, "properties": {}, **fields}}


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ({"op": 2, "d": {"token": "wrong", "intents": 0}}, 4004),
        ({"op": 3, "d": {}}, 4003),
        ({"op": 99}, 4001),
        ({"op": 11}, 4003),
        ({"op": 2, "d": "nothing"}, 4002),
        ({"op": 2, "d": {"pad": "x" * 5000}}, 4002),
        (["no object"], 4002),
    ],
)
async def test_a_frame_that_no_client_should_send_closes_the_socket(
    frame: object, code: int
) -> None:
    """The close code says why."""
    async with Sandbox() as sandbox, socket(sandbox) as opened:
        await opened.send_json(frame)
        ended = await opened.receive()
        assert ended.type == aiohttp.WSMsgType.CLOSE
        assert opened.close_code == code


@pytest.mark.parametrize(
    ("fields", "code"),
    [({"shard": [2, 2]}, 4010), ({"intents": 1 << 30}, 4013), ({"intents": 1 << 15}, 4014)],
    ids=["shard", "unknown intent", "intent not approved"],
)
async def test_an_identify_that_is_not_granted_closes_the_socket(
    fields: dict[str, Any], code: int
) -> None:
    """A shard outside its count, unknown intents, and those that the portal does not approve."""
    approved = discord.Intents.all()
    approved.message_content = False
    async with Sandbox(approved=approved) as sandbox, socket(sandbox) as opened:
        await opened.send_json(identify(sandbox, **fields))
        await opened.receive()
        assert opened.close_code == code


async def test_a_client_that_sends_too_fast_is_closed() -> None:
    """More than 120 frames in a minute are 4008."""
    async with Sandbox() as sandbox, socket(sandbox) as opened:
        for _ in range(SENDS + 1):
            await opened.send_json({"op": 1, "d": None})
        while (await opened.receive()).type == aiohttp.WSMsgType.TEXT:
            pass
        assert opened.close_code == 4008


async def test_a_client_without_a_heartbeat_is_closed() -> None:
    """After two missed heartbeats the socket is taken for dead; its session can be resumed."""
    async with (
        Sandbox(heartbeat=0.05) as sandbox,
        aiohttp.ClientSession() as session,
        session.ws_connect(sandbox.gateway) as opened,
    ):
        await opened.receive_json()
        await opened.send_json(identify(sandbox))
        while (await opened.receive()).type == aiohttp.WSMsgType.TEXT:
            pass
        assert opened.close_code == 4009
        await wait_until(lambda: not sandbox.connections.online, description="the bot is offline")
        assert len(sandbox.connections.sessions) == 1


async def test_discord_py_keeps_its_heartbeat() -> None:
    """Heartbeats are acknowledged, so a client with a short interval stays connected."""
    async with Sandbox(heartbeat=0.1) as sandbox, connected(sandbox) as bot:
        await wait_until(lambda: sandbox.connections.heartbeats >= 4, description="four heartbeats")
        assert bot.latency < 1
        assert sandbox.connections.online


async def test_a_session_that_says_goodbye_cannot_be_resumed() -> None:
    """A close with 1000 ends it; any other end keeps it."""
    async with Sandbox() as sandbox:
        for code, answer in ((1000, 9), (4000, 0)):
            async with socket(sandbox) as opened:
                await opened.send_json(identify(sandbox))
                ready = await opened.receive_json()
                await opened.close(code=code)
            resume = {"token": sandbox.token, "session_id": ready["d"]["session_id"], "seq": 1}
            async with socket(sandbox) as again:
                await again.send_json({"op": 6, "d": resume})
                assert (await again.receive_json())["op"] == answer


async def test_identifies_come_at_the_pace_of_the_terms() -> None:
    """One per bucket and interval is granted; the next is an invalid session and may try again."""
    async with (
        Sandbox(max_concurrency=1, identify_interval=3600) as sandbox,
        socket(sandbox) as first,
        socket(sandbox) as second,
    ):
        await first.send_json(identify(sandbox, shard=[0, 2]))
        assert (await first.receive_json())["t"] == "READY"
        await second.send_json(identify(sandbox, shard=[1, 2]))
        assert (await second.receive_json())["op"] == 9


def test_buckets_of_shards_have_a_pace_of_their_own() -> None:
    """With a concurrency of two, even and odd shards do not wait for each other."""
    now = 0.0
    terms = Terms("token", max_concurrency=2, identify_interval=5.0)
    gate = IdentifyGate(terms, clock=lambda: now)
    assert [gate.grant(shard) for shard in (0, 1, 2, 3)] == [True, True, False, False]
    now = 5.0
    assert [gate.grant(shard) for shard in (2, 3)] == [True, True]


async def test_a_client_may_ask_for_plain_text_or_for_compression() -> None:
    """discord.py asks for zlib-stream; what the gateway does not know is answered plainly."""
    async with (
        Sandbox() as sandbox,
        aiohttp.ClientSession() as session,
        session.ws_connect(f"{sandbox.gateway}?compress=zlib-stream") as compressed,
        session.ws_connect(f"{sandbox.gateway}?compress=zstd-stream") as plain,
    ):
        assert (await compressed.receive()).data.endswith(b"\x00\x00\xff\xff")
        assert json.loads((await plain.receive()).data)["op"] == 10


async def test_without_the_content_intent_only_what_concerns_the_bot_has_a_content() -> None:
    """Mentions of the bot, and DMs, are readable all the same."""
    async with Sandbox() as sandbox, socket(sandbox) as opened:
        world = sandbox.world
        general, bo = world.channel("general").id, world.person("Bo").id
        seen = discord.Intents(guild_messages=True, dm_messages=True).value
        await opened.send_json(identify(sandbox, intents=seen))
        assert (await opened.receive_json())["t"] == "READY"
        mention = f"<@{sandbox.application_id}>"
        for channel, text in (
            (general, "secret"),
            (general, mention),
            (world.open_dm(bo).id, "hi"),
        ):
            world.say(channel, bo, text)
        contents = [(await opened.receive_json())["d"]["content"] for _ in range(3)]
        assert contents == ["", mention, "hi"]


async def test_a_session_remembers_a_bounded_number_of_events() -> None:
    """What lies further back cannot be resumed; what is ahead never was."""
    session = Session(shard=0, count=1, intents=discord.Intents.all())
    async with Sandbox() as sandbox:
        for count in range(REPLAY + 1):
            session.dispatch("RESUMED", {"count": count}, sandbox.world.discord)
    assert session.since(0) is None
    assert len(session.since(1) or []) == REPLAY
    assert session.since(session.seq) == []
    assert session.since(session.seq + 1) is None


async def test_the_server_stops_while_clients_are_connected() -> None:
    """A stop closes every socket at once, whatever the clients do."""
    sandbox = Sandbox()
    async with sandbox, asyncio.timeout(5), aiohttp.ClientSession() as session:
        opened = await session.ws_connect(sandbox.gateway)
        await opened.receive()
        events = await session.get(f"{sandbox.page}control/events")
        assert (await events.content.readline()).startswith(b"data:")
        await sandbox.__aexit__(None, None, None)
        assert (await opened.receive()).type == aiohttp.WSMsgType.CLOSE
        assert (await events.content.read()).strip() == b""
