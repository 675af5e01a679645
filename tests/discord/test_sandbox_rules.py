"""What Discord does to a request, checked over the wire with discord.py."""

import asyncio
import json
import time
from typing import Any

import aiohttp
import discord
import pytest

from sandbox import Limit, Limits, Sandbox
from sandbox.nonces import WINDOW, Nonces
from tests.discord.sandbox_client import Listener, connected


async def general(bot: Listener) -> discord.TextChannel:
    """Find the channel that everybody writes in."""
    return next(one for one in bot.get_all_channels() if one.name == "general")  # type: ignore[return-value]


def code_of(refused: pytest.ExceptionInfo[discord.HTTPException]) -> tuple[int, int]:
    """Answer the status and Discord's own code of a refusal."""
    return refused.value.status, refused.value.code


async def test_a_nonce_makes_one_message() -> None:
    """The same nonce again answers the first message as it is now, in any channel."""
    async with Sandbox() as sandbox, connected(sandbox) as bot:
        channel = await general(bot)
        first = await channel.send("one", nonce="n1")
        await first.edit(content="one, edited")
        second = await channel.send("two", nonce="n1")
        elsewhere = discord.utils.get(bot.get_all_channels(), name="random")
        assert isinstance(elsewhere, discord.TextChannel)
        third = await elsewhere.send("three", nonce="n1")
        assert {first.id, second.id, third.id} == {first.id}
        assert second.content == "one, edited"
        assert len(sandbox.world.messages(channel.id)) == 1
        assert (await channel.send("other", nonce="n2")).id != first.id


async def test_the_nonce_comes_with_the_create_and_its_event_and_not_with_history() -> None:
    """Discord does not keep nonces, so what is read back later has none."""
    async with Sandbox() as sandbox, connected(sandbox) as bot:
        channel = await general(bot)
        assert (await channel.send("one", nonce="n1")).nonce == "n1"
        assert (await bot.next("message")).nonce == "n1"
        assert [one.nonce async for one in channel.history()] == [None]


async def test_a_nonce_whose_message_is_deleted_answers_unknown_message() -> None:
    """So a repeated create tells that it had been delivered."""
    async with Sandbox() as sandbox, connected(sandbox) as bot:
        channel = await general(bot)
        await (await channel.send("one", nonce="n1")).delete()
        with pytest.raises(discord.NotFound) as refused:
            await channel.send("one", nonce="n1")
        assert code_of(refused) == (404, 10008)


async def test_a_nonce_is_forgotten_after_its_window() -> None:
    """Beyond the window a repeated create makes a second message."""
    now = 0.0
    nonces = Nonces(clock=lambda: now)
    nonces.remember("n1", channel_id=1, message_id=2)
    now = WINDOW - 1
    made = nonces.recall("n1")
    assert made is not None
    assert made.message_id == 2
    now = WINDOW
    assert nonces.recall("n1") is None


async def test_a_nonce_has_at_most_25_characters() -> None:
    """A longer one is a malformed body."""
    async with Sandbox() as sandbox, connected(sandbox) as bot:
        with pytest.raises(discord.HTTPException) as refused:
            await (await general(bot)).send("one", nonce="n" * 26)
        assert code_of(refused) == (400, 50035)


@pytest.mark.parametrize("text", ["x" * 2001, "🙂" * 1001], ids=["letters", "emoji"])
async def test_a_content_has_at_most_2000_utf_16_units(text: str) -> None:
    """Longer is refused on create and edit alike; what fits is taken."""
    async with Sandbox() as sandbox, connected(sandbox) as bot:
        channel = await general(bot)
        with pytest.raises(discord.HTTPException) as refused:
            await channel.send(text)
        assert code_of(refused) == (400, 50035)
        sent = await channel.send(text[:-1])
        with pytest.raises(discord.HTTPException) as refused:
            await sent.edit(content=text)
        assert code_of(refused) == (400, 50035)


