"""
Interactions answered by their token, with the requests of discord.py's own `Interaction`.

Kept apart from it, because whoever answers may be another process, which has heard of the
interaction through the store alone.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import discord
from discord.http import MultipartParameters, handle_message_parameters
from discord.webhook.async_ import async_context

from bot.speaking import ORIGINAL, Outgoing, OwnMessage
from bot.wire import named, translated, view

#: The flag of a message that says "thinking…".
_LOADING = discord.MessageFlags.loading.flag


class DiscordWebhook:
    """`bot.speaking.Webhook` over a discord.py client."""

    def __init__(self, client: discord.Client) -> None:
        """Send through *client*, which must be logged in."""
        self._client = client
        self._awaited: dict[str, asyncio.Future[None]] = {}

    def wait_for(self, token: str, acknowledged: asyncio.Future[None]) -> None:
        """Hold what goes by *token* back until then."""
        self._awaited[token] = acknowledged
        acknowledged.add_done_callback(lambda _: self._awaited.pop(token))

    async def edit(self, token: str, message: str, content: Outgoing) -> OwnMessage:
        """Edit the response or a follow-up."""
        async with translated():
            hook = await self._hook(token)
            with _parameters(content, "attachments") as parts:
                if message == ORIGINAL:
                    return _own(
                        await async_context.get().edit_original_interaction_response(
                            hook.id, token, **_network(hook), **_body(parts)
                        )
                    )
                return _own(
                    await async_context.get().edit_webhook_message(
                        hook.id, token, int(message), **_network(hook), **_body(parts)
                    )
                )

    async def send(self, token: str, content: Outgoing) -> OwnMessage:
        """Send a follow-up."""
        async with translated():
            hook = await self._hook(token)
            with _parameters(content, "files") as parts:
                sent = await async_context.get().execute_webhook(
                    hook.id, token, **_network(hook), **_body(parts), wait=True
                )
        return _own(sent or {})

    async def delete(self, token: str, message: str) -> None:
        """Delete the response or a follow-up."""
        async with translated():
            hook = await self._hook(token)
            with suppress(discord.NotFound):
                if message == ORIGINAL:
                    await async_context.get().delete_original_interaction_response(
                        hook.id, token, **_network(hook)
                    )
                else:
                    await hook.delete_message(int(message))

    async def thinks(self, token: str) -> bool:
        """Look at the response."""
        async with translated():
            hook = await self._hook(token)
            found = await async_context.get().get_original_interaction_response(
                hook.id, token, **_network(hook)
            )
        return bool(found.get("flags", 0) & _LOADING)

    async def _hook(self, token: str) -> discord.Webhook:
        if (acknowledged := self._awaited.get(token)) is not None:
            await asyncio.wait({acknowledged})
        return discord.Webhook.partial(self._client.application_id or 0, token, client=self._client)


def _parameters(content: Outgoing, files: str) -> MultipartParameters:
    return handle_message_parameters(
        content=content.content,
        view=view(content),
        allowed_mentions=discord.AllowedMentions.none(),
        **named(content.pieces, files),
    )


def _network(hook: discord.Webhook) -> dict[str, Any]:
    return {"session": hook.session, "proxy": hook.proxy, "proxy_auth": hook.proxy_auth}


def _body(parts: MultipartParameters) -> dict[str, Any]:
    return {"payload": parts.payload, "multipart": parts.multipart, "files": parts.files}


def _own(sent: Mapping[str, Any]) -> OwnMessage:
    files = tuple(int(file["size"]) for file in sent.get("attachments", ()))
    return OwnMessage(
        str(sent["id"]),
        str(sent["content"]),
        None,
        None,
        files=files,
        embeds=len(sent.get("embeds", ())),
    )
