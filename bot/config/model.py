"""
Draw the tables of settings: every key, its type, its bounds and its default.

Durations are floats in seconds, ids strings, lists tuples. The text under a key says what it does;
`config.example.toml` says why one would change it.
"""

from typing import Annotated, Literal

from pydantic import (
    Field,
    SecretStr,
    ValidationInfo,
    field_validator,
)

from bot.config.conversation import ConversationSettings
from bot.config.problems import nearest
from bot.config.table import Table
from bot.config.units import (
    MAX_SHARDS,
    Ids,
    Names,
    ShardIds,
    StateUrl,
    StoreAddress,
    duration,
)
from bot.stopwords import StopPhrases


class DiscordSettings(Table):
    """Who the bot is, and which part of Discord this process serves."""

    token: SecretStr | None = None
    """The bot's token; from the environment or `token_file`, never from the TOML."""
    token_file: str | None = None
    """A file that holds the token and that only its owner may read."""
    shard_count: Annotated[int, Field(ge=1, le=MAX_SHARDS)] | None = None
    """How many shards the bot has over all processes; none: as many as Discord advises."""
    shards: ShardIds | None = None
    """The shards that this process serves; none: all of them."""
    api: str | None = None
    """The address of another REST API, such as the sandbox's; none: Discord."""
    gateway: str | None = None
    """The address of another gateway, such as the sandbox's; none: Discord."""

    @field_validator("shards")
    @classmethod
    def _shards_lie_within_the_count(
        cls, shards: tuple[int, ...] | None, info: ValidationInfo
    ) -> tuple[int, ...] | None:
        # shard_count is declared first, so it is here unless it was itself refused.
        if shards is None or "shard_count" not in info.data:
            return shards
        count: int | None = info.data["shard_count"]
        if count is None:
            raise ValueError(
                "says nothing without a count; set discord.shard_count (--shard-count) as well"
            )
        if shards[-1] >= count:
            raise ValueError(
                f"shard {shards[-1]} is outside shard_count {count}; use ids from 0 to {count - 1}"
            )
        return shards

    @field_validator("api", "gateway")
    @classmethod
    def _is_an_address(cls, address: str | None, info: ValidationInfo) -> str | None:
        schemes = ("http://", "https://") if info.field_name == "api" else ("ws://", "wss://")
        if address is not None and not address.startswith(schemes):
            raise ValueError(f'"{address}" is no address; it begins with {" or ".join(schemes)}')
        return address


class StateSettings(Table):
    """Where conversations, inboxes and leases are kept."""

    url: StoreAddress = StateUrl("sqlite:interlock.db")
    """The store: `sqlite:FILE`, `memory:`, `redis[s][+cluster]://` or `unix://`."""
    prefix: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,32}$")] = "interlock"
    """What every key of this bot begins with; two bots on one store have two."""
    lease: Annotated[float, duration("3s", "120s")] = 15.0
    """How long a silent holder of a conversation is believed alive."""
    partitions: Annotated[int, Field(ge=1, le=256)] = 16
    """Into how many parts the store is cut; fixed when it is created."""


class AccessSettings(Table):
    """Who may do what."""

    operators: Ids = ()
    """People who may stop and kill anywhere, by user id."""
    guilds: Ids = ()
    """Guilds that are answered; empty: all."""
    channels: Ids = ()
    """Channels that are answered, threads in them included; empty: all."""
    roles: Ids = ()
    """Roles whose members are answered; with users, either is enough; both empty: everybody."""
    users: Ids = ()
    """People who are answered."""
    blocked: Ids = ()
    """People, roles, channels and guilds that are not answered, whatever the other lists say."""
    guild_settings: Names = ()
    """Keys of [conversation] that admins of a guild may set there by /settings."""
    dms: bool = True
    """Whether direct messages are answered."""
    proxy_bots: Ids = ()
    """Bots that say people's messages again under another name, by application id."""

    @field_validator("guild_settings")
    @classmethod
    def _are_keys_of_a_conversation(cls, keys: tuple[str, ...]) -> tuple[str, ...]:
        known = list(ConversationSettings.model_fields)
        for key in keys:
            if key not in known:
                raise ValueError(f'"{key}" is no key of [conversation]; {nearest(key, known)}')
        return keys


class LimitSettings(Table):
    """When a turn has taken too long, and how often it is tried."""

    first_chunk: Annotated[float, duration("100ms", "24h")] = 300.0
    """Until the first piece of text."""
    progress: Annotated[float, duration("100ms", "24h")] = 180.0
    """Between two signs of life after it."""
    step: Annotated[float, duration("100ms", "24h")] = 300.0
    """One step, such as a tool call."""
    turn: Annotated[float, duration("100ms", "24h")] = 900.0
    """The whole turn."""
    person_turns_per_minute: Annotated[int, Field(ge=1, le=1000)] = 8
    """Messages of one person that are answered in one minute."""
    owner_turns_per_day: Annotated[int, Field(ge=1, le=1_000_000)] = 500
    """Replies to one guild, or to one person by DM, in one day (UTC)."""
    max_attempts: Annotated[int, Field(ge=1, le=20)] = 3
    """How often a turn is tried that fails in a way worth a retry."""


class StopSettings(Table):
    """Which messages end a reply."""

    languages: Names = ("en", "es", "de", "ja")
    """Whose stop phrases are understood."""
    extra: Names = ()
    """Further whole messages that mean stop."""

    @field_validator("languages")
    @classmethod
    def _have_lists(cls, languages: tuple[str, ...]) -> tuple[str, ...]:
        StopPhrases(languages)
        return languages

    @field_validator("extra")
    @classmethod
    def _can_be_compared(cls, extra: tuple[str, ...]) -> tuple[str, ...]:
        StopPhrases((), extra)
        return extra


class HistorySettings(Table):
    """How much of a conversation is kept."""

    keep: Annotated[int, Field(ge=0, le=10_000)] = 200
    """Entries of one conversation's transcript; the oldest are dropped."""
    context_messages: Annotated[int, Field(ge=0, le=100)] = 20
    """Messages of a channel that are read around a question, whoever they were addressed to."""
    backfill_guild: Annotated[float, duration("0s", "24h")] = 3600.0
    """How far back a start reads followed channels for what it missed; 0s: not at all."""
    backfill_dm: Annotated[float, duration("0s", "24h")] = 86400.0
    """The same for direct messages."""


class ProcessSettings(Table):
    """How this process ends."""

    drain: Annotated[float, duration("0s", "10m")] = 25.0
    """How long running turns may go on after SIGTERM before they are parked."""


class LogSettings(Table):
    """What is logged, and in which form."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    """The lowest level that is written."""
    format: Literal["auto", "console", "json"] = "auto"
    """auto: for people in a terminal, JSON lines otherwise."""
    message_text: bool = False
    """Whether logs may hold what people wrote."""


class SandboxSettings(Table):
    """The Discord on this machine that stands in while there is no token."""

    port: Annotated[int, Field(ge=0, le=65535)] = 8642
    """The port of its page on 127.0.0.1; 0 takes a free one."""
