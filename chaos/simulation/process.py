"""One life of one process: it hears, holds, renews and sweeps. It dies without a word."""

from collections import deque
from collections.abc import Coroutine
from typing import Any, Protocol

from bot.endings import BY_SIGNAL, Ending
from bot.speaking import NotSpeaking
from chaos.simulation.calls import Call, To, sleep
from chaos.simulation.holding import Holding
from chaos.simulation.people import Deleted, Edited, Event, Killed, Pressed, Reminded, Said
from state.errors import LeaseLost, StateUnavailable
from state.outcomes import (
    Held,
    NotWaiting,
    Placed,
    Signalled,
    Started,
    Superseding,
    Turnover,
)
from state.values import Changes, Claim, Conversation, Lease, Outcome, SignalKind

#: Seconds of a lease, between two sweeps, and after which a kill is enforced.
LEASE, SWEEP, FORCE_AFTER = 5.0, 3.0, 2.0

#: Seconds after which a step is no longer repeated, and between two tries.
REPEAT_FOR, PAUSE = 20.0, 0.25

#: Conversations and signals looked at in one sweep.
LIMIT = 50

#: The steps that a run has asked for; None where that does not matter.
AskedFor = frozenset[tuple[str, str]] | None


class Host(Protocol):
    """What a process stands on."""

    def now(self) -> float:
        """Local monotonic seconds."""
        ...

    def op(self) -> str:
        """An operation id that nobody used."""
        ...

    def spawn(self, work: Coroutine[Call, Any, None]) -> None:
        """Run *work* beside the rest."""
        ...

    def run(
        self, process: "Process", holding: Holding
    ) -> Coroutine[Call, Any, tuple[Turnover, float]]:
        """Run a turn."""
        ...

    def changes(self, lease: Lease, outcome: Outcome, asked: AskedFor) -> Changes:
        """What the end of a turn writes."""
        ...

    def handled(self, event: Event) -> None:
        """Note that *event* was acted upon."""
        ...


