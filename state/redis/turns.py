"""The steps that admit, start, run and end turns."""

from state.mending import mended
from state.outcomes import (
    Admission,
    Busy,
    Drift,
    Duplicate,
    Ignored,
    Placed,
    Refusal,
    Refused,
    Retrying,
    Signalled,
    Superseding,
    Turnover,
)
from state.redis import replies, scripts, wire
from state.redis.handle import Handle, gone
from state.redis.replies import Reply
from state.redis.resp import Argument
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

#: Policies whose encoding is remembered. Relation: one for each guild and channel that has its own.
POLICIES = 1024


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
        of = self._keys.of(conversation)
        buckets, mark = of.seen(inbound.id)
        direct = wire.starts_at_once(could, policy, claim)
        terms = f"{inbound.author} {direct:d} {wire.claim_terms(claim)} {mark}"
        given = (
            of.hints,
            f"{op} {inbound.id} {terms}",
            inbound.payload,
            wire.could_be(could),
            self._bounds(policy),
        )
        question = self._question(scripts.ADMIT, of, buckets, 2, given)
        reply = await self._calls.run(scripts.ADMIT, question)
        if claim is not None and (isinstance(reply, bytes) or reply[0] == b"own"):
            return replies.own_turn(reply, conversation, inbound, op, claim)
        if reply[0] == b"gone":
            raise gone(of)
        return admission(Reply(reply), conversation)

    def _bounds(self, policy: Policy) -> bytes:
        """Encode a policy once: an application has few of them, and one for each message."""
        known = self._policies.get(id(policy))
        if known is None or known[0] is not policy:
            if len(self._policies) >= POLICIES:
                self._policies.clear()
            known = self._policies[id(policy)] = policy, wire.bounds(policy).encode()
        return known[1]

    @mended
    async def claim(self, conversation: Conversation, *, op: str, claim: Claim) -> Turnover | Busy:
        """See `State.claim`."""
        terms = wire.claim_terms(claim).split(" ")
        return await self._taken(scripts.CLAIM, conversation, op, *terms)

    @mended
    async def steal(
        self, conversation: Conversation, token: str, *, op: str, claim: Claim
    ) -> Turnover | Busy:
        """See `State.steal`."""
        terms = wire.claim_terms(claim).split(" ")
        return await self._taken(scripts.STEAL, conversation, op, *terms, token)

    async def _taken(
        self, script: scripts.Script, conversation: Conversation, *arguments: Argument
    ) -> Turnover | Busy:
        reply = Reply(await self._ask(script, self._keys.of(conversation), (), arguments))
        if reply.text() == "busy":
            return Busy(reply.number() / 1e6)
        return reply.turnover(conversation)

    # --- what the holder does -------------------------------------------------------------------

    @mended
    async def take(self, lease: Lease, key: str, author: str | None = None) -> tuple[Inbound, ...]:
        """See `State.take`."""
        given = (lease.token, wire.text(key), author or "")
        _, taken = await self._holding(scripts.TAKE, lease, *given)
        return replies.inbounds_in(replies.without_place(taken))

    @mended
    async def record(self, lease: Lease, name: str, key: str, value: bytes) -> bytes:
        """See `State.record`."""
        given = (lease.token, wire.step_field(name, key), value)
        _, recorded = await self._holding(scripts.RECORD, lease, *given)
        return replies.without_place(recorded)

    @mended
    async def page(self, lease: Lease, number: int, issue: int, intent: bytes) -> Page:
        """See `State.page`."""
        given = (lease.token, wire.page_field(number, issue), intent)
        _, recorded, message = await self._holding(scripts.PAGE, lease, *given)
        posted = None if message is None else message.decode()
        return Page(number, issue, replies.without_place(recorded), posted)

    @mended
    async def posted(self, lease: Lease, number: int, issue: int, message_id: str) -> None:
        """See `State.posted`."""
        given = (lease.token, wire.page_field(number, issue), message_id)
        await self._holding(scripts.POSTED, lease, *given)

    @mended
    async def commit(
        self, lease: Lease, changes: Changes, *, op: str, claim: Claim | None
    ) -> Turnover | Drift:
        """See `State.commit`."""
        asked: list[Argument] = [""]
        if changes.asked is not None:
            steps = [wire.step_field(name, key) for name, key in changes.asked]
            asked = [len(steps), *steps]
        ending = wire.ending(lease, op, claim, changes, *asked, commit=True)
        keys = wire.more_keys(self._keys, lease.conversation.owner, changes, commit=True)
        reply = await self._holding(scripts.COMMIT, lease, *ending, keys=keys)
        if isinstance(reply, bytes):
            return Turnover()
        if reply[0] == b"drift":
            return Drift(replies.drift(reply[1:]))
        return Reply(reply[1:]).turnover(lease.conversation)

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
        handed_on = ("", "") if carry is None else (1, carry)
        ending = wire.ending(lease, op, claim, changes, *handed_on, commit=False)
        keys = wire.more_keys(self._keys, lease.conversation.owner, changes, commit=False)
        reply = await self._holding(scripts.SUPERSEDE, lease, *ending, keys=keys)
        return Reply(reply[1:]).turnover(lease.conversation)

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
        told = (wire.text(error), wire.life(retry_in), limit)
        ending = wire.ending(lease, op, claim, changes, *told, commit=False)
        keys = wire.more_keys(self._keys, lease.conversation.owner, changes, commit=False)
        reply = await self._holding(scripts.FAIL, lease, *ending, keys=keys)
        if reply[0] == b"retrying":
            return Retrying(int(reply[1]), retry_in or 0.0)
        return Reply(reply[1:]).turnover(lease.conversation)

    @mended
    async def park(self, lease: Lease, *, op: str) -> None:
        """See `State.park`."""
        await self._holding(scripts.PARK, lease, op, lease.token)

    @mended
    async def acquire(self, conversation: Conversation, *, op: str, claim: Claim) -> Lease | Busy:
        """See `State.acquire`."""
        given = (op, wire.microseconds(claim.seconds))
        kind, *told = await self._ask(scripts.ACQUIRE, self._keys.of(conversation), (), given)
        if kind == b"busy":
            return Busy(int(told[0]) / 1e6)
        token, expires = told
        return Lease(conversation, "", token.decode(), int(expires) // 1000)

    @mended
    async def release(self, lease: Lease, *, op: str, claim: Claim | None) -> Turnover:
        """See `State.release`."""
        terms = wire.claim_terms(claim).split(" ")
        reply = await self._holding(scripts.RELEASE, lease, op, *terms, lease.token)
        return Reply(reply[1:]).turnover(lease.conversation)


def admission(reply: Reply, conversation: Conversation) -> Admission:
    """Read what an inbound was."""
    match reply.text():
        case "placed":
            return Placed(reply.number(), reply.turnover(conversation))
        case "superseding":
            return Superseding(reply.text(), reply.turnover(conversation))
        case "signalled":
            return Signalled(reply.optional_text(), reply.inbounds(), reply.turnover(conversation))
        case "refused":
            return Refused(Refusal(reply.text()))
        case "duplicate":
            return Duplicate(reply.optional_text())
        case _:
            return Ignored()
