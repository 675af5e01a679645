"""The control API: how tests, operators and the page drive the sandbox."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import aiohttp
import discord
import pytest

from sandbox import DISCORD, Sandbox, serve
from tests.discord.controls import Control, controlled, places
from tests.discord.sandbox_client import connected
from tests.waiting import wait_until


@pytest.fixture
async def control() -> AsyncIterator[Control]:
    """Give the controls of a default world."""
    async with controlled() as one:
        yield one


async def test_the_default_world_has_a_guild_three_channels_and_three_people(
    control: Control,
) -> None:
    """Everything that a script needs to begin is in one answer."""
    world = await control.call("GET", "/world")
    assert [guild["name"] for guild in world["guilds"]] == ["Interlock"]
    guild = world["guilds"][0]
    assert [channel["name"] for channel in guild["channels"]] == ["general", "random", "quiet"]
    assert [person["name"] for person in world["users"]] == ["Ada", "Bo", "Cy"]
    ada, bo, cy = (guild["permissions"][person["id"]] for person in world["users"])
    assert {"manage_messages", "manage_channels"} <= set(ada)
    assert not {"manage_messages", "manage_channels"} & {*bo, *cy}
    assert guild["owner_id"] not in [person["id"] for person in world["users"]]
    assert world["bot"]["online"] is False
    assert world["bot"]["supervised"] is False
    assert world["application_id"] == world["bot"]["id"]
    application = base64.urlsafe_b64decode(world["token"].split(".")[0] + "==")
    assert application.decode() == world["application_id"]
    assert (world["api"], world["gateway"]) == (control.sandbox.api, control.sandbox.gateway)


async def test_a_world_is_built() -> None:
    """Guilds fall on the shard that is asked for, with people and channels in them."""
    async with controlled(shards=4) as control:
        guild = await control.call("POST", "/guilds", {"name": "Second", "shard": 3})
        assert (int(guild["id"]) >> 22) % 4 == guild["shard"] == 3
        channel = await control.call(
            "POST", "/channels", {"guild_id": guild["id"], "name": "there"}
        )
        wanted = {"name": "Di", "guild_id": guild["id"], "permissions": ["manage_messages"]}
        di = await control.call("POST", "/users", wanted)
        eli = await control.call("POST", "/users", {"name": "Eli", "bot": True})
        assert (di["bot"], eli["bot"]) == (False, True)
        dm = await control.call("POST", "/dms", {"user_id": di["id"]})
        assert dm == await control.call("POST", "/dms", {"user_id": int(di["id"])})
        world = await control.call("GET", "/world")
        first, second = world["guilds"]
        assert [one["id"] for one in second["channels"]] == [channel["id"]]
        assert "manage_messages" in second["permissions"][di["id"]]
        assert di["id"] not in first["permissions"]
        assert eli["id"] in first["permissions"]
        assert len(second["permissions"]) == 5
        assert world["dms"] == [dm]


async def test_people_speak_and_change_what_they_said(control: Control) -> None:
    """A message is shown as it is now, with what hangs on it."""
    general, ada, bo = await places(control)
    file = {"filename": "a.txt", "base64": base64.b64encode(b"hi").decode()}
    first = await control.call(
        "POST",
        "/messages",
        {"channel_id": general, "user_id": ada, "content": "first", "files": [file]},
    )
    assert first["attachments"][0]["filename"] == "a.txt"
    async with control.session.get(first["attachments"][0]["url"]) as upload:
        assert await upload.read() == b"hi"
    reply = {"channel_id": general, "user_id": bo, "content": "x", "reply_to": first["id"]}
    second = await control.call("POST", "/messages", reply)
    assert second["reference"]["message_id"] == first["id"]
    assert second["reference"]["author"]["name"] == "Ada"
    assert second["mentions"] == [ada]
    edited = await control.call("PATCH", f"/messages/{second['id']}", {"content": "second"})
    assert (edited["content"], edited["edited"]) == ("second", True)
    reaction = {"user_id": ada, "emoji": "👍"}
    await control.call("PUT", f"/messages/{second['id']}/reactions", reaction)
    shown = await control.call("GET", f"/channels/{general}/messages?limit=1")
    assert shown[0]["reactions"] == [{"emoji": "👍", "count": 1, "users": [ada]}]
    await control.call("PUT", f"/messages/{second['id']}/reactions", {**reaction, "remove": True})
    await control.call("POST", "/typing", {"channel_id": general, "user_id": ada})
    await control.call("DELETE", f"/messages/{first['id']}")
    [left] = await control.call("GET", f"/channels/{general}/messages")
    assert left["reactions"] == []
    assert left["reference"]["author"] is None, "the message that it answers is gone"


async def test_threads_and_channels_change_and_go(control: Control) -> None:
    """A thread is opened, archived and locked; a channel is deleted."""
    general, ada, _ = await places(control)
    said = await control.call(
        "POST", "/messages", {"channel_id": general, "user_id": ada, "content": "topic"}
    )
    wanted = {"channel_id": general, "user_id": ada, "name": "t", "message_id": said["id"]}
    thread = await control.call("POST", "/threads", wanted)
    assert (thread["id"], thread["kind"], thread["parent_id"]) == (said["id"], "thread", general)
    change = {"archived": True, "locked": True, "name": "closed"}
    changed = await control.call("PATCH", f"/channels/{thread['id']}", change)
    assert {key: changed[key] for key in change} == change
    await control.call("DELETE", f"/channels/{thread['id']}")
    assert "no channel" in await control.error("GET", f"/channels/{thread['id']}/messages")


async def test_a_command_and_a_button_are_used_over_http() -> None:
    """The answer is the bot's response, found again under the interaction's id."""

    async def greet(interaction: discord.Interaction, name: str, times: int = 1) -> None:
        view = discord.ui.View(timeout=None)
        view.add_item(discord.ui.Button(label="Go", custom_id="go"))
        await interaction.response.send_message(f"{name} {times}", view=view)

    async with controlled() as control, connected(control.sandbox, {"greet": greet}) as bot:
        general, ada, _ = await places(control)
        [command] = await control.call("GET", "/commands")
        assert [option["name"] for option in command["options"]] == ["name", "times"]
        who = {"channel_id": general, "user_id": ada}
        used = {**who, "command": "greet", "options": {"name": "Bo", "times": "2"}}
        outcome = await control.call("POST", "/interactions", used)
        assert outcome["content"] == "Bo 2"
        assert await control.call("GET", f"/interactions/{outcome['id']}") == outcome
        press = {**who, "message_id": outcome["message_id"], "custom_id": "go", "wait": 0.01}
        unanswered = await control.call("POST", "/interactions", press)
        assert unanswered["responded"] is False
        assert (await bot.next("interaction", count=2)).data["custom_id"] == "go"
        for broken, reason in (
            ({"options": {}}, "needs the option 'name'"),
            ({"options": {"name": "Bo", "twice": 2}}, "no option 'twice'"),
            ({"options": {"name": 5}}, "expects str"),
            ({"options": {"name": "Bo", "times": "two"}}, "integer"),
            ({"command": "nope"}, "registered no command /nope"),
        ):
            line = await control.error("POST", "/interactions", {**used, **broken})
            assert reason in line
        line = await control.error("POST", "/interactions", {**press, "custom_id": "stop"})
        assert "'stop'" in line


async def test_a_command_is_offered_only_to_those_who_may_use_it() -> None:
    """Default permissions are kept as Discord's client keeps them."""

    @discord.app_commands.default_permissions(manage_messages=True)
    async def purge(interaction: discord.Interaction) -> None:
        await interaction.response.send_message("done")

    async with controlled() as control, connected(control.sandbox, {"purge": purge}):
        general, ada, bo = await places(control)
        for user, names in ((ada, ["purge"]), (bo, [])):
            offered = await control.call("GET", f"/commands?channel_id={general}&user_id={user}")
            assert [command["name"] for command in offered] == names
        used = {"channel_id": general, "user_id": bo, "command": "purge"}
        assert "Bo may not use /purge" in await control.error("POST", "/interactions", used)


