"""
Whoever must be looked at again: retries, timers, abandoned turns and unanswered signals.

One loop over one index. What a crashed process held becomes due when its lease ends, and is taken
up here, by the same door as everything else.
"""

import asyncio
import time

import structlog

from bot.conversations import Conversations
from bot.endings import BY_SIGNAL
from bot.insist import insist, new_op
from bot.locks import Locks
from state.errors import Gone, StateUnavailable
from state.outcomes import Turnover
from state.ports import State
from state.values import Conversation

#: Seconds between two sweeps. Relation: added to a lease's life it bounds how long an abandoned
#: turn stays silent, and it bounds how late a signal arrives whose hint was lost.
EVERY = 1.0

#: Conversations and signals looked at per partition and sweep; the rest come with the next.
LIMIT = 50

log = structlog.get_logger(__name__)


class Wakes:
    """The sweep of this process."""

    def __init__(self, state: State, locks: Locks, conversations: Conversations) -> None:
        """Claim what is due in *state* and hand it to *conversations*."""
        self._state = state
        self._locks = locks
        self._conversations = conversations

    async def run(self) -> None:
        """Sweep every second until cancelled; an outage of the store is waited out."""
        while True:
            try:
                await self.sweep()
            except StateUnavailable as error:
                log.warning("sweep skipped", reason=str(error))
            await asyncio.sleep(EVERY)

    async def sweep(self) -> None:
        """Look once at every partition; those that cannot be asked hide no other."""
        missed: StateUnavailable | None = None
        for partition in range(self._state.partitions):
            try:
                await self._sweep(partition)
            except StateUnavailable as error:
                missed = error
        if missed is not None:
            raise missed

    async def _sweep(self, partition: int) -> None:
        due = await self._state.due(partition, LIMIT)
        for signal in due.signals:
            self._locks.cancel(signal.turn, BY_SIGNAL[signal.kind])
        for conversation in due.conversations:
            await self._take_up(conversation)

    async def _take_up(self, conversation: Conversation) -> None:
        claim = self._conversations.claim(conversation)
        if claim is None or self._locks.holds(conversation):
            return
        asked, op = time.monotonic(), new_op()
        try:
            # Repeated, since a lost answer would leave the turn to nobody until its lease ends; not
            # for long, since others are due too.
            answer = await insist(
                lambda: self._state.claim(conversation, op=op, claim=claim), seconds=EVERY
            )
        except Gone:
            return
        if isinstance(answer, Turnover):
            self._conversations.begin(answer, asked)
