"""
Carry out what concerns messages.

What simcord leaves out of it: nonces, replies to what is gone, archived and locked threads, lengths
in UTF-16, the limits on files, and the paging of history.
"""

from dataclasses import replace
from typing import Any

from simcord.backend import errors, permissions, serializers
from simcord.backend.errors import BackendError

from sandbox.backend import CHANNEL_MESSAGES
from sandbox.calls import Answer, Call, plain, require_open, simulated
from sandbox.cdn import ATTACHMENT_BYTES
from sandbox.world import MESSAGE_UNITS, World, utf16_units

NONCE_LENGTH = 25
FILES_PER_MESSAGE = 10
HISTORY_PAGE = 100
"""Messages in the largest page of history."""


def create(world: World, call: Call) -> Answer:
    """Make a message, once for each nonce."""
    discord, channel_id = world.discord, int(call.parts[1])
    body = dict(call.body or {})
    nonce = _nonce(body)
    if nonce is not None and body.get("enforce_nonce"):
        made = world.nonces.recall(nonce)
        if made is not None:
            known = discord.get_message(made.channel_id, made.message_id)
            return Answer(200, {**serializers.message_payload(discord, known), "nonce": nonce})
    _require_sendable(body, call)
    _require_rights(world, channel_id, body, call)
    _require_decent(world, channel_id, body)
    _resolve_reply(world, channel_id, body)
    discord.wake_thread(channel_id, discord.bot_user.id)
    discord.nonce_in_flight = nonce
    try:
        message = simulated(world, replace(call, body=body))
    finally:
        discord.nonce_in_flight = None
    if nonce is not None:
        world.nonces.remember(nonce, channel_id=channel_id, message_id=int(message["id"]))
        message["nonce"] = nonce
    return Answer(200, message)


def _nonce(body: dict[str, Any]) -> str | int | None:
    nonce = body.get("nonce")
    if nonce is None or (isinstance(nonce, int) and not isinstance(nonce, bool)):
        return nonce
    if isinstance(nonce, str) and len(nonce) <= NONCE_LENGTH:
        return nonce
    raise errors.invalid_form_body(f"nonce: at most {NONCE_LENGTH} characters, or an integer")


def edit(world: World, call: Call) -> Answer:
    """Change a message."""
    if call.parts[0] == "channels":
        require_open(world, int(call.parts[1]))
    # Other libraries send these on an edit too; Discord ignores them there.
    ignored = ("tts", "nonce", "enforce_nonce", "sticker_ids")
    body = {key: value for key, value in (call.body or {}).items() if key not in ignored}
    _require_lengths(body, call)
    if call.parts[0] == "channels":
        _require_left(world, call, body)
        _require_rights(world, int(call.parts[1]), body, call)
        _require_decent(world, int(call.parts[1]), body)
    message = simulated(world, replace(call, body=body))
    message.setdefault("components", [])
    return Answer(200, message)


def _require_left(world: World, call: Call, body: dict[str, Any]) -> None:
    """Refuse an edit that leaves nothing of a message."""
    kept = world.discord.get_message(int(call.parts[1]), int(call.parts[3]))
    parts = ("content", "embeds", "components", "attachments", "poll")
    if not call.files and not any(body.get(part, getattr(kept, part)) for part in parts):
        raise _empty()


def _empty() -> BackendError:
    return BackendError(400, 50006, "Cannot send an empty message")


def _require_sendable(body: dict[str, Any], call: Call) -> None:
    parts = ("embeds", "embed", "components", "sticker_ids", "poll", "message_reference")
    if not (body.get("content") or "").strip() and not any(map(body.get, parts)) and not call.files:
        raise _empty()
    _require_lengths(body, call)


def _require_lengths(body: dict[str, Any], call: Call) -> None:
    if utf16_units(body.get("content") or "") > MESSAGE_UNITS:
        raise errors.invalid_form_body(f"content: Must be {MESSAGE_UNITS} or fewer in length.")
    if len(call.files) > FILES_PER_MESSAGE:
        raise errors.invalid_form_body(f"files: Must be {FILES_PER_MESSAGE} or fewer in length.")
    if any(upload.size > ATTACHMENT_BYTES for upload in call.files):
        raise BackendError(413, 40005, "Request entity too large")


def _require_rights(world: World, channel_id: int, body: dict[str, Any], call: Call) -> None:
    """Refuse embeds and files where the bot may send none; that it may write, simcord checks."""
    discord = world.discord
    guild_id = discord.get_channel(channel_id).guild_id
    needed = [
        *(["embed_links"] if body.get("embeds") else []),
        *(["attach_files"] if call.files else []),
    ]
    if guild_id is not None and needed:
        discord.require_permissions(guild_id, discord.bot_user.id, channel_id, *needed)


def _require_decent(world: World, channel_id: int, body: dict[str, Any]) -> None:
    """Refuse what AutoMod blocks in a guild."""
    discord = world.discord
    if discord.get_channel(channel_id).guild_id is None:
        return
    text = str(body.get("content") or "").casefold()
    if any(word in text for word in discord.blocked_words):
        raise BackendError(400, 200000, "Message was blocked by automatic moderation")


def _resolve_reply(world: World, channel_id: int, body: dict[str, Any]) -> None:
    """Refuse a reply to what is gone, or drop the reference where the bot allows for that."""
    reference = body.get("message_reference")
    if not isinstance(reference, dict) or reference.get("type", 0) != 0:
        return
    discord = world.discord
    if int(reference["message_id"]) in discord.messages.get(channel_id, {}):
        guild = discord.get_channel(channel_id).guild_id
        if guild is not None:
            held = discord.compute_permissions(guild, discord.bot_user.id, channel_id)
            if not held & permissions.flag("read_message_history"):
                text = "Cannot reply without permission to read message history"
                raise BackendError(403, 160002, text)
    elif reference.get("fail_if_not_exists", True):
        unknown = {"code": "REPLIES_UNKNOWN_MESSAGE", "message": "Unknown message"}
        raise errors.invalid_form_body(errors={"message_reference": {"_errors": [unknown]}})
    else:
        del body["message_reference"]


def respond(world: World, call: Call) -> Answer:
    """Answer an interaction for the first time, or execute a webhook."""
    body = call.body or {}
    said = body if call.parts[0] == "webhooks" else body.get("data") or {}
    _require_lengths(said, call)
    record = world.discord.interaction_of(call.parts[2])
    if record is not None:
        _require_decent(world, record.channel_id, said)
    if call.parts[0] == "webhooks":
        return plain(world, call)
    answer = plain(world, call)
    asked = call.query.get("with_response", "").lower() in ("true", "1")
    return answer if asked else Answer(204)


def history(world: World, call: Call) -> Answer:
    """Answer a page of history."""
    limit = int(call.query.get("limit", 50))
    if not 1 <= limit <= HISTORY_PAGE:
        raise errors.invalid_form_body(f"limit: Must be between 1 and {HISTORY_PAGE}.")
    if "after" not in call.query:
        return plain(world, call)
    # Discord pages forward from `after`; simcord answers the newest of all that follow.
    everything = {**call.query, "limit": str(CHANNEL_MESSAGES)}
    return Answer(200, simulated(world, replace(call, query=everything))[-limit:])
