"""Do in the sandbox what a person does in Discord."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from simcord.backend import serializers
from simcord.backend.errors import BackendError
from simcord.backend.models import Channel, Message

from sandbox.cdn import ATTACHMENT_BYTES
from sandbox.places import NotPossible, Places, permission_bits

MESSAGE_UNITS = 2_000
"""UTF-16 units in the content of one message."""

PROXY = 466_378_653_216_014_359
"""PluralKit's application id, by which its reposts are known."""

Thing = TypeVar("Thing")


class World(Places):
    """Act as the people of a world. Each act is refused where Discord would refuse that person."""

    def open_thread(
        self, channel_id: int, user_id: int, name: str, *, message_id: int | None = None
    ) -> Channel:
        """Open a public thread as a person, on a message when one is given."""
        self._require(channel_id, user_id, "create_public_threads")
        if self.find_channel(channel_id).guild_id is None:
            raise NotPossible("a DM has no threads")
        if message_id is not None and message_id not in self.discord.messages[channel_id]:
            raise NotPossible(f"there is no message {message_id} in channel {channel_id}")
        return self._tried(
            lambda: self.discord.start_thread(channel_id, user_id, name, message_id=message_id)
        )

    def say(
        self,
        channel_id: int,
        user_id: int,
        content: str,
        *,
        reply_to: int | None = None,
        files: Iterable[tuple[str, bytes]] = (),
    ) -> Message:
        """Write a message as a person; a reply mentions whom it answers, as in Discord's client."""
        self._require(channel_id, user_id, "send_messages")
        uploads = list(files)
        _require_content(content, empty_allowed=bool(uploads))
        if any(len(content) > ATTACHMENT_BYTES for _, content in uploads):
            raise NotPossible(f"a file has at most {ATTACHMENT_BYTES} bytes")
        reference = None
        if reply_to is not None:
            if reply_to not in self.discord.messages[channel_id]:
                raise NotPossible(f"there is no message {reply_to} in channel {channel_id}")
            reference = {"message_id": reply_to}
        self._tried(lambda: self.discord.wake_thread(channel_id, user_id))
        attachments = self.discord.store_attachments(channel_id, uploads)
        return self._tried(
            lambda: self.discord.create_message(
                channel_id, user_id, content, reference=reference, attachments=attachments
            )
        )

    def repost(
        self, message_id: int, name: str, *, content: str | None = None, application_id: int = PROXY
    ) -> Message:
        """
        Say a person's message once more by a webhook, as a proxy such as PluralKit does.

        Another text may be said in place of the whole, as when a prefix chose whom to speak as. The
        original stays until it is deleted.
        """
        original = self.find_message(message_id)
        if self.find_channel(original.channel_id).guild_id is None:
            raise NotPossible("a DM has no webhooks")
        hook = self.discord.proxy_webhook(original.channel_id, application_id)
        text = original.content if content is None else content
        _require_content(text, empty_allowed=bool(original.attachments))
        return self._tried(
            lambda: self.discord.create_message(
                original.channel_id,
                hook.webhook_user_id,
                text,
                attachments=list(original.attachments),
                webhook_id=hook.id,
                author_name=name,
            )
        )

    def edit(self, message_id: int, content: str) -> Message:
        """Change a message as the person who wrote it."""
        message = self.find_message(message_id)
        if message.author_id not in self.people:
            raise NotPossible("only a person's own message can be edited here")
        _require_content(content, empty_allowed=bool(message.attachments))
        return self._tried(
            lambda: self.discord.edit_message(message.channel_id, message_id, {"content": content})
        )

    def delete(self, message_id: int) -> None:
        """Delete a message, whoever wrote it."""
        message = self.find_message(message_id)
        self.discord.delete_message(message.channel_id, message_id)

    def react(self, message_id: int, user_id: int, emoji: str, *, reacted: bool = True) -> Message:
        """Put a person's reaction on a message, or take it off; `emoji` may be `name:id`."""
        message = self.find_message(message_id)
        self._require(message.channel_id, user_id, "add_reactions")
        self.discord.set_reaction(message.channel_id, message_id, emoji, user_id, reacted)
        return message

    def typing(self, channel_id: int, user_id: int) -> None:
        """Show the person as typing for the next ten seconds."""
        channel = self._require(channel_id, user_id, "send_messages")
        payload: dict[str, Any] = {
            "channel_id": str(channel_id),
            "user_id": str(user_id),
            "timestamp": int(self.discord.clock.now().timestamp()),
        }
        if channel.guild_id is not None:
            guild = self.find_guild(channel.guild_id)
            payload["guild_id"] = str(guild.id)
            member = guild.members[user_id]
            payload["member"] = dict(serializers.member_payload(self.discord, guild, member))
        self.discord.emit("TYPING_START", payload)

    def _require(self, channel_id: int, user_id: int, permission: str) -> Channel:
        """Refuse what the person may not do in the channel; answer it."""
        channel = self.require_access(channel_id, user_id)
        person = self.find_person(user_id)
        if channel.is_thread and permission == "send_messages":
            permission = "send_messages_in_threads"
        if channel.guild_id is not None:
            held = self.discord.compute_permissions(channel.guild_id, user_id, channel_id)
            if not held & permission_bits([permission]):
                raise NotPossible(f"{person.name} lacks {permission} in channel {channel_id}")
        return channel

    def _tried(self, act: Callable[[], Thing]) -> Thing:
        try:
            return act()
        except BackendError as refusal:
            raise NotPossible(refusal.message) from refusal


def utf16_units(text: str) -> int:
    """Count as Discord's clients do: two for what lies beyond the basic plane."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _require_content(content: str, *, empty_allowed: bool) -> None:
    if not content.strip() and not empty_allowed:
        raise NotPossible("a message needs some text")
    if utf16_units(content) > MESSAGE_UNITS:
        raise NotPossible(f"a message has at most {MESSAGE_UNITS} characters")