async def test_options_name_users_channels_and_roles_by_id() -> None:
    """They arrive resolved, as discord.py's own objects."""
    seen: list[Any] = []

    async def show(
        interaction: discord.Interaction,
        user: discord.Member,
        channel: discord.TextChannel,
        role: discord.Role,
    ) -> None:
        seen.extend([user.display_name, channel.name, role.name])
        await interaction.response.send_message("shown")

    async with controlled() as control, connected(control.sandbox, {"show": show}):
        general, ada, bo = await places(control)
        role = (await control.call("GET", "/world"))["guilds"][0]["bot_role_id"]
        used = {"channel_id": general, "user_id": ada, "command": "show"}
        options = {"user": bo, "channel": general, "role": role}
        await control.call("POST", "/interactions", {**used, "options": options})
        assert seen == ["Bo", "general", "Interlock"]
        line = await control.error(
            "POST", "/interactions", {**used, "options": {**options, "user": general}}
        )
        assert "'user' does not fit" in line


async def test_subcommands_follow_the_name_of_their_command(control: Control) -> None:
    """A command with subcommands cannot be used without one."""
    world = control.sandbox.world
    leaf = {"type": 1, "name": "in", "options": [{"type": 4, "name": "minutes", "required": True}]}
    world.discord.register_commands(None, [{"name": "remind", "options": [leaf]}])
    heard: list[dict[str, Any]] = []
    world.listeners.append(lambda event, payload: heard.append({event: payload}))
    general, ada, _ = await places(control)
    used = {"channel_id": general, "user_id": ada, "options": {"minutes": 5}, "wait": 0}
    assert "needs one of in behind it" in await control.error(
        "POST", "/interactions", {**used, "command": "remind"}
    )
    outcome = await control.call("POST", "/interactions", {**used, "command": "remind in"})
    assert outcome["responded"] is False, "nobody is there to respond"
    sent = heard[-1]["INTERACTION_CREATE"]["data"]
    assert sent["options"] == [
        {"type": 1, "name": "in", "options": [{"name": "minutes", "type": 4, "value": 5}]}
    ]


