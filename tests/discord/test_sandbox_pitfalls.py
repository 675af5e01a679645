"""Each pitfall of Discord that a bot must live with can be set by one request."""

import time
from collections.abc import AsyncIterator, Awaitable
from typing import Any

import aiohttp
import discord
import pytest

from sandbox import Sandbox
from sandbox.faults import Fault, Faults
from tests.discord.controls import Control, controlled, places
from tests.discord.sandbox_client import Listener, connected
from tests.discord.schema.tour import Bot, bot
from tests.waiting import wait_until


@pytest.fixture
async def control() -> AsyncIterator[Control]:
    """Give the controls of a default world."""
    async with controlled() as one:
        yield one


async def general_of(client: Listener) -> discord.TextChannel:
    """Find the channel that everybody writes in."""
    channel = discord.utils.get(client.get_all_channels(), name="general")
    assert isinstance(channel, discord.TextChannel)
    return channel


# --------------------------------------------------------------------------------------- requests


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PATCH", "/channels/{room}/messages/{own}", {"content": "changed"}),
        ("DELETE", "/channels/{room}/messages/{own}", None),
        ("PUT", "/channels/{room}/messages/{own}/reactions/%E2%8F%B3/@me", None),
        ("POST", "/channels/{room}/messages/{own}/threads", {"name": "t"}),
        ("POST", "/users/@me/channels", {"recipient_id": "{ada}"}),
    ],
)
@pytest.mark.parametrize("lost", ["lose_reply", "lose_request"])
async def test_an_answer_or_a_request_of_any_route_is_lost(
    control: Control, lost: str, method: str, path: str, body: dict[str, str] | None
) -> None:
    """
    The connection ends without an answer; only a lost answer's request was carried out.

    Not once, but each time: aiohttp by itself sends some requests again.
    """
    world = control.sandbox.world
    room, ada = world.channel("general").id, world.person("Ada").id
    own = world.discord.create_message(room, world.discord.bot_user.id, "own").id
    events: list[str] = []
    world.listeners.append(lambda event, _: events.append(event))
    await control.call("POST", "/faults", {"match": {"method": method}, lost: True})
    sent = body and {key: text.format(ada=ada) for key, text in body.items()}
    known = len(world.discord.dm_channels)
    async with bot(control.sandbox) as one:
        with pytest.raises(aiohttp.ServerDisconnectedError):
            await one.ask(method, path.format(room=room, own=own), sent)
    carried_out = bool(events) or len(world.discord.dm_channels) > known
    assert carried_out is (lost == "lose_reply")
    assert all(entry.lost for entry in control.sandbox.log.since())


