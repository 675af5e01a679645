"""
What people ask of a conversation by command: kill, stop, look, begin anew.

Each works for a turn that another process holds: the store decides, a local holder is told at
once, a distant one by hint, renewal or sweep. Two processes may hear the same command: operation
ids made of the interaction's id give both the same answer.
"""

import asyncio
import time
from collections.abc import Coroutine
from typing import Any

import structlog

from bot.conversations import Conversations
from bot.endings import Ending
from bot.insist import insist, new_op
from bot.locks import Locks
from bot.notices import Notices
from state.errors import StateError
from state.listings import DeadLetter
from state.outcomes import Killed, NotRunning, Running, Signalled, Turnover, View
from state.ports import State
from state.values import Conversation, SignalKind

#: Seconds after which a holder that has not ended a killed turn loses its lease: what people may
#: expect of /kill. A holder that reacts has ended long before; one whose responder resists, or to
#: which Discord is slow, loses no more than the mark behind its reply.
REACT_WITHIN = 2.0

log = structlog.get_logger(__name__)


class Requests:
    """The commands' way to the store and to the holdings of this process."""

    def __init__(
        self, state: State, locks: Locks, conversations: Conversations, notices: Notices
    ) -> None:
        """Act on *state*, tell *locks*, take the marks off what waits no more."""
        self._state = state
        self._locks = locks
        self._conversations = conversations
        self._notices = notices
        self._tasks: set[asyncio.Task[None]] = set()

    async def close(self) -> None:
        """Wait for no holder any more."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def look(self, conversation: Conversation) -> View:
        """Show the turn and what waits."""
        return await self._state.view(conversation)

    async def stop(
        self, conversation: Conversation, turn: str, by: str, op: str
    ) -> Signalled | NotRunning:
        """End that turn gracefully; its author's waiting messages are withdrawn."""
        answer = await insist(
            lambda: self._state.signal(conversation, turn, SignalKind.STOP, by=by, op=op)
        )
        if isinstance(answer, Signalled):
            self._locks.cancel(turn, Ending.STOPPED)
            self._notices.withdrawn(answer.withdrawn)
            self._notices.settled(answer.turnover.settled)
        return answer

    async def stop_here(self, conversation: Conversation, by: str) -> None:
        """End what runs in *conversation*, if it is this process that runs it."""
        if self._locks.holds(conversation):
            turn = (await insist(lambda: self.look(conversation))).turn
            if turn is not None:
                await self.stop(conversation, turn.id, by, new_op())

    async def kill(
        self, conversation: Conversation, by: str, op: str, author: str | None = None
    ) -> Killed:
        """Abort the turn and drop the inbox, or only what is *author*'s of both."""
        killed = await insist(lambda: self._state.kill(conversation, by=by, op=op, author=author))
        if killed.turn is not None:
            self._locks.cancel(killed.turn.id, Ending.KILLED)
            if killed.turn.live:
                self._spawn(self._insist_on_end(conversation, killed.turn))
        self._notices.withdrawn(killed.dropped)
        self._notices.settled(killed.turnover.settled)
        return killed

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(_quietly(work), name="kill")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: work.close())  # one that is cancelled before it began

    async def _insist_on_end(self, conversation: Conversation, killed: Running) -> None:
        """Take the conversation from a holder that does not react to a kill in time."""
        await asyncio.sleep(REACT_WITHIN)
        claim = self._conversations.claim(conversation)
        turn = (await self._state.view(conversation)).turn
        if turn is None or turn.id != killed.id or turn.token is None or claim is None:
            return
        log.warning("holder does not react to a kill, taking over", turn=turn.id)
        asked, op, token = time.monotonic(), new_op(), turn.token
        stolen = await insist(lambda: self._state.steal(conversation, token, op=op, claim=claim))
        if isinstance(stolen, Turnover):
            self._conversations.begin(stolen, asked)

    async def given_up(self, conversation: Conversation, turn: str) -> DeadLetter | None:
        """Find the dead letter that *turn* became."""
        cursor: str | None = None
        while True:
            page = await self._state.dead_letters(conversation.owner, cursor)
            for letter in page.letters:
                if letter.conversation == conversation and letter.id.startswith(f"{turn}."):
                    return letter
            if (cursor := page.cursor) is None:
                return None

    async def requeue(self, conversation: Conversation, letter: str, op: str) -> bool:
        """Try a dead letter again, after what waits; whether it was still there."""
        return await insist(lambda: self._state.requeue(conversation, letter, op=op))

    async def forget(self, conversation: Conversation) -> None:
        """Remove everything of a conversation; a turn that runs there says nothing more."""
        self._locks.lose(conversation)
        while not (await insist(lambda: self._state.forget(conversation))).done:
            pass

    async def begin_anew(self, conversation: Conversation) -> None:
        """End the conversation's transcript at once; a running turn writes nothing to the next."""
        await insist(lambda: self._state.reset(conversation))


async def _quietly(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except StateError as error:  # the lease of a mute holder ends by itself, only later
        log.warning("kill not insisted on", reason=str(error))
