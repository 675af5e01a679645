"""
The life of one turn, top to bottom: speak, close the reply, conclude in the store.

The lease is held by whoever runs this; nothing here outlives it but a last mark, by best effort.
"""

import asyncio
import json
import time
from typing import assert_never

import structlog

from bot import texts
from bot.buttons import retry_button, stop_button
from bot.delivery import Reply
from bot.draft import CLOSE_WITHIN, Draft
from bot.endings import Ending
from bot.equipment import Tools
from bot.errors import ResponderInvalid, RetryLater, Silenced
from bot.followed import heard_up_to
from bot.inbound import Message
from bot.insist import insist, new_op
from bot.journal import Journal
from bot.locks import Holding
from bot.pages import Pages
from bot.rates import TURNS
from bot.responders import Interrupted, Turn
from bot.speaking import Rejected, Unreachable
from bot.speech import Speech, Spoken
from bot.transcript import Said, exchange, read
from bot.typing_indicator import TypingIndicator
from bot.undelivered import Undelivered
from state.keys import Put
from state.outcomes import Drift, Turnover
from state.values import Changes, Outcome

#: Seconds after which a reply is slow and pings its author; until then they are still looking.
SLOW_REPLY = 10.0

#: Seconds before the first and before each further retry of a failure that is worth one.
RETRY_AFTER = (2.0, 8.0)

#: Discord's epoch in milliseconds: an id holds the milliseconds since then above its low 22 bits.
DISCORD_EPOCH = 1_420_070_400_000

