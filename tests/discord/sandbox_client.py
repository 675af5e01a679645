"""Connect stock discord.py to a sandbox, and note what it hears."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import discord
import pytest
import yarl
from discord import app_commands
from discord.gateway import DiscordWebSocket
from discord.http import Route

from sandbox import Sandbox
from tests.waiting import wait_until

Command = Any
"""An `async def` that takes an interaction and the command's options."""

EVERYWHERE = app_commands.AppCommandContext(guild=True, dm_channel=True, private_channel=True)
READY = 10.0
"""Seconds to wait for a client; discord.py backs off for some after a refused identify."""


class Listener(discord.AutoShardedClient):
    """Note every event, in the order in which discord.py dispatched it."""

    def __init__(
        self,
        commands: Mapping[str, Command],
        *,
        shards: Sequence[int],
        count: int,
    ) -> None:
        super().__init__(
            intents=discord.Intents.all(),
            # Without this, READY waits two seconds for more guilds than there are.
            guild_ready_timeout=0.05,
            shard_ids=list(shards),
            shard_count=count,
        )
        self.heard: list[tuple[str, tuple[Any, ...]]] = []
        self.tree = app_commands.CommandTree(self, allowed_contexts=EVERYWHERE)
        for name, command in commands.items():
            self.tree.command(name=name, description=name)(command)

    async def setup_hook(self) -> None:
        """Register the commands, as bots do at their start."""
        if self.tree.get_commands():
            await self.tree.sync()

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Skip the pause between shards, which the sandbox does not ask for."""

    def dispatch(self, event: str, /, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        """Note the event before discord.py hands it on."""
        self.heard.append((event, args))
        super().dispatch(event, *args, **kwargs)

    def of(self, event: str) -> list[Any]:
        """List the first argument of each event of this name."""
        return [args[0] if args else None for name, args in self.heard if name == event]

    async def next(self, event: str, *, count: int = 1) -> Any:  # noqa: ANN401 - any event
        """Wait until an event has been heard `count` times; answer its last first argument."""
        heard = await wait_until(
            lambda: self.of(event)[count - 1 :], description=f"{event} is heard {count} times"
        )
        return heard[-1]


@asynccontextmanager
async def connected(
    sandbox: Sandbox,
    commands: Mapping[str, Command] | None = None,
    *,
    shards: Sequence[int] = (0,),
    count: int = 1,
) -> AsyncIterator[Listener]:
    """
    Run a client of stock discord.py: its two addresses are all that is changed.

    It serves `shards` out of `count`.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Route, "BASE", sandbox.api)
        patch.setattr(DiscordWebSocket, "DEFAULT_GATEWAY", yarl.URL(sandbox.gateway))
        client = Listener(commands or {}, shards=shards, count=count)
        async with client:
            running = asyncio.create_task(client.start(sandbox.token))
            ready = asyncio.create_task(client.wait_until_ready())
            try:
                async with asyncio.timeout(READY):
                    await asyncio.wait({running, ready}, return_when=asyncio.FIRST_COMPLETED)
                if running.done():
                    running.result()
                yield client
            finally:
                ready.cancel()
                await client.close()
                await asyncio.wait({running, ready})
