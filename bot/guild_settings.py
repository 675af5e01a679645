"""
What the admins of guilds have set by /settings, of the keys that the operator leaves to them.

Kept in the store under the guild, so that it goes when the guild is forgotten. Each process knows
what it has read, and reads again after a while: a change made by another one takes so long.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import structlog
from pydantic import ValidationError

from bot.config import Override, Place, Settings, language_problem
from bot.config.problems import explain, line
from bot.errors import ConfigInvalid
from bot.insist import insist
from state.errors import StateError
from state.keys import Scope
from state.ports import State

#: Seconds for which what was read of a guild is believed. A change holds at once in the process
#: that made it, and in the others no later than this.
BELIEVED = 30.0

#: Guilds known at once; the ones asked about longest ago are forgotten first, and read again.
REMEMBERED = 10_000

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Known:
    keys: Sequence[str]
    read: float
    override: Override | None


class GuildSettings:
    """The settings of guilds, as this process knows them."""

    def __init__(self, state: State, settings: Callable[[], Settings]) -> None:
        """Keep in *state* what admins set of the keys that *settings* leave to them."""
        self._state = state
        self._settings = settings
        self._known: dict[str, _Known] = {}
        #: How often anything was changed by this process.
        self._changes = 0

    def _keys(self) -> Sequence[str]:
        return self._settings().access.guild_settings

    def at(self, guild: str | None) -> Override | None:
        """Answer what is set in *guild*, as far as it is known here; see `learn`."""
        known = self._known.get(guild or "")
        return known.override if known is not None and known.keys == self._keys() else None

    async def learn(self, place: Place) -> None:
        """Read what is set in the guild of *place*, unless that is known and not too old."""
        guild, keys = place.guild, self._keys()
        if guild is None or not keys:
            return
        known, changes = self._known.get(guild), self._changes
        now = time.monotonic()
        if known is None or known.keys != keys or now - known.read > BELIEVED:
            try:
                override = understood(await self.texts(guild), self._settings())
            except StateError as error:
                # What comes next fails by itself, or goes by what was known before.
                log.warning("settings of a guild not read", guild=guild, reason=str(error))
                override = known.override if known is not None else None
            # What was changed meanwhile may have been read as it was before.
            known = _Known(keys, now if changes == self._changes else -math.inf, override)
        self._known.pop(guild, None)  # the ones asked about longest ago come first
        self._known[guild] = known
        while len(self._known) > REMEMBERED:
            del self._known[next(iter(self._known))]

    async def texts(self, guild: str) -> dict[str, str]:
        """Answer what is set in *guild*, as it was written, by its keys."""
        found = [(key, await self._state.get(_scope(guild), _key(key))) for key in self._keys()]
        return {key: value.decode() for key, value in found if value is not None}

    async def set(self, guild: str, key: str, text: str) -> None:
        """Set *key* in *guild*; raise `ConfigInvalid` with a line for what cannot be."""
        checked({key: text}, self._settings())
        await insist(lambda: self._state.put(_scope(guild), _key(key), text.encode()))
        self._change(guild)

    async def reset(self, guild: str, key: str) -> None:
        """Let *key* be in *guild* as the operator has it."""
        await insist(lambda: self._state.delete(_scope(guild), _key(key)))
        self._change(guild)

    def _change(self, guild: str) -> None:
        self._changes += 1
        self._known.pop(guild, None)


def checked(texts: Mapping[str, str], settings: Settings) -> Override:
    """Read what was written, by the rules of the settings file; raise `ConfigInvalid` otherwise."""
    try:
        override = Override.model_validate(texts)
    except ValidationError as error:
        origins = dict.fromkeys(texts, "/settings")
        raise ConfigInvalid(explain(error, Override, origins)) from None
    if problem := language_problem(settings, override.language):
        raise ConfigInvalid([line("/settings", "language", problem)])
    return override


def understood(texts: Mapping[str, str], settings: Settings) -> Override | None:
    """Read what was written; what was right once and is not any more is left out."""
    good: dict[str, str] = {}
    for key, text in texts.items():
        try:
            checked({key: text}, settings)
        except ConfigInvalid as error:
            log.warning("a setting of a guild is not understood", reason=str(error))
        else:
            good[key] = text
    return checked(good, settings) if good else None


def _scope(guild: str) -> Scope:
    return Scope(owner=f"guild/{guild}")


def _key(key: str) -> str:
    return f"settings.{key}"
