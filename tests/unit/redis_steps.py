"""Draws steps at random, and now and then the repeat of one that a caller may still repeat."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from state import State
from state.errors import Gone, LeaseLost
from state.keys import Author, Owner
from state.outcomes import ShardLease, Started
from state.ports import OP_WINDOW
from state.values import Claim, Conversation, Could, Inbound, Lease, Policy, SignalKind
from tests.unit.redis_draws import CONVERSATIONS, PEOPLE, SCOPES, Draws

Call = Callable[[State], Awaitable[Any]]

#: How often each step is drawn.
WEIGHTS = {
    "admit": 30,
    "take_up": 10,
    "renew": 6,
    "supersede": 8,
    "take": 4,
    "record": 8,
    "page": 6,
    "posted": 4,
    "commit": 10,
    "fail": 8,
    "park": 3,
    "signal": 6,
    "kill": 2,
    "acquire": 3,
    "release": 3,
    "steal": 2,
    "withdraw": 4,
    "amend": 4,
    "schedule": 5,
    "unschedule": 1,
    "letter": 3,
    "forget": 1,
    "key": 12,
    "shard": 4,
    "reset": 1,
    "follow": 3,
}

#: Steps that take an operation id.
REPEATED = {
    *("admit", "take_up", "supersede", "commit", "fail", "park", "acquire", "release", "steal"),
    *("signal", "kill", "withdraw", "amend", "schedule"),
}


@dataclass
class Steps(Draws):
    """Steps under one clock."""

    now: float = 1_700_000_000.0
    #: Steps under an operation id, with the time of their first sending.
    sent: list[tuple[float, Call]] = field(default_factory=list)

    def clock(self) -> float:
        """Tell the time of both stores."""
        return self.now

    def draw(self) -> Call:
        """Choose a step for some conversation, now and then a repeat of its last one."""
        recent = [call for at, call in self.sent[-8:] if at > self.now - OP_WINDOW]
        if recent and self.chance.random() < 0.1:
            return self.chance.choice(recent)
        names, weights = zip(*WEIGHTS.items(), strict=True)
        name = self.chance.choices(names, weights)[0]
        call: Call = getattr(self, f"_{name}")(self.chance.choice(CONVERSATIONS))
        if name in REPEATED:
            self.sent.append((self.now, call))
        return call

    def remember(self, answer: object) -> None:
        """Keep the lease that an answer gave."""
        if isinstance(answer, Lease):
            self.leases.append(answer)
        if isinstance(answer, ShardLease):
            self.shards.append(answer)
        turnover = getattr(answer, "turnover", answer)
        started: Started | None = getattr(turnover, "started", None)
        if started is not None:
            self.leases.append(started.lease)

    def _admit(self, where: Conversation) -> Call:
        inbound, could, policy = self.inbound(), self.could(), self.policy()
        op, claim = self.op(), self.claim()
        return lambda state: state.admit(where, inbound, could, policy, op=op, claim=claim)

    def _take_up(self, where: Conversation) -> Call:
        op, claim = self.op(), self.claim() or Claim(5.0)
        return lambda state: state.claim(where, op=op, claim=claim)

    def _renew(self, where: Conversation) -> Call:
        leases = [self.lease(other) for other in CONVERSATIONS]
        return lambda state: state.renew(leases, 20.0)

    def _supersede(self, where: Conversation) -> Call:
        lease, op, claim = self.lease(where), self.op(), self.claim() or Claim(5.0)
        carry, changes = (
            self.chance.choice([None, b"", b"carry"]),
            self.chance.choice([None, self.changes(where.owner)]),
        )
        return lambda state: state.supersede(
            lease, op=op, claim=claim, carry=carry, changes=changes
        )

    def _take(self, where: Conversation) -> Call:
        lease, key = self.lease(where), self.chance.choice("xy")
        author = self.chance.choice([None, *PEOPLE])
        return lambda state: state.take(lease, key, author)

    def _record(self, where: Conversation) -> Call:
        lease, name, key = (
            self.lease(where),
            self.chance.choice("abc"),
            self.chance.choice(["", "1", "é 2"]),
        )
        value = self.chance.randbytes(self.chance.randint(0, 80))
        return lambda state: state.record(lease, name, key, value)

    def _page(self, where: Conversation) -> Call:
        lease, number, issue = (
            self.lease(where),
            self.chance.randint(0, 11),
            self.chance.randint(0, 1),
        )
        intent = b"page %d" % self.chance.randint(0, 9)
        return lambda state: state.page(lease, number, issue, intent)

    def _posted(self, where: Conversation) -> Call:
        lease, number, issue = (
            self.lease(where),
            self.chance.randint(0, 11),
            self.chance.randint(0, 1),
        )
        message = str(self.chance.randint(1, 9))
        return lambda state: state.posted(lease, number, issue, message)

    def _commit(self, where: Conversation) -> Call:
        lease, changes, op, claim = (
            self.lease(where),
            self.changes(where.owner),
            self.op(),
            self.claim(),
        )
        return lambda state: state.commit(lease, changes, op=op, claim=claim)

    def _fail(self, where: Conversation) -> Call:
        lease, changes, op, claim = (
            self.lease(where),
            self.changes(where.owner),
            self.op(),
            self.claim(),
        )
        retry_in = self.chance.choice([None, 3.0, 8.0])
        return lambda state: state.fail(
            lease, "it broke", changes, retry_in=retry_in, limit=3, op=op, claim=claim
        )

    def _park(self, where: Conversation) -> Call:
        lease, op = self.lease(where), self.op()
        return lambda state: state.park(lease, op=op)

    def _signal(self, where: Conversation) -> Call:
        turn = self.lease(where).turn
        kind, by, op = self.chance.choice(list(SignalKind)), self.chance.choice(PEOPLE), self.op()
        return lambda state: state.signal(where, turn, kind, by=by, op=op)

    def _kill(self, where: Conversation) -> Call:
        by, op, author = self.chance.choice(PEOPLE), self.op(), self.chance.choice([None, *PEOPLE])
        return lambda state: state.kill(where, by=by, op=op, author=author)

    def _acquire(self, where: Conversation) -> Call:
        op, claim = self.op(), Claim(self.chance.choice([5.0, 30.0]))
        return lambda state: state.acquire(where, op=op, claim=claim)

    def _release(self, where: Conversation) -> Call:
        lease, op, claim = self.lease(where), self.op(), self.claim()
        return lambda state: state.release(lease, op=op, claim=claim)

    def _steal(self, where: Conversation) -> Call:
        lease, op, claim = self.lease(where), self.op(), self.claim() or Claim(5.0)
        return lambda state: state.steal(where, lease.token, op=op, claim=claim)

    def _withdraw(self, where: Conversation) -> Call:
        op, name = self.op(), self.chance.choice(self.said[-6:] or ["m"])
        return lambda state: state.withdraw(where, name, op=op)

    def _amend(self, where: Conversation) -> Call:
        op, name = self.op(), self.chance.choice(self.said[-6:] or ["m"])
        edit = f"{name}@{self.chance.randint(0, 1)}"
        edited = Inbound(edit, self.chance.choice(PEOPLE), b"edited")
        return lambda state: state.amend(where, name, edited, op=op)

    def _schedule(self, where: Conversation) -> Call:
        op, timer = self.op(), self.timer()
        return lambda state: state.schedule(where, timer, op=op)

    def _unschedule(self, where: Conversation) -> Call:
        name = self.chance.choice("tuv")
        return lambda state: state.unschedule(where, name)

    def _letter(self, where: Conversation) -> Call:
        op, discard = self.op(), self.chance.random() < 0.5

        async def call(state: State) -> object:
            letters = [one.id for one in (await state.dead_letters(where.owner)).letters]
            name = letters[0] if letters else "none"
            if discard:
                return await state.discard(where, name)
            return await state.requeue(where, name, op=op)

        return call

    def _forget(self, where: Conversation) -> Call:
        author = Author(self.chance.choice(PEOPLE))
        targets: list[Owner | Conversation | Author] = [where, Owner(where.owner), author]
        target, limit = self.chance.choice(targets), self.chance.choice([1, 200])
        self.sent.clear()  # its answers are forgotten with it

        async def call(state: State) -> object:
            told = [await state.forget(target, limit=limit)]
            while not told[-1].done:
                inbound = Inbound("m", getattr(target, "id", "ann"), b"")
                with pytest.raises(Gone):
                    await state.admit(where, inbound, Could(), Policy(), op="gone", claim=None)
                told.append(await state.forget(target, limit=limit))
            return told

        return call

    def _key(self, where: Conversation) -> Call:
        scope, key = self.chance.choice(SCOPES), self.chance.choice("kl")
        ttl, op = self.ttl(), self.op()
        value = self.chance.choice([b"", b"value\x00"])
        calls: list[Call] = [
            lambda state: state.put(scope, key, value, ttl=ttl),
            lambda state: state.put_if_absent(scope, key, value, op=op, ttl=ttl),
            lambda state: state.append(scope, key, value, most=2, op=op, ttl=ttl),
            lambda state: state.increment(scope, key, op=op, by=3, window=ttl),
            lambda state: state.delete(scope, key),
        ]
        call = self.chance.choice(calls)
        if call in calls[1:4]:
            self.sent.append((self.now, call))
        return call

    def _shard(self, where: Conversation) -> Call:
        name, op = self.chance.choice(["0-3/8", "4-7/8"]), self.op()
        held = (
            self.chance.choice(self.shards[-3:]) if self.shards else ShardLease(name, 1, "1-x", 0)
        )
        return self.chance.choice(
            [
                lambda state: state.claim_shards(name, op=op, seconds=4.0),
                lambda state: state.renew_shards(held, 6.0),
                lambda state: state.release_shards(held),
                lambda state: state.identify_gate(1, every=2.0),
            ]
        )

    def _reset(self, where: Conversation) -> Call:
        return lambda state: state.reset(where)

    def _follow(self, where: Conversation) -> Call:
        if self.chance.random() < 0.5:
            return lambda state: state.subscribe(where)
        return lambda state: state.unsubscribe(where)


async def answered(call: Call, state: State) -> Any:  # noqa: ANN401 (each step has answers of its own)
    """Answer what the step answers, a lost lease included."""
    try:
        return await call(state)
    except LeaseLost:
        return LeaseLost
