"""
The end of a turn, put into the store: what each ending writes, and who speaks next.

Whatever ended it, what people wrote and what was shown of the reply is kept.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import assert_never

import structlog

from bot.delivery import Reply
from bot.draft import Draft
from bot.endings import Ending
from bot.equipment import Tools
from bot.errors import RetryLater
from bot.followed import heard_up_to
from bot.inbound import Message
from bot.insist import insist, new_op
from bot.journal import Journal
from bot.kept import FORMAT, Kept
from bot.locks import Holding
from bot.rates import TURNS
from bot.speaking import Rejected
from bot.speech import Spoken
from bot.transcript import exchange
from bot.undelivered import Undelivered
from state.keys import Put
from state.outcomes import Drift, Turnover
from state.values import Changes, Outcome

#: Seconds before the first and before each further retry of a failure that is worth one.
RETRY_AFTER = (2.0, 8.0)

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Conclusion:
    """How one run of a turn is concluded."""

    tools: Tools
    holding: Holding
    messages: Sequence[Message]
    journal: Journal
    draft: Draft
    reply: Reply
    kept: Kept

    async def conclude(self, spoken: Spoken) -> Turnover:
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
                await insist(lambda: self.tools.state.park(self.holding.lease, op=op))
                return Turnover()
            case Ending.LOST:
                return Turnover()
            case _:
                assert_never(spoken.ending)

    async def _commit(self, outcome: Outcome, spoken: Spoken) -> Turnover:
        op, claim = new_op(), self.tools.claim()
        changes = self._changes(outcome, spoken)
        answer = await insist(
            lambda: self.tools.state.commit(self.holding.lease, changes, op=op, claim=claim)
        )
        if isinstance(answer, Drift):
            recorded, asked = sorted(self.journal.recorded), sorted(self.journal.asked)
            error = f"the replay drifted: recorded steps {recorded}, asked for {asked}"
            return await self._fail(Spoken(Ending.FAILED, RuntimeError(error)))
        return answer

    async def _supersede(self, spoken: Spoken) -> Turnover:
        op, claim = new_op(), self.tools.claim()
        if claim is None:  # draining: the next process finds the request still pending
            await insist(lambda: self.tools.state.park(self.holding.lease, op=op))
            return Turnover()
        handed_on = {
            "text": self.draft.text,
            "steps": self.journal.steps,
            "state": self.kept.carry,
        }
        carry = json.dumps(handed_on).encode()
        changes = self._changes(Outcome.SUPERSEDED, spoken)
        return await insist(
            lambda: self.tools.state.supersede(
                self.holding.lease,
                op=op,
                claim=claim,
                carry=carry,
                changes=changes,
            )
        )

    async def _fail(self, spoken: Spoken) -> Turnover:
        if isinstance(spoken.error, Rejected):
            await Undelivered(self.tools.state, self.tools.notices, self.tools.silence).act_on(
                spoken.error, self.holding.lease, self.messages[0]
            )
        op, claim = new_op(), self.tools.claim()
        if (retry_in := self.retry_in(spoken)) is not None:
            log.warning("turn failed, trying again", seconds=retry_in, reason=reason(spoken))
        else:
            log.error("turn given up", exc_info=spoken.error)
        answer = await insist(
            lambda: self.tools.state.fail(
                self.holding.lease,
                reason(spoken),
                self._changes(Outcome.DEAD, spoken),
                retry_in=retry_in,
                limit=self.tools.rules.max_attempts,
                op=op,
                claim=claim,
            )
        )
        return answer if isinstance(answer, Turnover) else Turnover()

    def retry_in(self, spoken: Spoken) -> float | None:
        """Seconds until the next try of a failed turn; None: it is given up."""
        attempts = self.holding.started.attempts
        if (
            not isinstance(spoken.error, RetryLater)
            or attempts + 1 >= self.tools.rules.max_attempts
        ):
            return None
        return RETRY_AFTER[min(attempts, len(RETRY_AFTER) - 1)]

    def _changes(self, outcome: Outcome, spoken: Spoken) -> Changes:
        """What the end of this turn writes: the exchange always, what it keeps if it finished."""
        finished = spoken.ending is Ending.FINISHED
        cut = spoken.ending is Ending.KILLED
        text = self.reply.shown if cut else self.draft.text
        said = exchange(self.messages, text, spoken.ending)
        return Changes(
            outcome,
            state=self.kept.state(finished=finished),
            state_version=FORMAT,
            transcript=tuple(one.pack() for one in said),
            authors=tuple(one.author.id if one.author else "" for one in said),
            keep=self.tools.rules.keep,
            asked=frozenset(self.journal.asked) if finished else None,
            usage={TURNS: 1},
            timers=self.kept.timers() if finished else (),
            unschedule=self.kept.unscheduled() if finished else (),
            puts=(*self._heard(), *(self.kept.puts() if finished else ())),
        )

    def _heard(self) -> tuple[Put, ...]:
        """Note how far a followed conversation has been heard, for the next start to catch up."""
        heard = [message for message in self.messages if message.caught_up]
        if not heard:
            return ()
        newest = max(heard, key=lambda message: int(message.id))
        # Where it stands: what is answered in a thread on it was heard in the channel.
        return (heard_up_to(replace(newest, channel=newest.home).conversation, newest.id),)


def reason(spoken: Spoken) -> str:
    """Why a turn failed, in one line; empty when it did not."""
    return f"{type(spoken.error).__name__}: {spoken.error}" if spoken.error else ""