async def test_an_empty_message_is_refused() -> None:
    """Spaces are nothing, and an edit must leave something."""
    async with Sandbox() as sandbox, connected(sandbox) as bot:
        channel = await general(bot)
        with pytest.raises(discord.HTTPException) as refused:
            await channel.send("  ")
        assert code_of(refused) == (400, 50006)
        sent = await channel.send("text", embed=discord.Embed(title="title"))
        await sent.edit(content="")
        with pytest.raises(discord.HTTPException) as refused:
            await sent.edit(embed=None)
        assert code_of(refused) == (400, 50006)


async def test_a_reply_to_a_deleted_message_is_refused_or_becomes_a_plain_message() -> None:
    """`fail_if_not_exists` decides, and is on unless switched off."""
    async with Sandbox() as sandbox, connected(sandbox) as bot:
        channel = await general(bot)
        said = sandbox.world.say(channel.id, sandbox.world.person("Bo").id, "hello")
        heard = await bot.next("message")
        sandbox.world.delete(said.id)
        with pytest.raises(discord.HTTPException) as refused:
            await heard.reply("hi")
        assert code_of(refused) == (400, 50035)
        sent = await channel.send("hi", reference=heard.to_reference(fail_if_not_exists=False))
        assert sent.reference is None


async def test_permissions_taken_from_the_bot_are_missed_in_discords_own_codes() -> None:
    """No right to write is 50013, to read back 160002, to see 50001."""
    async with Sandbox() as sandbox, connected(sandbox) as bot:
        channel = await general(bot)
        said = await channel.send("hello")
        for denied, code in (
            (["read_message_history"], 160002),
            (["send_messages"], 50013),
            (["view_channel"], 50001),
        ):
            sandbox.world.change_channel(channel.id, deny=denied)
            with pytest.raises(discord.Forbidden) as refused:
                await channel.send("again", reference=said)
            assert code_of(refused) == (403, code)


async def test_a_channel_that_is_gone_is_unknown() -> None:
    """10003 ends a conversation."""
    async with Sandbox() as sandbox, connected(sandbox) as bot:
        channel = await general(bot)
        sandbox.world.delete_channel(channel.id)
        with pytest.raises(discord.NotFound) as refused:
            await channel.send("anyone?")
        assert code_of(refused) == (404, 10003)


async def test_history_is_paged_in_both_directions() -> None:
    """`after` answers the oldest that follow, as a backfill needs; `before` the newest."""
    async with Sandbox() as sandbox, connected(sandbox) as bot:
        channel, bo = await general(bot), sandbox.world.person("Bo").id
        said = [sandbox.world.say(channel.id, bo, str(count)) for count in range(7)]
        mark = discord.Object(said[1].id)
        forward = [one.content async for one in channel.history(after=mark, limit=3)]
        assert forward == ["2", "3", "4"]
        mark = discord.Object(said[5].id)
        backward = [one.content async for one in channel.history(before=mark, limit=3)]
        assert backward == ["4", "3", "2"]
        everything = [one.content async for one in channel.history(after=discord.Object(1))]
        assert everything == [str(count) for count in range(7)]


async def test_the_bot_announces_its_limits_and_discord_py_keeps_to_them() -> None:
    """With headers on every answer the client waits by itself and meets no 429."""
    limits = Limits(edit=Limit(3, 0.3))
    async with Sandbox(limits=limits) as sandbox, connected(sandbox) as bot:
        sent = await (await general(bot)).send("0")
        started = time.monotonic()
        for count in range(1, 8):
            await sent.edit(content=str(count))
        assert time.monotonic() - started > 0.5
        assert all(entry.status < 300 for entry in sandbox.log.since())


async def test_a_limit_that_is_not_announced_is_met_as_a_429_that_discord_py_waits_out() -> None:
    """The real answer has `Via`, JSON and `retry_after`, else discord.py would raise."""
    limits = Limits(create=Limit(2, 0.2), announced=False)
    async with Sandbox(limits=limits) as sandbox, connected(sandbox) as bot:
        channel = await general(bot)
        for count in range(4):
            await channel.send(str(count))
        statuses = [entry.status for entry in sandbox.log.since() if entry.method == "POST"]
        assert 429 in statuses
        assert [one.content for one in sandbox.world.messages(channel.id)] == ["0", "1", "2", "3"]


