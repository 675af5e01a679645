"""
The one place where requests to Discord are made and its errors become ours.

Nothing leaves without `allowed_mentions`: whatever a model or a person writes, nobody is pinged
but, where a reply says so, the author it replies to. Channels and messages are addressed by id, so
that the bot needs no cache of either.
"""

import io
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, Literal

import aiohttp
import discord

from bot.refusals import OLD_MESSAGE_EDITED_TOO_OFTEN, THREAD_THERE
from bot.replies import Embed, File
from bot.speaking import (
    Button,
    NotSpeaking,
    Outgoing,
    OwnMessage,
    Pieces,
    Rejected,
    Sight,
    Unreachable,
    Webhook,
    speaker,
)

#: Messages read back when an unknown outcome is settled: the newest, as many as one request tells.
RECENT = 100

TOO_MANY_REQUESTS = 429

#: Minutes without a message after which a thread leaves the list of those that are open.
ARCHIVED_AFTER: Literal[1440] = 1440

#: Buttons in one row.
ROW = 5


def trace_config() -> aiohttp.TraceConfig:
    """Refuse to begin a request whose speaker has lost its lease, re-sent ones included."""
    trace = aiohttp.TraceConfig()

    async def check(*_: object) -> None:
        holding = speaker.get()
        if holding is not None and not (holding.may_speak or holding.over):
            raise NotSpeaking

    trace.on_request_start.append(check)
    return trace


@asynccontextmanager
async def translated() -> AsyncIterator[None]:
    """Turn what discord.py and aiohttp raise into `Rejected` and `Unreachable`."""
    try:
        yield
    except discord.DiscordServerError as error:
        raise Unreachable(f"{error.status}") from None
    except discord.HTTPException as error:
        # discord.py has waited as told, and given up; but an old message's edits are not ours to
        # wait for: Discord says 429 to them too, and the page goes on in a new message.
        if error.status == TOO_MANY_REQUESTS and error.code != OLD_MESSAGE_EDITED_TOO_OFTEN:
            raise Unreachable(f"{error.status}") from None
        raise Rejected(error.status, error.code, error.text) from None
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        raise Unreachable(f"{type(error).__name__}: {error}") from None


class DiscordWire:
    """`bot.speaking.Wire` over a discord.py client."""

    def __init__(self, client: discord.Client, webhook: Webhook, sight: Sight) -> None:
        """Send through *client*, which must be logged in; answer commands by *webhook*."""
        self._client = client
        self.webhook = webhook
        self.sight = sight

    def _channel(self, channel: str) -> discord.PartialMessageable:
        return self._client.get_partial_messageable(int(channel))

    def _message(self, channel: str, message: str) -> discord.PartialMessage:
        return self._channel(channel).get_partial_message(int(message))

    async def create(
        self, channel: str, content: Outgoing, *, nonce: str, reply_to: str | None, ping: bool
    ) -> OwnMessage:
        """Send a message; discord.py adds `enforce_nonce`, so that a repeat is the same message."""
        nothing: Any = None
        reference = nothing
        if reply_to is not None:
            reference = discord.MessageReference(
                message_id=int(reply_to), channel_id=int(channel), fail_if_not_exists=False
            )
        people = [discord.Object(int(content.notifies))] if content.notifies else False
        async with translated():
            message = await self._channel(channel).send(
                content.content,
                nonce=nonce,
                reference=reference,
                view=view(content),
                allowed_mentions=discord.AllowedMentions(
                    everyone=False, users=people, roles=False, replied_user=ping
                ),
                **named(content.pieces, "files"),
            )
        return own(message)

    async def edit(self, channel: str, message: str, content: Outgoing) -> None:
        """Replace a message's text and buttons, and the files and embeds that are named."""
        async with translated():
            await self._message(channel, message).edit(
                content=content.content,
                view=view(content),
                allowed_mentions=discord.AllowedMentions.none(),
                **named(content.pieces, "attachments"),
            )

    def file_limit(self, guild: str | None) -> int:
        """Bytes that a file may have there, as far as the guild is known."""
        known = self._client.get_guild(int(guild)) if guild else None
        return known.filesize_limit if known else discord.utils.DEFAULT_FILE_SIZE_LIMIT_BYTES

    async def delete(self, channel: str, message: str) -> None:
        """Delete a message."""
        async with translated():
            with suppress(discord.NotFound):
                await self._message(channel, message).delete()

    async def recent(self, channel: str, after: str) -> Sequence[OwnMessage]:
        """Read back our own messages."""
        async with translated():
            history = self._channel(channel).history(
                after=discord.Object(int(after)), limit=RECENT, oldest_first=False
            )
            ours = [one async for one in history if one.author == self._client.user]
        return [own(message) for message in reversed(ours)]

    async def open_thread(self, channel: str, message: str, name: str, person: str) -> None:
        """Open a thread on a message and bring *person* in."""
        http = self._client.http
        try:
            async with translated():
                await http.start_thread_with_message(
                    int(channel), int(message), name=name, auto_archive_duration=ARCHIVED_AFTER
                )
        except Rejected as error:
            if error.code != THREAD_THERE:
                raise
        with suppress(Rejected):  # they may have left since, or may not see it
            async with translated():
                await http.add_user_to_thread(int(message), int(person))

    async def type(self, channel: str) -> None:
        """Show the typing indicator."""
        async with translated():
            await self._channel(channel).typing()

    async def react(self, channel: str, message: str, emoji: str) -> None:
        """Add our reaction."""
        async with translated():
            await self._message(channel, message).add_reaction(emoji)

    async def unreact(self, channel: str, message: str, emoji: str) -> None:
        """Remove our reaction."""
        async with translated():
            with suppress(discord.NotFound):
                me = discord.Object(self._client.application_id or 0)
                await self._message(channel, message).remove_reaction(emoji, me)


