"""The typing indicator of one turn: shown soon, kept alive, and gone before the last word."""

import asyncio

import structlog

from bot.locks import Holding
from bot.speaking import NotSpeaking, Rejected, Unreachable, Wire

#: Seconds before the first request. A reply that is there sooner needs no indicator, and one that
#: arrived after the reply would hang on for ten seconds. Relation: above `delivery.GATHER`, so that
#: a reply with text at once shows none; far below the one second
#: within which people should see it.
FIRST_AFTER = 0.3

#: Seconds between requests. Relation: below the 10 s for which Discord shows it.
EVERY = 8.0

#: Refusals after which we stop asking; the turn itself goes on.
MAX_REFUSALS = 2

log = structlog.get_logger(__name__)


class TypingIndicator:
    """Keep the indicator of one channel alive until stopped."""

    def __init__(self, wire: Wire, channel: str, holding: Holding) -> None:
        """Start at once."""
        self._wire = wire
        self._channel = channel
        self._holding = holding
        self._task = asyncio.create_task(self._keep(), name=f"typing {holding.lease.turn}")

    async def stop(self) -> None:
        """Ask no more; return when no request is in flight, so that none lands after the reply."""
        self._task.cancel()
        await asyncio.wait({self._task})

    async def _keep(self) -> None:
        refusals = 0
        await asyncio.sleep(FIRST_AFTER)
        while self._holding.may_speak and refusals < MAX_REFUSALS:
            try:
                await self._wire.type(self._channel)
            except NotSpeaking:
                return
            except (Rejected, Unreachable) as error:
                refusals += isinstance(error, Rejected)
                log.debug("typing not shown", reason=str(error))
            await asyncio.sleep(EVERY)
