"""Build the guilds, channels and people of the sandbox, and find them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import discord
from simcord.backend.access import channel_accessible
from simcord.backend.models import Channel, Guild, Message, Overwrite, Role
from simcord.enums import OverwriteType

from sandbox.backend import Discord, Listener
from sandbox.cdn import LoopbackCdn
from sandbox.nonces import Nonces

BOT_NAME = "Interlock"
GUILD_NAME = "Interlock"
CHANNEL_NAMES = ("general", "random", "quiet")
MODERATOR_PERMISSIONS = ("manage_messages", "manage_channels")

BOT_PERMISSIONS = discord.Permissions(309_237_763_136)
"""The invite with the least rights: see, write, read back, embed, attach, react, threads."""

Thing = TypeVar("Thing")

_COLORS = ("#5865f2", "#eb459e", "#23a55a", "#f0b232", "#00a8fc", "#f23f43", "#9b59b6", "#e67e22")


class NotPossible(Exception):
    """Raised when the person could not do this in Discord either; the text is one line."""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody to speak as, who may be another bot. `color` is `#rrggbb`."""

    id: int
    name: str
    color: str
    bot: bool = False


class Places:
    """
    Hold and build guilds, channels and people. Ids are integers; what they name must exist.

    Every change is reported to the listeners as the gateway event that Discord would send.
    """

    def __init__(
        self, *, application_id: int, application_flags: int, shards: int, cdn_base: str
    ) -> None:
        self.shards = shards
        self.application_flags = application_flags
        self.listeners: list[Listener] = []
        self._application_id = application_id
        self._cdn_base = cdn_base
        self.reset()

    def reset(self) -> None:
        """Start again with the default world: one guild, three channels, Ada, Bo and Cy."""
        self.people: dict[int, Person] = {}
        self.nonces = Nonces()
        self.discord = Discord(
            application_id=self._application_id,
            bot_name=BOT_NAME,
            cdn=LoopbackCdn(self._cdn_base),
            listener=self._report,
        )
        guild = self.add_guild(GUILD_NAME)
        for name in CHANNEL_NAMES:
            self.add_channel(guild.id, name)
        ada = self.add_person("Ada")
        self.grant(guild.id, ada.id, MODERATOR_PERMISSIONS, role="Moderators")
        self.add_person("Bo")
        self.add_person("Cy")

    def _report(self, event: str, payload: dict[str, Any]) -> None:
        for listener in self.listeners:
            listener(event, payload)

    # ---------------------------------------------------------------------------------- looking up

    @property
    def guild(self) -> Guild:
        """The first guild, which the default world has."""
        return next(iter(self.discord.guilds.values()))

    def find_guild(self, guild_id: int) -> Guild:
        """Find a guild by its id."""
        return _found(self.discord.guilds.get(guild_id), "guild", guild_id)

    def find_channel(self, channel_id: int) -> Channel:
        """Find a channel, thread or DM by its id."""
        return _found(self.discord.channels.get(channel_id), "channel", channel_id)

    def find_person(self, user_id: int) -> Person:
        """Find a person by their id; the bot and the guilds' owners are none."""
        return _found(self.people.get(user_id), "user", user_id)

    def find_message(self, message_id: int) -> Message:
        """Find a message by its id, in whatever channel it is."""
        for messages in self.discord.messages.values():
            if message_id in messages:
                return messages[message_id]
        return _found(None, "message", message_id)

    def channel(self, name: str) -> Channel:
        """Find a channel of the first guild by its name, for scripts and tests."""
        ids = self.guild.channel_ids
        named = (one for one in map(self.find_channel, ids) if one.name == name)
        return _found(next(named, None), "channel", name)

    def person(self, name: str) -> Person:
        """Find a person by their name, for scripts and tests."""
        named = (one for one in self.people.values() if one.name == name)
        return _found(next(named, None), "user", name)

    def messages(self, channel_id: int, *, viewer: int | None = None) -> list[Message]:
        """List a channel's messages, oldest first; ephemeral ones only for whom they are for."""
        self.find_channel(channel_id)
        kept = self.discord.messages[channel_id]
        return [kept[one] for one in sorted(kept) if kept[one].visible_to(viewer)]

    def color(self, user_id: int) -> str:
        """Answer the colour to show a name in."""
        person = self.people.get(user_id)
        return person.color if person is not None else _COLORS[0]

    def require_access(self, channel_id: int, user_id: int) -> Channel:
        """Refuse a channel that the person cannot see; answer it."""
        channel = self.find_channel(channel_id)
        person = self.find_person(user_id)
        if not channel_accessible(self.discord, channel_id, user_id):
            raise NotPossible(f"{person.name} cannot see channel {channel_id}")
        return channel

    # ------------------------------------------------------------------------------------ building

    def add_guild(self, name: str, *, shard: int = 0) -> Guild:
        """Create a guild that falls on `shard`, with the bot and everybody known in it."""
        if not 0 <= shard < self.shards:
            raise NotPossible(f"shard {shard} is not one of the {self.shards} from 0")
        owner = self.discord.make_user(f"Owner of {name}")
        guild = self.discord.create_guild(
            name, owner_id=owner.id, shard_id=shard, shard_count=self.shards
        )
        self.discord.edit_role(
            guild.id, self.bot_role(guild).id, {"permissions": BOT_PERMISSIONS.value}
        )
        for person in self.people.values():
            self.discord.add_member(guild.id, person.id, announce=True)
        return guild

    def bot_role(self, guild: Guild) -> Role:
        """Find the role that the bot's invite made in the guild."""
        return next(role for role in guild.roles.values() if role.managed)

    def add_channel(self, guild_id: int, name: str) -> Channel:
        """Create a text channel that everybody in the guild may write in."""
        self.find_guild(guild_id)
        return self.discord.create_channel(guild_id, name)

    def change_channel(
        self,
        channel_id: int,
        *,
        name: str | None = None,
        archived: bool | None = None,
        locked: bool | None = None,
        deny: Iterable[str] | None = None,
    ) -> Channel:
        """Rename a channel, archive or lock a thread, or take permissions from the bot in it."""
        channel = self.find_channel(channel_id)
        state = {"archived": archived, "locked": locked}
        thread = {key: value for key, value in state.items() if value is not None}
        if thread and channel.thread_metadata is None:
            raise NotPossible(f"channel {channel_id} is no thread")
        if deny is not None:
            denied = permission_bits(deny)
            bot = self.discord.bot_user.id
            self.discord.set_overwrite(
                channel_id, Overwrite(bot, OverwriteType.MEMBER, deny=denied)
            )
        if name is not None or thread:
            changes = {} if name is None else {"name": name}
            self.discord.edit_channel(channel_id, changes, thread_metadata=thread)
        return channel

    def delete_channel(self, channel_id: int) -> None:
        """Delete a guild's channel or thread."""
        if self.find_channel(channel_id).guild_id is None:
            raise NotPossible("a DM cannot be deleted")
        self.discord.delete_channel(channel_id)

    def add_person(
        self,
        name: str,
        *,
        guild_id: int | None = None,
        permissions: Iterable[str] = (),
        bot: bool = False,
    ) -> Person:
        """Create a person, or another bot, who joins the guild, or all when none is named."""
        guilds = list(self.discord.guilds) if guild_id is None else [self.find_guild(guild_id).id]
        granted = tuple(permissions)
        permission_bits(granted)
        user = self.discord.make_user(name.lower(), global_name=name, bot=bot)
        person = Person(user.id, name, _COLORS[(len(self.people) + 1) % len(_COLORS)], bot)
        self.people[person.id] = person
        for one in guilds:
            self.discord.add_member(one, person.id, announce=True)
            if granted:
                self.grant(one, person.id, granted, role=f"{name}'s role")
        return person

    def grant(self, guild_id: int, user_id: int, permissions: Iterable[str], *, role: str) -> None:
        """Give a person permissions, by discord.py's names, through a role of their own."""
        made = self.discord.create_role(guild_id, role, permissions=permission_bits(permissions))
        self.discord.add_member_role(guild_id, user_id, made.id)

    def block_words(self, words: Iterable[str]) -> None:
        """Let AutoMod refuse what the bot says in guilds with any of these words in it."""
        self.discord.blocked_words = tuple(word.casefold() for word in words)

    def open_dm(self, user_id: int) -> Channel:
        """Open the person's DM with the bot, or find it."""
        self.find_person(user_id)
        return self.discord.get_dm_channel(user_id)


def permission_bits(names: Iterable[str]) -> int:
    """Add up permissions given by discord.py's names, such as `manage_messages`."""
    bits = discord.Permissions.none()
    for name in names:
        if name not in discord.Permissions.VALID_FLAGS:
            raise NotPossible(f"there is no permission {name!r}")
        setattr(bits, name, True)
    return bits.value


def _found(thing: Thing | None, kind: str, key: object) -> Thing:
    if thing is None:
        raise NotPossible(f"there is no {kind} {key}")
    return thing
