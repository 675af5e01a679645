"""
Look at everything that a start needs, one thing after the other, without starting the bot.

Each look answers what it found, or raises `StartupFailed` with what to do.
"""

import time
from collections.abc import AsyncIterator, Awaitable, Callable

from bot.cli.options import require_token
from bot.cli.portal import Application, who_is
from bot.cli.show import Result
from bot.client import Interlock
from bot.config import Loaded
from bot.errors import ConfigInvalid, StartupFailed
from state import connect
from state.errors import StateError


async def look_at_everything(loaded: Loaded) -> AsyncIterator[Result]:
    """Answer one result after the other; a failed one does not keep the others from being tried."""
    application: Application | None = None

    async def settings() -> str:
        return "from the defaults alone" if loaded.file is None else f"{loaded.file} is right"

    async def token() -> str:
        nonlocal application
        application = await _application(loaded)
        return f"{application.bot_name}, application {application.id}"

    async def intents() -> str:
        return _intents(application)

    looks: list[tuple[str, Callable[[], Awaitable[str]]]] = [
        ("settings", settings),
        ("extensions", lambda: _extensions(loaded)),
        ("token", token),
        ("intents", intents),
        ("store", lambda: _store(loaded)),
    ]
    for name, look in looks:
        try:
            yield Result(name, passed=True, text=await look())
        except StartupFailed as error:
            yield Result(name, passed=False, text=str(error))


async def _application(loaded: Loaded) -> Application:
    return await who_is(require_token(loaded), loaded.settings.discord.api)


def _intents(application: Application | None) -> str:
    if application is None:
        raise StartupFailed("unknown without a token that Discord accepts")
    if not application.reads_messages:
        raise StartupFailed(
            f"message content is off; switch on Message Content Intent at {application.portal}"
        )
    return "message content is on"


async def _extensions(loaded: Loaded) -> str:
    """Load them as a start would, their settings and the responder included; nothing connects."""
    try:
        async with Interlock(loaded.settings, connect("memory:")) as bot:
            await bot.load()
            return f"{len(bot.extensions)} loaded; {bot.responder_name} answers"
    except ConfigInvalid as error:
        raise StartupFailed("; ".join(error.lines)) from None


async def _store(loaded: Loaded) -> str:
    settings = loaded.settings.state
    began = time.perf_counter()
    try:
        state = connect(
            settings.url.get_secret_value(), prefix=settings.prefix, partitions=settings.partitions
        )
        try:
            await state.open()
            await state.ping()
        finally:
            await state.close()
    except StateError as error:
        raise StartupFailed(f"state.url: {settings.url}: {error}") from None
    milliseconds = (time.perf_counter() - began) * 1000
    return f"{settings.url} opened and answered in {milliseconds:.0f} ms"
