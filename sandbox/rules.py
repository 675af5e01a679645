"""
Carry out one REST request: simcord's rules, and what Discord does that simcord leaves out.

What concerns messages is in `posting`.
"""

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from simcord.backend import serializers
from simcord.backend.errors import BackendError
from simcord.http import RouteNotImplemented, UnsupportedField

from sandbox import posting
from sandbox.calls import Answer, Call, plain, refusal, require_open, simulated
from sandbox.world import World

UNKNOWN_WEBHOOK = 10015
"""What simcord answers with when an interaction's token has expired."""

_log = logging.getLogger(__name__)


def carry_out(world: World, call: Call) -> Answer:
    """Do what the request asks, at once and whole, and answer as Discord would."""
    rule = next((rule for method, form, rule in _RULES if _fits(call, method, form)), plain)
    try:
        answer = rule(world, call)
    except (RouteNotImplemented, UnsupportedField) as gap:
        _log.warning("%s", gap)
        return Answer(501, gap.to_json())
    except BackendError as error:
        return _refused(world, call, error)
    except (AttributeError, KeyError, TypeError, ValueError, NotImplementedError) as error:
        # simcord trusts the shape of a body; Discord answers a malformed one with this code.
        _log.warning("%s %s is malformed: %r", call.method, call.path, error)
        return refusal(400, 50035, f"Invalid Form Body: {error!r}")
    finally:
        world.discord.http_requests.clear()
        world.discord.transcript.clear()
    return Answer(answer.status, _completed(world, answer.body))


def _refused(world: World, call: Call, error: BackendError) -> Answer:
    match call.parts:
        case ["webhooks", owner, token, *_] if error.code == UNKNOWN_WEBHOOK and owner == str(
            world.discord.application_id
        ):
            record = world.discord.interaction_of(token)
            if record is None or (record.expires_at or "") <= world.discord.now_iso():
                return refusal(401, 50027, "Invalid Webhook Token")
        case _:
            pass
    return Answer(error.status, error.to_json())


def _completed(world: World, body: Any) -> Any:  # noqa: ANN401 - any JSON
    for item in body if isinstance(body, list) else [body]:
        if isinstance(item, dict):
            world.discord.completed(item)
    return body


def _fits(call: Call, method: str, form: str) -> bool:
    wanted = form.split("/")
    return (
        call.method == method
        and len(call.parts) == len(wanted)
        and all(want in ("*", part) for part, want in zip(call.parts, wanted, strict=True))
    )


def _commands(world: World, call: Call) -> Answer:
    commands = simulated(world, call)
    return Answer(200, [_registered(command) for command in commands])


def _registered(command: dict[str, Any]) -> dict[str, Any]:
    needed = command.get("default_member_permissions")
    return {
        **command,
        "version": command["id"],
        # Unless the bot said otherwise, a command is for those who install it to their guild.
        "integration_types": command.get("integration_types") or [0],
        "default_member_permissions": None if needed is None else str(needed),
    }


def _application(world: World, call: Call) -> Answer:
    """Show the application as both of its addresses do."""
    flags = world.application_flags
    known = simulated(world, replace(call, path="/oauth2/applications/@me"))
    return Answer(200, {**known, "flags": flags, "flags_new": str(flags)})


def _own_guilds(world: World, call: Call) -> Answer:
    discord = world.discord
    shown = [
        {
            **guild,
            "owner": False,
            "permissions": str(discord.compute_permissions(int(guild["id"]), discord.bot_user.id)),
        }
        for guild in simulated(world, call)
    ]
    return Answer(200, shown)


def _active_threads(world: World, call: Call) -> Answer:
    return Answer(200, {**simulated(world, call), "has_more": False})


def _by_webhook(world: World, call: Call) -> Answer:
    """Say something by a webhook, whose answer shows the message only when asked to wait for it."""
    answer = posting.respond(world, call)
    follows_up = call.parts[2] in world.discord.interaction_tokens
    waited = call.query.get("wait", "").lower() in ("true", "1")
    return answer if follows_up or waited else Answer(204)


def _react(world: World, call: Call) -> Answer:
    require_open(world, int(call.parts[1]))
    return plain(world, call)


# ----------------------------------------------------------------------------------------- threads


def _made(world: World, call: Call) -> Answer:
    return Answer(201, simulated(world, call))


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


_RULES: tuple[tuple[str, str, Callable[[World, Call], Answer]], ...] = (
    ("POST", "channels/*/messages", posting.create),
    ("PATCH", "channels/*/messages/*", posting.edit),
    ("GET", "channels/*/messages", posting.history),
    ("PUT", "channels/*/messages/*/reactions/*/@me", _react),
    ("POST", "channels/*/messages/*/threads", _thread_on_message),
    ("POST", "channels/*/threads", _made),
    ("POST", "guilds/*/channels", _made),
    ("POST", "interactions/*/*/callback", posting.respond),
    ("POST", "webhooks/*/*", _by_webhook),
    ("PATCH", "webhooks/*/*/messages/*", posting.edit),
    ("PUT", "applications/*/commands", _commands),
    ("GET", "applications/*/commands", _commands),
    ("PUT", "applications/*/guilds/*/commands", _commands),
    ("GET", "applications/*/guilds/*/commands", _commands),
    ("GET", "users/@me/guilds", _own_guilds),
    ("GET", "guilds/*/threads/active", _active_threads),
    ("GET", "applications/@me", _application),
    ("GET", "oauth2/applications/@me", _application),
)
"""What differs from simcord, by method and path; `*` stands for one part of it."""
