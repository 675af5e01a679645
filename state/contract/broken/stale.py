"""Faults by which a holder that lost its lease still changes something."""

from dataclasses import replace

from state.contract.broken.planted import caught_by
from state.errors import LeaseLost
from state.memory import MemoryState
from state.outcomes import Drift, Turnover
from state.values import Changes, Claim, Inbound, Lease, Page, Step


@caught_by(
    "test_a_stale_holder_records_no_step",
    "test_a_turn_whose_journal_went_back_is_begun_again",
)
class RecordsBeforeItCompares(MemoryState):
    """The step is written, then the token is compared."""

    async def record(self, lease: Lease, name: str, key: str, value: bytes) -> bytes:
        """Write what is new though the lease does not hold."""
        record = self._record(lease.conversation)
        turn, holds = record.turn, record.held(self._now()) and record.token == lease.token
        if turn is not None and turn.id == lease.turn and not holds:
            turn.steps.setdefault((name, key), Step(name, key, value))
        return await super().record(lease, name, key, value)


@caught_by("test_a_stale_holder_records_no_page")
class PagesBeforeItCompares(MemoryState):
    """The intent is written, then the token is compared."""

    async def page(self, lease: Lease, number: int, issue: int, intent: bytes) -> Page:
        """Write what is new in any case."""
        turn = self._record(lease.conversation).turn
        if turn is not None and turn.id == lease.turn:
            turn.pages.setdefault((number, issue), Page(number, issue, intent))
        return await super().page(lease, number, issue, intent)


@caught_by("test_a_stale_holder_records_no_message_id")
class PostsByTurn(MemoryState):
    """Whoever names the turn that runs may tell the id of its message."""

    async def posted(self, lease: Lease, number: int, issue: int, message_id: str) -> None:
        """Write it in any case."""
        turn = self._record(lease.conversation).turn
        if turn is not None and turn.id == lease.turn and (number, issue) in turn.pages:
            page = turn.pages[number, issue]
            turn.pages[number, issue] = replace(page, message_id=message_id)
        await super().posted(lease, number, issue, message_id)


@caught_by(
    "test_a_request_goes_with_the_follow_up_that_is_taken",
    "test_a_stale_holder_takes_nothing",
)
class TakesBeforeItCompares(MemoryState):
    """What waits is moved, then the token is compared."""

    async def take(self, lease: Lease, key: str, author: str | None = None) -> tuple[Inbound, ...]:
        """Move it in any case."""
        record = self._record(lease.conversation)
        if record.turn is not None and key not in record.turn.taken and record.inbox:
            record.turn.taken[key] = record.withdraw(author)
        return await super().take(lease, key, author)


class Credulous(MemoryState):
    """Knows a lease by the turn that it names; the faults below say for which step."""

    def _is_new(self, lease: Lease, op: str) -> bool:
        return (lease.conversation, op) not in self._db.answers

    def _under_its_token(self, lease: Lease) -> Lease:
        """Return the lease as its holder has it, if it names the turn that runs."""
        record = self._record(lease.conversation)
        if record.turn is None or record.turn.id != lease.turn or record.token is None:
            return lease
        return replace(lease, token=record.token)


@caught_by("test_a_stale_holder_commits_nothing")
class WritesAPrefix(Credulous):
    """The state is written, then the token is compared."""

    async def commit(
        self, lease: Lease, changes: Changes, *, op: str, claim: Claim | None
    ) -> Turnover | Drift:
        """Write it though the lease does not hold."""
        record, new = self._record(lease.conversation), self._is_new(lease, op)
        holds = record.held(self._now()) and record.token == lease.token
        if new and not holds and record.turn is not None:
            record.state = changes.state or record.state
        return await super().commit(lease, changes, op=op, claim=claim)


@caught_by("test_a_stale_holder_parks_nothing")
class ParksByTurn(Credulous):
    """Whoever names the turn that runs may give its lease back."""

    async def park(self, lease: Lease, *, op: str) -> None:
        """Park the turn under whatever token it has."""
        lease = self._under_its_token(lease) if self._is_new(lease, op) else lease
        await super().park(lease, op=op)


@caught_by("test_a_stale_holder_supersedes_nothing")
class SupersedesByTurn(Credulous):
    """Whoever names the turn that runs may replace it."""

    async def supersede(
        self,
        lease: Lease,
        *,
        op: str,
        claim: Claim,
        carry: bytes | None = None,
        changes: Changes | None = None,
    ) -> Turnover:
        """Supersede the turn under whatever token it has."""
        lease = self._under_its_token(lease) if self._is_new(lease, op) else lease
        return await super().supersede(lease, op=op, claim=claim, carry=carry, changes=changes)


@caught_by("test_a_living_holder_is_refused_nothing")
class RefusesTheKilled(MemoryState):
    """A turn that was asked to die may not even record what it has done."""

    async def record(self, lease: Lease, name: str, key: str, value: bytes) -> bytes:
        """Refuse it as if the lease were lost."""
        _, turn = self._holding(lease)
        if turn.signal is not None and turn.signal.by == "eve":
            lease = replace(lease, token="")
        return await super().record(lease, name, key, value)


@caught_by("test_a_refused_step_can_be_sent_again")
class TakesARefusalForAnAnswer(MemoryState):
    """A repeat of a refused commit is answered as if the first had been done."""

    async def commit(
        self, lease: Lease, changes: Changes, *, op: str, claim: Claim | None
    ) -> Turnover | Drift:
        """Keep an answer though there was none."""
        try:
            return await super().commit(lease, changes, op=op, claim=claim)
        except LeaseLost:
            self._answer(lease.conversation, op, Turnover())
            raise
