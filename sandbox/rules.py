"""
Carry out one REST request: simcord's rules, and what Discord does that simcord leaves out.

Left out there: nonces, replies to what is gone, archived and locked threads, the paging of history,
lengths in UTF-16, and the limits on files.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from io import BytesIO
from typing import Any

from simcord.backend import errors, permissions, serializers
from simcord.backend.errors import BackendError
from simcord.http import RouteNotImplemented, UnsupportedField, dispatch

from sandbox.backend import CHANNEL_MESSAGES
from sandbox.cdn import ATTACHMENT_BYTES
from sandbox.completion import complete
from sandbox.world import MESSAGE_UNITS, World, utf16_units

NONCE_LENGTH = 25
FILES_PER_MESSAGE = 10
HISTORY_PAGE = 100
"""Messages in the largest page of history."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Upload:
    """Hold one file of a multipart request, under the names by which simcord reads it."""

    filename: str
    fp: BytesIO
    description: str | None = None

    @property
    def size(self) -> int:
        """Answer the number of bytes."""
        return self.fp.getbuffer().nbytes


@dataclass(frozen=True, slots=True)
class Call:
    """Describe one request. `path` begins after the API's version, still percent-encoded."""

    method: str
    path: str
    query: dict[str, str] = field(default_factory=dict)
    body: Any = None
    files: tuple[Upload, ...] = ()
    reason: str | None = None

    @property
    def parts(self) -> list[str]:
        """Answer the parts of the path."""
        return self.path.strip("/").split("/")


@dataclass(frozen=True, slots=True)
class Answer:
    """Hold a status and a JSON body; no body goes with 204."""

    status: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


def refusal(status: int, code: int, message: str) -> Answer:
    """Answer an error in Discord's form."""
    return Answer(status, {"message": message, "code": code})


def carry_out(world: World, call: Call) -> Answer:
    """Do what the request asks, at once and whole, and answer as Discord would."""
    rule = next((rule for method, form, rule in _RULES if _fits(call, method, form)), _plain)
    try:
        answer = rule(world, call)
    except (RouteNotImplemented, UnsupportedField) as gap:
        _log.warning("%s", gap)
        return Answer(501, gap.to_json())
    except BackendError as error:
        return Answer(error.status, error.to_json())
    except (AttributeError, KeyError, TypeError, ValueError, NotImplementedError) as error:
        # simcord trusts the shape of a body; Discord answers a malformed one with this code.
        _log.warning("%s %s is malformed: %r", call.method, call.path, error)
        return refusal(400, 50035, f"Invalid Form Body: {error!r}")
    finally:
        world.discord.http_requests.clear()
        world.discord.transcript.clear()
    return Answer(answer.status, _completed(world, answer.body))


def _completed(world: World, body: Any) -> Any:  # noqa: ANN401 - any JSON
    bot = world.discord.application_id
    for item in body if isinstance(body, list) else [body]:
        if isinstance(item, dict):
            complete(item, bot)
    return body


def _fits(call: Call, method: str, form: str) -> bool:
    wanted = form.split("/")
    return (
        call.method == method
        and len(call.parts) == len(wanted)
        and all(want in ("*", part) for part, want in zip(call.parts, wanted, strict=True))
    )


def _plain(world: World, call: Call) -> Answer:
    body = _dispatch(world, call)
    return Answer(204) if body is None else Answer(200, body)


def _dispatch(world: World, call: Call) -> Any:  # noqa: ANN401 - any JSON
    return dispatch(
        world.discord,
        call.method,
        call.path,
        json=call.body,
        params=call.query,
        files=list(call.files),
        reason=call.reason,
    )


def _commands(world: World, call: Call) -> Answer:
    commands = _dispatch(world, call)
    return Answer(200, [{**command, "version": command["id"]} for command in commands])


def _application(world: World, call: Call) -> Answer:
    flags = world.application_flags
    return Answer(200, {**_dispatch(world, call), "flags": flags, "flags_new": str(flags)})


# ---------------------------------------------------------------------------------------- messages


