"""The half-written reply of a turn that was ended while nobody held it, as after a crash."""

from collections.abc import Sequence
from contextlib import suppress

from bot.inbound import Message
from bot.speaking import Outgoing, OwnMessage, Rejected, Wire


async def mark(
    wire: Wire, asked_by: Message, posted: Sequence[str], words: str, emoji: str | None
) -> None:
    """
    Put *words* behind the last of the *posted* messages; its status line and buttons go.

    One that shows nothing but a status line is deleted. What cannot be read back is marked with
    *emoji*, if at all.
    """
    there = await _read(wire, asked_by)
    for message in reversed(posted):
        found = there.get(message)
        if found is None:
            if emoji is not None:
                await wire.react(asked_by.channel, message, emoji)
            return
        if found.text or found.files or found.embeds:
            if not found.text.endswith(words):
                await wire.edit(asked_by.channel, message, Outgoing(found.text + words))
            return
        await wire.delete(asked_by.channel, message)


async def _read(wire: Wire, asked_by: Message) -> dict[str, OwnMessage]:
    with suppress(Rejected):  # no right to read history
        recent = await wire.recent(asked_by.channel, asked_by.id)
        return {message.id: message for message in recent}
    return {}
