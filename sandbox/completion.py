"""
Add the fields that Discord always sends and simcord leaves out.

discord.py needs some of them; other libraries and Discord's own schema ask for the rest. Objects
are told apart by fields that only they have.
"""

from typing import Any

_USER = frozenset({"username", "discriminator"})
_ROLE = frozenset({"hoist", "mentionable"})
_REPLY = frozenset({"message_reference", "author"})

_ALWAYS: tuple[tuple[frozenset[str], dict[str, Any]], ...] = (
    (_USER, {"primary_guild": None}),
    (frozenset({"joined_at", "premium_since"}), {"banner": None}),
    (frozenset({"id", "permission_overwrites"}), {"flags": 0, "nsfw": False}),
    (frozenset({"id", "recipients"}), {"flags": 0}),
    (
        frozenset({"owner_id", "afk_timeout"}),
        {
            "home_header": None,
            "incidents_data": None,
            "max_stage_video_channel_users": 50,
            "max_video_channel_users": 25,
            "nsfw": False,
            "nsfw_level": 0,
            "region": "deprecated",
            "safety_alerts_channel_id": None,
            "widget_channel_id": None,
            "widget_enabled": False,
        },
    ),
    (
        frozenset({"verify_key", "team"}),
        {
            "approximate_guild_count": 1,
            "approximate_user_authorization_count": 0,
            "approximate_user_install_count": 0,
            "eligible_oauth2_scopes": [],
            "explicit_content_filter": 0,
            "interactions_endpoint_url": None,
            "redirect_uris": [],
            "role_connections_verification_url": None,
            "type": None,
        },
    ),
)


def complete(value: dict[str, Any], bot_id: int) -> dict[str, Any]:
    """
    Fill the object and the objects within it, in place; answer the same object.

    `bot_id` marks managed roles as the bot's own, which is how discord.py finds `Guild.self_role`.
    """
    for inner in value.values():
        for item in inner if isinstance(inner, list) else [inner]:
            if isinstance(item, dict):
                complete(item, bot_id)
    keys = value.keys()
    for marks, defaults in _ALWAYS:
        if keys >= marks:
            value.update((key, default) for key, default in defaults.items() if key not in value)
    if keys >= _ROLE and value.get("managed"):
        value.setdefault("tags", {"bot_id": str(bot_id)})
    if keys >= _REPLY and value["message_reference"].get("type", 0) == 0:
        # Null says that the message is gone; without the field it would be unknown.
        value.setdefault("referenced_message", None)
    if value.get("nonce", "") is None:
        del value["nonce"]
    return value
