"""Turn a slash command's options, given as JSON, into what Discord sends to the bot."""

from typing import Any

from simcord.backend import serializers
from simcord.backend.access import channel_accessible
from simcord.backend.errors import OptionError, SetupError
from simcord.enums import OptionType
from simcord.interactions import (
    nest_options,
    parse_option_input,
    validate_option_value,
    walk_to_subcommand,
)

from sandbox.places import NotPossible
from sandbox.world import World

Json = dict[str, Any]

_NESTING = (OptionType.SUBCOMMAND, OptionType.SUBCOMMAND_GROUP)
_ENTITIES = (OptionType.USER, OptionType.CHANNEL, OptionType.ROLE, OptionType.MENTIONABLE)


def command_payload(
    world: World, command: Json, path: list[str], given: Json, *, channel_id: int, user_id: int
) -> Json:
    """
    Build the `data` of an INTERACTION_CREATE.

    `path` names the subcommand below `command`, outermost first. `given` maps option names to
    values; users, channels and roles are given by their ids.
    """
    try:
        leaf, nesting = walk_to_subcommand(command, path)
        built, resolved = _Options(world, channel_id, user_id).build(leaf, given)
        nested = nest_options(command, nesting, built)
    except (OptionError, SetupError) as error:
        raise NotPossible(str(error)) from error
    payload: Json = {"id": command["id"], "name": command["name"], "type": 1, "options": nested}
    if command.get("guild_id") is not None:
        payload["guild_id"] = command["guild_id"]
    if resolved:
        payload["resolved"] = resolved
    return payload


class _Options:
    """Check and build the options of one command used by one person in one channel."""

    def __init__(self, world: World, channel_id: int, user_id: int) -> None:
        self._world = world
        self._channel_id = channel_id
        self._user_id = user_id
        self._resolved: Json = {}

    def build(self, command: Json, given: Json) -> tuple[list[Json], Json]:
        declared = {one["name"]: one for one in command.get("options") or []}
        given = {name: value for name, value in given.items() if value is not None}
        _require_complete(command["name"], declared, given)
        built = []
        for name, raw in given.items():
            value = self._value(command, declared[name], raw)
            built.append({"name": name, "type": declared[name]["type"], "value": value})
        return built, self._resolved

    def _value(self, command: Json, option: Json, raw: Any) -> Any:  # noqa: ANN401 - any JSON
        kind = OptionType(option["type"])
        if kind in _ENTITIES:
            return self._entity(option, kind, raw)
        if kind == OptionType.ATTACHMENT:
            raise NotPossible(
                f"the option {option['name']!r} takes a file, which is not offered here"
            )
        if isinstance(raw, str) and kind in (OptionType.INTEGER, OptionType.NUMBER):
            return parse_option_input(command["name"], option, raw)
        return validate_option_value(command["name"], option, raw)

    def _entity(self, option: Json, kind: OptionType, raw: Any) -> str:  # noqa: ANN401 - any JSON
        if not (isinstance(raw, str | int) and str(raw).isdecimal()):
            raise NotPossible(f"the option {option['name']!r} takes an id")
        entity = int(raw)
        if kind in (OptionType.USER, OptionType.MENTIONABLE) and self._user(entity):
            return str(entity)
        if kind == OptionType.CHANNEL and self._channel(option, entity):
            return str(entity)
        if kind in (OptionType.ROLE, OptionType.MENTIONABLE) and self._role(entity):
            return str(entity)
        raise NotPossible(f"the option {option['name']!r} does not fit {entity}")

    def _user(self, user_id: int) -> bool:
        discord = self._world.discord
        user = discord.users.get(user_id)
        if user is None:
            return False
        self._add("users", user_id, serializers.user_payload(user))
        guild = discord.guilds.get(discord.channels[self._channel_id].guild_id or 0)
        if guild is not None and user_id in guild.members:
            member = guild.members[user_id]
            part = serializers.member_payload(discord, guild, member, with_user=False)
            held = discord.compute_permissions(guild.id, user_id, self._channel_id)
            self._add("members", user_id, {**part, "permissions": str(held)})
        return True

    def _channel(self, option: Json, channel_id: int) -> bool:
        discord = self._world.discord
        channel = discord.channels.get(channel_id)
        if channel is None or channel.guild_id is None:
            return False
        allowed = option.get("channel_types") or [channel.type]
        if channel.type not in allowed or not channel_accessible(
            discord, channel_id, self._user_id
        ):
            return False
        held = discord.compute_permissions(channel.guild_id, self._user_id, channel_id)
        part = serializers.channel_payload(discord, channel)
        self._add("channels", channel_id, {**part, "permissions": str(held)})
        return True

    def _role(self, role_id: int) -> bool:
        discord = self._world.discord
        guild = discord.guilds.get(discord.channels[self._channel_id].guild_id or 0)
        if guild is None or role_id not in guild.roles:
            return False
        self._add("roles", role_id, serializers.role_payload(guild.roles[role_id]))
        return True

    def _add(self, kind: str, key: int, part: Any) -> None:  # noqa: ANN401 - simcord's payloads
        self._resolved.setdefault(kind, {})[str(key)] = dict(part)


def _require_complete(command: str, declared: Json, given: Json) -> None:
    if any(option["type"] in _NESTING for option in declared.values()):
        raise NotPossible(f"/{command} needs one of {', '.join(declared)} behind it")
    for name in given:
        if name not in declared:
            raise NotPossible(f"/{command} has no option {name!r}")
    for name, option in declared.items():
        if option.get("required") and name not in given:
            raise NotPossible(f"/{command} needs the option {name!r}")
