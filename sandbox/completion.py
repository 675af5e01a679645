"""
Add the fields that Discord always sends and simcord leaves out.

discord.py needs some of them, and Discord's own schema and other libraries ask for the rest.
Objects are told apart by the fields that only they have.
"""

from typing import Any

_USER = frozenset({"username", "discriminator"})
_ROLE = frozenset({"hoist", "mentionable"})
_GUILD = frozenset({"owner_id", "afk_timeout"})


def complete(value: dict[str, Any], bot_id: int) -> dict[str, Any]:
    """
    Fill the object and the objects within it, in place; answer the same object.

    `bot_id` marks managed roles as the bot's own, which is how discord.py finds `Guild.self_role`.
    """
    for inner in value.values():
        if isinstance(inner, dict):
            complete(inner, bot_id)
        elif isinstance(inner, list):
            for item in inner:
                if isinstance(item, dict):
                    complete(item, bot_id)
    if value.get("nonce", "") is None:
        del value["nonce"]
    if value.keys() >= _USER:
        value.setdefault("primary_guild", None)
    elif value.keys() >= _ROLE and value.get("managed"):
        value.setdefault("tags", {"bot_id": str(bot_id)})
    elif value.keys() >= _GUILD:
        value.setdefault("nsfw_level", 0)
    return value
