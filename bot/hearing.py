"""
From a gateway message to plain data: who says what to whom, and with which rights.

Needs no member or message cache: all of it comes with the event, and the guild's roles.
"""

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace

import discord

from bot.access import Asking
from bot.admission import Heard
from bot.config import Place
from bot.inbound import Message, Quoted
from bot.plain import attached, named, person_of
from state.values import Conversation

#: What people type; everything else is a system message.
_TYPED = (discord.MessageType.default, discord.MessageType.reply)


@dataclass(frozen=True, slots=True)
class Ears:
    """What hearing needs to know besides the message."""

    me: discord.ClientUser
    allows: Callable[[Asking], bool]
    operators: Callable[[], Collection[str]]
    proxies: Callable[[], Collection[str]]
    is_stop: Callable[[str], bool]
    is_followed: Callable[[str], bool]
    #: Whether nothing is left to read of what was written while nobody heard it.
    is_caught_up: Callable[[], bool]

    def hear(self, message: discord.Message) -> tuple[Message, Heard]:
        """Reduce *message* to data, and to the facts that admission judges."""
        addressed = self._addressed(message)
        text = self._text(message)
        by_webhook = message.webhook_id is not None
        proxied = by_webhook and str(message.application_id) in self.proxies()
        heard = Heard(
            by_machine=(message.author.bot or by_webhook) and not proxied,
            system=message.type not in _TYPED,
            addressed=addressed,
            addressed_elsewhere=not addressed and self._addresses_somebody(message),
            followed=self.is_followed(str(message.channel.id)),
            allowed=self.allows(_asking(message)) and _may_answer(message),
            stop_phrase=self.is_stop(text),
            moderator=self._moderates(message),
            proxied=proxied,
        )
        return self._message(message, text, addressed=addressed), heard

    def _message(self, message: discord.Message, text: str, *, addressed: bool) -> Message:
        replied = message.reference.resolved if message.reference else None
        return Message(
            id=str(message.id),
            channel=str(message.channel.id),
            guild=str(message.guild.id) if message.guild else None,
            author=person_of(message.author),
            text=text,
            addressed=addressed,
            responder="",
            caught_up=self.is_caught_up() and self._follows(message),
            reply_to=_quoted(replied) if isinstance(replied, discord.Message) else None,
            parent=parent_of(message.channel),
            category=category_of(message.channel),
            attachments=attached(message),
        )

    def _follows(self, message: discord.Message) -> bool:
        return message.guild is None or self.is_followed(str(message.channel.id))

    def _addressed(self, message: discord.Message) -> bool:
        if message.guild is None or any(user.id == self.me.id for user in message.mentions):
            return True
        if any(role.id == self._own_role(message) for role in message.role_mentions):
            return True
        replied = message.reference.resolved if message.reference else None
        return isinstance(replied, discord.Message) and replied.author.id == self.me.id

    def _addresses_somebody(self, message: discord.Message) -> bool:
        return bool(message.mentions or message.role_mentions or message.reference)

    def _own_role(self, message: discord.Message) -> int | None:
        role = message.guild.self_role if message.guild else None
        return role.id if role else None

    def _moderates(self, message: discord.Message) -> bool:
        if str(message.author.id) in self.operators():
            return True
        if not isinstance(message.author, discord.Member):
            return False
        return message.channel.permissions_for(message.author).manage_messages

    def _text(self, message: discord.Message) -> str:
        """What was written, without our own mention and with other people's names for theirs."""
        ours = [f"<@!?{self.me.id}>"]
        if (role := self._own_role(message)) is not None:
            ours.append(f"<@&{role}>")
        text = re.sub("|".join(ours), "", message.content)
        return named(text, message.mentions).strip()


def _may_answer(message: discord.Message) -> bool:
    """Whether we may send there at all: checked before any work is paid for."""
    guild, channel = message.guild, message.channel
    if guild is None or isinstance(channel, discord.PartialMessageable | discord.DMChannel):
        return True  # a channel that is not cached is judged by Discord itself
    ours = channel.permissions_for(guild.me)
    if isinstance(channel, discord.Thread):
        return ours.send_messages_in_threads and (not channel.locked or ours.manage_threads)
    return ours.send_messages


def threads_in(client: discord.Client, place: Place) -> bool:
    """Whether a thread may be opened on what is written there, as far as *client* knows it."""
    channel = client.get_channel(int(place.channel or 0))
    if isinstance(channel, discord.VoiceChannel | discord.StageChannel):
        return False
    if not isinstance(channel, discord.TextChannel):
        return True  # Discord itself says so in time, if it is to have none
    ours = channel.permissions_for(channel.guild.me)
    return ours.create_public_threads and ours.send_messages_in_threads


def locked_against_us(event: discord.RawThreadUpdateEvent, guild: discord.Guild | None) -> bool:
    """Whether a thread is locked now, and we are nobody who may write in it all the same."""
    parent = guild.get_channel(event.parent_id) if guild else None
    manages = parent is not None and parent.permissions_for(parent.guild.me).manage_threads
    return event.data.get("thread_metadata", {}).get("locked", False) and not manages


def asking(person: str, roles: Iterable[int], guild: str | None, channel: object) -> Asking:
    """Say who asks, and where."""
    parent = parent_of(channel)
    return Asking(
        person=person,
        roles=frozenset(str(role) for role in roles),
        guild=guild,
        channels=frozenset({str(getattr(channel, "id", "")), *([parent] if parent else [])}),
    )


def _quoted(message: discord.Message) -> Quoted:
    return Quoted(str(message.id), person_of(message.author), message.content, attached(message))


def parent_of(channel: object) -> str | None:
    """The channel that a thread is in."""
    return _id(getattr(channel, "parent_id", None))


def category_of(channel: object) -> str | None:
    """The category of a channel; a thread is in that of its parent, if that is cached."""
    place = channel.parent if isinstance(channel, discord.Thread) else channel
    return _id(getattr(place, "category_id", None))


def _asking(message: discord.Message) -> Asking:
    author, guild = message.author, str(message.guild.id) if message.guild else None
    roles = author.roles if isinstance(author, discord.Member) else ()
    return asking(str(author.id), (role.id for role in roles), guild, message.channel)


def _id(snowflake: int | None) -> str | None:
    return str(snowflake) if snowflake is not None else None


def place_in(client: discord.Client, conversation: Conversation) -> Place:
    """Say where a conversation is, as far as *client* knows its channel."""
    kind, _, owner = conversation.owner.partition("/")
    place = place_of(client.get_channel(int(conversation.id)))
    return replace(place, channel=conversation.id, guild=owner if kind == "guild" else None)


def place_of(channel: object) -> Place:
    """Say where a channel is, as settings for single places see it."""
    guild = getattr(channel, "guild", None)
    return Place(
        _id(getattr(channel, "id", None)),
        parent_of(channel),
        category_of(channel),
        _id(guild.id) if guild else None,
    )
