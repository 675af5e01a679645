"""A sandbox that runs for weeks stays in memory, and a reader that stalls holds nobody up."""

import io
import socket
import sys
from asyncio import create_subprocess_exec
from asyncio.subprocess import PIPE

import aiohttp
import discord
import pytest

from sandbox import Sandbox, backend, cdn, feed, sessions
from tests.discord.sandbox_client import connected
from tests.waiting import wait_until


async def test_a_channel_forgets_its_oldest_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest stay, and so do as many nonces as are shown."""
    monkeypatch.setattr(backend, "CHANNEL_MESSAGES", 3)
    monkeypatch.setattr(backend, "NONCES", 2)
    async with Sandbox() as sandbox, connected(sandbox) as bot:
        general = sandbox.world.channel("general").id
        channel = bot.get_partial_messageable(general)
        for count in range(5):
            await channel.send(str(count))
        kept = sandbox.world.messages(general)
        assert [one.content for one in kept] == ["2", "3", "4"]
        assert [one.id in sandbox.world.discord.nonces for one in kept] == [False, True, True]


async def test_ids_stay_unique_after_old_ones_are_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Only the ids of the current millisecond can be drawn again, so only they are remembered."""
    monkeypatch.setattr(backend, "IDS", 10)
    async with Sandbox() as sandbox:
        drawn = [sandbox.world.discord.snowflake() for _ in range(5_000)]
        assert len(set(drawn)) == len(drawn)
        assert drawn == sorted(drawn)


async def test_interactions_are_forgotten_after_their_fifteen_minutes() -> None:
    """What can no longer be answered is not kept."""

    async def greet(interaction: discord.Interaction) -> None:
        await interaction.response.send_message("hello")

    async with Sandbox() as sandbox, connected(sandbox, {"greet": greet}):
        general, bo = sandbox.world.channel("general").id, sandbox.world.person("Bo").id
        first = sandbox.interactions.use(general, bo, "greet", {})
        await sandbox.interactions.outcome(first)
        first.expires_at = sandbox.world.discord.iso_after(-1)
        second = sandbox.interactions.use(general, bo, "greet", {})
        await sandbox.interactions.outcome(second)
        assert list(sandbox.world.discord.interactions) == [second.id]


async def test_the_oldest_files_give_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """The store has a size; what no longer fits is answered as gone."""
    monkeypatch.setattr(cdn, "STORE_BYTES", 10)
    async with Sandbox() as sandbox, aiohttp.ClientSession() as session:
        world = sandbox.world
        general, bo = world.channel("general").id, world.person("Bo").id
        said = [world.say(general, bo, "", files=[("a.txt", b"6 byte")]) for _ in range(2)]
        statuses = []
        for message in said:
            async with session.get(message.attachments[0]["url"]) as answer:
                statuses.append(answer.status)
        assert statuses == [404, 200]


async def test_a_file_over_ten_mebibytes_and_an_eleventh_file_are_refused() -> None:
    """As on Discord: 40005 for the size, 50035 for the number."""
    async with Sandbox() as sandbox, connected(sandbox) as bot:
        channel = bot.get_partial_messageable(sandbox.world.channel("general").id)
        with pytest.raises(discord.HTTPException) as refused:
            await channel.send(file=discord.File(io.BytesIO(bytes(cdn.ATTACHMENT_BYTES + 1)), "a"))
        assert (refused.value.status, refused.value.code) == (413, 40005)
        content = {"payload_json": "{}", **{f"files[{one}]": b"x" for one in range(11)}}
        form = aiohttp.FormData(quote_fields=False)
        for name, value in content.items():
            filename = None if name == "payload_json" else "a.txt"
            form.add_field(name, value, filename=filename)
        async with (
            aiohttp.ClientSession(headers={"Authorization": f"Bot {sandbox.token}"}) as session,
            session.post(f"{sandbox.api}/channels/{channel.id}/messages", data=form) as answer,
        ):
            assert (answer.status, (await answer.json())["code"]) == (400, 50035)


async def test_an_upload_cannot_run_in_the_page() -> None:
    """HTML among the files is shown, if at all, in a sandbox of the browser's."""
    async with Sandbox() as sandbox, aiohttp.ClientSession() as session:
        general, bo = sandbox.world.channel("general").id, sandbox.world.person("Bo").id
        said = sandbox.world.say(general, bo, "", files=[("x.html", b"<script>alert()</script>")])
        async with session.get(said.attachments[0]["url"]) as answer:
            assert answer.headers["Content-Security-Policy"].startswith("sandbox;")
            assert answer.headers["X-Content-Type-Options"] == "nosniff"


async def test_a_page_that_does_not_read_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """It connects again by itself and reads everything anew."""
    monkeypatch.setattr(feed, "BACKLOG", 5)
    async with Sandbox() as sandbox:
        with sandbox.feed.subscribed() as waiting:
            for _ in range(5):
                sandbox.feed.publish("world")
            assert await waiting.get() is None
            sandbox.feed.publish("world")
            assert waiting.empty()


async def test_a_client_that_falls_too_far_behind_identifies_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without the events in between its state would silently be wrong."""
    monkeypatch.setattr(sessions, "REPLAY", 50)
    async with Sandbox() as sandbox, connected(sandbox) as bot:
        sandbox.connections.silence()
        general, bo = sandbox.world.channel("general").id, sandbox.world.person("Bo").id
        for _ in range(51):
            sandbox.world.typing(general, bo)
        sandbox.connections.unmute()
        await wait_until(lambda: sandbox.connections.identifies == 2, description="a new identify")
        await bot.next("ready", count=2)
        assert sandbox.connections.resumes == 0


async def test_a_port_that_is_taken_is_one_line_on_the_command_line() -> None:
    """The exit code is 2, and nothing is half started."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        process = await create_subprocess_exec(
            sys.executable, "-m", "sandbox", "--port", port, stdout=PIPE, stderr=PIPE
        )
        out, err = await process.communicate()
    assert (process.returncode, out) == (2, b"")
    assert err.decode().startswith(f"sandbox: port {port} cannot be used")
    assert err.count(b"\n") == 1