async def test_requests_go_wrong_as_often_as_asked() -> None:
    """A status, a 429, a delay; then all is well again."""
    async with controlled() as control, connected(control.sandbox) as bot:
        channel = discord.utils.get(bot.get_all_channels(), name="general")
        assert isinstance(channel, discord.TextChannel)
        posts = {"method": "POST", "path": "/channels/*/messages"}
        fault = {"match": posts, "times": 1, "status": 403, "code": 50013, "message": "No"}
        await control.call("POST", "/faults", fault)
        [active] = await control.call("GET", "/faults")
        assert active["match"] == posts
        with pytest.raises(discord.Forbidden) as refused:
            await channel.send("one")
        assert refused.value.code == 50013
        assert await control.call("GET", "/faults") == []
        limited = {"match": posts, "times": 1, "retry_after": 0.05}
        await control.call("POST", "/faults", limited)
        await channel.send("two")
        await control.call("POST", "/faults", {"match": posts, "latency": 3600})
        held = asyncio.create_task(channel.send("three"))
        await asyncio.wait({held}, timeout=0.1)
        assert not held.done()
        await control.call("DELETE", "/faults")
        await held
        await channel.send("four")
        log = await control.call("GET", "/log")
        sent = [(one["body"]["content"], one["status"]) for one in log if one["method"] == "POST"]
        assert sent == [("one", 403), ("two", 429), ("two", 200), ("three", 200), ("four", 200)]


