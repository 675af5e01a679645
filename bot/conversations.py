"""The conversations that this process speaks in: one task each, turn after turn until idle."""

import asyncio
import time
from collections.abc import Awaitable, Callable

import structlog

from bot import logs, texts
from bot.config import Place
from bot.endings import END_WITHIN, Ending
from bot.equipment import Tools
from bot.errors import PayloadUnreadable
from bot.inbound import Message, unpack
from bot.insist import insist, new_op
from bot.locks import Holding, Locks
from bot.notices import Notices
from bot.speaking import LEASE_GONE, speaker
from bot.turns import TurnRun
from state.outcomes import Started, Turnover
from state.ports import State
from state.values import Changes, Claim, Conversation, Outcome

log = structlog.get_logger(__name__)


class Conversations:
    """Runs what the store hands over."""

    def __init__(
        self,
        state: State,
        locks: Locks,
        notices: Notices,
        claim: Callable[[Conversation], Claim],
        learn: Callable[[Place], Awaitable[None]],
    ) -> None:
        """
        *claim* is what a lease is asked for with, until draining begins.

        *learn* finds out which rules hold in a place, before a turn is equipped for it.
        """
        self._learn = learn
        self._state = state
        self._locks = locks
        self._notices = notices
        self._claim = claim
        self._draining = False
        self._parking = False
        self._tasks: set[asyncio.Task[None]] = set()

    def equip(self, tools: Callable[[Message], Tools]) -> None:
        """Take what makes the tools of a turn from its first message; they ask for `claim`."""
        self._tools = tools

    def claim(self, conversation: Conversation) -> Claim | None:
        """What to ask a lease with; None while draining: take nothing any more."""
        return None if self._draining else self._claim(conversation)

    def begin(self, turnover: Turnover, asked: float) -> None:
        """
        Run what *turnover* starts, and all that follows, in a task of its own.

        *asked* is the local monotonic time from before the store was asked.
        """
        task = asyncio.create_task(self._converse(turnover, asked), name="conversation")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def idle(self) -> None:
        """Return when no turn runs here, and none is about to."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    def abandon(self) -> None:
        """Break every turn off where it stands, as the death of the process would."""
        for task in self._tasks:
            task.cancel()

    async def drain(self, seconds: float) -> None:
        """Begin no more turns; give those that run *seconds*, then park them where they stand."""
        self._draining = True
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)
        self._parking = True
        self._locks.cancel_all(Ending.PARKED)
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=2 * END_WITHIN)
        self.abandon()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _converse(self, turnover: Turnover, asked: float) -> None:
        while True:
            self._notices.settled(turnover.settled)
            started = turnover.started
            if started is None:
                return
            conversation, turn = started.lease.conversation.id, started.lease.turn
            number = int(started.lease.token.partition("-")[0])
            with logs.bound(conversation=conversation, turn=turn, token=number):
                turnover, asked = await self._hold(started, asked)

    async def _hold(self, started: Started, asked: float) -> tuple[Turnover, float]:
        """Run one turn under its lease; answer what follows and when that was asked for."""
        with self._locks.hold(started, asked) as holding:
            if self._parking:  # granted by an answer that was on its way when draining began
                holding.cancel(Ending.PARKED)
            speaker.set(holding)  # inherited by every task of the turn, the responder's included
            try:
                return await self._run(holding)
            except LEASE_GONE as error:
                log.warning("turn left to the next holder", reason=str(error))
            except Exception:  # a bug of ours: its lease ends by itself, and so do its attempts
                log.exception("turn broken off")
        return Turnover(), asked

    async def _run(self, holding: Holding) -> tuple[Turnover, float]:
        started = holding.started
        try:
            messages = [unpack(inbound) for inbound in started.inbounds]
        except PayloadUnreadable as error:
            return await self._bury(holding, error)
        await self._learn(messages[0].place)
        for message in messages:
            # One that has pages was served before; its mark is gone.
            self._notices.served(message, 0 if started.pages else started.waited)
        tools = self._tools(messages[0])
        texts.speak(tools.rules.texts)
        return await TurnRun(tools, holding, messages).run()

    async def _bury(self, holding: Holding, error: PayloadUnreadable) -> tuple[Turnover, float]:
        """Set a turn aside that this build cannot read, so that its conversation goes on."""
        log.error("turn set aside", reason=str(error))
        asked, op = time.monotonic(), new_op()
        answer = await insist(
            lambda: self._state.fail(
                holding.lease,
                str(error),
                Changes(Outcome.DEAD),
                retry_in=None,
                limit=1,
                op=op,
                claim=self.claim(holding.lease.conversation),
            )
        )
        return (answer if isinstance(answer, Turnover) else Turnover()), asked