def view(content: Outgoing) -> Any:  # noqa: ANN401 (discord.py takes None where it says View)
    """
    Make a view of all buttons, ours in a row of its own.

    Stopped at once, so that discord.py keeps nothing of it: a press is told by the button's id,
    which outlives the process.
    """
    theirs, ours = content.pieces.buttons, content.button
    if not theirs and ours is None:
        return None
    made = discord.ui.View(timeout=None)
    for number, button in enumerate(theirs):
        made.add_item(_button(button, number // ROW))
    if ours is not None:
        made.add_item(_button(ours, -(-len(theirs) // ROW)))
    made.stop()
    return made


def _button(button: Button, row: int) -> "discord.ui.Button[discord.ui.View]":
    if button.url:
        return discord.ui.Button(label=button.label, url=button.url, row=row)
    style = discord.ButtonStyle[button.style]
    return discord.ui.Button(label=button.label, custom_id=button.id, style=style, row=row)


def named(pieces: Pieces, files: str) -> dict[str, Any]:
    """The arguments for what *pieces* name; their files go by the name *files*."""
    arguments: dict[str, Any] = {}
    if pieces.files is not None:
        arguments[files] = [_file(file) for file in pieces.files]
    if pieces.embeds is not None:
        arguments["embeds"] = [_embed(embed) for embed in pieces.embeds]
    return arguments


def _file(file: File) -> discord.File:
    """Make a file to upload; anew for each request, which reads it to its end."""
    content, description = io.BytesIO(file.data), file.description or None
    return discord.File(content, file.name, description=description, spoiler=file.spoiler)


def _embed(embed: Embed) -> discord.Embed:
    made = discord.Embed(
        title=embed.title or None,
        description=embed.description or None,
        url=embed.url or None,
        colour=embed.colour,
    )
    for field in embed.fields:
        made.add_field(name=field.name, value=field.value, inline=field.inline)
    made.set_image(url=embed.image or None).set_thumbnail(url=embed.thumbnail or None)
    if embed.author:
        made.set_author(name=embed.author)
    if embed.footer:
        made.set_footer(text=embed.footer)
    return made


def own(message: discord.Message) -> OwnMessage:
    """Reduce a message of ours to what settles an unknown outcome."""
    reply_to = message.reference.message_id if message.reference else None
    origin = message.interaction_metadata
    answers = str(origin.id) if origin and not message.flags.loading else None
    nonce = str(message.nonce) if message.nonce is not None else None
    return OwnMessage(
        str(message.id),
        message.content,
        nonce,
        str(reply_to) if reply_to else None,
        answers,
        tuple(attachment.size for attachment in message.attachments),
        len(message.embeds),
    )
