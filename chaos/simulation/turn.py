"""The life of one turn in a simulated process: speak, then conclude in the store."""

import math
from typing import Any

from bot.endings import Ending
from bot.pages import nonce
from bot.speaking import NotSpeaking
from chaos.simulation.calls import Call, To, Unreachable, sleep
from chaos.simulation.discord import NONCE_WINDOW, Posted
from chaos.simulation.holding import Ended, Holding
from chaos.simulation.process import Process
from chaos.simulation.script import SCRIPTS, Script
from state.outcomes import Drift, Turnover
from state.values import Changes, Outcome, Page

#: Seconds of the nonce window that are trusted; beyond them the channel is read.
NONCE_TRUSTED = NONCE_WINDOW / 2

#: Seconds between tries after an unknown outcome.
BACKOFF = 0.5

#: Seconds of thought in one slice.
SLICE = 0.5

#: Exceptions after which a turn is given up, and seconds until it is tried again.
ATTEMPTS, RETRY_IN = 3, 1.0

OUTCOMES = {
    Ending.FINISHED: Outcome.ANSWERED,
    Ending.STOPPED: Outcome.STOPPED,
    Ending.KILLED: Outcome.KILLED,
}


class TurnRun:
    """One run of one turn: its first, or the replay of one that was left unfinished."""

    def __init__(self, process: Process, holding: Holding) -> None:
        """Go on from what *holding* started with."""
        self.process = process
        self.holding = holding
        self.lease = holding.lease
        self.script: Script = SCRIPTS[holding.started.inbounds[-1].payload]
        self.recorded = {(step.name, step.key) for step in holding.started.steps}
        self.asked: set[tuple[str, str]] = set()
        self.unsettled = {p.number: -math.inf for p in holding.started.pages if not p.message_id}

    async def run(self) -> tuple[Turnover, float]:
        """Run the turn to its end; answer what follows, and when that was asked for."""
        ending = await self.speak()
        asked = self.process.host.now()
        return await self.conclude(ending), asked

    # --- speak -----------------------------------------------------------------------------------

    async def speak(self) -> Ending:
        """Do what the script says; answer how it ended."""
        try:
            self.check()
            if self.script.kills:
                await Call(To.DEATH, "die")
            for number in range(self.script.pages):
                await self.think()
                if self.script.takes and not number:
                    await self.take()
                if self.script.edits and number:
                    await self.outside("edit", self.lease.turn, number - 1)
                if self.script.effects:
                    await self.effect(f"{number}")
                await self.page(number)
            self.check()
        except Ended:
            return self.holding.reason or Ending.LOST
        failed = self.holding.started.attempts < self.script.fails
        return Ending.FAILED if failed else Ending.FINISHED

    def check(self) -> None:
        """Cut the turn if it was asked to end."""
        if self.holding.reason is not None:
            raise Ended

    def may_speak(self) -> bool:
        """Whether a request to the chat service may begin now."""
        return self.process.host.now() < self.holding.deadline

    async def think(self) -> None:
        """Let time pass, as a model does."""
        left = self.script.thinks
        while left > 0:
            await sleep(SLICE)
            left -= SLICE
            self.check()

    async def take(self) -> None:
        """Take what waits into this turn."""
        await self.process.insist("take", self.lease, "t1")
        self.check()

    async def effect(self, key: str) -> None:
        """Run an effect unless its result is recorded, then record it."""
        self.asked.add(("effect", key))
        if ("effect", key) in self.recorded:
            return
        receipt = await self.outside("effect", f"{self.lease.turn}/effect/{key}")
        self.check()
        await self.process.insist("record", self.lease, "effect", key, receipt.encode())
        self.check()

    async def page(self, number: int) -> None:
        """Journal the intent, send the page unless it is there already, journal its id."""
        while True:
            self.check()
            begun = self.process.host.now()
            try:
                # First of all, so that nothing comes between the check of the token and the create.
                found = await self.find(number, begun)
                intent = f"{self.lease.turn}.{number}".encode()
                page: Page = await self.process.insist("page", self.lease, number, 0, intent)
                found = page.message_id or found or await self.create(number)
            except Unreachable:
                self.unsettled.setdefault(number, begun)
                await sleep(BACKOFF)
                continue
            await self.process.insist("posted", self.lease, number, 0, found)
            self.unsettled.pop(number, None)
            return

    async def create(self, number: int) -> str:
        """Send a page."""
        if not self.may_speak():
            raise NotSpeaking
        lease = self.lease
        made: str = await Call(
            To.DISCORD,
            "create",
            (lease.conversation.id, lease.turn, number, self.nonce(number)),
            {"token": lease.token},
        )
        return made

    def nonce(self, number: int) -> str | None:
        """Name a page to the chat service, equally on every replay."""
        return nonce(self.lease.turn, number, 0, self.lease.conversation.id)

    async def find(self, number: int, begun: float) -> str | None:
        """Look in the channel for a page whose nonce may be forgotten by now."""
        since = self.unsettled.get(number, math.inf)
        if begun - since <= NONCE_TRUSTED:
            return None
        recent: list[Posted] = await self.outside("recent", self.lease.conversation.id)
        ours = self.nonce(number)
        return next((posted.id for posted in recent if posted.nonce == ours), None)

    async def outside(self, name: str, *args: Any) -> Any:  # noqa: ANN401 (each call its own)
        """Ask the chat service something that may be asked again, for as long as we may speak."""
        while True:
            if not self.may_speak():
                raise NotSpeaking
            try:
                return await Call(To.DISCORD, name, args, {"token": self.lease.token})
            except Unreachable:
                await sleep(BACKOFF)

    # --- conclude --------------------------------------------------------------------------------

    async def conclude(self, ending: Ending) -> Turnover:
        """End the turn in the store, which hands over in the same step."""
        match ending:
            case Ending.SUPERSEDED if (claim := self.process.claim()) is not None:
                op = self.process.host.op()
                answer: Turnover = await self.process.insist(
                    "supersede", self.lease, op=op, claim=claim, changes=self.changes(ending)
                )
                return answer
            case Ending.PARKED | Ending.SUPERSEDED:  # draining: the next holder finds the request
                await self.process.insist("park", self.lease, op=self.process.host.op())
                return Turnover()
            case Ending.LOST:
                return Turnover()
            case Ending.FAILED:
                return await self.fail()
            case _:
                return await self.commit(ending)

    async def commit(self, ending: Ending) -> Turnover:
        """End the turn with its outcome."""
        op, claim = self.process.host.op(), self.process.claim()
        changes = self.changes(ending)
        answer: Turnover | Drift = await self.process.insist(
            "commit", self.lease, changes, op=op, claim=claim
        )
        return answer if isinstance(answer, Turnover) else await self.fail()

    async def fail(self) -> Turnover:
        """Count an exception."""
        last = self.holding.started.attempts + 1 >= ATTEMPTS
        answer = await self.process.insist(
            "fail",
            self.lease,
            "it failed",
            self.changes(Ending.FAILED),
            retry_in=None if last else RETRY_IN,
            limit=ATTEMPTS,
            op=self.process.host.op(),
            claim=self.process.claim(),
        )
        return answer if isinstance(answer, Turnover) else Turnover()

    def changes(self, ending: Ending) -> Changes:
        """What the end of this turn writes."""
        outcome = OUTCOMES.get(ending, Outcome.DEAD)
        asked = frozenset(self.asked) if ending is Ending.FINISHED else None
        return self.process.host.changes(self.lease, outcome, asked)
