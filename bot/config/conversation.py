"""
Draw the settings of one conversation, and what a place may set differently from all others.

An override holds any key of `[conversation]`; those that it does not name are decided by the next
wider place: a thread before its channel, the channel before its category, that before the guild.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from bot.config.table import Table
from bot.config.units import Id, duration


@dataclass(frozen=True, slots=True)
class Place:
    """Where something is said. Ids are Discord's, as strings; None where there is no such thing."""

    #: The channel, thread or direct message.
    channel: str | None = None
    #: The channel that a thread is in.
    parent: str | None = None
    category: str | None = None
    guild: str | None = None


class ConversationSettings(Table):
    """How one conversation is led."""

    responder: str = ""
    """The cog that answers; empty: Chat when a model is set, else Demo."""
    mode: Literal["queue", "collect", "debounce", "interrupt", "drop"] = "queue"
    """What a message does that arrives while a reply is written."""
    follow_mode: Literal["queue", "collect", "debounce", "interrupt", "drop"] = "debounce"
    """The same for messages in followed channels that do not address the bot."""
    debounce: Annotated[float, duration("100ms", "1m")] = 1.5
    """How long a conversation must be quiet before debounce answers."""
    debounce_most: Annotated[float, duration("100ms", "10m")] = 6.0
    """The longest that debounce waits for quiet."""
    followups: Literal["addressed", "early", "any", "off"] = "addressed"
    """Which messages of a running turn's author replace that turn."""
    max_followups: Annotated[int, Field(ge=0, le=100)] = 3
    """How often in a row a turn may be replaced before a message waits like any other."""
    inbox: Annotated[int, Field(ge=1, le=1000)] = 20
    """How many messages may wait in one conversation."""
    inbox_per_person: Annotated[int, Field(ge=1, le=1000)] = 3
    """How many of them may be one person's; a DM has no such share."""
    overflow: Literal["refuse", "drop_oldest"] = "refuse"
    """What a full inbox does with the next message."""
    expire_after: Annotated[float, duration("1m", "30d")] = 86400.0
    """How long a message may wait before it is dropped unanswered."""
    reply_in: Literal["channel", "thread"] = "channel"
    """Where a guild's messages are answered: beside them, or in a thread opened on each."""
    ping_author: Literal["slow", "always", "never"] = "slow"
    """When a reply notifies its author; slow: if it begins 10 s or more after the message."""
    partial: Literal["keep", "delete"] = "keep"
    """What becomes of the partial reply of a replaced turn."""
    final: Literal["edit", "new"] = "edit"
    """Whether a reply that was written in sight stays there, or is sent anew once it is done."""
    max_pages: Annotated[int, Field(ge=1, le=50)] = 6
    """How many messages one reply may take; the rest follows as a file."""
    reactions: bool = True
    """Whether a waiting message is marked with an hourglass."""
    buttons: bool = True
    """Whether a growing reply carries a Stop button, and an apology one to try again."""
    language: str = "en"
    """In which language the bot's own words are: en, es, de, ja, or one of `[texts]`."""


class Override(ConversationSettings):
    """
    What one place sets: keys of `[conversation]`, and parts of the cogs' tables.

    Only `model_fields_set` counts; the other fields hold defaults that mean nothing.
    """

    cogs: Mapping[str, Mapping[str, object]] = Field(default_factory=dict)
    """Parts of cogs' tables, laid over `[cogs.<name>]` key by key."""

    def over(self, wider: ConversationSettings) -> ConversationSettings:
        """Answer *wider* with what this place sets in its stead."""
        given = self.model_fields_set - {"cogs"}
        return wider.model_copy(update={key: getattr(self, key) for key in given})


#: Overrides by the id of the place that each is for.
Overrides = Mapping[Id, Override]