async def test_a_lost_reply_leaves_the_message_and_the_same_nonce_finds_it() -> None:
    """The request is carried out and the connection cut: the outcome is unknown to the bot."""
    async with controlled() as control, connected(control.sandbox) as bot:
        channel = discord.utils.get(bot.get_all_channels(), name="general")
        assert isinstance(channel, discord.TextChannel)
        fault = {"match": {"method": "POST"}, "times": 1, "lose_reply": True}
        await control.call("POST", "/faults", fault)
        with pytest.raises((OSError, aiohttp.ClientError)):
            await channel.send("once", nonce="n1")
        again = await channel.send("once", nonce="n1")
        [kept] = await control.call("GET", f"/channels/{channel.id}/messages")
        assert kept["id"] == str(again.id)
        assert kept["nonce"] == "n1"
        posts = [one for one in await control.call("GET", "/log") if one["method"] == "POST"]
        assert [one["lost"] for one in posts] == [True, False]
        assert await control.call("GET", f"/log?since={posts[0]['seq']}") == [posts[1]]


async def test_the_gateway_goes_wrong_over_http() -> None:
    """Each fault of a connection can be asked for, for one shard or for all."""
    async with controlled() as control, connected(control.sandbox) as bot:
        gateway = control.sandbox.connections
        await control.call("POST", "/faults", {"gateway": "drop"})
        await wait_until(lambda: gateway.resumes == 1, description="a first resume")
        await control.call("POST", "/faults", {"gateway": "reconnect", "shard": 0})
        await wait_until(lambda: gateway.resumes == 2, description="a second resume")
        await control.call("POST", "/faults", {"gateway": "invalid_session", "shard": 0})
        await wait_until(lambda: gateway.identifies == 2, description="a second identify")
        await bot.next("ready", count=2)
        await control.call("POST", "/faults", {"gateway": "silence"})
        await control.call("DELETE", "/faults")
        assert (await control.call("GET", "/world"))["bot"]["identifies"] == 2


async def test_a_reset_gives_a_fresh_world_and_ends_sessions() -> None:
    """The application stays the same, so a bot identifies anew and finds the new world."""
    async with controlled() as control, connected(control.sandbox) as bot:
        before = await control.call("GET", "/world")
        general, ada, _ = await places(control)
        await control.call(
            "POST", "/messages", {"channel_id": general, "user_id": ada, "content": "old"}
        )
        await control.call("POST", "/reset")
        await wait_until(
            lambda: control.sandbox.connections.identifies == 2,
            description="a new identify",
        )
        after = await control.call("GET", "/world")
        assert after["application_id"] == before["application_id"]
        assert after["guilds"][0]["id"] != before["guilds"][0]["id"]
        fresh, ada, _ = await places(control)
        assert await control.call("GET", f"/channels/{fresh}/messages") == []
        await bot.next("ready", count=2)
        await control.call(
            "POST", "/messages", {"channel_id": fresh, "user_id": ada, "content": "new"}
        )
        await wait_until(
            lambda: bot.of("message")[-1].content == "new", description="the new world is heard"
        )


