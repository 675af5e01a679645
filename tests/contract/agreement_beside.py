"""The rest of the machine: what is done to conversations as a whole, and beside them."""

import datetime as dt
from collections.abc import Callable

from hypothesis import strategies as st
from hypothesis.stateful import rule

from state import State
from state.contract.scene import HERE
from state.keys import Author, Owner, Scope
from state.outcomes import ShardLease
from state.values import Changes, Claim, Conversation, Inbound, Lease, SignalKind, Timer
from tests.contract.agreement import Agreement
from tests.contract.alike import followed
from tests.contract.choices import (
    authors,
    changes,
    claims,
    contents,
    homes,
    keys,
    lives,
    picks,
    scopes,
    timers,
)

#: What may be forgotten, the smallest oftenest.
targets = st.sampled_from(
    [*[HERE] * 3, Author("ann"), Author("bob"), Owner(HERE.owner), Owner("guild/12")]
)


class FullAgreement(Agreement):
    """An `Agreement` that takes every step of the port."""

    #: The lease on shards that was granted last, by either side under one operation id.
    shards = ShardLease("0-1/2", 0, "", 0)

    # --- failures and requests -------------------------------------------------------------------

    @rule(
        pick=picks,
        changes=changes,
        retry_in=st.sampled_from([None, 0.0, 5.0, 30.0]),
        limit=st.integers(1, 3),
        claim=st.none() | claims,
    )
    def fail(
        self,
        pick: int,
        changes: Changes,
        retry_in: float | None,
        limit: int,
        claim: Claim | None,
    ) -> None:
        """Count an exception."""
        lease, op = self.lease(pick), self.op()
        self.send(
            lambda s: s.fail(
                lease(s), "no", changes, retry_in=retry_in, limit=limit, op=op, claim=claim
            )
        )

    @rule(pick=picks)
    def park(self, pick: int) -> None:
        """Give the lease back."""
        lease, op = self.lease(pick), self.op()
        self.send(lambda s: s.park(lease(s), op=op))

    @rule(pick=picks, home=st.none() | homes, kind=st.sampled_from(SignalKind), by=authors)
    def signal(self, pick: int, home: Conversation | None, kind: SignalKind, by: str) -> None:
        """Ask a turn to end, mostly where it runs or ran."""
        lease, op = self.lease(pick)(self.model), self.op()
        where = home or lease.conversation
        self.send(lambda s: s.signal(where, lease.turn, kind, by=by, op=op))

    @rule(
        home=homes,
        what=st.sampled_from(["kill", "kill", "reset", "follow", "unfollow"]),
        author=st.none() | authors,
    )
    def disturb(self, home: Conversation, what: str, author: str | None) -> None:
        """Kill, begin the conversation anew, follow it, or follow it no more."""
        op = self.op()
        match what:
            case "kill":
                self.send(lambda s: s.kill(home, by="eve", op=op, author=author))
            case "reset":
                self.ask(lambda s: s.reset(home))
            case "follow":
                self.ask(lambda s: s.subscribe(home))
            case _:
                self.ask(lambda s: s.unsubscribe(home))
        self.ask(followed)

    # --- the conversation as a whole -----------------------------------------------------------

    @rule(home=homes, claim=claims)
    def acquire(self, home: Conversation, claim: Claim) -> None:
        """Hold a conversation without a turn."""
        op = self.op()
        self.send(lambda s: s.acquire(home, op=op, claim=claim))

    @rule(pick=picks, claim=st.none() | claims)
    def release(self, pick: int, claim: Claim | None) -> None:
        """Give the newest hold back, or a lease that may be none."""
        holds = [n for n, (lease, _) in enumerate(reversed(self.leases)) if not lease.turn]
        lease, op = self.granted_lease(holds[0] if holds and not pick else pick), self.op()
        self.send(lambda s: s.release(lease(s), op=op, claim=claim))

    @rule(pick=picks, claim=claims)
    def steal(self, pick: int, claim: Claim) -> None:
        """Take a conversation from its holder, or from one that was."""
        lease, op = self.lease(pick), self.op()
        self.send(lambda s: s.steal(lease(s).conversation, lease(s).token, op=op, claim=claim))

    # --- one message -----------------------------------------------------------------------------

    @rule(home=homes, age=picks)
    def withdraw(self, home: Conversation, age: int) -> None:
        """Delete one of the newest messages."""
        inbound, op = self.known(age), self.op()
        self.send(lambda s: s.withdraw(home, inbound, op=op))

    @rule(home=homes, age=picks, edition=st.integers(0, 1), author=authors, payload=contents)
    def amend(
        self, home: Conversation, age: int, edition: int, author: str, payload: bytes
    ) -> None:
        """Edit one of the newest messages."""
        inbound, op = self.known(age), self.op()
        edited = Inbound(f"{inbound}@{edition}", author, payload)
        self.send(lambda s: s.amend(home, inbound, edited, op=op))

    # --- timers and letters ----------------------------------------------------------------------

    @rule(home=homes, timer=timers)
    def schedule(self, home: Conversation, timer: Timer) -> None:
        """Set a timer, or set it again."""
        alone, op = self.alone(timer), self.op()
        self.send(lambda s: s.schedule(home, alone, op=op))

    @rule(home=homes, timer=st.sampled_from(["t", "u"]))
    def unschedule(self, home: Conversation, timer: str) -> None:
        """Delete a timer, if it is there."""
        self.ask(lambda s: s.unschedule(home, timer))

    @rule(home=homes, pick=st.integers(0, 2), discard=st.booleans())
    def letter(self, home: Conversation, pick: int, discard: bool) -> None:
        """Try a dead letter again, or drop it."""
        letters = self.runner.run(self.model.dead_letters(home.owner)).letters
        letter, op = letters[pick % len(letters)].id if letters else "none", self.op()
        if discard:
            self.ask(lambda s: s.discard(home, letter))
        else:
            self.send(lambda s: s.requeue(home, letter, op=op))

    # --- kept beside -----------------------------------------------------------------------------

    @rule(
        scope=scopes,
        key=keys,
        what=st.sampled_from(["put", "put_if_absent", "append", "increment", "delete"]),
        value=contents,
        ttl=lives,
    )
    def keep(self, scope: Scope, key: str, what: str, value: bytes, ttl: float | None) -> None:
        """Write a value, list or counter, whatever the key holds, and read all of the scope."""
        op = self.op()
        match what:
            case "put":
                self.ask(lambda s: s.put(scope, key, value, ttl=ttl))
            case "put_if_absent":
                self.send(lambda s: s.put_if_absent(scope, key, value, op=op, ttl=ttl))
            case "append":
                self.send(lambda s: s.append(scope, key, value, most=2, op=op, ttl=ttl))
            case "increment":
                self.send(lambda s: s.increment(scope, key, op=op, by=2, window=ttl))
            case _:
                self.ask(lambda s: s.delete(scope, key))
        self.ask(lambda s: kept(s, scope))

    @rule(home=homes, scope=scopes)
    def look(self, home: Conversation, scope: Scope) -> None:
        """Read what commits have kept: answers, usage and keys."""
        inbounds = [self.known(age) for age in range(4)]
        today = dt.datetime.fromtimestamp(self.clock(), dt.UTC).date().isoformat()
        self.ask(lambda s: answered(s, home, inbounds))
        self.ask(lambda s: spent(s, home.owner, today))
        self.ask(lambda s: kept(s, scope))

    # --- forgetting and shards -------------------------------------------------------------------

    @rule(whom=targets, limit=st.sampled_from([1, 200]), sure=st.sampled_from([True, False]))
    def forget(self, whom: Owner | Conversation | Author, limit: int, sure: bool) -> None:
        """Forget something for good, now and then; then no repeat knows its first answer."""
        if sure:
            self.ask(lambda s: forgotten(s, whom, limit))
            self.sent.clear()

    @rule(
        what=st.sampled_from(["claim", "claim", "renew", "release", "gate"]),
        name=st.sampled_from(["0-1/2", "0-1/2", "2-3/4"]),
        seconds=st.sampled_from([8.0, 32.0]),
    )
    def share(self, what: str, name: str, seconds: float) -> None:
        """Claim, renew or release a range of shards, or ask at the gate."""
        op = self.op()
        match what:
            case "claim":
                self.ask(lambda s: s.claim_shards(name, op=op, seconds=seconds))
                last = self.runner.run(self.model.claim_shards(name, op=op, seconds=seconds))
                self.shards = last if isinstance(last, ShardLease) else self.shards
            case "renew":
                self.ask(lambda s: s.renew_shards(self.shards, seconds))
            case "release":
                self.ask(lambda s: s.release_shards(self.shards))
            case _:
                self.ask(lambda s: s.identify_gate(len(name) % 2))

    def granted_lease(self, age: int) -> Callable[[State], Lease]:
        """Return a lease as either side granted it, living or not."""
        ours, theirs = self.leases[-1 - age % len(self.leases)] if self.leases else (NONE, NONE)
        return lambda state: ours if state is self.model else theirs


#: Enough for all homes of the machine, one by one.
BATCHES = 4

#: A hold that nobody ever granted.
NONE = Lease(HERE, "", "0-none", 0)


async def kept(state: State, scope: Scope) -> object:
    """Read all that the machine may have kept in a scope."""
    return [(await state.get(scope, key), await state.items(scope, key)) for key in ("1", "2")]


async def answered(state: State, home: Conversation, inbounds: list[str]) -> object:
    """Read what was answered to each of some messages."""
    return [await state.answer(home, inbound) for inbound in inbounds]


async def spent(state: State, owner: str, day: str) -> object:
    """Read an owner's usage, in an order of its own."""
    return sorted((await state.usage(owner, day)).items())


async def forgotten(state: State, target: Owner | Conversation | Author, limit: int) -> bool:
    """Forget in batches; how many things each removed is told differently by each store."""
    return any([(await state.forget(target, limit=limit)).done for _ in range(BATCHES)])