async def test_discord_is_unavailable_for_a_while(
    control: Control, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody has to end the outage; until then each request is refused."""
    async with bot(control.sandbox) as one:
        await control.call("POST", "/faults", {"status": 503, "seconds": 60})
        await one.ask("GET", "/users/@me", status=503)
        await one.ask("GET", "/users/@me", status=503)
        later = time.monotonic() + 60
        monkeypatch.setattr(control.sandbox.faults, "_clock", lambda: later)
        await one.ask("GET", "/users/@me")
    assert await control.call("GET", "/faults") == []


def test_a_fault_for_some_seconds_ends_by_itself() -> None:
    """The time counts from when the fault is set, however often it strikes."""
    now = 0.0
    faults = Faults(clock=lambda: now)
    faults.add(Fault(status=500, seconds=5.0))
    faults.add(Fault(latency=1.0, seconds=9.0, times=2))
    assert faults.strike("GET", "/").answer is not None
    now = 5.0
    trouble = faults.strike("GET", "/")
    assert (trouble.answer, trouble.latency) == (None, 1.0)
    assert faults.active == []


async def test_an_old_message_is_edited_too_often(control: Control) -> None:
    """Discord answers 429 with the code 30046, each time that the client tries again."""
    async with connected(control.sandbox) as client:
        sent = await (await general_of(client)).send("old")
        old = {
            "match": {"method": "PATCH"},
            "retry_after": 0.001,
            "code": 30046,
            "message": "Maximum number of edits to messages older than 1 hour reached.",
        }
        await control.call("POST", "/faults", old)
        with pytest.raises(discord.HTTPException) as refused:
            await sent.edit(content="older")
        assert (refused.value.status, refused.value.code) == (429, 30046)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ({"lose_request": True, "lose_reply": True}, "before it is carried out"),
        ({"gateway": "swallow", "shard": 0}, "swallow concerns all shards"),
        ({"gateway": "drop", "seconds": 1}, "seconds go with swallow and refuse"),
    ],
)
async def test_faults_that_contradict_themselves_are_refused(
    control: Control, fault: dict[str, Any], reason: str
) -> None:
    """The line says why."""
    assert reason in await control.error("POST", "/faults", fault)


# ------------------------------------------------------------------------------------- the gateway


Socket = aiohttp.ClientWebSocketResponse


async def identified(
    control: Control, session: aiohttp.ClientSession
) -> tuple[Socket, dict[str, Any]]:
    """Open a bare socket and identify; answer the socket and the first frame that comes back."""
    socket = await session.ws_connect(control.sandbox.gateway)
    await socket.receive_json()
    sent = {"token": control.sandbox.token, "intents": 512, "properties": {}}
    await socket.send_json({"op": 2, "d": sent})
    first = await socket.receive()
    return socket, first.json() if first.type == aiohttp.WSMsgType.TEXT else {}


async def resumed(
    control: Control, session: aiohttp.ClientSession, ready: dict[str, Any]
) -> tuple[Any, Any]:
    """Resume on a new socket after the READY; answer the next two frames."""
    socket = await session.ws_connect(control.sandbox.gateway)
    await socket.receive_json()
    sent = {"token": control.sandbox.token, "session_id": ready["d"]["session_id"], "seq": 1}
    await socket.send_json({"op": 6, "d": sent})
    return await socket.receive_json(), await socket.receive_json()


async def test_swallowed_frames_are_lost_in_both_directions_until_the_sockets_are_cut(
    control: Control,
) -> None:
    """Nothing is acknowledged, a new socket gets no greeting; at the end the session is resumed."""
    sandbox = control.sandbox
    general, _, bo = await places(control)
    async with aiohttp.ClientSession() as session:
        socket, ready = await identified(control, session)
        await control.call("POST", "/faults", {"gateway": "swallow"})
        await socket.send_json({"op": 1, "d": 1})
        other = await session.ws_connect(sandbox.gateway)
        sandbox.world.say(int(general), int(bo), "unheard")
        await control.call("DELETE", "/faults")
        for one in (socket, other):
            assert (await one.receive()).type == aiohttp.WSMsgType.CLOSED
        assert sandbox.connections.heartbeats == 0
        missed, last = await resumed(control, session, ready)
        assert (missed["t"], last["t"]) == ("MESSAGE_CREATE", "RESUMED")


async def test_frames_are_swallowed_for_some_seconds(control: Control) -> None:
    """Nobody has to end it."""
    async with aiohttp.ClientSession() as session:
        socket, _ = await identified(control, session)
        await control.call("POST", "/faults", {"gateway": "swallow", "seconds": 0.05})
        assert (await socket.receive()).type == aiohttp.WSMsgType.CLOSED
        again = await session.ws_connect(control.sandbox.gateway)
        assert (await again.receive_json())["op"] == 10


async def test_a_gateway_that_refuses_lets_clients_resume_afterwards(control: Control) -> None:
    """Sockets are cut and none is taken; what happened meanwhile is replayed."""
    general, _, bo = await places(control)
    async with aiohttp.ClientSession() as session:
        socket, ready = await identified(control, session)
        await control.call("POST", "/faults", {"gateway": "refuse"})
        assert (await socket.receive()).type == aiohttp.WSMsgType.CLOSED
        control.sandbox.world.say(int(general), int(bo), "while away")
        with pytest.raises(aiohttp.WSServerHandshakeError, match="503"):
            await session.ws_connect(control.sandbox.gateway)
        await control.call("DELETE", "/faults")
        missed, last = await resumed(control, session, ready)
        assert (missed["t"], last["t"]) == ("MESSAGE_CREATE", "RESUMED")


async def test_a_gateway_refuses_for_some_seconds(control: Control) -> None:
    """Nobody has to end it."""
    await control.call("POST", "/faults", {"gateway": "refuse", "seconds": 0.05})
    async with aiohttp.ClientSession() as session:

        async def taken() -> bool:
            try:
                await session.ws_connect(control.sandbox.gateway)
            except aiohttp.WSServerHandshakeError:
                return False
            return True

        await wait_until(taken, description="sockets are taken again")


async def test_a_client_that_was_refused_identifies_anew(
    control: Control, caplog: pytest.LogCaptureFixture
) -> None:
    """discord.py could resume, but gives its session up then: what was missed stays missed."""
    async with connected(control.sandbox) as client:
        general, _, bo = await places(control)
        await control.call("POST", "/faults", {"gateway": "refuse"})
        await wait_until(lambda: "reconnect" in caplog.text, description="it has been refused")
        await control.call("DELETE", "/faults")
        await client.next("ready", count=2)
        control.sandbox.world.say(int(general), int(bo), "back?")
        assert (await client.next("message")).content == "back?"
        gateway = control.sandbox.connections
        assert (gateway.identifies, gateway.resumes) == (2, 0)


async def test_an_identify_that_comes_too_early_is_an_invalid_session(control: Control) -> None:
    """The pace can be set at any time; its bucket is told to the bot."""
    terms = {"max_concurrency": 1, "identify_interval": 3600}
    changed = await control.call("PATCH", "/gateway", terms)
    assert changed["session_start_limit"]["max_concurrency"] == 1
    assert await control.call("GET", "/gateway") == changed
    async with aiohttp.ClientSession() as session:
        assert (await identified(control, session))[1]["t"] == "READY"
        assert (await identified(control, session))[1]["op"] == 9


async def test_a_days_identifies_run_out(control: Control) -> None:
    """What is left is told; one more closes everything with 4004."""
    await control.call("PATCH", "/gateway", {"remaining": 1})
    async with bot(control.sandbox) as one, aiohttp.ClientSession() as session:
        first, ready = await identified(control, session)
        assert ready["t"] == "READY"
        limit = (await one.ask("GET", "/gateway/bot"))["session_start_limit"]
        assert (limit["remaining"], limit["total"]) == (0, 1000)
        second, _ = await identified(control, session)
        assert second.close_code == 4004
        while (await first.receive()).type == aiohttp.WSMsgType.TEXT:
            pass
        assert first.closed
        assert control.sandbox.connections.sessions == {}


# ------------------------------------------------------------------------------------------ rights


RIGHTS: list[tuple[str, str, str, Any, dict[str, bytes], tuple[int, int]]] = [
    ("view_channel", "POST", "/messages", {"content": "x"}, {}, (403, 50001)),
    ("send_messages", "POST", "/messages", {"content": "x"}, {}, (403, 50013)),
    ("send_messages", "POST", "/typing", None, {}, (403, 50013)),
    ("embed_links", "POST", "/messages", {"embeds": [{"title": "x"}]}, {}, (403, 50013)),
    ("embed_links", "PATCH", "/messages/{own}", {"embeds": [{"title": "x"}]}, {}, (403, 50013)),
    ("attach_files", "POST", "/messages", {"content": "x"}, {"note": b"x"}, (403, 50013)),
    ("add_reactions", "PUT", "/messages/{said}/reactions/x/@me", None, {}, (403, 50013)),
    (
        "read_message_history",
        "POST",
        "/messages",
        {"content": "x", "message_reference": {"message_id": "{said}"}},
        {},
        (403, 160002),
    ),
    ("create_public_threads", "POST", "/messages/{said}/threads", {"name": "t"}, {}, (403, 50013)),
]


@pytest.mark.parametrize(("right", "method", "path", "body", "files", "refused"), RIGHTS)
async def test_a_right_is_taken_from_the_bot_in_a_channel(
    control: Control,
    right: str,
    method: str,
    path: str,
    body: Any,  # noqa: ANN401 - any JSON
    files: dict[str, bytes],
    refused: tuple[int, int],
) -> None:
    """What needs it is refused in Discord's own code, and allowed when it is given back."""
    world = control.sandbox.world
    room = world.channel("general").id
    said = world.say(room, world.person("Bo").id, "hi").id
    own = world.discord.create_message(room, world.discord.bot_user.id, "own").id
    if body and "message_reference" in body:
        body = {**body, "message_reference": {"message_id": str(said)}}
    address = f"/channels/{room}{path.format(said=said, own=own)}"
    async with bot(control.sandbox) as one:
        await control.call("PATCH", f"/channels/{room}", {"deny": [right]})
        answer = await one.ask(method, address, body, status=refused[0], **files)
        assert answer["code"] == refused[1]
        await control.call("PATCH", f"/channels/{room}", {"deny": []})
        await _allowed(one, method, address, body, files)


async def _allowed(
    one: Bot, method: str, address: str, body: object, files: dict[str, bytes]
) -> None:
    made = 201 if address.endswith("/threads") else 200
    await one.ask(method, address, body, status=204 if body is None else made, **files)


async def test_a_client_learns_of_rights_that_change(control: Control) -> None:
    """So it can tell without a request that it may not write."""
    async with connected(control.sandbox) as client:
        channel = await general_of(client)
        await control.call("PATCH", f"/channels/{channel.id}", {"deny": ["send_messages"]})
        await client.next("guild_channel_update")
        assert not channel.permissions_for(channel.guild.me).send_messages


async def test_automod_blocks_words_wherever_the_bot_says_them_in_a_guild() -> None:
    """A create, an edit, a response and a follow-up are refused with 200000; a DM is private."""
    codes: list[int] = []

    async def tell(interaction: discord.Interaction) -> None:
        await refused_with(interaction.response.send_message("some Fudge"))
        await interaction.response.send_message("fine")
        await refused_with(interaction.followup.send("more fudge"))

    async def refused_with(sending: Awaitable[object]) -> None:
        with pytest.raises(discord.HTTPException) as refused:
            await sending
        codes.append(refused.value.code)

    async with controlled() as control, connected(control.sandbox, {"tell": tell}) as client:
        await control.call("PUT", "/automod", {"words": ["fudge"]})
        channel = await general_of(client)
        with pytest.raises(discord.HTTPException) as refused:
            await channel.send("FUDGE!")
        assert (refused.value.status, refused.value.code) == (400, 200000)
        sent = await channel.send("fine")
        with pytest.raises(discord.HTTPException) as refused:
            await sent.edit(content="fudge")
        assert refused.value.code == 200000
        general, ada, _ = await places(control)
        used = {"channel_id": general, "user_id": ada, "command": "tell"}
        await control.call("POST", "/interactions", used)
        await wait_until(lambda: codes == [200000, 200000], description="every attempt is refused")
        await (await client.fetch_user(int(ada))).send("fudge")
        await control.call("PUT", "/automod", {"words": []})
        await channel.send("fudge")


# --------------------------------------------------------------------------- messages and channels


async def test_a_proxy_says_a_message_again_and_deletes_the_original(control: Control) -> None:
    """The repost is a webhook's, under another name, and shows whose webhook it is."""
    async with connected(control.sandbox) as client:
        general, ada, _ = await places(control)
        said = await control.call(
            "POST", "/messages", {"channel_id": general, "user_id": ada, "content": "L: hello"}
        )
        wanted = {"name": "Luna", "content": "hello"}
        shown = await control.call("POST", f"/messages/{said['id']}/repost", wanted)
        await control.call("DELETE", f"/messages/{said['id']}")
        assert shown["author"]["name"] == "Luna"
        heard = await client.next("message", count=2)
        assert (heard.content, heard.author.display_name) == ("hello", "Luna")
        assert heard.author.bot
        assert heard.webhook_id == heard.author.id
        assert heard.application_id == 466378653216014359
        assert (await client.next("raw_message_delete")).message_id == int(said["id"])
        fetched = await heard.channel.fetch_message(heard.id)
        assert fetched.application_id == heard.application_id
        own = {"name": "Luna", "application_id": "42"}
        await control.call("POST", f"/messages/{shown['id']}/repost", own)
        assert (await client.next("message", count=3)).application_id == 42
        dm = await control.call("POST", "/dms", {"user_id": ada})
        private = {"channel_id": dm["channel_id"], "user_id": ada, "content": "psst"}
        said = await control.call("POST", "/messages", private)
        line = await control.error("POST", f"/messages/{said['id']}/repost", wanted)
        assert "a DM has no webhooks" in line


async def test_another_bot_speaks(control: Control) -> None:
    """Its messages show that a bot wrote them."""
    async with connected(control.sandbox) as client:
        general, _, _ = await places(control)
        other = await control.call("POST", "/users", {"name": "Echo", "bot": True})
        said = {"channel_id": general, "user_id": other["id"], "content": "beep"}
        await control.call("POST", "/messages", said)
        heard = await client.next("message")
        assert heard.author.bot
        assert heard.webhook_id is None


async def test_a_thread_is_opened_once_by_whoever_is_first(control: Control) -> None:
    """The other is told 160004, and the thread has the message's id."""
    async with connected(control.sandbox) as client:
        general, ada, _ = await places(control)
        said = {"channel_id": general, "user_id": ada, "content": "topic"}
        message = await control.call("POST", "/messages", said)
        heard = await client.next("message")
        wanted = {**said, "name": "t", "message_id": message["id"]}
        del wanted["content"]
        thread = await control.call("POST", "/threads", wanted)
        with pytest.raises(discord.HTTPException) as refused:
            await heard.create_thread(name="late")
        assert (refused.value.code, thread["id"]) == (160004, message["id"])


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [({"archived": True}, 400, 50083), ({"locked": True}, 403, 160005)],
    ids=["archived", "locked"],
)
async def test_a_thread_is_closed_while_the_bot_speaks(
    control: Control, change: dict[str, bool], status: int, code: int
) -> None:
    """An archived thread takes no edits, a locked one no messages."""
    world = control.sandbox.world
    thread = world.open_thread(world.channel("general").id, world.person("Bo").id, "aside").id
    messages = f"/channels/{thread}/messages"
    async with bot(control.sandbox) as one:
        sent = await one.ask("POST", messages, {"content": "one"})
        await control.call("PATCH", f"/channels/{thread}", change)
        own = f"{messages}/{sent['id']}"
        method, path = ("PATCH", own) if "archived" in change else ("POST", messages)
        answer = await one.ask(method, path, {"content": "two"}, status=status)
        assert answer["code"] == code


