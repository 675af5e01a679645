"""
The life of one turn, top to bottom: speak, close the reply, conclude.

The lease is held by whoever runs this; nothing here outlives it but a last mark, by best effort.
"""

import asyncio
import time
from contextlib import AsyncExitStack

import structlog

from bot import texts
from bot.assembly import assemble
from bot.conclusion import reason
from bot.endings import END_WITHIN, Ending
from bot.equipment import Tools
from bot.errors import ConfigInvalid, ResponderInvalid, Silenced, StateUnreadable
from bot.inbound import Message
from bot.locks import Holding
from bot.responses import mute, settle
from bot.speaking import NotSpeaking, Unreachable
from bot.speech import Speech, Spoken
from state.outcomes import Turnover

#: Endings whose mark follows by best effort when there was no time for it.
LEAVES_A_MARK = (Ending.STOPPED, Ending.KILLED, Ending.SUPERSEDED)

#: Endings after which the same turn is taken up again.
GOES_ON = (Ending.PARKED, Ending.LOST)

log = structlog.get_logger(__name__)


class TurnRun:
    """One run of one turn: its first, or the replay of one that was left unfinished."""

    def __init__(self, tools: Tools, holding: Holding, messages: list[Message]) -> None:
        """Go on from what *holding* started with; *messages* are its inbounds, unpacked."""
        self._tools = tools
        self._holding = holding
        self._messages = messages
        self._asked_by = messages[0]
        self._unmarked = False

    async def run(self) -> tuple[Turnover, float]:
        """
        Run the turn to its end; answer what follows it, and when (local monotonic) that was asked.

        Raise `LeaseLost` or `StateUnavailable` when it could not be concluded: it is then left at
        the head, for the next holder.
        """
        self._parts = assemble(self._tools, self._holding, self._messages)
        try:
            # The reply of a responder that is ended is closed while that cleans up.
            async with AsyncExitStack() as clean_up:
                with self._tools.pace.streaming():
                    spoken = await self._speak(clean_up)
                    await self._close(spoken)
        finally:
            try:
                await self._parts.typing.stop()
            finally:  # we may be cancelled a second time while we clean up
                await self._parts.reply.freeze(0)
        why = {"reason": reason(spoken)} if spoken.error else {}
        log.info("turn over", ending=spoken.ending.value, **why)
        asked = time.monotonic()
        turnover = await self._parts.conclusion.conclude(spoken)
        self._leave_for_later(spoken)
        return turnover, asked

    # --- speak -----------------------------------------------------------------------------------

    async def _speak(self, clean_up: AsyncExitStack) -> Spoken:
        """Run the responder until it ends or is ended; *clean_up* waits for what it leaves."""
        if mute(self._asked_by, silenced=self._tools.silence.reigns(self._asked_by.home)):
            return Spoken(
                Ending.FAILED, Silenced("refused here lately; not run, to spare its cost")
            )
        try:
            responder = self._tools.responder(self._asked_by.responder)
            self._parts.turn.settings = self._tools.settings(responder)
            self._parts.turn.state = self._parts.kept.begin(responder)
        except (ResponderInvalid, ConfigInvalid, StateUnreadable) as error:
            return Spoken(Ending.FAILED, error)
        speech = await clean_up.enter_async_context(
            Speech(self._parts.turn, responder, self._holding, self._tools.rules.limits)
        )
        spoken = await speech.run(self._parts.draft.take, self._land)
        return spoken if spoken.error else Spoken(spoken.ending, self._parts.reply.broken)

    async def _land(self) -> None:
        """Put the whole reply on Discord. Still part of speaking: a stop or kill cuts it too."""
        # First: a state that cannot be kept fails the turn before its reply looks complete.
        self._parts.kept.seal(self._parts.turn.state)
        await self._parts.typing.stop()
        await self._parts.asides.sweep()
        await self._parts.draft.land()
        if self._parts.empty:
            self._tools.notices.empty(self._asked_by)

    # --- close the reply -------------------------------------------------------------------------

    async def _close(self, spoken: Spoken) -> None:
        """Leave the reply as its ending wants it, within `END_WITHIN`."""
        await self._parts.typing.stop()
        if isinstance(spoken.error, Silenced):
            return  # an apology would be refused like anything else
        try:
            async with asyncio.timeout(END_WITHIN):
                retried = self._parts.conclusion.retry_in(spoken) is not None
                await self._parts.draft.close(spoken.ending, retried=retried)
                if not (retried or spoken.ending in GOES_ON):
                    await settle(
                        self._tools.wire, self._messages, self._parts.response, self._shrug(spoken)
                    )
        except Exception as error:  # noqa: BLE001 (however the reply is left, the turn is concluded)
            unheard = isinstance(error, TimeoutError | Unreachable | NotSpeaking)
            self._unmarked = unheard and spoken.ending in LEAVES_A_MARK
            log.warning("reply not closed", ending=spoken.ending.value, reason=repr(error))

    def _leave_for_later(self, spoken: Spoken) -> None:
        """Let what there was no time for follow by best effort; the next turn does not wait."""
        draft, later = self._parts.draft, self._tools.notices.later
        if self._unmarked:
            later(draft.mark_late(spoken.ending), f"mark {spoken.ending}")
        if not (self._parts.reply.swept or spoken.ending in GOES_ON):
            later(draft.sweep_late(), f"sweep {self._holding.lease.turn}")

    def _shrug(self, spoken: Spoken) -> str | None:
        """What a command is answered whose turn had nothing to say, unless that was on purpose."""
        shrugs = spoken.ending is Ending.FINISHED and self._parts.empty
        return texts.EMPTY if shrugs and self._tools.rules.reactions else None