class Process:
    """Stand in for the process beside the sandbox."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    async def crash(self) -> None:
        """Note the call."""
        self.calls.append("crash")

    async def restart(self) -> None:
        """Note the call."""
        self.calls.append("restart")

    async def status(self) -> Mapping[str, object]:
        """Say that it runs."""
        return {"running": True, "pid": 4711}


async def test_the_buttons_reach_the_supervisor_and_are_refused_without_one(
    control: Control,
) -> None:
    """Nothing is pretended: without a supervisor the answer is 409 and says so."""
    assert await control.call("GET", "/bot") == {"online": False, "supervised": False}
    for button in ("crash", "restart"):
        assert "supervises" in await control.error("POST", f"/bot/{button}", status=409)
    process = control.sandbox.supervisor = Process()
    status = {"running": True, "pid": 4711, "online": False, "supervised": True}
    assert await control.call("POST", "/bot/crash") == status
    assert await control.call("POST", "/bot/restart") == status
    assert process.calls == ["crash", "restart"]


async def test_the_page_is_told_what_happens() -> None:
    """Events come in order, beginning with a hello, each with what the page needs to draw."""

    async def whisper(interaction: discord.Interaction) -> None:
        await interaction.response.defer(ephemeral=True)
        await interaction.edit_original_response(content="psst")
        await interaction.delete_original_response()

    async with controlled() as control:
        events: list[dict[str, Any]] = []
        async with control.session.get("/control/events") as stream:
            listening = asyncio.create_task(collect(stream, events))
            async with connected(control.sandbox, {"whisper": whisper}) as bot:
                general, ada, _ = await places(control)
                world = control.sandbox.world
                said = world.say(int(general), int(ada), "hi")
                heard = await bot.next("message")
                await heard.add_reaction("👀")
                await heard.channel.typing()
                world.edit(said.id, "hi!")
                world.delete(said.id)
                await control.call(
                    "POST",
                    "/interactions",
                    {"channel_id": general, "user_id": ada, "command": "whisper"},
                )
                world.add_channel(world.guild.id, "new")
            await control.call("POST", "/reset")
            await wait_until(
                lambda: any(event["type"] == "reset" for event in events),
                description="the reset is told",
            )
            listening.cancel()
            await asyncio.wait({listening})
    kinds = [event["type"] for event in events]
    for expected in (
        ["hello", "commands", "bot", "message_create", "reactions", "typing"],
        ["message_update", "message_delete", "ephemeral", "channel_create", "bot", "reset"],
    ):
        kinds = in_order(kinds, expected)
    by_kind = {event["type"]: event for event in events}
    assert by_kind["message_create"]["message"]["content"] == "hi"
    assert by_kind["message_update"]["message"]["edited"] is True
    assert by_kind["reactions"]["reactions"][0]["users"] == [str(control.sandbox.application_id)]
    assert by_kind["ephemeral"]["user_id"] == ada
    assert by_kind["bot"]["online"] is False
    told = [event["message"] for event in events if event["type"] == "ephemeral"]
    assert [(one["thinking"], one["content"]) for one in told] == [(True, ""), (False, "psst")]


def in_order(kinds: list[str], expected: list[str]) -> list[str]:
    """Check that these come one after the other among others; answer what follows the last."""
    for kind in expected:
        assert kind in kinds, f"{kind} is missing among {kinds}"
        kinds = kinds[kinds.index(kind) + 1 :]
    return kinds


async def collect(stream: aiohttp.ClientResponse, events: list[dict[str, Any]]) -> None:
    """Read events as they come."""
    async for line in stream.content:
        if line.startswith(b"data: "):
            events += [json.loads(line[6:])]


@pytest.mark.parametrize(
    ("method", "path", "body", "reason"),
    [
        ("POST", "/messages", {}, "channel_id: Field required"),
        ("POST", "/messages", {"channel_id": "x", "user_id": "1"}, "channel_id: "),
        ("POST", "/messages", {"channel_id": "1", "user_id": "2", "content": "x"}, "no channel 1"),
        ("POST", "/messages", [], "must be a JSON object"),
        ("POST", "/guilds", {"name": "G", "shard": 1}, "shard 1 is not one of the 1"),
        ("POST", "/guilds", {"name": "G", "shards": 1}, "shards: Extra inputs"),
        ("POST", "/guilds", {"name": " "}, "name: "),
        ("POST", "/channels", {"guild_id": "1", "name": "c"}, "no guild 1"),
        ("POST", "/users", {"name": "U", "permissions": ["fly"]}, "no permission 'fly'"),
        ("POST", "/dms", {"user_id": "1"}, "no user 1"),
        ("PATCH", "/messages/1", {"content": "x"}, "no message 1"),
        ("DELETE", "/messages/one", None, "must be a number"),
        ("GET", "/channels/1/messages", None, "no channel 1"),
        ("GET", "/log?since=x", None, "since must be a number"),
        ("GET", "/interactions/1", None, "no interaction 1"),
        ("POST", "/faults", {}, "say what goes wrong: latency, status, retry_after, lose"),
        ("POST", "/faults", {"latency": 1, "code": 5}, "code and message go with a status"),
        ("POST", "/faults", {"status": 200}, "status: "),
        ("POST", "/faults", {"gateway": "explode"}, "gateway: "),
    ],
)
async def test_bad_input_is_refused_in_one_line(
    control: Control, method: str, path: str, body: object, reason: str
) -> None:
    """The line names what is wrong."""
    assert reason in await control.error(method, path, body)


async def test_people_cannot_do_what_discord_would_not_let_them(control: Control) -> None:
    """Empty and over-long messages, other people's DMs, messages of the bot."""
    general, ada, bo = await places(control)
    dm = (await control.call("POST", "/dms", {"user_id": ada}))["channel_id"]
    for channel, user, content, reason in (
        (general, ada, " ", "needs some text"),
        (general, ada, "x" * 2001, "at most 2000"),
        (dm, bo, "hi", "Bo cannot see"),
    ):
        body = {"channel_id": channel, "user_id": user, "content": content}
        assert reason in await control.error("POST", "/messages", body)
    async with connected(control.sandbox) as bot:
        own = await bot.get_partial_messageable(int(general)).send("mine")
        line = await control.error("PATCH", f"/messages/{own.id}", {"content": "yours"})
        assert "person's own message" in line


