"""The store of the settings, as the commands for operators use it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bot.config.model import StateSettings
from bot.errors import StartupFailed
from state import State, connect
from state.errors import StateError


@asynccontextmanager
async def opened(settings: StateSettings) -> AsyncIterator[State]:
    """Open it for the block; raise `StartupFailed` with a line for whatever keeps it from that."""
    url = settings.url.get_secret_value()
    _require(settings)
    try:
        state = connect(url, prefix=settings.prefix, partitions=settings.partitions)
        try:
            await state.open()
            yield state
        finally:
            await state.close()
    except StateError as error:
        raise StartupFailed(f"state.url: {settings.url}: {error}") from None


def _require(settings: StateSettings) -> None:
    """Refuse a store that cannot be looked at from here, or that would only now be made."""
    scheme, _, rest = settings.url.get_secret_value().partition(":")
    if scheme == "memory" or rest.startswith(":memory:"):
        raise StartupFailed(f"state.url: {settings.url} is known to the bot's own process alone")
    path = Path(rest.removeprefix("//").partition("?")[0])
    if scheme == "sqlite" and not path.exists():
        raise StartupFailed(
            f"state.url: {settings.url}: there is no {path}; is this the bot's working directory?"
        )
