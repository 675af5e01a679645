"""Clients of other makers meet the sandbox as they meet Discord: it suits not only discord.py."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress

import disnake
import hikari
import pytest
from disnake.http import Route

from sandbox import Sandbox
from tests.waiting import wait_until

START = 20.0
"""Seconds for a client to be ready; disnake and hikari pace their own start."""

RESUMED = 20.0
"""Seconds for a client to come back: hikari waits for some before it connects again."""


Client = Callable[[Sandbox], AbstractAsyncContextManager[None]]
"""Runs a bot for as long as its context lasts."""


@asynccontextmanager
async def with_hikari(sandbox: Sandbox) -> AsyncIterator[None]:
    """Run a bot on hikari that answers each message and edits its answer."""
    bot = hikari.GatewayBot(
        token=sandbox.token,
        rest_url=sandbox.api,
        banner=None,
        logs=None,
        suppress_optimization_warning=True,
        intents=hikari.Intents.ALL_UNPRIVILEGED | hikari.Intents.MESSAGE_CONTENT,
    )

    @bot.listen()
    async def answer(event: hikari.MessageCreateEvent) -> None:
        if not event.is_bot:
            async with bot.rest.trigger_typing(event.channel_id):
                reply = await event.message.respond("…", reply=True)
                await reply.edit(f"heard {event.content}")

    async with asyncio.timeout(START):
        await bot.start(check_for_updates=False, shard_count=1)
    try:
        yield
    finally:
        await bot.close()


@asynccontextmanager
async def with_disnake(sandbox: Sandbox) -> AsyncIterator[None]:
    """Run a bot on disnake that does the same."""
    intents = disnake.Intents(guilds=True, messages=True, message_content=True)
    bot = disnake.Client(intents=intents)
    # As with discord.py: by default READY waits for two seconds for more guilds than there are.
    bot._connection.guild_ready_timeout = 0.05

    @bot.event
    async def on_message(message: disnake.Message) -> None:
        if not message.author.bot:
            async with message.channel.typing():
                reply = await message.reply("…")
                await reply.edit(content=f"heard {message.content}")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Route, "BASE", sandbox.api)
        running = asyncio.create_task(bot.start(sandbox.token))
        try:
            async with asyncio.timeout(START):
                await bot.wait_until_ready()
            yield
        finally:
            await bot.close()
            with suppress(asyncio.CancelledError):
                await running


@pytest.mark.parametrize("client", [with_hikari, with_disnake], ids=["hikari", "disnake"])
async def test_another_client_hears_replies_edits_and_resumes(client: Client) -> None:
    """After a cut socket it resumes its session, and answers what was said meanwhile, once."""
    async with Sandbox() as sandbox, client(sandbox):
        world = sandbox.world
        general, ada = world.channel("general").id, world.person("Ada").id

        def said() -> list[str]:
            return [message.content for message in world.messages(general)]

        first = world.say(general, ada, "one")
        await wait_until(lambda: said() == ["one", "heard one"], description="an answer")
        reference = world.messages(general)[-1].reference
        assert reference is not None
        assert reference["message_id"] == str(first.id)
        sandbox.connections.drop()
        world.say(general, ada, "two")
        everything = ["one", "heard one", "two", "heard two"]
        await wait_until(
            lambda: said() == everything, timeout=RESUMED, description="what was missed"
        )
        assert (sandbox.connections.identifies, sandbox.connections.resumes) == (1, 1)
        sent = [(entry.method, entry.path.rsplit("/", 1)[-1]) for entry in sandbox.log.since()]
        assert sent.count(("POST", "messages")) == 2
        assert ("POST", "typing") in sent
        assert all(entry.status < 300 for entry in sandbox.log.since())