async def test_other_sites_and_other_names_are_kept_out(control: Control) -> None:
    """A script of another origin, and a foreign name that resolves to this machine, get nothing."""
    host = control.sandbox.page.removeprefix("http://").removesuffix("/")
    for headers, status in (
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": f"http://{host}"}, 200),
        ({"Host": "evil.example"}, 403),
        ({"Host": f"localhost:{host.split(':')[1]}"}, 200),
    ):
        async with control.session.post("/control/reset", headers=headers) as answer:
            assert answer.status == status, headers


async def test_the_page_and_what_is_not_there(control: Control) -> None:
    """The page is never cached unasked; what is not there says so, in JSON under /control."""
    async with control.session.get("/") as index:
        assert index.status == 200
        assert index.headers["Cache-Control"] == "no-cache"
    async with control.session.get("/page/../server.py") as outside:
        assert outside.status == 404
    async with control.session.get("/cdn/attachments/1/2/x") as upload:
        assert upload.status == 404
    await control.error("GET", "/nothing", status=404)
    await control.error("PUT", "/world", status=405)


async def test_serving_goes_on_until_it_is_cancelled() -> None:
    """`serve` announces a sandbox with Discord's limits, and leaves nothing when it ends."""
    served: asyncio.Future[Sandbox] = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(serve(0, announce=served.set_result))
    sandbox = await served
    async with aiohttp.ClientSession(sandbox.page) as session:
        async with session.get("/control/world") as answer:
            assert answer.status == 200
        assert DISCORD.create is not None
        headers = {"Authorization": f"Bot {sandbox.token}"}
        path = f"{sandbox.api}/channels/{sandbox.world.channel('general').id}/messages"
        async with session.post(path, headers=headers, json={"content": "x"}) as sent:
            assert sent.headers["X-RateLimit-Limit"] == str(DISCORD.create.count)
    serving.cancel()
    await asyncio.wait({serving})
    assert serving.cancelled()


async def test_a_port_that_is_taken_is_an_os_error() -> None:
    """So the command line can say so in one line."""
    async with Sandbox() as first:
        port = int(first.page.removesuffix("/").rsplit(":", 1)[1])
        with pytest.raises(OSError, match="in use"):
            await Sandbox(port).__aenter__()
