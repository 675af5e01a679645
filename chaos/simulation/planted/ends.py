"""Stores that are wrong about the end of a turn, and about what comes next."""

import asyncio
from dataclasses import replace

from state.memory import MemoryState
from state.memory.records import Waiting
from state.outcomes import Drift, Retrying, Turnover
from state.values import Changes, Claim, Lease


class CommitsForAnybody(MemoryState):
    """A commit does not compare tokens."""

    async def commit(
        self, lease: Lease, changes: Changes, *, op: str, claim: Claim | None
    ) -> Turnover | Drift:
        """Commit as the living holder."""
        record = self._db.records.get(lease.conversation)
        living = record.living(self._now()) if record else None
        lease = replace(lease, token=living or lease.token)
        return await super().commit(lease, changes, op=op, claim=claim)


class DrainsWithoutAWake(MemoryState):
    """A process that takes nothing leaves what waits for nobody to find."""

    async def commit(
        self, lease: Lease, changes: Changes, *, op: str, claim: Claim | None
    ) -> Turnover | Drift:
        """Commit, then forget the wake."""
        answer = await super().commit(lease, changes, op=op, claim=claim)
        if claim is None:
            self._record(lease.conversation).wake = None
        return answer


class ReleasesBeforeItLooks(MemoryState):
    """The inbox is looked at first, and the lease given back a moment later."""

    async def commit(
        self, lease: Lease, changes: Changes, *, op: str, claim: Claim | None
    ) -> Turnover | Drift:
        """Look, wait, then release if nothing waited when it looked."""
        if claim is None or (await self.view(lease.conversation)).waiting:
            return await super().commit(lease, changes, op=op, claim=claim)
        await asyncio.sleep(0)
        answer = await super().commit(lease, changes, op=op, claim=None)
        record = self._record(lease.conversation)
        record.wake = record.wake if record.turn else None
        return answer


class ServesTheLastFirst(MemoryState):
    """A hand-over starts the newest message."""

    async def commit(
        self, lease: Lease, changes: Changes, *, op: str, claim: Claim | None
    ) -> Turnover | Drift:
        """Turn the inbox round, then commit."""
        record = self._db.records.get(lease.conversation)
        if record is not None and record.living(self._now()) == lease.token:
            record.inbox.rotate(1)
        return await super().commit(lease, changes, op=op, claim=claim)


class PutsBackWhatWasTaken(MemoryState):
    """What a turn took is not acknowledged with it."""

    async def commit(
        self, lease: Lease, changes: Changes, *, op: str, claim: Claim | None
    ) -> Turnover | Drift:
        """Put back what was taken, then commit."""
        record = self._db.records.get(lease.conversation)
        if record is not None and record.turn and record.living(self._now()) == lease.token:
            for taken in record.turn.taken.values():
                record.inbox.extend(Waiting(inbound, self._now()) for inbound in taken)
        return await super().commit(lease, changes, op=op, claim=claim)


class DropsOthers(MemoryState):
    """A follow-up drops what other people have waiting."""

    async def supersede(
        self,
        lease: Lease,
        *,
        op: str,
        claim: Claim,
        carry: bytes | None = None,
        changes: Changes | None = None,
    ) -> Turnover:
        """Drop, then supersede."""
        if self._first_answer(lease.conversation, op) is None:
            record, turn = self._holding(lease)
            for waiting in [one for one in record.inbox if one.inbound.author != turn.lead]:
                record.inbox.remove(waiting)
        return await super().supersede(lease, op=op, claim=claim, carry=carry, changes=changes)


class Failing(MemoryState):
    """Something is wrong after a failure that is to be retried."""

    def _after(self, lease: Lease) -> None:
        """Spoil the record."""
        raise NotImplementedError

    async def fail(
        self,
        lease: Lease,
        error: str,
        changes: Changes,
        *,
        retry_in: float | None,
        limit: int,
        op: str,
        claim: Claim | None,
    ) -> Turnover | Retrying:
        """Fail, then spoil."""
        again = self._first_answer(lease.conversation, op) is not None
        answer = await super().fail(
            lease, error, changes, retry_in=retry_in, limit=limit, op=op, claim=claim
        )
        if isinstance(answer, Retrying) and not again:
            self._after(lease)
        return answer


class CountsNoFailures(Failing):
    """A failure is not counted."""

    def _after(self, lease: Lease) -> None:
        if (turn := self._record(lease.conversation).turn) is not None:
            turn.attempts -= 1


class QueuesTheFailedAgain(Failing):
    """A turn that failed goes to the end of the line."""

    def _after(self, lease: Lease) -> None:
        record = self._record(lease.conversation)
        if record.turn is not None:
            inbounds, record.turn = record.turn.all_inbounds, None
            record.inbox.extend(Waiting(inbound, self._now()) for inbound in inbounds)


class ParksWithoutTheJournal(MemoryState):
    """A turn that is parked loses its pages."""

    async def park(self, lease: Lease, *, op: str) -> None:
        """Park, then drop the pages."""
        await super().park(lease, op=op)
        record = self._record(lease.conversation)
        if record.turn is not None and record.turn.id == lease.turn:
            record.turn.pages.clear()
