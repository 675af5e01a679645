"""The steps that ask something of a conversation from outside its turn."""

from state.mending import mended
from state.outcomes import (
    Amended,
    Duplicate,
    Killed,
    NotRunning,
    NotWaiting,
    Signalled,
    Superseding,
    Withdrawn,
)
from state.redis import replies, scripts, wire
from state.redis.handle import Handle
from state.redis.replies import Reply
from state.values import Conversation, Inbound, SignalKind


class Requests(Handle):
    """Signals to a holder, and changes of what waits."""

    @mended
    async def signal(
        self, conversation: Conversation, turn: str, kind: SignalKind, *, by: str, op: str
    ) -> Signalled | NotRunning:
        """See `State.signal`."""
        of = self._keys.of(conversation)
        given = (op, of.hints, wire.text(turn), kind.value, wire.text(by))
        reply = Reply(await self._ask(scripts.SIGNAL, of, (), given))
        if reply.text() == "over":
            return NotRunning()
        return Signalled(reply.text(), reply.inbounds(), reply.turnover(conversation))

    @mended
    async def kill(
        self, conversation: Conversation, *, by: str, op: str, author: str | None = None
    ) -> Killed:
        """See `State.kill`."""
        hints = self._keys.of(conversation).hints
        given = (op, hints, wire.text(by), author or "")
        reply = await self._step(scripts.KILL, conversation, *given)
        fields = reply.many()
        now, live = reply.number(), bool(reply.next())
        running = replies.Turn(fields).running(now, live=live) if fields else None
        return Killed(running, reply.inbounds(), reply.turnover(conversation))

    @mended
    async def withdraw(
        self, conversation: Conversation, inbound: str, *, op: str
    ) -> Withdrawn | NotWaiting:
        """See `State.withdraw`."""
        of = self._keys.of(conversation)
        buckets, mark = of.seen(inbound)
        question = self._question(scripts.WITHDRAW, of, buckets, 2, (op, inbound, mark))
        reply = Reply(await self._told(of, scripts.WITHDRAW, question))
        if reply.text() == "withdrawn":
            return Withdrawn(replies.inbound(reply.next()))
        return NotWaiting(reply.optional_text())

    @mended
    async def amend(
        self, conversation: Conversation, inbound: str, edited: Inbound, *, op: str
    ) -> Amended | Superseding | NotWaiting | Duplicate:
        """See `State.amend`."""
        of = self._keys.of(conversation)
        buckets, mark = of.seen(edited.id)
        given = (op, of.hints, inbound, edited.id, edited.author, edited.payload, mark)
        question = self._question(scripts.AMEND, of, buckets, 2, given)
        reply = Reply(await self._told(of, scripts.AMEND, question))
        match reply.text():
            case "amended":
                return Amended()
            case "superseding":
                return Superseding(reply.text())
            case "duplicate":
                return Duplicate(reply.optional_text())
            case _:
                return NotWaiting(reply.optional_text())
