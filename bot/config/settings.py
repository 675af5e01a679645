"""Everything that can be set, and what of it holds in one place."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

from pydantic import BaseModel, Field, PrivateAttr, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from bot.config.conversation import ConversationSettings, Override, Overrides, Place
from bot.config.model import (
    AccessSettings,
    DiscordSettings,
    HistorySettings,
    LimitSettings,
    LogSettings,
    ProcessSettings,
    SandboxSettings,
    StateSettings,
    StopSettings,
)
from bot.config.overlay import complaints, overlay
from bot.config.problems import dotted, explain, line, origin
from bot.config.units import Names
from bot.errors import ConfigInvalid
from bot.texts import shipped_languages

_Cog = TypeVar("_Cog", bound=BaseModel)

#: Tables whose keys are no settings of ours but names: of extensions, languages and ids of places.
NAMING_TABLES = ("cogs", "texts", "guilds", "categories", "channels")


class Settings(BaseSettings):
    """
    Everything that can be set, checked and frozen.

    Built by `bot.config.load`. Built directly, it takes its arguments and defaults alone, never
    the environment, so that a test gets what it wrote.
    """

    model_config = SettingsConfigDict(
        frozen=True,
        extra="forbid",
        use_attribute_docstrings=True,
        env_prefix="INTERLOCK_",
        env_nested_delimiter="__",
    )

    extensions: Names = (
        "cogs.echo",
        "cogs.demo",
        "cogs.chat",
        "cogs.control",
        "cogs.follow",
        "cogs.ask",
        "cogs.reminders",
        "cogs.usage",
        "cogs.privacy",
        "cogs.operator",
        "cogs.preferences",
    )
    """Modules with cogs, loaded in this order."""
    extension_paths: Names = ()
    """Folders in which extensions of your own are looked for."""
    extension_reload: bool = False
    """Whether an extension is loaded anew when its file is saved, between turns."""
    discord: DiscordSettings = DiscordSettings()
    state: StateSettings = StateSettings()
    conversation: ConversationSettings = ConversationSettings()
    access: AccessSettings = AccessSettings()
    limits: LimitSettings = LimitSettings()
    stop: StopSettings = StopSettings()
    history: HistorySettings = HistorySettings()
    process: ProcessSettings = ProcessSettings()
    log: LogSettings = LogSettings()
    sandbox: SandboxSettings = SandboxSettings()
    cogs: Mapping[str, Mapping[str, object]] = Field(default_factory=dict)
    """A table for each extension, named after the last part of its module."""
    texts: Mapping[str, Mapping[str, str]] = Field(default_factory=dict)
    """The bot's own words said differently, a table for each language."""
    guilds: Overrides = Field(default_factory=dict)
    """What one guild, by its id, does differently."""
    categories: Overrides = Field(default_factory=dict)
    """What one category of channels does differently; beats its guild."""
    channels: Overrides = Field(default_factory=dict)
    """What one channel or thread does differently; beats its category, a thread its channel."""

    _origins: Mapping[str, str] = PrivateAttr(default_factory=dict[str, str])
    _models: dict[str, type[BaseModel]] = PrivateAttr(default_factory=dict[str, type[BaseModel]])

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Read the arguments alone; `bot.config.sources` reads the rest and keeps its origin."""
        del settings_cls, env_settings, dotenv_settings, file_secret_settings
        return (init_settings,)

    def remember_origins(self, origins: Mapping[str, str]) -> None:
        """Keep where each key came from, for what `cog` has to say later."""
        self._origins = dict(origins)

    def at(self, place: Place, chosen: Override | None = None) -> ConversationSettings:
        """
        Answer how a conversation in *place* is led: the narrowest place that names a key decides.

        *chosen* is what a guild's admins have set. It beats the operator's table for that guild,
        and gives way to one for a category or a channel.
        """
        conversation = self.conversation
        for override in self.tables(place, chosen).values():
            conversation = override.over(conversation)
        return conversation

    def cog(self, name: str, model: type[_Cog]) -> _Cog:
        """
        Read the table `[cogs.<name>]` as the cog's own model; raise `ConfigInvalid` otherwise.

        A key that the model does not have is refused, whatever the model itself says of extras.
        What places set differently is checked as well, all problems at once. The model is kept, so
        that later settings can be checked before they are taken.
        """
        self._models[name] = model
        table = self.cogs.get(name, {})
        problems = complaints(model, table, self._origins, ("cogs", name))
        for place, override in self.overrides():
            if part := override.cogs.get(name):
                whole, key = overlay(table, part), (*place, "cogs", name)
                problems += complaints(model, whole, self._origins, key, only=part)
        if problems:
            raise ConfigInvalid(problems)
        return model.model_validate(table, extra="forbid")

    def cog_at(self, name: str, model: type[_Cog], place: Place) -> _Cog:
        """
        Read a cog's settings as they are in *place*; to be asked for at each turn.

        Raise `ConfigInvalid` for what `cog` would have found, or when what several places set
        does not go together.
        """
        try:
            return model.model_validate(self.cog_table(name, place), extra="forbid")
        except ValidationError as error:
            raise ConfigInvalid(explain(error, model, self._origins, ("cogs", name))) from None

    def cog_table(self, name: str, place: Place) -> Mapping[str, object]:
        """Answer a cog's table as written, with what *place* sets laid over it."""
        table = self.cogs.get(name, {})
        for override in self.tables(place).values():
            table = overlay(table, override.cogs.get(name, {}))
        return table

    def unread(self, extensions: Iterable[str]) -> list[str]:
        """Say in a line each which tables of loaded *extensions* none of their cogs asks for."""
        silent = {one.rpartition(".")[2] for one in extensions} - self._models.keys()
        keys: list[tuple[str, ...]] = [("cogs", name) for name in self.cogs if name in silent]
        for place, override in self.overrides():
            keys += [(*place, "cogs", name) for name in override.cogs if name in silent]
        text = "the extension has no settings; take the table away"
        return [line(origin(dotted(key), self._origins), dotted(key), text) for key in keys]

    @property
    def languages(self) -> list[str]:
        """The languages that there are texts in, shipped ones and the operator's own."""
        return [*shipped_languages(), *self.texts]

    @property
    def models(self) -> Mapping[str, type[BaseModel]]:
        """The model of each cog that has asked for its settings."""
        return self._models

    def overrides(self) -> Iterator[tuple[tuple[str, str], Override]]:
        """List every override with its place, such as `("channels", "123")`."""
        for kind in ("guilds", "categories", "channels"):
            tables: Overrides = getattr(self, kind)
            for id_, override in tables.items():
                yield (kind, id_), override

    def tables(self, place: Place, chosen: Override | None = None) -> dict[str, Override]:
        """Answer what holds in *place* by its name in the file, the widest first."""
        found = {
            f"guilds.{place.guild}": self.guilds.get(place.guild or ""),
            "chosen": chosen,
            f"categories.{place.category}": self.categories.get(place.category or ""),
            f"channels.{place.parent}": self.channels.get(place.parent or ""),
            f"channels.{place.channel}": self.channels.get(place.channel or ""),
        }
        return {name: override for name, override in found.items() if override is not None}
