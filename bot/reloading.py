"""
Load an extension anew when one of its files is saved, between turns.

For whoever writes a cog and watches it: a file that does not load leaves the old cog in place.
"""

import asyncio
import importlib.util
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import discord
import structlog
from discord.ext import commands

from bot import extensions
from bot.commands import sync_commands
from bot.errors import StartupFailed
from bot.inbound import Message
from bot.locks import Locks
from bot.notices import readable
from bot.responders import Responder

#: Seconds between two looks at the files.
EVERY = 1.0

#: File → (time of its last change in ns, size), of all files of one extension.
Stamps = dict[Path, tuple[int, int]]

log = structlog.get_logger(__name__)


class Reloading:
    """Watches the files of the loaded extensions."""

    def __init__(
        self, bot: commands.AutoShardedBot, locks: Locks, check: Callable[[object], None]
    ) -> None:
        """
        Reload into *bot*; *locks* tells whose turns run.

        *check* raises a `StartupFailed` for a cog whose settings are wrong.
        """
        self._bot = bot
        self._check_cog = check
        self._locks = locks
        self._seen: dict[str, Stamps] = {}
        self._waiting: set[str] = set()
        #: Old responders, for turns that begin while the new ones are loaded or are no good.
        self._instead: dict[str, Responder] = {}

    def responder(self, name: str) -> Responder:
        """Find a responder by the name of its cog, or raise `ResponderInvalid`."""
        return self._instead.get(name) or extensions.responder(self._bot.cogs, name)

    async def run(self) -> None:
        """Look every second, until cancelled."""
        self._seen = {name: _stamps(_files(name)) for name in self._bot.extensions}
        while True:
            await asyncio.sleep(EVERY)
            await self.look()

    async def look(self) -> None:
        """
        Reload what has changed, unless a turn of one of its responders runs.

        Turns that begin until then get the old code; it is looked again a moment later.
        """
        for name, seen in list(self._seen.items()):
            # One that broke while it was imported has no module: its files of before are watched.
            stamps = _stamps(_files(name) or seen)
            if stamps == seen:
                continue
            if self._answers(name):
                if name not in self._waiting:
                    log.info("extension saved; a reply of it is being written", extension=name)
                    self._waiting.add(name)
                continue
            self._waiting.discard(name)
            self._seen[name] = stamps
            await self._reload(name)

    async def _reload(self, name: str) -> None:
        """Put the new code in place of the old, or say in a line why the old one stays."""
        for cog in self._cogs(name):
            if isinstance(cog, Responder):
                self._instead.setdefault(cog.qualified_name, cog)
        _drop_bytecode(name)
        failure: StartupFailed | None = None
        try:
            await extensions.reload(self._bot, name)
        except StartupFailed as error:  # discord.py has set the old code up again
            failure = error
        try:
            self._check(name)
        except StartupFailed as error:
            failure = failure or error
        else:
            for responder in self._old(name):
                del self._instead[responder]
        if failure is not None:
            log.error("extension not loaded anew, the old one stays", reason=str(failure))
            return
        log.info("extension loaded anew", extension=name)
        await self._sync()

    def _old(self, extension: str) -> list[str]:
        """Name the responders of an extension that old ones stand in for."""
        return [
            name for name, cog in self._instead.items() if _is_part(type(cog).__module__, extension)
        ]

    def _check(self, extension: str) -> None:
        """Raise a `StartupFailed` for what the bot would not have been started with."""
        for cog in self._cogs(extension):
            self._check_cog(cog)
        for responder in self._old(extension):
            extensions.responder(self._bot.cogs, responder)

    async def _sync(self) -> None:
        try:
            await sync_commands(self._bot)
        except discord.HTTPException as error:
            log.warning("commands not synced", reason=str(error))

    def _cogs(self, extension: str) -> list[commands.Cog]:
        return [cog for cog in self._bot.cogs.values() if _is_part(cog.__module__, extension)]

    def _answers(self, extension: str) -> bool:
        """Whether a turn runs here that one of the extension's responders answers."""
        names = {cog.qualified_name for cog in self._cogs(extension)}
        return any(message.responder in names for message in self._running())

    def _running(self) -> Iterator[Message]:
        for started in self._locks.running():
            yield from readable(started.inbounds)


def _is_part(module: str, extension: str) -> bool:
    return f"{module}.".startswith(f"{extension}.")


def _files(extension: str) -> list[Path]:
    """List the source files of an extension: its module's, and those of the modules below it."""
    modules = [module for name, module in list(sys.modules.items()) if _is_part(name, extension)]
    files = (getattr(module, "__file__", None) for module in modules)
    return sorted(Path(file) for file in files if file)


def _drop_bytecode(extension: str) -> None:
    """Let nothing compiled be taken for current: Python looks at whole seconds and size alone."""
    for path in _files(extension):
        Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)


def _stamps(files: Iterable[Path]) -> Stamps:
    """Tell the state of each file; one that is being replaced just now is left out."""
    stamps: Stamps = {}
    for path in files:
        try:
            found = path.stat()
        except FileNotFoundError:
            continue
        stamps[path] = (found.st_mtime_ns, found.st_size)
    return stamps
