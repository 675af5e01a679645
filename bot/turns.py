"""
The life of one turn, top to bottom: speak, close the reply, conclude.

The lease is held by whoever runs this; nothing here outlives it but a last mark, by best effort.
"""

import asyncio
import json
import time
from collections.abc import Mapping
from typing import Any

import structlog

from bot import texts
from bot.asides import Asides
from bot.buttons import retry_button, stop_button
from bot.conclusion import Conclusion, reason
from bot.delivery import Reply
from bot.draft import CLOSE_WITHIN, Draft
from bot.endings import Ending
from bot.equipment import Tools
from bot.errors import ConfigInvalid, ResponderInvalid, Silenced, StateUnreadable
from bot.inbound import Kind, Message
from bot.journal import Journal
from bot.kept import Kept
from bot.locks import Holding
from bot.offers import Offers
from bot.pages import Pages
from bot.replies import Chunk
from bot.responders import Aside, Interrupted, Turn
from bot.responses import NAME_ROOM, mute, response_wire, settle
from bot.snowflake import made_at
from bot.speaking import Unreachable, Wire
from bot.speech import Speech, Spoken
from bot.surroundings import Surroundings
from bot.threads import thread_wire
from bot.typing_indicator import TypingIndicator
from state.outcomes import Turnover

#: Seconds after which a reply is slow and pings its author; until then they are still looking.
SLOW_REPLY = 10.0

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
        self._started = holding.started
        self._messages = messages
        self._asked_by = messages[0]
        self._journal = Journal(
            tools.state,
            holding.lease,
            self._started.steps,
            seconds=tools.rules.step,
            progressed=holding.progress,
        )
        carry = json.loads(self._started.carry or b"null")
        self._kept = Kept(
            tools.state,
            self._started,
            self._journal,
            self._asked_by,
            carry.get("state") if carry else None,
        )
        self._response = response_wire(tools.wire, self._asked_by, self._started)
        self._unmarked = False
        #: What a timer's reply begins with, until it has begun.
        self._addressee = ""
        if self._by_timer and self._asked_by.guild is not None:
            self._addressee = texts.FOR.format(person=self._asked_by.author.id)
        self._turn = Turn(
            messages,
            attempt=self._started.attempts + 1,
            journal=self._journal,
            pulse=holding,
            around=Surroundings(
                tools.state,
                tools.wire.sight,
                holding,
                self._journal,
                self._asked_by,
                remarks=tools.rules.context,
            ),
            kept=self._kept,
            say=self._say,
            interrupted=_interrupted(carry),
        )

    async def run(self) -> tuple[Turnover, float]:
        """
        Run the turn to its end; answer what follows it, and when (local monotonic) that was asked.

        Raise `LeaseLost` or `StateUnavailable` when it could not be concluded: it is then left at
        the head, for the next holder.
        """
        channel = self._asked_by.channel
        thread = thread_wire(self._tools.wire, self._asked_by, self._tools.follow)
        wire = self._response or thread or self._tools.wire
        markable = self._asked_by.is_written or self._response is not None
        self._asides = Asides(
            self._pages(wire, replies=markable, asides=True), self._holding, self._journal
        )
        self._reply = Reply(self._pages(wire, replies=markable), self._holding)
        rules = self._tools.rules
        turn = self._holding.lease.turn
        self._draft = Draft(
            self._reply,
            room=NAME_ROOM if self._response else 0,
            file_limit=self._tools.wire.file_limit(self._asked_by.guild),
            max_pages=rules.max_pages,
            delete_partial=rules.delete_partial,
            stop=stop_button(turn) if rules.buttons else None,
            retry=retry_button(turn) if rules.buttons else None,
            emoji=texts.STOPPED if markable and rules.reactions else None,
            offers=Offers(
                self._tools.state,
                self._holding.lease,
                responder=self._asked_by.responder,
                author=self._asked_by.author.id,
            ),
        )
        self._typing = TypingIndicator(wire, channel, self._holding)
        self._conclusion = Conclusion(
            self._tools,
            self._holding,
            self._messages,
            self._journal,
            self._draft,
            self._reply,
            self._kept,
        )
        try:
            with self._tools.pace.streaming():
                spoken = await self._speak()
                await self._close(spoken)
        finally:
            try:
                await self._typing.stop()
            finally:  # we may be cancelled a second time while we clean up
                await self._reply.freeze(0)
        why = {"reason": reason(spoken)} if spoken.error else {}
        log.info("turn over", ending=spoken.ending.value, **why)
        asked = time.monotonic()
        turnover = await self._conclusion.conclude(spoken)
        if self._unmarked:  # the next turn does not wait for it
            self._tools.notices.later(self._draft.mark_late(spoken.ending), f"mark {spoken.ending}")
        return turnover, asked

    # --- speak -----------------------------------------------------------------------------------

    async def _speak(self) -> Spoken:
        """Run the responder until it ends or is ended."""
        if mute(self._asked_by, silenced=self._tools.silence.reigns(self._asked_by.channel)):
            return Spoken(
                Ending.FAILED, Silenced("refused here lately; not run, to spare its cost")
            )
        try:
            responder = self._tools.responder(self._asked_by.responder)
            self._turn.settings = self._tools.settings(responder)
            self._turn.state = self._kept.begin(responder)
        except (ResponderInvalid, ConfigInvalid, StateUnreadable) as error:
            return Spoken(Ending.FAILED, error)
        speech = Speech(self._turn, responder, self._holding, self._tools.rules.limits)
        spoken = await speech.run(self._take, self._land)
        return spoken if spoken.error else Spoken(spoken.ending, self._reply.broken)

    async def _take(self, chunk: Chunk) -> None:
        """Add a chunk to the reply; that of a timer in a guild says first whom it is for."""
        if self._addressee and isinstance(chunk, str) and chunk.strip():
            chunk, self._addressee = self._addressee + chunk, ""
        await self._draft.take(chunk)

    async def _say(self, text: str) -> Aside:
        return await self._asides.say(text)

    async def _land(self) -> None:
        """Put the whole reply on Discord. Still part of speaking: a stop or kill cuts it too."""
        # First: a state that cannot be kept fails the turn before its reply looks complete.
        self._kept.seal(self._turn.state)
        await self._typing.stop()
        await self._asides.sweep()
        await self._draft.land()
        if self._draft.blank and not self._turn.declined:
            self._tools.notices.empty(self._asked_by)

    # --- close the reply -------------------------------------------------------------------------

    async def _close(self, spoken: Spoken) -> None:
        """Leave the reply as its ending wants it, within `CLOSE_WITHIN`."""
        await self._typing.stop()
        if isinstance(spoken.error, Silenced):
            return  # an apology would be refused like anything else
        try:
            async with asyncio.timeout(CLOSE_WITHIN):
                retried = self._conclusion.retry_in(spoken) is not None
                await self._draft.close(spoken.ending, retried=retried)
                if not (retried or spoken.ending in GOES_ON):
                    await settle(
                        self._tools.wire, self._messages, self._response, self._shrug(spoken)
                    )
        except Exception as error:  # noqa: BLE001 (however the reply is left, the turn is concluded)
            unheard = isinstance(error, TimeoutError | Unreachable)
            self._unmarked = unheard and spoken.ending in LEAVES_A_MARK
            log.warning("reply not closed", ending=spoken.ending.value, reason=repr(error))

    def _shrug(self, spoken: Spoken) -> str | None:
        """What a command is answered whose turn had nothing to say, unless that was on purpose."""
        empty = spoken.ending is Ending.FINISHED and self._draft.blank
        shrugs = self._tools.rules.reactions and not self._turn.declined
        return texts.EMPTY if empty and shrugs else None

    # --- how it is said -----------------------------------------------------------------------

    def _pages(self, wire: Wire, *, replies: bool, asides: bool = False) -> Pages:
        return Pages(
            wire,
            self._tools.state,
            self._tools.pace,
            self._holding,
            self._asked_by.channel,
            self._asked_by.id,
            replies=replies,
            ping=self._pings(),
            asides=asides,
            notifies=self._asked_by.author.id if self._addressee and self._pings() else None,
        )

    @property
    def _by_timer(self) -> bool:
        return self._asked_by.trigger.kind is Kind.TIMER

    def _pings(self) -> bool:
        # Whoever has set a timer has turned to other things.
        late = self._by_timer or time.time() - made_at(self._asked_by.id) > SLOW_REPLY
        rule = self._tools.rules.ping_author
        return rule == "always" or (rule == "slow" and late)


def _interrupted(carry: Mapping[str, Any] | None) -> Interrupted | None:
    return Interrupted(carry["text"], tuple(carry["steps"])) if carry else None
