"""
What people ask of a conversation by command: kill, stop, look, begin anew.

Each works for a turn that another process holds: the store decides, a local holder is told at
once, a distant one by hint, renewal or sweep. Two processes may hear the same command: operation
ids made of the interaction's id give both the same answer.
"""

from bot.endings import Ending
from bot.insist import insist
from bot.locks import Locks
from bot.notices import Notices
from state.outcomes import Killed, NotRunning, Signalled, View
from state.ports import State
from state.values import Conversation, SignalKind


class Requests:
    """The commands' way to the store and to the holdings of this process."""

    def __init__(self, state: State, locks: Locks, notices: Notices) -> None:
        """Act on *state*, tell *locks*, take the marks off what waits no more."""
        self._state = state
        self._locks = locks
        self._notices = notices

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

    async def kill(
        self, conversation: Conversation, by: str, op: str, author: str | None = None
    ) -> Killed:
        """Abort the turn and drop the inbox, or only what is *author*'s of both."""
        killed = await insist(lambda: self._state.kill(conversation, by=by, op=op, author=author))
        if killed.turn is not None:
            self._locks.cancel(killed.turn.id, Ending.KILLED)
        self._notices.withdrawn(killed.dropped)
        self._notices.settled(killed.turnover.settled)
        return killed

    async def forget(self, conversation: Conversation) -> None:
        """Remove everything of a conversation; a turn that runs there says nothing more."""
        self._locks.lose(conversation)
        while not (await insist(lambda: self._state.forget(conversation))).done:
            pass

    async def begin_anew(self, conversation: Conversation) -> None:
        """End the conversation's transcript at once; a running turn writes nothing to the next."""
        await insist(lambda: self._state.reset(conversation))
