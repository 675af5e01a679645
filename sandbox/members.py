"""Answer a client that asks the gateway for the members of a guild."""

from typing import Any

from simcord.backend import serializers
from simcord.backend.models import Guild, Member

from sandbox.backend import Discord

CHUNK = 1_000
"""Members in one GUILD_MEMBERS_CHUNK."""


def member_chunks(discord: Discord, wanted: dict[str, Any]) -> list[dict[str, Any]]:
    """Build the chunks for a REQUEST_GUILD_MEMBERS; an unknown guild is answered by none."""
    guild = discord.guilds.get(int(wanted["guild_id"]))
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
            "nonce": wanted.get("nonce"),
        }
        for index, chunk in enumerate(chunks)
    ]


def _chosen(discord: Discord, guild: Guild, wanted: dict[str, Any]) -> list[Member]:
    members = list(guild.members.values())
    ids = wanted.get("user_ids")
    if ids is not None:
        chosen = {int(one) for one in (ids if isinstance(ids, list) else [ids])}
        members = [member for member in members if member.user_id in chosen]
    prefix = (wanted.get("query") or "").lower()
    members = [one for one in members if discord.users[one.user_id].name.startswith(prefix)]
    return members[: wanted.get("limit") or None]
