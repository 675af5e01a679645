"""
The state port on Redis, one Redis or a Redis Cluster alike.

Each step is one script, which is what makes it atomic; this file says which keys and arguments it
takes and which outcome its reply is.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from state.errors import LeaseLost
from state.outcomes import (
    Admission,
    Busy,
    Drift,
    Duplicate,
    Held,
    Ignored,
    Killed,
    Lost,
    NotRunning,
    Placed,
    Refusal,
    Refused,
    Retrying,
    Signalled,
    Superseding,
    Turnover,
)
from state.partition import partition_of
from state.redis import scripts, wire
from state.redis.keys import name_of
from state.redis.reading import Reading
from state.redis.resp import Argument
from state.redis.wire import Reply
from state.values import (
    Changes,
    Claim,
    Conversation,
    Could,
    Inbound,
    Lease,
    Page,
    Policy,
    SignalKind,
)


class RedisState(Reading):
    """Every step of `state.ports.State` over a Redis server."""

    # --- admission and hand-over ---------------------------------------------------------------

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
        coarse, fine, mark, hour = of.seen(inbound.id)
        direct = could.trigger and policy.inbox > 0 and policy.per_person > 0 and claim is not None
        reply = await self._ask(
            scripts.ADMIT,
            of,
            (of.answer(op), coarse, fine),
            (
                *(op, of.hints),
                *(inbound.id, inbound.author, inbound.payload),
                f"{direct:d} {wire.claim_terms(claim)} {mark} {hour}",
                wire.could_be(could),
                self._bounds(policy),
            ),
        )
        if reply[0] == b"own" and claim is not None:
            return wire.own_turn(reply, conversation, inbound, op, claim)
        return admission(Reply(reply), conversation)

    def _bounds(self, policy: Policy) -> str:
        """Encode a policy once: an application has few of them, and one for each message."""
        known = self._policies.get(id(policy))
        if known is None or known[0] is not policy:
            if len(self._policies) >= POLICIES:
                self._policies.clear()
            known = self._policies[id(policy)] = policy, wire.bounds(policy)
        return known[1]

    async def claim(self, conversation: Conversation, *, op: str, claim: Claim) -> Turnover | Busy:
        """See `State.claim`."""
        reply = await self._step(
            scripts.CLAIM,
            conversation,
            op,
            *wire.claim_terms(claim).split(" "),
            keys=(self._keys.of(conversation).answer(op),),
        )
        if reply.text() == "busy":
            return Busy(int(reply.next()) / 1e6)
        return reply.turnover(conversation)

    async def renew(self, leases: Sequence[Lease], seconds: float) -> list[Held | Lost]:
        """See `State.renew`."""
        places: dict[int, list[int]] = {}
        for place, lease in enumerate(leases):
            partition = partition_of(lease.conversation.owner, self.partitions)
            places.setdefault(partition, []).append(place)
        batches = [
            (partition, mine[start : start + RENEW_BATCH])
            for partition, mine in places.items()
            for start in range(0, len(mine), RENEW_BATCH)
        ]
        # Each batch is waited for, so that none is left behind when another fails.
        found = await asyncio.gather(
            *(self._renew(part, [leases[n] for n in mine], seconds) for part, mine in batches),
            return_exceptions=True,
        )
        answers: list[Held | Lost] = [Lost()] * len(leases)
        for (_, mine), batch in zip(batches, found, strict=True):
            if isinstance(batch, BaseException):
                raise batch
            for place, answer in zip(mine, batch, strict=True):
                answers[place] = answer
        return answers

    async def _renew(
        self, partition: int, leases: Sequence[Lease], seconds: float
    ) -> list[Held | Lost]:
        keys = [self._keys.wake(partition), *(self._keys.of(le.conversation).turn for le in leases)]
        named = [part for le in leases for part in (name_of(le.conversation), le.token)]
        reply = await self._run(scripts.RENEW, keys, [wire.microseconds(seconds), *named])
        return [held_or_lost(item) for item in reply]

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
        written = wire.ending(claim, changes, state=False)
        handed_on = () if carry is None else ("*", carry)
        reply = await self._ending(scripts.SUPERSEDE, lease, op, *written, *handed_on)
        reply.next()
        return reply.turnover(lease.conversation)

    async def take(self, lease: Lease, key: str, author: str | None = None) -> tuple[Inbound, ...]:
        """See `State.take`."""
        reply = await self._holding(scripts.TAKE, lease, wire.text(key), author or "")
        return wire.inbounds_in(wire.without_place(reply.next()))

    async def record(self, lease: Lease, name: str, key: str, value: bytes) -> bytes:
        """See `State.record`."""
        reply = await self._holding(scripts.RECORD, lease, wire.step_field(name, key), value)
        return wire.without_place(reply.next())

    async def page(self, lease: Lease, number: int, issue: int, intent: bytes) -> Page:
        """See `State.page`."""
        reply = await self._holding(scripts.PAGE, lease, wire.page_field(number, issue), intent)
        recorded = wire.without_place(reply.next())
        return Page(number, issue, recorded, reply.optional_text())

    async def posted(self, lease: Lease, number: int, issue: int, message_id: str) -> None:
        """See `State.posted`."""
        await self._holding(
            scripts.POSTED, lease, wire.page_field(number, issue), wire.text(message_id)
        )

    async def commit(
        self, lease: Lease, changes: Changes, *, op: str, claim: Claim | None
    ) -> Turnover | Drift:
        """See `State.commit`."""
        asked: list[Argument] = []
        if changes.asked is not None:
            asked = ["*", *(wire.step_field(name, key) for name, key in changes.asked)]
        written = wire.ending(claim, changes, state=True)
        reply = await self._ending(scripts.COMMIT, lease, op, *written, *asked)
        match reply.text():
            case "released":
                return Turnover()
            case "drift":
                return Drift(wire.drift(reply.rest()))
            case _:
                return reply.turnover(lease.conversation)

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
        written = wire.ending(claim, changes, state=False)
        retry = "" if retry_in is None else wire.microseconds(retry_in)
        told = (wire.text(error), retry, limit)
        reply = await self._ending(scripts.FAIL, lease, op, *written, *told)
        if reply.text() == "retrying":
            return Retrying(int(reply.next()), retry_in or 0.0)
        return reply.turnover(lease.conversation)

    async def park(self, lease: Lease, *, op: str) -> None:
        """See `State.park`."""
        keys = (self._keys.of(lease.conversation).answer(op),)
        held(await self._step(scripts.PARK, lease.conversation, op, lease.token, keys=keys), lease)

    # --- requests to a holder -------------------------------------------------------------------

    async def signal(
        self, conversation: Conversation, turn: str, kind: SignalKind, *, by: str, op: str
    ) -> Signalled | NotRunning:
        """See `State.signal`."""
        reply = await self._step(
            scripts.SIGNAL,
            conversation,
            self._keys.of(conversation).hints,
            *(wire.text(turn), kind.value, wire.text(by)),
            keys=(self._keys.of(conversation).answer(op),),
        )
        if reply.text() == "over":
            return NotRunning()
        return Signalled(reply.text(), reply.inbounds(), reply.turnover(conversation))

    async def kill(
        self, conversation: Conversation, *, by: str, op: str, author: str | None = None
    ) -> Killed:
        """See `State.kill`."""
        reply = await self._step(
            scripts.KILL,
            conversation,
            self._keys.of(conversation).hints,
            *(wire.text(by), author or ""),
            keys=(self._keys.of(conversation).answer(op),),
        )
        reply.next()
        fields = reply.many()
        now, live = int(reply.next()), bool(reply.next())
        running = wire.Turn(fields).running(now, live=live) if fields else None
        return Killed(running, reply.inbounds(), reply.turnover(conversation))

    # --- what the holder's steps share ----------------------------------------------------------

    async def _holding(self, script: scripts.Script, lease: Lease, *arguments: Argument) -> Reply:
        """Run a step of a holder; `LeaseLost` when it holds no more."""
        return held(await self._step(script, lease.conversation, lease.token, *arguments), lease)

    async def _ending(
        self, script: scripts.Script, lease: Lease, op: str, *arguments: Argument
    ) -> Reply:
        """Run a step that ends a turn; the reply still starts with its kind."""
        of = self._keys.of(lease.conversation)
        reply = await self._ask(script, of, (of.answer(op),), (op, lease.token, *arguments))
        return held(Reply(reply), lease, keep=True)


#: Policies whose encoding is remembered. Relation: one for each guild and channel that has its own.
POLICIES = 1024

#: Leases renewed by one script, which holds up every other caller of its server meanwhile.
RENEW_BATCH = 200


def held(reply: Reply, lease: Lease, *, keep: bool = False) -> Reply:
    """Return *reply* past its first item (*keep*: before it), unless the lease was lost."""
    if reply.first == b"lost":
        raise LeaseLost(
            f"conversation {lease.conversation.id}: the lease {lease.token} does not hold"
        )
    if not keep:
        reply.next()
    return reply


def held_or_lost(item: Any) -> Held | Lost:  # noqa: ANN401 (0, a signal or None)
    """Read what became of one lease in a renewal."""
    if item == 0:
        return Lost()
    if item is None:
        return Held()
    kind, _, by = item.decode("utf-8", "surrogatepass").partition(" ")
    return Held(SignalKind(kind), by)


def admission(reply: Reply, conversation: Conversation) -> Admission:
    """Read what an inbound was."""
    match reply.text():
        case "placed":
            return Placed(int(reply.next()), reply.turnover(conversation))
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
