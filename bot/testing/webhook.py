"""Responses to commands on the fake Discord, by the token of an interaction."""

import asyncio
from collections.abc import Callable

from bot.speaking import ORIGINAL, Outgoing, OwnMessage, Rejected
from bot.testing.traffic import CHANNEL, Sent
from bot.testing.wire import FakeWire


class FakeWebhook:
    """
    The responses of one process's line, found by token in the whole fake Discord.

    A token is the word "token" and the id of its interaction, whose response is a message without
    text while it says "thinking…".
    """

    def __init__(self, wire: FakeWire) -> None:
        self._wire = wire
        self._awaited: dict[str, asyncio.Future[None]] = {}

    def wait_for(self, token: str, acknowledged: "asyncio.Future[None]") -> None:
        """Hold what goes by *token* back until then."""
        self._awaited[token] = acknowledged

    def defer(self, token: str, channel: str = CHANNEL) -> str:
        """Show "thinking…", as the acknowledgement of a command does; the message's id."""
        sent = self._wire.discord.put("", nonce=token, channel=channel)
        self._wire.discord.find(sent).answers = token.removeprefix("token")
        return sent

    async def edit(self, token: str, message: str, content: Outgoing) -> OwnMessage:
        """Replace a text."""

        def act() -> OwnMessage:
            sent = self._find(token, message)
            sent.text = content.content
            sent.texts.append(content.content)
            sent.carry(content)
            return sent.own(None)

        return await self._request("respond", token, act, content.content)

    async def send(self, token: str, content: Outgoing) -> OwnMessage:
        """Send one more message."""

        def act() -> OwnMessage:
            original = self._find(token, ORIGINAL)
            sent = self._wire.discord.put(
                content.content, nonce=token, channel=original.channel, content=content
            )
            return OwnMessage(sent, content.content, None, None)

        return await self._request("follow up", token, act, content.content)

    async def delete(self, token: str, message: str) -> None:
        """Delete a message."""

        def act() -> OwnMessage:
            sent = self._find(token, message)
            sent.deleted = True
            return OwnMessage(sent.id, sent.text, None, None)

        await self._request("retract", token, act)

    async def thinks(self, token: str) -> bool:
        """Look at the response."""

        def act() -> OwnMessage:
            sent = self._find(token, ORIGINAL)
            return OwnMessage(sent.id, sent.text, None, None)

        return not (await self._request("look", token, act)).text

    def _find(self, token: str, message: str) -> Sent:
        mine = [m for m in self._wire.discord.messages if m.nonce == token]
        if not mine:
            raise Rejected(404, 10015, "Unknown Webhook")
        wanted = [m for m in mine if message in (m.id, ORIGINAL) and not m.deleted]
        if not wanted or (message == ORIGINAL and mine[0].deleted):
            raise Rejected(404, 10008, "Unknown Message")
        return wanted[0]

    async def _request(
        self, method: str, token: str, act: Callable[[], OwnMessage], text: str | None = None
    ) -> OwnMessage:
        if (acknowledged := self._awaited.get(token)) is not None:
            await asyncio.wait({acknowledged})
        return await self._wire.request(method, token, act, text=text, flight=token)