async def test_a_channel_is_deleted_while_the_bot_speaks(control: Control) -> None:
    """The client is told, and what it still sends is answered with 10003."""
    async with connected(control.sandbox) as client:
        sent = await (channel := await general_of(client)).send("one")
        await control.call("DELETE", f"/channels/{channel.id}")
        for attempt in (channel.send("two"), sent.edit(content="two")):
            with pytest.raises(discord.NotFound) as refused:
                await attempt
            assert refused.value.code == 10003
        assert (await client.next("guild_channel_delete")).id == channel.id


# ------------------------------------------------------------------------------------------- files


async def test_the_address_of_a_file_expires_and_is_given_out_anew_with_the_message() -> None:
    """As on Discord it is signed; an expired, a bare and a forged one are answered by 404."""
    async with controlled() as control, connected(control.sandbox) as client:
        world = control.sandbox.world
        general, ada, _ = await places(control)
        world.say(int(general), int(ada), "", files=[("a.txt", b"text")])
        heard = await client.next("message")
        url = heard.attachments[0].url
        assert await status_of(control, url) == 200
        for broken in (url.partition("?")[0], url.replace("ex=", "ex=f"), url + "0"):
            assert await status_of(control, broken) == 404
        await control.call("POST", "/cdn/expire")
        assert await status_of(control, url) == 404
        anew = (await heard.channel.fetch_message(heard.id)).attachments[0]
        assert await anew.read() == b"text"
        [shown] = await control.call("GET", f"/channels/{general}/messages")
        assert await status_of(control, shown["attachments"][0]["url"]) == 200


