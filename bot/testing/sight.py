"""What a fake Discord shows: what people have said, and the files of messages."""

from collections.abc import Sequence

from bot.inbound import Attached, Person, Remark
from bot.speaking import Rejected
from bot.testing.wire import FakeWire

#: The bot, as others see it.
US = Person("1", "Interlock")


class FakeSight:
    """The reading side of a `FakeWire`."""

    def __init__(self, wire: FakeWire) -> None:
        self._wire = wire
        self._discord = wire.discord

    async def said(self, channel: str, *, before: str | None, limit: int) -> Sequence[Remark]:
        """Read what people have said, and what is ours."""

        def act() -> list[Remark]:
            ours = [
                Remark(m.id, US, m.text, ours=True)
                for m in self._discord.messages
                if m.channel == channel and not m.deleted
            ]
            said = sorted([*self._discord.remarks, *ours], key=lambda one: int(one.id))
            return [one for one in said if before is None or int(one.id) < int(before)][-limit:]

        return await self._wire.request("said", channel, act)

    async def attached(self, channel: str, message: str) -> Sequence[Attached]:
        """Read a message's files again."""
        return await self._wire.request(
            "attached", channel, lambda: self._discord.attached.get(message, ()), message=message
        )

    async def fetch(self, url: str, *, limit: int) -> bytes:
        """Fetch a file."""

        def act() -> bytes:
            if (content := self._discord.files.get(url)) is None:
                raise Rejected(404, 0, "This content is no longer available.")
            return content

        return await self._wire.request("fetch", "", act, text=url)