#: Endings whose mark follows by best effort when there was no time for it.
LEAVES_A_MARK = (Ending.STOPPED, Ending.KILLED, Ending.SUPERSEDED)

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
        self._state = _unpacked(self._started.state)
        self._changed: bytes | None = None
        self._unmarked = False
        self._turn = Turn(
            messages,
            attempt=self._started.attempts + 1,
            journal=self._journal,
            pulse=holding,
            history=self._history,
            interrupted=_interrupted(self._started.carry),
            state=_unpacked(self._started.state),
        )

    async def run(self) -> tuple[Turnover, float]:
        """
        Run the turn to its end; answer what follows it, and when (local monotonic) that was asked.

        Raise `LeaseLost` or `StateUnavailable` when it could not be concluded: it is then left at
        the head, for the next holder.
        """
        channel = self._asked_by.channel
        pages = Pages(
            self._tools.wire,
            self._tools.state,
            self._tools.pace,
            self._holding,
            channel,
            self._asked_by.id,
            ping=self._pings(),
        )
        self._reply = Reply(pages, self._holding)
        rules = self._tools.rules
        turn = self._holding.lease.turn
        self._draft = Draft(
            self._reply,
            max_pages=rules.max_pages,
            delete_partial=rules.delete_partial,
            stop=stop_button(turn) if rules.buttons else None,
            retry=retry_button(turn) if rules.buttons else None,
            emoji=texts.STOPPED if self._tools.notices.reactions else None,
        )
        self._typing = TypingIndicator(self._tools.wire, channel, self._holding)
        try:
            with self._tools.pace.streaming():
                spoken = await self._speak()
                await self._close(spoken)
        finally:
            await self._typing.stop()
            await self._reply.freeze(0)
        log.info("turn over", ending=spoken.ending.value, **_why(spoken))
        asked = time.monotonic()
        turnover = await self._conclude(spoken)
        if self._unmarked:  # the next turn does not wait for it
            self._tools.notices.later(self._draft.mark_late(spoken.ending), f"mark {spoken.ending}")
        return turnover, asked

    # --- speak -----------------------------------------------------------------------------------

    async def _speak(self) -> Spoken:
        """Run the responder until it ends or is ended."""
        if self._tools.silence.reigns(self._asked_by.channel):
            return Spoken(
                Ending.FAILED, Silenced("refused here lately; not run, to spare its cost")
            )
        try:
            responder = self._tools.responder(self._asked_by.responder)
        except ResponderInvalid as error:
            return Spoken(Ending.FAILED, error)
        speech = Speech(self._turn, responder, self._holding, self._tools.rules.limits)
        spoken = await speech.run(self._draft.write, self._land)
        return spoken if spoken.error else Spoken(spoken.ending, self._reply.broken)

    async def _land(self) -> None:
        """Put the whole reply on Discord. Still part of speaking: a stop or kill cuts it too."""
        # First: a state that cannot be kept fails the turn before its reply looks complete.
        if self._turn.state != self._state:
            self._changed = json.dumps(self._turn.state).encode()
        await self._typing.stop()
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
                retried = self._retry_in(spoken) is not None
                await self._draft.close(spoken.ending, retried=retried)
        except Exception as error:  # noqa: BLE001 (however the reply is left, the turn is concluded)
            unheard = isinstance(error, TimeoutError | Unreachable)
            self._unmarked = unheard and spoken.ending in LEAVES_A_MARK
            log.warning("reply not closed", ending=spoken.ending.value, reason=repr(error))

    # --- conclude in the store -------------------------------------------------------------------

    async def _conclude(self, spoken: Spoken) -> Turnover:
        """End the turn in the store, which hands over in the same step."""
        match spoken.ending:
            case Ending.FINISHED:
                return await self._commit(Outcome.ANSWERED, spoken)
            case Ending.STOPPED:
                return await self._commit(Outcome.STOPPED, spoken)
            case Ending.KILLED:
                return await self._commit(Outcome.KILLED, spoken)
            case Ending.SUPERSEDED:
                return await self._supersede(spoken)
            case Ending.FAILED:
                return await self._fail(spoken)
            case Ending.PARKED:
                op = new_op()
                await insist(lambda: self._tools.state.park(self._holding.lease, op=op))
                return Turnover()
            case Ending.LOST:
                return Turnover()
            case _:
                assert_never(spoken.ending)

    async def _commit(self, outcome: Outcome, spoken: Spoken) -> Turnover:
        op, claim = new_op(), self._tools.claim()
        changes = self._changes(outcome, spoken)
        answer = await insist(
            lambda: self._tools.state.commit(self._holding.lease, changes, op=op, claim=claim)
        )
        if isinstance(answer, Drift):
            recorded, asked = sorted(self._journal.recorded), sorted(self._journal.asked)
            error = f"the replay drifted: recorded steps {recorded}, asked for {asked}"
            return await self._fail(Spoken(Ending.FAILED, RuntimeError(error)))
        return answer

    async def _supersede(self, spoken: Spoken) -> Turnover:
        op, claim = new_op(), self._tools.claim()
        if claim is None:  # draining: the next process finds the request still pending
            await insist(lambda: self._tools.state.park(self._holding.lease, op=op))
            return Turnover()
        carry = json.dumps({"text": self._draft.text, "steps": self._journal.steps}).encode()
        changes = self._changes(Outcome.SUPERSEDED, spoken)
        return await insist(
            lambda: self._tools.state.supersede(
                self._holding.lease, op=op, claim=claim, carry=carry, changes=changes
            )
        )

    async def _fail(self, spoken: Spoken) -> Turnover:
        if isinstance(spoken.error, Rejected):
            await Undelivered(self._tools.state, self._tools.notices, self._tools.silence).act_on(
                spoken.error, self._holding.lease, self._asked_by
            )
        op, claim = new_op(), self._tools.claim()
        if (retry_in := self._retry_in(spoken)) is not None:
            log.warning("turn failed, trying again", seconds=retry_in, reason=_reason(spoken))
        else:
            log.error("turn given up", exc_info=spoken.error)
        answer = await insist(
            lambda: self._tools.state.fail(
                self._holding.lease,
                _reason(spoken),
                self._changes(Outcome.DEAD, spoken),
                retry_in=self._retry_in(spoken),
                limit=self._tools.rules.max_attempts,
                op=op,
                claim=claim,
            )
        )
        return answer if isinstance(answer, Turnover) else Turnover()

    def _retry_in(self, spoken: Spoken) -> float | None:
        """Seconds until the next try of a failed turn; None: it is given up."""
        attempts = self._started.attempts
        if (
            not isinstance(spoken.error, RetryLater)
            or attempts + 1 >= self._tools.rules.max_attempts
        ):
            return None
        return RETRY_AFTER[min(attempts, len(RETRY_AFTER) - 1)]

    def _changes(self, outcome: Outcome, spoken: Spoken) -> Changes:
        """What the end of this turn writes: the exchange always, state only when it finished."""
        finished = spoken.ending is Ending.FINISHED
        cut = spoken.ending is Ending.KILLED
        reply = self._reply.shown if cut else self._draft.text
        return Changes(
            outcome,
            state=self._changed if finished else None,
            state_version=1,
            transcript=exchange(self._messages, reply, spoken.ending),
            keep=self._tools.rules.keep,
            asked=frozenset(self._journal.asked) if finished else None,
            usage={TURNS: 1},
            puts=self._heard(),
        )

    def _heard(self) -> tuple[Put, ...]:
        """Note how far a followed conversation has been heard, for the next start to catch up."""
        heard = [message.id for message in self._messages if message.caught_up]
        if not heard:
            return ()
        return (heard_up_to(self._holding.lease.conversation, max(heard, key=int)),)

    # --- what a turn knows -----------------------------------------------------------------------

    async def _history(self, limit: int) -> list[Said]:
        conversation = self._holding.lease.conversation
        return read(await insist(lambda: self._tools.state.history(conversation, limit=limit)))

    def _pings(self) -> bool:
        sent = ((int(self._asked_by.id) >> 22) + DISCORD_EPOCH) / 1000
        rule = self._tools.rules.ping_author
        return rule == "always" or (rule == "slow" and time.time() - sent > SLOW_REPLY)


def _unpacked(state: bytes | None) -> object:
    """A fresh copy of the stored JSON, so that a change made in place is seen as one."""
    return json.loads(state) if state is not None else None


def _interrupted(carry: bytes | None) -> Interrupted | None:
    if carry is None:
        return None
    body = json.loads(carry)
    return Interrupted(body["text"], tuple(body["steps"]))


def _why(spoken: Spoken) -> dict[str, str]:
    return {"reason": _reason(spoken)} if spoken.error else {}


def _reason(spoken: Spoken) -> str:
    return f"{type(spoken.error).__name__}: {spoken.error}" if spoken.error else ""
