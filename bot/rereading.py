"""
Read the settings again when their file changes, or when told to by a signal or a command.

All or nothing: settings with a problem change nothing, and the problem is told in the words of a
start. What runs ends by the settings that it began with.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import structlog
from discord.ext import commands

from bot import extensions, logs
from bot.config import Loaded, Settings
from bot.config.changes import changed, followed, is_fixed
from bot.config.files import stamps
from bot.errors import ConfigInvalid, StartupFailed
from bot.rules import Rulebook

#: Seconds between two looks at the files. A change is read once it is the same at two of them: half
#: a file can be valid, and must not open what its other half closes.
EVERY = 1.0

_NEW_EXTENSIONS = "extensions: what is new there is loaded at the next start; restart the bot"

log = structlog.get_logger(__name__)


@runtime_checkable
class Prepares(Protocol):
    """A cog that makes something of its settings, such as a connection, before they are needed."""

    async def cog_settings(self, settings: Settings) -> None:
        """Prepare for *settings*, which may be in force next; refuse by a `StartupFailed`."""
        ...


@dataclass(frozen=True, slots=True)
class Reread:
    """What came of reading the settings again."""

    #: A line each; with any, the settings of before stay in force.
    problems: tuple[str, ...] = ()
    #: Keys that differ and are in force now.
    changed: tuple[str, ...] = ()
    #: Keys that differ and wait for the next start of the process.
    waiting: tuple[str, ...] = ()


class Rereading:
    """Keeps the settings in force in step with where they are written."""

    def __init__(self, loaded: Loaded, rules: Rulebook, bot: commands.AutoShardedBot) -> None:
        """Put into *rules* what differs from *loaded*; the cogs of *bot* have a say in it."""
        self._again = loaded.again
        self._file = loaded.file
        #: The state that the files were in when they were read, and when they were looked at.
        self._read = self._seen = loaded.files
        self._rules = rules
        self._bot = bot
        self._asked = asyncio.Event()
        self._one_at_a_time = asyncio.Lock()

    def ask(self) -> None:
        """Read them now, whether a file has changed or not."""
        self._asked.set()

    async def run(self) -> None:
        """Look every second, and when asked, until cancelled."""
        while True:
            await _within(EVERY, self._asked.wait)
            await self.look()

    async def look(self) -> None:
        """Read the settings if their files have changed, and not again since the last look."""
        seen, self._seen = self._seen, stamps(self._seen)
        if self._asked.is_set() or self._seen == seen != self._read:
            self._asked.clear()
            self._read = self._seen
            await self.read()

    async def read(self) -> Reread:
        """Read the settings and put them in force if nothing is wrong with them; log either."""
        async with self._one_at_a_time:
            before = self._rules.settings
            try:
                after = await self._checked(self._again())
            except StartupFailed as error:
                lines = tuple(error.lines)
                log.warning("settings refused, those of before stay", reason="; ".join(lines))
                return Reread(lines)
            except Exception as error:  # a bug, such as a cog's; it must not end the bot
                log.exception("settings not read, those of before stay")
                return Reread((f"{type(error).__name__}, which nobody expected; see the log",))
            keys = changed(before, after)
            self._rules.adopt(followed(before, after))
        if after.log.level != before.log.level:
            logs.set_level(after.log)
        reread = Reread(
            changed=tuple(key for key in keys if not is_fixed(key)),
            waiting=tuple(key for key in keys if is_fixed(key)),
        )
        log.info("settings read again", changed=", ".join(reread.changed) or "nothing")
        if reread.waiting:
            log.warning("settings wait for a restart", keys=", ".join(reread.waiting))
        return reread

    async def _checked(self, loaded: Loaded) -> Settings:
        """Let everybody look at new settings who would at a start; raise a `StartupFailed`."""
        if self._file is not None and loaded.file is None:
            # Without it everything would be open that it closes.
            raise ConfigInvalid([f"{self._file}: no such file any more; put it back"])
        after, problems = loaded.settings, list[str]()
        for name, model in self._rules.settings.models.items():
            try:
                after.cog(name, model)
            except ConfigInvalid as error:
                problems += error.lines
        if problems := [*problems, *after.unread(self._rules.settings.extensions)]:
            raise ConfigInvalid(problems)
        self._check_responders(after)
        for cog in list(self._bot.cogs.values()):
            if isinstance(cog, Prepares):
                await cog.cog_settings(after)
        self._file = loaded.file
        return after

    def _check_responders(self, after: Settings) -> None:
        """Refuse a responder that is not loaded; say so if a restart would load what it is in."""
        try:
            extensions.check_responders(self._bot.cogs, Rulebook(after).responders())
        except ConfigInvalid as error:
            if set(after.extensions) <= set(self._rules.settings.extensions):
                raise
            raise ConfigInvalid([*error.lines, _NEW_EXTENSIONS]) from None


async def _within(seconds: float, wait: Callable[[], Awaitable[object]]) -> None:
    try:
        await asyncio.wait_for(wait(), seconds)
    except TimeoutError:
        return
