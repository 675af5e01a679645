"""Stores that are wrong about who holds a conversation, and about what a new holder is given."""

from dataclasses import replace
from typing import Any

from state.memory import MemoryState
from state.memory.handover import rewake
from state.memory.records import Record
from state.outcomes import Busy, Held, Lost, Started, Turnover
from state.values import Claim, Conversation, Inbound, Lease, Page


class CountsTokens(MemoryState):
    """Tokens are a bare counter, which a store that was set back counts again."""

    def _number(self, record: Record) -> int:
        partition = self._partition(record.conversation)
        self._db.counters[partition] += 1
        return self._db.counters[partition]

    def _answer(self, conversation: Conversation, op: str, answer: Any) -> Any:  # noqa: ANN401
        """Leave the random part out."""
        turnover = answer if isinstance(answer, Turnover) else getattr(answer, "turnover", None)
        if isinstance(turnover, Turnover) and turnover.started is not None:
            record, lease = self._record(conversation), turnover.started.lease
            record.token = lease.token.replace(op, "x")
            bare = replace(turnover.started, lease=replace(lease, token=record.token))
            told = replace(turnover, started=bare)
            answer = told if answer is turnover else replace(answer, turnover=told)
        return super()._answer(conversation, op, answer)


class RenewsTheExpired(MemoryState):
    """A lease that has ended is renewed while nobody else has taken it."""

    def _renew(self, lease: Lease, seconds: float) -> Held | Lost:
        record = self._db.records.get(lease.conversation)
        if record is not None and record.token == lease.token:
            record.expires = max(record.expires, self._now() + 1)
        return super()._renew(lease, seconds)


class NoticesNothing(MemoryState):
    """A store that was set back renews a lease whose journal it knows no more."""

    def _went_back(self) -> bool:
        return False


class AnswersNoRepeat(MemoryState):
    """A step that is sent twice happens twice."""

    def _first_answer(self, conversation: Conversation, op: str) -> Any:  # noqa: ANN401
        return None


class Claiming(MemoryState):
    """Something is wrong when a conversation is claimed."""

    def _before(self, record: Record) -> None:
        """Spoil the record."""
        raise NotImplementedError

    async def claim(self, conversation: Conversation, *, op: str, claim: Claim) -> Turnover | Busy:
        """Spoil, then claim."""
        if self._first_answer(conversation, op) is None:
            self._before(self._record(conversation))
        return await super().claim(conversation, op=op, claim=claim)


class AcknowledgesAtTheStart(Claiming):
    """A message is gone once its turn has started, and with its holder it is lost."""

    def _before(self, record: Record) -> None:
        if record.turn is not None and not record.held(self._now()):
            record.turn = None


class ClaimsTheHeld(Claiming):
    """A claim does not ask whether somebody speaks."""

    def _before(self, record: Record) -> None:
        record.expires = min(record.expires, self._now())


class RunsTheStoppedAgain(Claiming):
    """A stop dies with the holder that it was meant for."""

    def _before(self, record: Record) -> None:
        if record.turn is not None and not record.held(self._now()):
            record.turn.signal = None


class CountsNoExpiries(Claiming):
    """A turn that kills its holders is started for ever."""

    def _before(self, record: Record) -> None:
        if not record.held(self._now()):
            record.token = None


class LosesSteps(Claiming):
    """Whoever takes over a turn does not see its steps."""

    def _before(self, record: Record) -> None:
        if record.turn is not None and not record.held(self._now()):
            record.turn.steps.clear()


class PagesForAnybody(MemoryState):
    """The intent of a page is taken from whoever held the turn once."""

    async def page(self, lease: Lease, number: int, issue: int, intent: bytes) -> Page:
        """Ask for the turn only."""
        record = self._db.records.get(lease.conversation)
        if record is None or record.turn is None or record.turn.id != lease.turn:
            return await super().page(lease, number, issue, intent)
        return record.turn.pages.setdefault((number, issue), Page(number, issue, intent))


class RecordsTheLast(MemoryState):
    """The last record of a step wins."""

    async def record(self, lease: Lease, name: str, key: str, value: bytes) -> bytes:
        """Drop the first record."""
        _, turn = self._holding(lease)
        turn.steps.pop((name, key), None)
        return await super().record(lease, name, key, value + lease.token.encode())


class TakesAnew(MemoryState):
    """A replay takes what waits by then."""

    async def take(self, lease: Lease, key: str, author: str | None = None) -> tuple[Inbound, ...]:
        """Put the first answer out of sight."""
        _, turn = self._holding(lease)
        if key in turn.taken:
            turn.taken[f"{key}'"] = turn.taken.pop(key)
        return await super().take(lease, key, author)


class StealsByHalves(MemoryState):
    """The token of whom was stolen from lives on."""

    async def steal(
        self, conversation: Conversation, token: str, *, op: str, claim: Claim
    ) -> Turnover | Busy:
        """Steal, then put the old token back."""
        again = self._first_answer(conversation, op) is not None
        answer = await super().steal(conversation, token, op=op, claim=claim)
        match answer:
            case Turnover(started=Started(lease=lease)) if lease.turn and not again:
                self._record(conversation).token = token
            case _:
                rewake(self._record(conversation), self._now())
        return answer
