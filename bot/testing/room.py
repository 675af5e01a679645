"""A channel of a running sandbox, as a test speaks and reads in it."""

import asyncio
from typing import TYPE_CHECKING

from bot.client import Interlock

if TYPE_CHECKING:
    from sandbox import Sandbox

#: Seconds between two looks at the channel.
LOOK = 0.01


class Room:
    """One channel of the sandbox, in which people speak with the bot."""

    def __init__(self, sandbox: "Sandbox", bot: Interlock, channel: str = "general") -> None:
        """*bot* answers there; what is in the channel already is not read again."""
        self._sandbox = sandbox
        self._bot = bot
        self._channel = sandbox.world.channel(channel).id
        self._read = len(self._own())

    def says(self, person: str, text: str, *, addressed: bool = True) -> int:
        """Say something as Ada, Bo or Cy, mentioning the bot unless told otherwise; its id."""
        world = self._sandbox.world
        mention = f"<@{self._sandbox.application_id}> " if addressed else ""
        return int(world.say(self._channel, world.person(person).id, mention + text).id)

    async def reply(self, within: float = 10.0) -> str:
        """
        Wait for the next reply to be complete, and answer its text, a page a line.

        Raise `AssertionError` when there is none *within* so many seconds.
        """
        try:
            async with asyncio.timeout(within):
                while (pages := self._next()) is None:  # noqa: ASYNC110 (a channel is looked at)
                    await asyncio.sleep(LOOK)
        except TimeoutError:
            shown = [text for _, text in self._own()[self._read :]]
            raise AssertionError(f"no reply within {within:g} s; shown so far: {shown}") from None
        self._read += len(pages)
        return "\n".join(pages)

    def _next(self) -> list[str] | None:
        """The pages of the next reply, if nothing can be added to it any more."""
        fresh = self._own()[self._read :]
        begins = [number for number, (replies, _) in enumerate(fresh) if replies and number > 0]
        if not fresh or (not begins and len(self._bot.locks)):
            return None
        return [text for _, text in fresh[: begins[0] if begins else None]]

    def _own(self) -> list[tuple[bool, str]]:
        """The bot's messages, oldest first: whether it replies to somebody, and its text."""
        bot = self._sandbox.world.discord.bot_user.id
        messages = self._sandbox.world.messages(self._channel)
        return [
            (one.reference is not None, one.content) for one in messages if one.author_id == bot
        ]