def _create(world: World, call: Call) -> Answer:
    discord, channel_id = world.discord, int(call.parts[1])
    body = dict(call.body or {})
    nonce = _nonce(body)
    if nonce is not None and body.get("enforce_nonce"):
        made = world.nonces.recall(nonce)
        if made is not None:
            known = discord.get_message(made.channel_id, made.message_id)
            return Answer(200, {**serializers.message_payload(discord, known), "nonce": nonce})
    _require_sendable(body, call)
    _resolve_reply(world, channel_id, body)
    discord.wake_thread(channel_id, discord.bot_user.id)
    discord.nonce_in_flight = nonce
    try:
        message = _dispatch(world, replace(call, body=body))
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


def _edit(world: World, call: Call) -> Answer:
    if call.parts[0] == "channels":
        _require_open(world, int(call.parts[1]))
    # Other libraries send these on an edit too; Discord ignores them there.
    ignored = ("tts", "nonce", "enforce_nonce", "sticker_ids")
    body = {key: value for key, value in (call.body or {}).items() if key not in ignored}
    _require_lengths(body, call)
    if call.parts[0] == "channels":
        _require_left(world, call, body)
    return Answer(200, _dispatch(world, replace(call, body=body)))


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


def _respond(world: World, call: Call) -> Answer:
    """Answer an interaction for the first time, or execute its webhook."""
    body = call.body or {}
    _require_lengths((body.get("data") or {}) if call.parts[0] == "interactions" else body, call)
    return _plain(world, call)


def _react(world: World, call: Call) -> Answer:
    _require_open(world, int(call.parts[1]))
    return _plain(world, call)


def _history(world: World, call: Call) -> Answer:
    limit = int(call.query.get("limit", 50))
    if not 1 <= limit <= HISTORY_PAGE:
        raise errors.invalid_form_body(f"limit: Must be between 1 and {HISTORY_PAGE}.")
    if "after" not in call.query:
        return _plain(world, call)
    # Discord pages forward from `after`; simcord answers the newest of all that follow.
    everything = {**call.query, "limit": str(CHANNEL_MESSAGES)}
    return Answer(200, _dispatch(world, replace(call, query=everything))[-limit:])


# ----------------------------------------------------------------------------------------- threads


def _thread(world: World, call: Call) -> Answer:
    return Answer(201, _dispatch(world, call))


def _thread_on_message(world: World, call: Call) -> Answer:
    discord, channel_id = world.discord, int(call.parts[1])
    discord.require_permissions(
        discord.get_channel(channel_id).guild_id,
        discord.bot_user.id,
        channel_id,
        "create_public_threads",
        "read_message_history",
    )
    thread = discord.start_thread(
        channel_id,
        discord.bot_user.id,
        call.body["name"],
        message_id=int(call.parts[3]),
        auto_archive_duration=int(call.body.get("auto_archive_duration") or 1440),
    )
    return Answer(201, dict(serializers.thread_payload(discord, thread)))


def _require_open(world: World, channel_id: int) -> None:
    state = world.discord.get_channel(channel_id).thread_metadata
    if state is not None and state.archived:
        raise BackendError(400, 50083, "Thread is archived")


_RULES: tuple[tuple[str, str, Callable[[World, Call], Answer]], ...] = (
    ("POST", "channels/*/messages", _create),
    ("PATCH", "channels/*/messages/*", _edit),
    ("GET", "channels/*/messages", _history),
    ("PUT", "channels/*/messages/*/reactions/*/@me", _react),
    ("POST", "channels/*/messages/*/threads", _thread_on_message),
    ("POST", "channels/*/threads", _thread),
    ("POST", "interactions/*/*/callback", _respond),
    ("POST", "webhooks/*/*", _respond),
    ("PATCH", "webhooks/*/*/messages/*", _edit),
    ("PUT", "applications/*/commands", _commands),
    ("GET", "applications/*/commands", _commands),
    ("PUT", "applications/*/guilds/*/commands", _commands),
    ("GET", "applications/*/guilds/*/commands", _commands),
    ("GET", "oauth2/applications/@me", _application),
)
"""What differs from simcord, by method and path; `*` stands for one part of it."""
