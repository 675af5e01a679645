"""
Build the rules of Discord on simcord: its backend, in real time, under one fixed application.

simcord keeps guilds, members, permissions, messages and interactions in memory and knows what
Discord would answer. Its backend is no public interface, so the project pins one exact version.
This module is where that interface is bent; what Discord does and simcord leaves out is in `rules`.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from simcord._clock import Clock
from simcord.backend import Backend, permissions, serializers
from simcord.backend.errors import BackendError
from simcord.backend.models import Channel, Guild, Interaction, Message, User, Webhook

from sandbox.cdn import LoopbackCdn
from sandbox.completion import Known, complete

APPLICATION_ID = 100_000_000_000_001
"""
A snowflake of 1 January 2015, months before Discord opened, so no real application has it.

The same in every run: what a bot stored about its sandbox yesterday is still its own today.
"""

CHANNEL_MESSAGES = 5_000
"""Messages kept per channel; older ones are forgotten, so that a long session stays in memory."""

NONCES = 10_000
"""Nonces kept to be shown with their messages."""

IDS = 50_000
"""Ids remembered as taken, before those that can no longer be drawn again are forgotten."""

HAS_THREAD = 1 << 5
"""The message flag that says that a thread hangs on it."""

Listener = Callable[[str, dict[str, Any]], None]
"""Takes the name of a gateway event and its payload."""


class WallClock(Clock):
    """Tell the machine's time, because simcord's own clock stands still until a test moves it."""

    def now(self) -> datetime:
        """Answer the time in UTC; interactions expire after 3 s and 15 min of it."""
        return datetime.now(UTC)


class Discord(Backend):
    """Hold one world's state, and report every gateway event to `listener` as Discord sends it."""

    def __init__(
        self, *, application_id: int, bot_name: str, cdn: LoopbackCdn, listener: Listener
    ) -> None:
        super().__init__(clock=WallClock())
        self.users.clear()
        self.application_id = application_id
        # Applications made today share their id with their bot user; simcord draws two.
        self.bot_user = User(id=application_id, name=bot_name, bot=True)
        self.users[application_id] = self.bot_user
        self.cdn = self.files = cdn
        self.webhook_applications: dict[str, str] = {}
        self._known = Known(application_id, self.webhook_applications, cdn.signed)
        self.blocked_words: tuple[str, ...] = ()
        self.nonces: dict[int, str | int] = {}
        self.nonce_in_flight: str | int | None = None
        self._listener = listener

    def emit(self, event: str, payload: Mapping[str, Any]) -> None:
        """Complete the payload and report it, without the transcript that simcord keeps forever."""
        full = dict(payload)
        if event in ("MESSAGE_CREATE", "MESSAGE_UPDATE"):
            self._complete_message(event, full)
        self._listener(event, self.completed(full))

    def completed(self, value: dict[str, Any]) -> dict[str, Any]:
        """Add, in place, what Discord always sends and simcord leaves out."""
        return complete(value, self._known)

    def guild_payload(self, guild: Guild) -> dict[str, Any]:
        """Describe a guild as GUILD_CREATE does, which leaves out archived threads."""
        payload = self.completed(dict(serializers.guild_create_payload(self, guild)))
        active = self.active_threads(guild.id)
        payload["threads"] = [dict(serializers.thread_payload(self, one)) for one in active]
        return payload

    def commit_message(self, message: Message, *, broadcast: bool = True) -> Message:
        """Install the message, with the nonce of the request that makes it."""
        if self.nonce_in_flight is not None:
            self.nonces[message.id] = self.nonce_in_flight
            _forget_oldest(self.nonces, NONCES)
        self._name_pressed(message)
        committed = super().commit_message(message, broadcast=broadcast)
        _forget_oldest(self.messages[message.channel_id], CHANNEL_MESSAGES)
        return committed

    def _name_pressed(self, message: Message) -> None:
        """Say in the answer to a press which message was pressed, as simcord does not."""
        origin = message.interaction_metadata
        asked = self.interactions.get(int(origin["id"])) if origin else None
        if origin and asked and asked.source_message_id is not None:
            origin["interacted_message_id"] = str(asked.source_message_id)

    def proxy_webhook(self, channel_id: int, application_id: int) -> Webhook:
        """Find or make the webhook by which an application speaks in a channel."""
        for hook in self.webhooks.values():
            owner = self.webhook_applications.get(str(hook.id))
            if (hook.channel_id, owner) == (channel_id, str(application_id)):
                return hook
        hook = self.create_webhook(channel_id, "Proxy", application_id)
        self.webhook_applications[str(hook.id)] = str(application_id)
        return hook

    def snowflake(self) -> int:
        """Draw an id; older ids than this one's millisecond need no remembering."""
        drawn = super().snowflake()
        if len(self._reserved_ids) > IDS:
            self._reserved_ids = {one for one in self._reserved_ids if one >> 22 >= drawn >> 22}
            self._sequences = {drawn >> 22: self._sequences[drawn >> 22]}
        return drawn

    def start_thread(
        self,
        channel_id: int,
        owner_id: int,
        name: str,
        *,
        message_id: int | None = None,
        auto_archive_duration: int = 1440,
    ) -> Channel:
        """
        Open a public thread, on a message when one is given: then the message says so.

        simcord announces a thread on a message by a system message, which Discord does only for
        threads without one.
        """
        if message_id is None:
            return self.create_thread(
                channel_id, name, owner_id, auto_archive_duration=auto_archive_duration
            )
        if message_id in self.channels:
            raise BackendError(400, 160004, "A thread has already been created for this message")
        message = self.get_message(channel_id, message_id)
        thread = self.create_thread(
            channel_id,
            name,
            owner_id,
            message_id=message_id,
            auto_archive_duration=auto_archive_duration,
            broadcast=False,
        )
        self.announce_thread_create(thread)
        message.flags |= HAS_THREAD
        self.emit("MESSAGE_UPDATE", serializers.message_payload(self, message))
        return thread

    def wake_thread(self, channel_id: int, user_id: int) -> None:
        """Unarchive the thread that somebody writes in, unless it is locked against them."""
        thread = self.get_channel(channel_id)
        state = thread.thread_metadata
        if state is None or thread.guild_id is None:
            return
        if state.locked:
            held = self.compute_permissions(thread.guild_id, user_id, channel_id)
            if not held & permissions.flag("manage_threads"):
                raise BackendError(403, 160005, "This thread is locked")
        if state.archived:
            self.edit_channel(channel_id, {}, thread_metadata={"archived": False})

    def new_interaction(
        self,
        type: int,  # noqa: A002 - simcord's name
        channel_id: int,
        user_id: int,
        guild_id: int | None,
    ) -> Interaction:
        """Open an interaction, and forget those whose 15 minutes are over."""
        now = self.now_iso()
        for old in [one for one in self.interactions.values() if (one.expires_at or now) < now]:
            del self.interactions[old.id]
            del self.interaction_tokens[old.token]
        return super().new_interaction(type, channel_id, user_id, guild_id)

    def interaction_of(self, token: str) -> Interaction | None:
        """Find an interaction by the token that the bot answers it with."""
        number = self.interaction_tokens.get(token)
        return None if number is None else self.interactions[number]

    def _complete_message(self, event: str, payload: dict[str, Any]) -> None:
        nonce = self.nonces.get(int(payload["id"]))
        if event == "MESSAGE_CREATE" and nonce is not None:
            payload["nonce"] = nonce
        guild = self.guilds.get(int(payload.get("guild_id") or 0))
        if guild is None:
            return
        for user in (payload["author"], *payload["mentions"]):
            member = guild.members.get(int(user["id"]))
            if member is None:
                continue
            part = dict(serializers.member_payload(self, guild, member, with_user=False))
            if user is payload["author"]:
                payload["member"] = part
            else:
                user["member"] = part


def _forget_oldest(kept: dict[int, Any], limit: int) -> None:
    while len(kept) > limit:
        del kept[next(iter(kept))]