async def status_of(control: Control, url: str) -> int:
    """Fetch a file; answer the status."""
    async with control.session.get(url) as answer:
        return answer.status


# ------------------------------------------------------------------------------------ interactions


async def test_the_token_of_an_interaction_expires() -> None:
    """Afterwards every use of it is answered by 401 and 50027, and the callback by 10062."""

    async def later(interaction: discord.Interaction) -> None:
        await interaction.response.defer()

    async with (
        controlled() as control,
        connected(control.sandbox, {"later": later}),
        bot(control.sandbox) as one,
    ):
        general, ada, _ = await places(control)
        used = {"channel_id": general, "user_id": ada, "command": "later", "wait": 0}
        opened = await control.call("POST", "/interactions", used)
        record = control.sandbox.interactions.find(int(opened["id"]))
        await wait_until(lambda: record.responded, description="the command is deferred")
        hook = f"/webhooks/{control.sandbox.application_id}/{record.token}"
        original = f"{hook}/messages/@original"
        await one.ask("PATCH", original, {"content": "in time"})
        follow = await one.ask("POST", hook, {"content": "more"})
        await one.ask("PATCH", f"{hook}/messages/{follow['id']}", {"content": "more still"})
        callback = f"/interactions/{record.id}/{record.token}/callback"
        assert (await one.ask("POST", callback, {"type": 5}, status=400))["code"] == 40060
        await control.call("POST", f"/interactions/{record.id}/expire")
        for method, path in (("PATCH", original), ("GET", original), ("POST", hook)):
            body = None if method == "GET" else {"content": "late"}
            assert (await one.ask(method, path, body, status=401))["code"] == 50027
        assert (await one.ask("POST", callback, {"type": 5}, status=404))["code"] == 10062


@pytest.mark.parametrize(("status", "code"), [(404, 10062), (400, 40060)])
async def test_a_first_response_is_refused_as_if_late_or_second(
    control: Control, status: int, code: int
) -> None:
    """Without waiting for three seconds, and without a second process."""
    refused: list[int] = []

    async def greet(interaction: discord.Interaction) -> None:
        try:
            await interaction.response.defer()
        except discord.HTTPException as error:
            refused.append(error.code)

    async with connected(control.sandbox, {"greet": greet}):
        general, ada, _ = await places(control)
        fault = {"match": {"path": "/interactions/*"}, "times": 1, "status": status, "code": code}
        await control.call("POST", "/faults", fault)
        used = {"channel_id": general, "user_id": ada, "command": "greet", "wait": 0}
        await control.call("POST", "/interactions", used)
        await wait_until(lambda: refused == [code], description="the response is refused")


async def test_a_sandbox_ends_while_its_gateway_is_out_of_order() -> None:
    """No timer and no socket stays."""
    async with Sandbox() as sandbox, aiohttp.ClientSession() as session:
        sandbox.connections.swallow(3600)
        await session.ws_connect(sandbox.gateway)
        sandbox.connections.refuse(3600)
