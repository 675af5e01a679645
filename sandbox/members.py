"""Answer a client that asks the gateway for the members of a guild."""

from typing import Any

from simcord.backend import serializers
from simcord.backend.models import Guild, Member

from sandbox.backend import Discord
from sandbox.protocol import Members

CHUNK = 1_000
"""Members in one GUILD_MEMBERS_CHUNK."""


def member_chunks(discord: Discord, wanted: Members) -> list[dict[str, Any]]:
    """Build the chunks that answer; an unknown guild is answered by none, as on Discord."""
    guild = discord.guilds.get(wanted.guild_id)
    if guild is None:
        return []
    members = _chosen(discord, guild, wanted)
    chunks = [members[start : start + CHUNK] for start in range(0, len(members), CHUNK)] or [[]]
    return [
        {
            "guild_id": str(guild.id),
            "members": [dict(serializers.member_payload(discord, guild, one)) for one in chunk],
            "chunk_index": index,
            "chunk_count": len(chunks),
            "not_found": [],
            "nonce": wanted.nonce,
        }
        for index, chunk in enumerate(chunks)
    ]


def _chosen(discord: Discord, guild: Guild, wanted: Members) -> list[Member]:
    members = list(guild.members.values())
    if wanted.user_ids is not None:
        ids = [wanted.user_ids] if isinstance(wanted.user_ids, int) else wanted.user_ids
        return [member for member in members if member.user_id in ids]
    prefix = wanted.query.lower()
    named = [one for one in members if discord.users[one.user_id].name.lower().startswith(prefix)]
    return named[: wanted.limit or None]
