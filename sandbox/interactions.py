"""Use the bot's slash commands and buttons as a person, and wait for what it answers."""

import asyncio
from typing import Any

from discord import Permissions
from simcord.backend import serializers
from simcord.backend.command_access import command_access
from simcord.backend.models import Interaction, Message
from simcord.components import walk_components
from simcord.enums import ComponentType, InteractionType
from simcord.interactions import base_payload

from sandbox.options import command_payload
from sandbox.places import NotPossible
from sandbox.views import message_view
from sandbox.world import World

Json = dict[str, Any]

DEADLINE = 3.0
"""Seconds. An interaction without a first response is dead after them, on Discord and here."""

PATIENCE = 5.0
"""Seconds to wait for a response's text: longer than `DEADLINE`, as it may only be deferred."""


class Interactions:
    """Start interactions and follow what becomes of them."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._changed: dict[int, asyncio.Event] = {}
        self._deferred: set[int] = set()

    def commands(self) -> list[Json]:
        """List the registered slash commands, as the bot registered them."""
        every = self._world.discord.commands.values()
        return [command for scope in every for command in scope.values() if command["type"] == 1]

    def visible_commands(self, channel_id: int, user_id: int) -> list[Json]:
        """List the slash commands that this person may use in this channel."""
        self._world.require_access(channel_id, user_id)
        return self._world.discord.visible_commands(user_id=user_id, channel_id=channel_id)

    def use(self, channel_id: int, user_id: int, command: str, options: Json) -> Interaction:
        """Send a slash command; subcommands follow its name after spaces."""
        channel = self._world.require_access(channel_id, user_id)
        name, *path = command.removeprefix("/").split()
        found = self._world.discord.find_command(name, channel.guild_id)
        if found is None:
            raise NotPossible(f"the bot has registered no command /{name}")
        access = command_access(self._world.discord, found, user_id=user_id, channel_id=channel_id)
        if not access.allowed:
            person = self._world.find_person(user_id).name
            raise NotPossible(f"{person} may not use /{name} here ({access.reason})")
        payload = command_payload(
            self._world, found, path, options, channel_id=channel_id, user_id=user_id
        )
        record, event = self._open(
            InteractionType.APPLICATION_COMMAND, channel_id, user_id, payload
        )
        self._world.discord.emit("INTERACTION_CREATE", event)
        return record

    def press(
        self, channel_id: int, user_id: int, message_id: int, custom_id: str, values: list[str]
    ) -> Interaction:
        """Press a button of a message, or choose `values` in one of its select menus."""
        self._world.require_access(channel_id, user_id)
        message = self._world.find_message(message_id)
        if message.channel_id != channel_id or not message.visible_to(user_id):
            raise NotPossible(f"there is no message {message_id} in channel {channel_id}")
        component = _component(message, custom_id)
        data: Json = {"custom_id": custom_id, "component_type": component["type"]}
        if component["type"] != ComponentType.BUTTON:
            data["values"] = values
        record, event = self._open(InteractionType.MESSAGE_COMPONENT, channel_id, user_id, data)
        record.source_message_id = message_id
        event["message"] = dict(serializers.message_payload(self._world.discord, message))
        self._world.discord.emit("INTERACTION_CREATE", event)
        return record

    async def outcome(self, record: Interaction, patience: float = PATIENCE) -> Json:
        """Wait until the response has its text or the time is over; show the interaction."""
        changed = self._changed.setdefault(record.id, asyncio.Event())
        loop = asyncio.get_running_loop()
        started = loop.time()
        try:
            while not _settled(record):
                wait = patience if record.responded else min(patience, DEADLINE)
                async with asyncio.timeout_at(started + wait):
                    await changed.wait()
                changed.clear()
        except TimeoutError:
            pass
        finally:
            self._changed.pop(record.id, None)
        return self.view(record)

    def find_by_token(self, token: str) -> Interaction | None:
        """Find an interaction by the token that the bot answers it with."""
        return self._world.discord.interaction_of(token)

    def touched(self, token: str) -> Interaction | None:
        """Note that the bot did something with the interaction of this token; answer it."""
        record = self.find_by_token(token)
        if record is None:
            return None
        if record.deferred:
            self._deferred &= self._world.discord.interactions.keys()
            self._deferred.add(record.id)
        if record.id in self._changed:
            self._changed[record.id].set()
        return record

    def find(self, interaction_id: int) -> Interaction:
        """Find an interaction that is less than 15 minutes old."""
        record = self._world.discord.interactions.get(interaction_id)
        if record is None:
            raise NotPossible(f"there is no interaction {interaction_id}")
        return record

    def expire(self, record: Interaction) -> None:
        """End an interaction's 15 minutes now: its token is good for nothing any more."""
        record.expires_at = self._world.discord.now_iso()

    def view(self, record: Interaction) -> Json:
        """Show an interaction: whether and how the bot responded, and with what."""
        kept = self._world.discord.messages.get(record.channel_id, {})
        message = kept.get(record.message_id or 0)
        followups = [kept[one] for one in record.followup_ids if one in kept]
        return {
            "id": str(record.id),
            "responded": record.responded,
            "kind": None if record.response_kind is None else str(record.response_kind),
            "deferred": record.id in self._deferred,
            "thinking": record.loading,
            "ephemeral": message.is_ephemeral if message else record.ephemeral,
            "content": message.content if message else "",
            "components": message.components if message else [],
            "message_id": str(message.id) if message else None,
            "message": message_view(self._world, message) if message else None,
            "followups": [message_view(self._world, one) for one in followups],
            "modal": record.modal,
        }

    def _open(
        self, kind: InteractionType, channel_id: int, user_id: int, data: Json
    ) -> tuple[Interaction, Json]:
        guild_id = self._world.find_channel(channel_id).guild_id
        record, event = base_payload(
            self._world.discord,
            type=kind,
            channel_id=channel_id,
            guild_id=guild_id,
            user_id=user_id,
            data=data,
        )
        # Installed to the guild, or for DMs to the bot itself, which may do there what texts need.
        event["authorizing_integration_owners"] = {"0": str(guild_id or 0)}
        if guild_id is None:
            event["app_permissions"] = str(Permissions.text().value)
        return record, event


def _settled(record: Interaction) -> bool:
    return record.responded and not record.loading


def _component(message: Message, custom_id: str) -> Json:
    for component in walk_components(message.components):
        if component.get("custom_id") == custom_id:
            if component.get("disabled"):
                raise NotPossible(f"{custom_id!r} is disabled")
            return component
    raise NotPossible(f"message {message.id} has nothing with the custom id {custom_id!r}")
