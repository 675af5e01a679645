"""
Add the fields that Discord always sends and simcord leaves out.

discord.py needs some of them; other libraries and Discord's own schema ask for the rest. Objects
are told apart by fields that only they have.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

_USER = frozenset({"username", "discriminator"})
_ROLE = frozenset({"hoist", "mentionable"})
_REPLY = frozenset({"message_reference", "author"})
_MESSAGE = frozenset({"embeds", "author"})
_COMPONENT = frozenset({"custom_id", "type"})
_ATTACHMENT = frozenset({"filename", "url", "proxy_url"})

_SELECTS = (3, 5, 6, 7, 8)
"""Types of menus to choose from."""

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


@dataclass(frozen=True, slots=True)
class Known:
    """
    Tell what fields are filled with.

    `bot_id` marks managed roles as the bot's own, which is how discord.py finds `Guild.self_role`.
    `applications` are those of webhooks, ids as strings; `signed` gives a file's address out anew.
    """

    bot_id: int
    applications: Mapping[str, str]
    signed: Callable[[str], str]


def complete(value: dict[str, Any], known: Known) -> dict[str, Any]:
    """Fill the object and the objects within it, in place; answer the same object."""
    for inner in value.values():
        for item in inner if isinstance(inner, list) else [inner]:
            if isinstance(item, dict):
                complete(item, known)
    keys = value.keys()
    for marks, defaults in _ALWAYS:
        if keys >= marks:
            value.update((key, default) for key, default in defaults.items() if key not in value)
    if keys >= _ROLE and value.get("managed"):
        value.setdefault("tags", {"bot_id": str(known.bot_id)})
    if keys >= _ATTACHMENT:
        value["url"] = value["proxy_url"] = known.signed(value["url"])
    _complete_message(value, known)
    return value


def _complete_message(value: dict[str, Any], known: Known) -> None:
    """Fill a message, a component of one, or what is neither and hence left alone."""
    keys = value.keys()
    if keys >= _REPLY and value["message_reference"].get("type", 0) == 0:
        # Null says that the message is gone; without the field it would be unknown.
        value.setdefault("referenced_message", None)
    if value.get("nonce", "") is None:
        del value["nonce"]
    if keys >= _COMPONENT:
        _complete_component(value)
    if keys >= _MESSAGE:
        _complete_embeds(value["embeds"])
        if (application := known.applications.get(value.get("webhook_id", ""))) is not None:
            value["application_id"] = application


def _complete_component(component: dict[str, Any]) -> None:
    if component["type"] in _SELECTS:
        component.setdefault("min_values", 1)
        component.setdefault("max_values", 1)
    emoji = component.get("emoji")
    if emoji and emoji.get("id", "") is None:
        # discord.py sends null for an emoji of Unicode, and Discord answers without the field.
        del emoji["id"]


def _complete_embeds(embeds: list[dict[str, Any]]) -> None:
    for embed in embeds:
        embed.setdefault("type", "rich")
        for field in embed.get("fields") or []:
            field.setdefault("inline", False)
