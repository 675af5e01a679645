"""Processes that break the protocol over a sound store."""

from typing import Any

from bot.endings import Ending
from chaos.simulation.calls import Call, To, Unreachable, sleep
from chaos.simulation.holding import Holding
from chaos.simulation.people import Event
from chaos.simulation.process import PAUSE, REPEAT_FOR, Process
from chaos.simulation.turn import BACKOFF, TurnRun
from state.errors import LeaseLost, StateUnavailable
from state.outcomes import Held, Turnover
from state.values import Conversation


class SendsNoNonce(TurnRun):
    """Pages are sent without a nonce."""

    def nonce(self, number: int) -> str | None:
        """Leave it out."""
        return None


class SendsAnotherNonce(TurnRun):
    """The nonce of a page is another for each holder of its turn."""

    def nonce(self, number: int) -> str | None:
        """Make it of the token."""
        return f"{self.lease.token} {number}"


class SendsBeforeItJournals(TurnRun):
    """A page is sent first, and journaled once it is there."""

    async def page(self, number: int) -> None:
        """Send, journal the intent, journal the id."""
        known = {page.number for page in self.holding.started.pages}
        while number not in known:
            self.check()
            try:
                made = await self.create(number)
            except Unreachable:
                await sleep(BACKOFF)
                continue
            intent = f"{self.lease.turn}.{number}".encode()
            await self.process.insist("page", self.lease, number, 0, intent)
            await self.process.insist("posted", self.lease, number, 0, made)
            return


class NeverLooks(TurnRun):
    """A page whose nonce may be forgotten by now is not looked for in the channel."""

    async def find(self, number: int, begun: float) -> str | None:
        """Trust the nonce for ever."""
        return None


class SpeaksOn(TurnRun):
    """The local deadline is not heeded."""

    def may_speak(self) -> bool:
        """Speak at any time."""
        return True


class SpeaksWithoutALease(TurnRun):
    """A page whose intent the store refuses is sent all the same."""

    async def page(self, number: int) -> None:
        """Send it."""
        try:
            await super().page(number)
        except LeaseLost:
            await self.create(number)
            raise


class AnswersFirst(TurnRun):
    """The turn is concluded before its last page is on Discord."""

    async def run(self) -> tuple[Turnover, float]:
        """Conclude, then send what is left."""
        self.script, whole = type(self.script)(pages=0), self.script
        ending = await self.speak()
        asked = self.process.host.now()
        turnover = await self.conclude(ending)
        self.script = whole
        return turnover, asked


class CountsFromTheAnswer(Process):
    """The life of a lease is counted from when its answer is seen."""

    def begin(self, turnover: Turnover, asked: float) -> None:
        """Count from now."""
        super().begin(turnover, self.host.now())

    def renewed(self, holding: Holding, answer: object, asked: float) -> None:
        """Count from now."""
        super().renewed(holding, answer, self.host.now())


class TakesNothingUp(Process):
    """Nobody looks at what is due."""

    async def take_up(self, conversation: Conversation) -> None:
        """Leave it."""


class AcknowledgesEvents(Process):
    """An event counts as handled when it is heard, and a store that is away loses it."""

    def deliver(self, event: Event) -> None:
        """Acknowledge first."""
        self.host.handled(event)
        super().deliver(event)


class RepeatsAsNew(Process):
    """A repeat has an operation id of its own."""

    async def insist(self, step: str, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        """Draw an id for each try."""
        give_up = self.host.now() + REPEAT_FOR
        while True:
            if "op" in kwargs:
                kwargs = {**kwargs, "op": self.host.op()}
            try:
                return await Call(To.STATE, step, args, kwargs)
            except StateUnavailable:
                if self.host.now() > give_up:
                    raise
                await sleep(PAUSE)


class HeedsOnlyItself(Process):
    """A signal that another process has taken is noticed by nobody."""

    def renewed(self, holding: Holding, answer: object, asked: float) -> None:
        """Ignore what the renewal tells."""
        super().renewed(holding, Held() if isinstance(answer, Held) else answer, asked)

    def cancel(self, turn: str, reason: Ending) -> None:
        """Ignore what the sweep tells, and what was said here."""
