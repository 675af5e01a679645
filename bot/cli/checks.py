"""
Look at everything that a start needs, one thing after the other, without starting the bot.

Each look answers what it found, or raises `StartupFailed` with what to do.
"""

import importlib
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from bot.cli.portal import Application, who_is
from bot.config import Loaded
from bot.errors import ExtensionFailed, StartupFailed
from state import connect
from state.errors import StateError


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one look: what was found, or what to do."""

    name: str
    passed: bool
    text: str


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

    async def extensions() -> str:
        return _extensions(loaded)

    looks: list[tuple[str, Callable[[], Awaitable[str]]]] = [
        ("settings", settings),
        ("extensions", extensions),
        ("token", token),
        ("intents", intents),
        ("store", lambda: _store(loaded)),
    ]
    for name, look in looks:
        try:
            yield Result(name, passed=True, text=await look())
        except StartupFailed as error:
            yield Result(name, passed=False, text=str(error))


def require_token(loaded: Loaded) -> str:
    """Answer the token, or raise `StartupFailed` with how to get one."""
    token = loaded.settings.discord.token
    if token is None:
        raise StartupFailed(
            "discord.token: there is none; run: interlock init, or set INTERLOCK_DISCORD__TOKEN"
        )
    return token.get_secret_value()


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


def _extensions(loaded: Loaded) -> str:
    settings = loaded.settings
    for path in settings.extension_paths:
        if (found := str(Path(path).resolve())) not in sys.path:
            sys.path.append(found)
    for name in settings.extensions:
        try:
            module = importlib.import_module(name)
        except Exception as error:  # noqa: BLE001 - whatever a person's own module raises
            reason = f"{type(error).__name__}: {error}".replace("\n", " ")
            where = loaded.origins["extensions"]
            raise ExtensionFailed(f"{where}: {name} cannot be imported: {reason}") from None
        if not hasattr(module, "setup"):
            raise ExtensionFailed(f"{name} has no setup function; see cogs/echo.py for one")
    return f"{len(settings.extensions)} can be imported"


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
