"""The steps of `state.ports.Turns`."""

from state.mending import mended
from state.outcomes import (
    Admission,
    Busy,
    Drift,
    Retrying,
    Turnover,
)
from state.sqlite import journal, keeping, steps
from state.sqlite.handle import Handle
from state.values import (
    Changes,
    Claim,
    Conversation,
    Could,
    Inbound,
    Lease,
    Page,
    Policy,
)


class Turns(Handle):
    """Admission, hand-over, and what the holder of a lease does."""

    @mended
    async def admit(
        self,
        conversation: Conversation,
        inbound: Inbound,
        could: Could,
        policy: Policy,
        *,
        op: str,
        claim: Claim | None,
    ) -> Admission:
        """See `State.admit`."""
        return await self._write(
            lambda tx: steps.admit(tx, conversation, inbound, could, policy, op, claim)
        )

    @mended
    async def claim(self, conversation: Conversation, *, op: str, claim: Claim) -> Turnover | Busy:
        """See `State.claim`."""
        return await self._write(lambda tx: steps.claim(tx, conversation, op, claim))

    @mended
    async def supersede(
        self,
        lease: Lease,
        *,
        op: str,
        claim: Claim,
        carry: bytes | None = None,
        changes: Changes | None = None,
    ) -> Turnover:
        """See `State.supersede`."""
        return await self._write(lambda tx: steps.supersede(tx, lease, op, claim, carry, changes))

    @mended
    async def take(self, lease: Lease, key: str, author: str | None = None) -> tuple[Inbound, ...]:
        """See `State.take`."""
        return await self._write(lambda tx: steps.take(tx, lease, key, author))

    @mended
    async def record(self, lease: Lease, name: str, key: str, value: bytes) -> bytes:
        """See `State.record`."""
        return await self._write(lambda tx: journal.record(tx, lease, name, key, value))

    @mended
    async def page(self, lease: Lease, number: int, issue: int, intent: bytes) -> Page:
        """See `State.page`."""
        return await self._write(lambda tx: journal.page(tx, lease, number, issue, intent))

    @mended
    async def posted(self, lease: Lease, number: int, issue: int, message_id: str) -> None:
        """See `State.posted`."""
        await self._write(lambda tx: journal.posted(tx, lease, number, issue, message_id))

    @mended
    async def commit(
        self, lease: Lease, changes: Changes, *, op: str, claim: Claim | None
    ) -> Turnover | Drift:
        """See `State.commit`."""
        keeping.refuse_foreign(lease.conversation.owner, changes)
        return await self._write(lambda tx: steps.commit(tx, lease, op, changes, claim))

    @mended
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
        """See `State.fail`."""
        return await self._write(
            lambda tx: steps.fail(tx, lease, op, error, changes, retry_in, limit, claim)
        )

    @mended
    async def park(self, lease: Lease, *, op: str) -> None:
        """See `State.park`."""
        await self._write(lambda tx: steps.park(tx, lease, op))

    @mended
    async def acquire(self, conversation: Conversation, *, op: str, claim: Claim) -> Lease | Busy:
        """See `State.acquire`."""
        return await self._write(lambda tx: steps.acquire(tx, conversation, op, claim))

    @mended
    async def release(self, lease: Lease, *, op: str, claim: Claim | None) -> Turnover:
        """See `State.release`."""
        return await self._write(lambda tx: steps.release(tx, lease, op, claim))

    @mended
    async def steal(
        self, conversation: Conversation, token: str, *, op: str, claim: Claim
    ) -> Turnover | Busy:
        """See `State.steal`."""
        return await self._write(lambda tx: steps.steal(tx, conversation, token, op, claim))