class Process:
    """Everything that a process knows, and loses when it dies."""

    def __init__(self, host: Host) -> None:
        """Begin with nothing."""
        self.host = host
        self.draining = False
        self.holdings: dict[str, Holding] = {}
        self.conversations = 0
        self._heard: deque[Event] = deque()
        self.listening = self._beating = False

    def claim(self) -> Claim | None:
        """What to ask a lease with; None while draining."""
        return None if self.draining else Claim(LEASE)

    async def insist(self, step: str, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 (each step its own)
        """Send a step again, the same in every argument, while its outcome is unknown."""
        give_up = self.host.now() + REPEAT_FOR
        while True:
            try:
                return await Call(To.STATE, step, args, kwargs)
            except StateUnavailable:
                if self.host.now() > give_up:
                    raise
                await sleep(PAUSE)

    # --- hear ------------------------------------------------------------------------------------

    def deliver(self, event: Event) -> None:
        """Take an event from the gateway; they are acted upon one by one."""
        self._heard.append(event)
        if not self.listening:
            self.listening = True
            self.host.spawn(self._listen())

    async def _listen(self) -> None:
        while self._heard:
            try:
                await self._act(self._heard[0])
                self.host.handled(self._heard[0])
            except StateUnavailable:
                pass  # it was never acknowledged, so it will be told again
            self._heard.popleft()
        self.listening = False

    async def _act(self, event: Event) -> None:
        match event:
            case Said():
                await self._admit(event)
            case Pressed():
                await self._stop(event.conversation, event.turn, event.op)
            case Killed():
                await self._kill(event)
            case Deleted():
                answer = await self.insist(
                    "withdraw", event.conversation, event.message, op=event.op
                )
                if isinstance(answer, NotWaiting) and answer.turn is not None:
                    await self._stop(event.conversation, answer.turn, f"{event.op}-stop")
            case Edited():
                answer = await self.insist(
                    "amend", event.conversation, event.message, event.edited, op=self.host.op()
                )
                if isinstance(answer, Superseding):
                    self.cancel(answer.turn, Ending.SUPERSEDED)
            case Reminded():
                await self.insist("schedule", event.conversation, event.timer, op=event.op)

    async def _admit(self, said: Said) -> None:
        asked, op, claim = self.host.now(), self.host.op(), self.claim()
        answer = await self.insist(
            "admit", said.conversation, said.inbound, said.could, said.policy, op=op, claim=claim
        )
        if isinstance(answer, Superseding):
            self.cancel(answer.turn, Ending.SUPERSEDED)
        elif isinstance(answer, Signalled) and answer.turn is not None:
            self.cancel(answer.turn, Ending.STOPPED)
        if isinstance(answer, Placed | Superseding | Signalled):
            self.begin(answer.turnover, asked)

    async def _stop(self, conversation: Conversation, turn: str, op: str) -> None:
        answer = await self.insist("signal", conversation, turn, SignalKind.STOP, by="ann", op=op)
        if isinstance(answer, Signalled):
            self.cancel(turn, Ending.STOPPED)

    async def _kill(self, event: Killed) -> None:
        where = event.conversation
        answer = await self.insist("kill", where, by="eve", op=event.op, author=event.author)
        if answer.turn is not None:
            self.cancel(answer.turn.id, Ending.KILLED)
            self.host.spawn(self._force(where, answer.turn.id))

    async def _force(self, where: Conversation, turn: str) -> None:
        """Take the conversation from a holder that does not heed a kill."""
        await sleep(FORCE_AFTER)
        claim = self.claim()
        try:
            view = await self.insist("view", where)
            running = view.turn
            if claim is None or running is None or running.id != turn or running.token is None:
                return
            asked, op = self.host.now(), self.host.op()
            answer = await self.insist("steal", where, running.token, op=op, claim=claim)
        except StateUnavailable:
            return
        if isinstance(answer, Turnover):
            self.begin(answer, asked)

    # --- hold ------------------------------------------------------------------------------------

    def begin(self, turnover: Turnover, asked: float) -> None:
        """Run what was started, and all that follows."""
        if turnover.started is not None:
            self.host.spawn(self._converse(turnover.started, asked))

    async def _converse(self, started: Started | None, asked: float) -> None:
        self.conversations += 1
        while started is not None:
            turnover, asked = await self._hold(started, asked)
            started = turnover.started
        self.conversations -= 1

    async def _hold(self, started: Started, asked: float) -> tuple[Turnover, float]:
        turn, holding = started.lease.turn, Holding(started, asked, LEASE)
        self.holdings[turn] = holding
        if not self._beating:
            self._beating = True
            self.host.spawn(self._beat())
        try:
            return await self.host.run(self, holding)
        except (LeaseLost, StateUnavailable, NotSpeaking):
            return Turnover(), asked  # left to the next holder
        finally:
            if self.holdings.get(turn) is holding:
                del self.holdings[turn]

    def cancel(self, turn: str, reason: Ending) -> None:
        """Ask a turn to end, if it is held here."""
        if (holding := self.holdings.get(turn)) is not None:
            holding.cancel(reason)

    async def _beat(self) -> None:
        """Renew what is held three times in a lease's life."""
        while True:
            await sleep(LEASE / 3)
            held = list(self.holdings.values())
            if not held:
                break
            asked = self.host.now()
            try:
                answers = await Call(To.STATE, "renew", ([h.lease for h in held], LEASE))
            except StateUnavailable:
                continue
            for holding, answer in zip(held, answers, strict=True):
                self.renewed(holding, answer, asked)
        self._beating = False

    def renewed(self, holding: Holding, answer: object, asked: float) -> None:
        """Act on the answer to one renewal."""
        if not isinstance(answer, Held):
            holding.cancel(Ending.LOST)
            return
        holding.prolong(asked, LEASE)
        if answer.signal is not None:
            holding.cancel(BY_SIGNAL[answer.signal])

    # --- sweep, drain ----------------------------------------------------------------------------

    async def sweep(self) -> None:
        """Look at what is due, for ever."""
        while True:
            await sleep(SWEEP)
            try:
                due = await Call(To.STATE, "due", (0, LIMIT))
                for signal in due.signals:
                    self.cancel(signal.turn, BY_SIGNAL[signal.kind])
                for conversation in due.conversations:
                    await self.take_up(conversation)
            except StateUnavailable:
                continue

    async def take_up(self, conversation: Conversation) -> None:
        """Claim a conversation that is due."""
        claim = self.claim()
        mine = any(h.lease.conversation == conversation for h in self.holdings.values())
        if claim is None or mine:
            return
        asked, op = self.host.now(), self.host.op()
        answer = await Call(To.STATE, "claim", (conversation,), {"op": op, "claim": claim})
        if isinstance(answer, Turnover):
            self.begin(answer, asked)

    async def drain(self) -> None:
        """Begin no more turns, give those that run a moment, park the rest, and wait for them."""
        self.draining = True
        await sleep(1.0)
        for holding in self.holdings.values():
            holding.cancel(Ending.PARKED)
        while self.conversations:
            await sleep(PAUSE)
