"""
The leases held by this process: one heartbeat for all, and the reasons to end a turn early.

A holding ends the turn, never the other way round: whoever wants a turn to end calls `cancel` with
a reason, and the one task that runs the turn acts on it.
"""

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import structlog

from bot.endings import BY_SIGNAL, Ending
from state.errors import StateUnavailable
from state.outcomes import Held, Started
from state.ports import State
from state.values import Claim, Conversation, Lease

#: Seconds before a lease's end at which we stop speaking under it: a request that has begun may
#: still be on its way when the lease ends. Relation: a fifth of a short lease, so that even the
#: shortest (3 s) leaves time to speak.
MARGIN = 3.0

#: Seconds by which a heartbeat may come late before the log says so. Relation: above what a busy
#: machine takes, below the shortest lease (3 s), so that it is said before turns are lost by it.
LATE = 1.0

log = structlog.get_logger(__name__)


class Holding:
    """One turn held here: until when it may speak, and why it should end."""

    def __init__(self, started: Started, granted: float, seconds: float) -> None:
        """*granted* is the local monotonic time from *before* the lease was asked for."""
        self.started = started
        self.lease: Lease = started.lease
        self.authors = {inbound.author for inbound in started.inbounds}
        #: Resolves with the first reason to end; `reason` may still be overridden by a stronger.
        self.cancelled: asyncio.Future[Ending] = asyncio.get_running_loop().create_future()
        self.reason: Ending | None = None
        self.begun = time.monotonic()
        self.progressed = self.begun
        #: Whether its turn has ended here. What still runs in its name then, such as a task that a
        #: responder has started for good, is nobody's turn.
        self.over = False
        self._chains = 0
        self._after_chain = False
        self.prolong(granted, seconds)

    def prolong(self, granted: float, seconds: float) -> None:
        """Count the lease's life from *granted*, a local monotonic time before it was asked for."""
        self.deadline = granted + seconds - min(MARGIN, seconds / 5)

    @property
    def may_speak(self) -> bool:
        """Whether a request to Discord may begin now."""
        return self.reason is not Ending.LOST and time.monotonic() < self.deadline

    def cancel(self, reason: Ending) -> None:
        """Ask the turn to end. A weaker reason than the present one changes nothing."""
        if reason is Ending.SUPERSEDED and self._chains:
            self._after_chain = True
            return
        if reason.beats(self.reason):
            self.reason = reason
        if not self.cancelled.done():
            self.cancelled.set_result(reason)

    def progress(self) -> None:
        """Note that the turn is alive."""
        self.progressed = time.monotonic()

    @contextmanager
    def chain(self) -> Iterator[None]:
        """Hold follow-ups back; at the end of the outermost block they supersede together."""
        self._chains += 1
        try:
            yield
        finally:
            self._chains -= 1
            if not self._chains and self._after_chain:
                self._after_chain = False
                self.cancel(Ending.SUPERSEDED)


class Locks:
    """All holdings of this process."""

    def __init__(self, state: State, claim: Claim) -> None:
        """*claim* is what each lease is asked for with."""
        self._state = state
        self._claim = claim
        self._held: dict[str, Holding] = {}

    def __len__(self) -> int:
        """How many turns run here."""
        return len(self._held)

    @contextmanager
    def hold(self, started: Started, granted: float) -> Iterator[Holding]:
        """Keep a started turn's lease alive while the block runs."""
        holding = Holding(started, granted, self._claim.seconds)
        self._held[started.lease.turn] = holding
        if started.signal is not None:
            holding.cancel(BY_SIGNAL[started.signal])
        try:
            yield holding
        finally:
            holding.over = True
            # By identity: the same turn may have been taken up anew by another task meanwhile.
            if self._held.get(started.lease.turn) is holding:
                del self._held[started.lease.turn]

    def running(self) -> list[Started]:
        """List the turns held here, as they were started."""
        return [holding.started for holding in self._held.values()]

    def cancel(self, turn: str, reason: Ending) -> None:
        """Ask the turn of that id to end, if it is held here."""
        if (holding := self._held.get(turn)) is not None:
            holding.cancel(reason)

    def lose(self, conversation: Conversation) -> None:
        """Say nothing more in *conversation*: its lease is known to be gone."""
        for holding in list(self._held.values()):
            if holding.lease.conversation == conversation:
                holding.cancel(Ending.LOST)

    def cancel_all(self, reason: Ending) -> None:
        """Ask every turn held here to end."""
        for holding in list(self._held.values()):
            holding.cancel(reason)

    def holds(self, conversation: Conversation) -> bool:
        """Whether a turn of *conversation* runs here."""
        return any(held.lease.conversation == conversation for held in self._held.values())

    def is_live(self, conversation: Conversation, author: str) -> bool:
        """Whether *author* has a turn running here, in that conversation."""
        return any(
            held.lease.conversation == conversation and author in held.authors
            for held in self._held.values()
        )

    def answering(self, message: str) -> Conversation | None:
        """The conversation whose turn here answers the inbound of that id."""
        for held in self._held.values():
            if any(inbound.id == message for inbound in held.started.inbounds):
                return held.lease.conversation
        return None

    async def heartbeat(self) -> None:
        """Renew every lease held here three times in its life, until cancelled."""
        renewed = True
        while True:
            # After a failure soon again: a store that is back a moment later costs no lease.
            await _on_time(self._claim.seconds / (3 if renewed else 30))
            renewed = await self.beat()

    async def beat(self) -> bool:
        """Renew all leases once, if the store answers; a lost one, or a signal, ends its turn."""
        holdings = list(self._held.values())
        if not holdings:
            return True
        asked, known = time.monotonic(), len(self._state.notices)
        try:
            answers = await self._state.renew([h.lease for h in holdings], self._claim.seconds)
        except StateUnavailable as error:
            # Nothing is lost yet: each holding stops speaking by itself at its deadline.
            log.warning("leases not renewed", count=len(holdings), reason=str(error))
            return False
        self._apply(holdings, answers, asked)
        for notice in self._state.notices[known:]:
            log.error(notice)
        return True

    def _apply(self, holdings: Sequence[Holding], answers: Sequence[object], asked: float) -> None:
        for holding, answer in zip(holdings, answers, strict=True):
            if not isinstance(answer, Held):
                holding.cancel(Ending.LOST)
                continue
            holding.prolong(asked, self._claim.seconds)
            if answer.signal is not None:
                holding.cancel(BY_SIGNAL[answer.signal])

    async def listen(self) -> None:
        """End turns by the hints of other processes, until cancelled."""
        async for signal in self._state.hints():
            self.cancel(signal.turn, BY_SIGNAL[signal.kind])


async def _on_time(seconds: float) -> None:
    """Sleep; say so when the loop did not come back in time, which ends every turn here at last."""
    due = time.monotonic() + seconds
    await asyncio.sleep(seconds)
    if (late := time.monotonic() - due) > LATE:
        log.warning(
            "nothing could run for a while: some code does not await;"
            " in a cog, give it to asyncio.to_thread",
            seconds=round(late, 1),
        )
