"""Describe what may be sent to the control API. Ids may come as strings or integers."""

from typing import Annotated, Any, Literal, Self

from pydantic import Base64Bytes, BaseModel, ConfigDict, Field, StringConstraints, model_validator

from sandbox.world import PROXY

SnowflakeId = Annotated[int, Field(gt=0, lt=1 << 64)]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]
Seconds = Annotated[float, Field(ge=0, le=3600)]


class Body(BaseModel):
    """Refuse what is not listed, so that a misspelt key is no silent default."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class NewGuild(Body):
    """Ask for a guild that falls on a shard."""

    name: Name
    shard: int = 0


class NewChannel(Body):
    """Ask for a text channel."""

    guild_id: SnowflakeId
    name: Name


class ChannelChange(Body):
    """Change a channel or thread; `deny` lists permissions taken from the bot."""

    name: Name | None = None
    archived: bool | None = None
    locked: bool | None = None
    deny: list[str] | None = None


class NewThread(Body):
    """Ask for a public thread, on a message or beside all."""

    channel_id: SnowflakeId
    user_id: SnowflakeId
    name: Name
    message_id: SnowflakeId | None = None


class NewUser(Body):
    """Ask for a person, or another bot, in one guild or in all."""

    name: Name
    guild_id: SnowflakeId | None = None
    permissions: list[str] = []
    bot: bool = False


class NewDm(Body):
    """Ask for a person's DM with the bot."""

    user_id: SnowflakeId


class File(Body):
    """Carry one file, in base64."""

    filename: Name
    base64: Base64Bytes


class NewMessage(Body):
    """Say something as a person."""

    channel_id: SnowflakeId
    user_id: SnowflakeId
    content: str = ""
    reply_to: SnowflakeId | None = None
    files: Annotated[list[File], Field(max_length=10)] = []


class MessageChange(Body):
    """Edit a person's message; `channel_id`, if given, must be where it is."""

    content: str
    channel_id: SnowflakeId | None = None


class Reaction(Body):
    """React as a person, or take the reaction back with `remove`."""

    user_id: SnowflakeId
    emoji: Annotated[str, StringConstraints(min_length=1, max_length=64)]
    remove: bool = False


class Typing(Body):
    """Show a person as typing."""

    channel_id: SnowflakeId
    user_id: SnowflakeId


class Command(Body):
    """Use a slash command; `wait` is how long to wait for the answer, in seconds."""

    channel_id: SnowflakeId
    user_id: SnowflakeId
    command: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
    options: dict[str, Any] = {}
    wait: Seconds = 5.0


class Press(Body):
    """Press a button, or choose from a menu."""

    channel_id: SnowflakeId
    user_id: SnowflakeId
    message_id: SnowflakeId
    custom_id: str
    values: list[str] = []
    wait: Seconds = 5.0


class Match(Body):
    """Choose requests of the bot."""

    method: str = "*"
    path: str = "*"


class RequestFault(Body):
    """Make requests go wrong."""

    match: Match = Match()
    times: Annotated[int, Field(ge=1)] | None = None
    seconds: Seconds | None = None
    latency: Seconds = 0.0
    status: Annotated[int, Field(ge=400, le=599)] | None = None
    code: int = 0
    message: str | None = None
    retry_after: Seconds | None = None
    everything: Annotated[bool, Field(alias="global")] = False
    lose_reply: bool = False
    lose_request: bool = False

    @model_validator(mode="after")
    def _does_something(self) -> Self:
        if self.status is None and self.retry_after is None:
            if not (self.latency or self.lose_reply or self.lose_request):
                raise ValueError(
                    "say what goes wrong: latency, status, retry_after, lose_reply or lose_request"
                )
            if self.code or self.message or self.everything:
                raise ValueError("code and message go with a status, global with retry_after")
        if self.lose_request and self.lose_reply:
            raise ValueError("a request is lost before it is carried out, or its reply after")
        if self.retry_after is not None and self.status not in (None, 429):
            raise ValueError("retry_after goes with the status 429 only")
        return self


class GatewayFault(Body):
    """
    Make connections go wrong, those of one shard or all.

    "swallow" and "refuse" concern the whole gateway, for some seconds or until cleared.
    """

    gateway: Literal["drop", "invalid_session", "reconnect", "silence", "swallow", "refuse"]
    shard: Annotated[int, Field(ge=0)] | None = None
    seconds: Seconds | None = None

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        whole = self.gateway in ("swallow", "refuse")
        if self.shard is not None and whole:
            raise ValueError(f"{self.gateway} concerns all shards")
        if self.seconds is not None and not whole:
            raise ValueError("seconds go with swallow and refuse")
        return self


class GatewayTerms(Body):
    """Change what the gateway grants to those who identify."""

    remaining: Annotated[int, Field(ge=0)] | None = None
    max_concurrency: Annotated[int, Field(ge=1)] | None = None
    identify_interval: Seconds | None = None


class Repost(Body):
    """Say a message again as a proxy does, under another name."""

    name: Name
    content: str | None = None
    application_id: SnowflakeId = PROXY


class BlockedWords(Body):
    """Name the words that AutoMod blocks."""

    words: list[Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]]