async def test_a_429_shows_its_bucket() -> None:
    """Headers and body say how long to wait and whom it concerns."""
    async with (
        Sandbox(limits=Limits(create=Limit(1, 60.0), overall=Limit(3, 60.0))) as sandbox,
        aiohttp.ClientSession(headers={"Authorization": f"Bot {sandbox.token}"}) as session,
    ):
        path = f"{sandbox.api}/channels/{sandbox.world.channel('general').id}/messages"
        async with session.post(path, json={"content": "1"}) as taken:
            assert taken.status == 200
            assert taken.headers["X-RateLimit-Remaining"] == "0"
        async with session.post(path, json={"content": "2"}) as refused:
            assert refused.status == 429
            assert refused.headers["X-RateLimit-Scope"] == "user"
            assert 59 < (await refused.json())["retry_after"] <= 60
        async with session.get(f"{sandbox.api}/users/@me") as taken:
            assert taken.status == 200
        async with session.get(f"{sandbox.api}/users/@me") as refused:
            assert refused.headers["X-RateLimit-Scope"] == "global"
            assert (await refused.json())["global"] is True


async def answered(
    sandbox: Sandbox,
    method: str,
    path: str,
    body: object = None,
    *,
    raw: str | None = None,
    token: str | None = None,
) -> tuple[int, Any]:
    """Send a request as the bot, JSON or raw; answer status and body."""
    headers = {"Authorization": f"Bot {token or sandbox.token}", "Content-Type": "application/json"}
    data = raw or (None if body is None else json.dumps(body))
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.request(method, sandbox.api + path, data=data) as answer,
    ):
        return answer.status, await answer.json()


async def test_requests_that_no_client_should_send_are_answered_in_discords_form() -> None:
    """A wrong token, a body that is no JSON, a malformed one, a route that is not there."""
    async with Sandbox() as sandbox:
        general = f"/channels/{sandbox.world.channel('general').id}"
        status, body = await answered(sandbox, "GET", "/users/@me", token="wrong")
        assert (status, body["message"]) == (401, "401: Unauthorized")
        status, body = await answered(sandbox, "POST", f"{general}/messages", raw="{")
        assert (status, body["code"]) == (400, 50109)
        headers = {"Content-Type": "multipart/form-data", "Authorization": f"Bot {sandbox.token}"}
        async with (
            aiohttp.ClientSession(headers=headers) as session,
            session.post(f"{sandbox.api}{general}/messages", data=b"no boundary") as answer,
        ):
            assert (answer.status, (await answer.json())["code"]) == (400, 50109)
        for malformed in ({"content": 5}, {"embeds": 5}, ["a list"]):
            status, body = await answered(sandbox, "POST", f"{general}/messages", malformed)
            assert (status, body["code"]) == (400, 50035), malformed
        status, body = await answered(sandbox, "GET", f"{general}/messages?limit=101")
        assert (status, body["code"]) == (400, 50035)
        status, body = await answered(sandbox, "GET", "/channels/general/messages")
        assert (status, body["code"]) == (400, 50035)
        status, body = await answered(sandbox, "GET", "/no/such/route")
        assert status == 501


async def test_requests_at_once_are_each_carried_out_whole() -> None:
    """Creates with one nonce that race over several sockets make one message."""
    async with Sandbox() as sandbox, connected(sandbox):
        channel = sandbox.world.channel("general").id
        body = {"content": "once", "nonce": "n1", "enforce_nonce": True}
        path = f"/channels/{channel}/messages"
        answers = await asyncio.gather(*(answered(sandbox, "POST", path, body) for _ in range(10)))
        assert {body["id"] for _, body in answers} == {answers[0][1]["id"]}
        assert len(sandbox.world.messages(channel)) == 1
