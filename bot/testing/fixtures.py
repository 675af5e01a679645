"""
A pytest plugin: the bot with your extension on a Discord of this machine, over real sockets.

    pytest_plugins = ["bot.testing.fixtures"]

    async def test_parrot(room):
        room.says("Ada", "hello")
        assert await room.reply() == "hello"

The settings are those of `interlock.toml` in the working directory; a fixture of yours called
`interlock_settings` may answer others, as nested mappings. The store is a new one in memory. It
needs the extra "sandbox" and pytest-asyncio.
"""

from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from bot.client import Interlock
from bot.config import Settings, load
from bot.testing.room import Room
from bot.testing.sandboxed import running
from state import connect

if TYPE_CHECKING:
    from sandbox import Sandbox


@pytest.fixture
def interlock_settings() -> Settings | Mapping[str, object]:
    """Answer the settings of `interlock.toml`; to be overridden by a fixture of the same name."""
    return load(None, {}, {}).settings


@pytest_asyncio.fixture
async def interlock_sandbox() -> "AsyncIterator[Sandbox]":
    """Give a Discord on this machine, without rate limits."""
    from sandbox import Sandbox  # noqa: PLC0415 (only tests need it, and it is an extra)

    async with Sandbox(port=0) as sandbox:
        yield sandbox


@pytest_asyncio.fixture
async def interlock_bot(
    interlock_sandbox: "Sandbox", interlock_settings: Settings | Mapping[str, object]
) -> AsyncIterator[Interlock]:
    """Give the bot, online there."""
    settings = interlock_settings
    if not isinstance(settings, Settings):
        settings = Settings.model_validate(settings)
    state = connect("memory:")
    at = interlock_sandbox
    try:
        await state.open()
        async with running(settings, state, token=at.token, api=at.api, gateway=at.gateway) as bot:
            yield bot
    finally:
        await state.close()


@pytest_asyncio.fixture
async def room(interlock_sandbox: "Sandbox", interlock_bot: Interlock) -> Room:
    """Give a channel with the bot in it, and people who speak."""
    return Room(interlock_sandbox, interlock_bot)
