"""/settings: what whoever manages a guild may set there, of what the operator leaves to them."""

import discord
import structlog
from discord import app_commands
from discord.ext import commands

from bot.client import Interlock
from bot.config import Place
from bot.config.units import duration_text
from bot.errors import ConfigInvalid, ResponderInvalid
from bot.guild_settings import BELIEVED
from bot.interactions import Privately, answer

#: The value that takes a choice back. No setting has a value of that name.
DEFAULT = "default"

#: Characters of a value that are taken, and shown: more than any that makes sense.
LONGEST = 100

#: Choices that Discord takes for one option.
MOST_CHOICES = 25

log = structlog.get_logger(__name__)


class Preferences(commands.Cog):
    """Shows and changes the settings of a guild."""

    def __init__(self, bot: Interlock) -> None:
        """Change what *bot* keeps about guilds."""
        self._bot = bot

    @app_commands.command()
    @app_commands.guild_only()
    @app_commands.default_permissions(manage_guild=True)
    @app_commands.describe(key="What to change", value=f'The new value; "{DEFAULT}" takes it back')
    async def settings(
        self,
        interaction: discord.Interaction,
        key: str | None = None,
        value: app_commands.Range[str, 1, LONGEST] | None = None,
    ) -> None:
        """Show how I behave in this server, or change it."""
        await answer(interaction, self._settings(interaction, key, value))

    @settings.autocomplete("key")
    async def keys(
        self, interaction: discord.Interaction, typed: str
    ) -> list[app_commands.Choice[str]]:
        """Offer the keys that may be set."""
        fitting = [key for key in self._keys if typed.lower() in key]
        return [app_commands.Choice(name=key, value=key) for key in fitting[:MOST_CHOICES]]

    @property
    def _keys(self) -> tuple[str, ...]:
        return self._bot.settings.access.guild_settings

    async def _settings(
        self, interaction: discord.Interaction, key: str | None, value: str | None
    ) -> str:
        guild = str(interaction.guild_id)
        if not self._may(interaction):
            return Privately("Changing settings needs the right Manage Server.")
        if not self._keys:
            return "Nothing can be changed here: whoever runs me has left no setting to servers."
        if key is not None and key not in self._keys:
            return f"That is none of the settings that can be changed: {', '.join(self._keys)}."
        if key is None or value is None:
            return await self._shown(guild, [key] if key is not None else self._keys)
        try:
            return await self._changed(guild, key, value, str(interaction.user.id))
        except (ConfigInvalid, ResponderInvalid) as error:
            return discord.utils.escape_markdown(f"Not changed: {error}")

    async def _shown(self, guild: str, keys: "tuple[str, ...] | list[str]") -> str:
        """Show what holds in the guild, and what of it was set here."""
        await self._bot.guild_settings.learn(Place(guild=guild))
        texts = await self._bot.guild_settings.texts(guild)
        inforce = self._bot.rules.conversation(Place(guild=guild))
        return "\n".join(
            f"`{key}`: {_plain(getattr(inforce, key))}{' (set here)' if key in texts else ''}"
            for key in keys
        )

    async def _changed(self, guild: str, key: str, value: str, by: str) -> str:
        if value == DEFAULT:
            await self._bot.guild_settings.reset(guild, key)
        else:
            if key == "responder":
                self._bot.responder(value)
            await self._bot.guild_settings.set(guild, key, value)
        log.info("setting of a guild changed", guild=guild, key=key, value=value, by=by)
        told = await self._shown(guild, [key])
        return f"{told}\nIt holds within {BELIEVED:.0f} s, where no channel has its own setting."

    def _may(self, interaction: discord.Interaction) -> bool:
        """Check at run time: Discord's default permissions can be overridden by an admin."""
        operator = str(interaction.user.id) in self._bot.settings.access.operators
        return operator or interaction.permissions.manage_guild


def _plain(value: object) -> str:
    """Write a value as it would be typed."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return duration_text(value)  # every float of these is a duration in seconds
    return discord.utils.escape_markdown(str(value)) or "(none)"


async def setup(bot: Interlock) -> None:
    """Add the cog."""
    await bot.add_cog(Preferences(bot))
