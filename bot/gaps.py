"""Where a message was heard and could not be admitted: such a channel has to be read again."""

import asyncio
from itertools import count


class Gaps:
    """The channels of this process with a message that the store does not have."""

    def __init__(self) -> None:
        """Start without any."""
        self._numbers = count(1)
        #: Channel → the number of its newest gap.
        self._open: dict[str, int] = {}
        self._opened = asyncio.Event()

    def __contains__(self, channel: str) -> bool:
        """Whether something is missing there, so that no later answer may hide it."""
        return channel in self._open

    def open(self, channel: str) -> None:
        """Note that something is missing there."""
        self._open[channel] = next(self._numbers)
        self._opened.set()

    def newest(self, channel: str) -> int:
        """The number of the newest gap there, to `close` it by; 0: there is none."""
        return self._open.get(channel, 0)

    def close(self, channel: str, newest: int) -> None:
        """Note that nothing is missing there, unless another gap has opened since *newest*."""
        if self.newest(channel) == newest:
            self._open.pop(channel, None)

    async def wait(self) -> list[str]:
        """Wait until something is missing; answer where, all of it at once."""
        await self._opened.wait()
        self._opened.clear()
        return list(self._open)
