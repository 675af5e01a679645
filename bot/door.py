"""
The door that every message passes: judged, admitted by the store, acted upon.

Several processes may hear the same message; only the one whose admission was not a Duplicate acts.
"""

import time
from dataclasses import dataclass
from typing import assert_never

import structlog

from bot.admission import Heard, judge
from bot.conversations import Conversations
from bot.endings import Ending
from bot.gate import Gate
from bot.inbound import Message
from bot.insist import insist, new_op
from bot.locks import Locks
from bot.notices import Notices
from state.errors import Gone, StateUnavailable
from state.outcomes import (
    Admission,
    Duplicate,
    Ignored,
    Placed,
    Refused,
    Signalled,
    Superseding,
)
from state.ports import State
from state.values import Overflow, Policy

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class DoorRules:
    """The settings that shape admission."""

    #: "addressed", "early", "any" or "off".
    followups: str
    max_followups: int
    inbox: int
    inbox_per_person: int
    overflow: Overflow

    def policy(self, message: Message) -> Policy:
        """The bounds for *message*; a direct message has no share, for there is one person."""
        return Policy(
            inbox=self.inbox,
            per_person=self.inbox if message.guild is None else self.inbox_per_person,
            overflow=self.overflow,
            max_followups=self.max_followups,
            early_only=self.followups == "early",
        )


class Door:
    """Where messages come in."""

    def __init__(
        self,
        state: State,
        locks: Locks,
        conversations: Conversations,
        notices: Notices,
        rules: DoorRules,
    ) -> None:
        """Admit to *state*; tell the other three what came of it."""
        self._state = state
        self._locks = locks
        self._conversations = conversations
        self._notices = notices
        self._rules = rules
        self._gate = Gate()

    async def enter(self, message: Message, heard: Heard) -> None:
        """Admit one message, after those of its conversation that came before it."""
        async with self._gate.through(message.channel):
            # Judged inside: whether its author is live may depend on the message before it.
            live = self._locks.is_live(message.conversation, message.author.id)
            could = judge(heard, self._rules.followups, author_is_live=live)
            if could is None:
                return
            asked, op, claim = time.monotonic(), new_op(), self._conversations.claim()
            try:
                admission = await insist(
                    lambda: self._state.admit(
                        message.conversation,
                        message.inbound(),
                        could,
                        self._rules.policy(message),
                        op=op,
                        claim=claim,
                    )
                )
            except (StateUnavailable, Gone) as error:
                log.error("message not admitted", inbound=message.id, reason=str(error))  # noqa: TRY400
                return
            log.info("heard", inbound=message.id, admission=type(admission).__name__.lower())
            self._act(message, admission, asked)

    def _act(self, message: Message, admission: Admission, asked: float) -> None:
        match admission:
            case Placed(place, turnover):
                self._conversations.begin(turnover, asked)
                if place > 0:
                    self._notices.waits(message)
            case Superseding(turn, turnover):
                self._locks.cancel(turn, Ending.SUPERSEDED)
                self._conversations.begin(turnover, asked)
                self._notices.waits(message)
            case Signalled(turn, withdrawn, turnover):
                if turn is not None:
                    self._locks.cancel(turn, Ending.STOPPED)
                self._notices.withdrawn(withdrawn)
                self._notices.stopped(message)
                self._conversations.begin(turnover, asked)
            case Refused():
                self._notices.refused(message, admission, self._rules.inbox_per_person)
            case Duplicate() | Ignored():
                pass
            case _:
                assert_never(admission)
