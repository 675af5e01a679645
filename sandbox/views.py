"""Show the world as JSON: the shapes that the control API and the page read. Ids are strings."""

from typing import Any

from discord import Permissions
from simcord.backend.models import Channel, Guild, Message
from simcord.enums import ChannelType

from sandbox.places import Person
from sandbox.world import World

LOADING = 1 << 7
SNIPPET = 120
"""Characters of the quoted message that a reply shows."""


def person_view(person: Person) -> dict[str, Any]:
    """Show a person."""
    return {"id": str(person.id), "name": person.name, "color": person.color, "bot": person.bot}


def channel_view(channel: Channel) -> dict[str, Any]:
    """Show a channel, thread or DM; `kind` is `text`, `thread` or `dm`."""
    state = channel.thread_metadata
    dm = channel.type == ChannelType.DM
    return {
        "id": str(channel.id),
        "kind": "dm" if dm else "thread" if channel.is_thread else "text",
        "name": channel.name,
        "guild_id": _id(channel.guild_id),
        "parent_id": _id(channel.parent_id),
        "user_id": str(channel.recipient_ids[0]) if dm else None,
        "archived": state.archived if state else False,
        "locked": state.locked if state else False,
    }


def guild_view(world: World, guild: Guild) -> dict[str, Any]:
    """Show a guild with its channels and threads, and what its people may do."""
    ids = [*guild.channel_ids, *guild.thread_ids]
    permissions = {
        str(one): _permission_names(world.discord.compute_permissions(guild.id, one))
        for one in guild.members
        if one in world.people
    }
    return {
        "id": str(guild.id),
        "name": guild.name,
        "owner_id": str(guild.owner_id),
        "shard": (guild.id >> 22) % world.shards,
        "channels": [channel_view(world.discord.channels[one]) for one in ids],
        "roles": [
            {"id": str(role.id), "name": role.name}
            for role in guild.roles.values()
            if role.id != guild.id
        ],
        "bot_role_id": str(world.bot_role(guild).id),
        "permissions": permissions,
    }


def dm_view(channel: Channel) -> dict[str, Any]:
    """Show a DM and whose it is."""
    return {"channel_id": str(channel.id), "user_id": str(channel.recipient_ids[0])}


def world_view(world: World) -> dict[str, Any]:
    """Show everything but the messages."""
    bot = world.discord.bot_user
    dms = [world.discord.channels[one] for one in world.discord.dm_channels.values()]
    return {
        "application_id": str(world.discord.application_id),
        "bot": {"id": str(bot.id), "name": bot.name, "color": world.color(bot.id), "bot": True},
        "guilds": [guild_view(world, guild) for guild in world.discord.guilds.values()],
        "users": [person_view(person) for person in world.people.values()],
        "dms": [dm_view(channel) for channel in dms],
    }


def message_view(world: World, message: Message) -> dict[str, Any]:
    """Show a message as the control API and the page's events describe it."""
    channel = world.discord.channels[message.channel_id]
    nonce = world.discord.nonces.get(message.id)
    return {
        "id": str(message.id),
        "channel_id": str(message.channel_id),
        "guild_id": _id(channel.guild_id),
        "author": author_view(world, message),
        "content": message.content,
        "type": message.type,
        "flags": message.flags,
        "created_at": message.timestamp,
        "edited": message.edited_timestamp is not None,
        "edited_at": message.edited_timestamp,
        "reference": _reference_view(world, message),
        "mentions": [str(one) for one in message.ping_user_ids],
        "mention_roles": [str(one) for one in message.ping_role_ids],
        "mention_everyone": message.mention_everyone,
        "reactions": reaction_views(message),
        "components": message.components,
        "attachments": [_attachment_view(world, one) for one in message.attachments],
        "embeds": message.embeds,
        "nonce": None if nonce is None else str(nonce),
        "ephemeral": message.is_ephemeral,
        "thinking": bool(message.flags & LOADING),
        "interaction": _interaction_view(message),
        "thread_id": str(message.id) if message.id in world.discord.channels else None,
    }


def _attachment_view(world: World, attachment: dict[str, Any]) -> dict[str, Any]:
    return {**attachment, "url": world.discord.files.signed(attachment["url"])}


def author_view(world: World, message: Message) -> dict[str, Any]:
    """Show who wrote a message."""
    user = world.discord.users[message.author_id]
    return {
        "id": str(user.id),
        "name": message.author_name or user.global_name or user.name,
        "bot": user.bot,
        "color": world.color(user.id),
    }


def reaction_views(message: Message) -> list[dict[str, Any]]:
    """Show who reacted with what."""
    return [
        {
            "emoji": reaction.emoji,
            "count": len(reaction.user_ids),
            "users": [str(one) for one in reaction.user_ids],
        }
        for reaction in message.reactions
    ]


def _reference_view(world: World, message: Message) -> dict[str, Any] | None:
    reference = message.reference
    if reference is None:
        return None
    channel_id = int(reference.get("channel_id", message.channel_id))
    target = world.discord.messages.get(channel_id, {}).get(int(reference["message_id"]))
    return {
        "message_id": reference["message_id"],
        "author": None if target is None else author_view(world, target),
        "content": None if target is None else target.content[:SNIPPET],
    }


def _interaction_view(message: Message) -> dict[str, Any] | None:
    origin = message.interaction_metadata
    if origin is None:
        return None
    return {"user_id": origin["user"]["id"], "name": origin.get("name")}


def _permission_names(bits: int) -> list[str]:
    return [name for name, held in Permissions(bits) if held]


def _id(value: int | None) -> str | None:
    return None if value is None else str(value)
