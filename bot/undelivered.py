"""What to do for a conversation whose reply Discord has refused for good."""

from typing import assert_never

import structlog

from bot import texts
from bot.inbound import Message
from bot.insist import insist
from bot.notices import Notices
from bot.refusals import THREAD_LOCKED, Refused, Silence, meaning
from bot.speaking import Rejected
from state.ports import State
from state.values import Conversation, Lease

log = structlog.get_logger(__name__)


class Undelivered:
    """Acts on refusals, before the turn that met one is given up."""

    def __init__(self, state: State, notices: Notices, silence: Silence) -> None:
        """Drop things in *state*, tell people by *notices*, remember in *silence*."""
        self._state = state
        self._notices = notices
        self._silence = silence

    async def act_on(self, error: Rejected, lease: Lease, asked_by: Message) -> None:
        """Do what *error* means for the conversation of *lease*, whose turn answers *asked_by*."""
        means = meaning(error)
        match means:
            case Refused.GONE:
                await abandon(self._state, lease)
            case Refused.SILENCED:
                # What refuses us in one thread is about that thread only if it is locked.
                locked = error.code == THREAD_LOCKED
                if self._silence.fall(asked_by.channel if locked else asked_by.home):
                    log.warning("not allowed to speak here", reason=str(error))
            case Refused.CENSORED:
                self._notices.tell(asked_by, texts.here().censored)
            case Refused.FAULTY:
                self._notices.tell(asked_by, texts.here().apology)
            case _:
                assert_never(means)


async def abandon(state: State, lease: Lease) -> None:
    """
    Take all that waits into the running turn, so that it ends with it, and silence the rest.

    Transcript and state stay: a channel that is only hidden may come back.
    """
    await insist(lambda: state.take(lease, "channel gone"))
    await unhear(state, lease.conversation)


async def unhear(state: State, conversation: Conversation) -> None:
    """Follow *conversation* no more, and drop its timers."""
    await insist(lambda: state.unsubscribe(conversation))
    cursor: str | None = None
    while True:
        page = await state.schedules(conversation.owner, cursor)
        for scheduled in page.timers:
            if scheduled.conversation == conversation:
                await state.unschedule(conversation, scheduled.timer.id)
        if (cursor := page.cursor) is None:
            return
