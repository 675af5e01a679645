"""The odds of a random walk: steps on a lease that is given, and on what is kept beside turns."""

import random
from collections.abc import Awaitable, Callable
from typing import Any

from state.keys import Author, Owner, Put, Scope
from state.outcomes import ShardLease
from state.ports import State
from state.values import (
    CatchUp,
    Changes,
    Claim,
    Conversation,
    Inbound,
    Lease,
    Outcome,
    Overflow,
    Policy,
    Timer,
)

OWNERS = ("guild/1", "guild/12", "user/1")
CONVERSATIONS = (
    Conversation("guild/1", "10"),
    Conversation("guild/1", "11"),
    Conversation("guild/12", "10"),
    Conversation("user/1", "12"),
)
SCOPES = (Scope("guild/1"), Scope("guild/1", "10"), Scope("guild/12", person="ann"))
AUTHORS = ("ann", "bob")
POLICIES = (
    Policy(),
    Policy(inbox=2, per_person=2),
    Policy(inbox=2, overflow=Overflow.DROP_OLDEST, max_followups=1),
    Policy(per_person=1, early_only=True),
    Policy(gather=True, quiet=2.0, quiet_most=4.0),
    Policy(gather=True, not_before=3.0),
    Policy(interrupt=True),
    Policy(drop=True),
)
ASKED = frozenset({("a", "0"), ("b", "0")})

Step = Callable[[State], Awaitable[Any]]


class Odds:
    """Draws the arguments of steps, and the steps that need no knowledge of earlier answers."""

    def __init__(self, seed: int) -> None:
        """Draw the same for the same *seed*."""
        self.random = random.Random(seed)
        self.shards = ShardLease("0-1/2", 0, "", 0)
        self.letters = ["none"]
        self.inbounds = 0
        self.ops = 0

    def _op(self) -> str:
        self.ops += 1
        return f"op-{self.ops}"

    def _inbound(self, name: str) -> Inbound:
        return Inbound(name, self.random.choice(AUTHORS), self.random.randbytes(5))

    def _known(self) -> str:
        """Draw an inbound's id, one of the newest."""
        return f"m{max(0, self.inbounds - self.random.randrange(4))}"

    def _drawn_timer(self) -> Timer:
        return Timer(
            self.random.choice("xy"),
            self._inbound("timer"),
            self.random.choice([0.0, 2.0, 30.0]),
            self.random.choice([None, 3.0]),
            self.random.choice(list(CatchUp)),
        )

    def _claims(self) -> Claim:
        return Claim(self.random.choice([5.0, 30.0]), self.random.choice([20.0, 1000.0]))

    def _changes(self, lease: Lease) -> Changes:
        entries, value = self.random.randrange(4), self.random.choice([None, b"v"])
        return Changes(
            outcome=self.random.choice([Outcome.ANSWERED, Outcome.STOPPED]),
            state=self.random.choice([None, b"", b"{}", self.random.randbytes(9)]),
            state_version=self.random.randrange(3),
            transcript=tuple(self.random.randbytes(4) for _ in range(entries)),
            keep=self.random.choice([0, 3, 200]),
            asked=self.random.choice([None, None, frozenset(), ASKED]),
            authors=self.random.choice([(), ("ann",), ("", "bob", "ann", "ann")]),
            timers=self.random.choice([(), (), (self._drawn_timer(),)]),
            unschedule=self.random.choice([(), (), ("x",)]),
            puts=self.random.choice([(), (Put(Scope(lease.conversation.owner), "k", value),)]),
            answer=self.random.choice([None, b"answered"]),
            usage=self.random.choice([{}, {"tokens": 3}]),
        )

    def _timer(self) -> Step:
        here, op, timer = self.random.choice(CONVERSATIONS), self._op(), self._drawn_timer()
        return self.random.choice(
            [
                lambda state: state.schedule(here, timer, op=op),
                lambda state: state.schedule(here, timer, op=op),
                lambda state: state.unschedule(here, timer.id),
            ]
        )

    def _keep(self) -> Step:
        scope, key, op = self.random.choice(SCOPES), self.random.choice("kl"), self._op()
        value, ttl = self.random.randbytes(2), self.random.choice([None, 2.0])
        return self.random.choice(
            [
                lambda state: state.put(scope, key, value, ttl=ttl),
                lambda state: state.put_if_absent(scope, key, value, op=op, ttl=ttl),
                lambda state: state.delete(scope, key),
                lambda state: state.append(scope, key, value, most=2, op=op, ttl=ttl),
                lambda state: state.increment(scope, key, op=op, by=len(value), window=ttl),
            ]
        )

    def _shards(self) -> Step:
        op, last = self._op(), self.shards
        return self.random.choice(
            [
                lambda state: state.claim_shards(last.name, op=op, seconds=3.0),
                lambda state: state.renew_shards(last, 3.0),
                lambda state: state.release_shards(last),
                lambda state: state.identify_gate(0),
            ]
        )

    def _forget(self) -> Step:
        here, letter, op = self.random.choice(CONVERSATIONS), self.letters[-1], self._op()
        target = self.random.choice([here, Owner(here.owner), Author(self.random.choice(AUTHORS))])
        return self.random.choice(
            [
                lambda state: state.forget(target),
                lambda state: state.dead_letters(here.owner),
                lambda state: state.requeue(here, letter, op=op),
                lambda state: state.requeue(here, letter, op=op),
                lambda state: state.discard(here, letter),
            ]
        )

    def _journal(self, lease: Lease) -> Step:
        name, value = self.random.choice("abc"), self.random.randbytes(3)
        number, issue = self.random.randrange(12), self.random.randrange(2)
        author = self.random.choice([None, *AUTHORS])
        return self.random.choice(
            [
                lambda state: state.record(lease, name, "0", value),
                lambda state: state.page(lease, number, issue, value),
                lambda state: state.posted(lease, number, issue, name),
                lambda state: state.take(lease, name, author),
            ]
        )

    def _commit(self, lease: Lease) -> Step:
        changes, op = self._changes(lease), self._op()
        claim = self.random.choice([None, self._claims()])
        return lambda state: state.commit(lease, changes, op=op, claim=claim)

    def _fail(self, lease: Lease) -> Step:
        changes, op = self._changes(lease), self._op()
        claim = self.random.choice([None, self._claims()])
        retry_in, limit = self.random.choice([None, 0.0, 15.0]), self.random.choice([1, 3])
        return lambda state: state.fail(
            lease, "broken", changes, retry_in=retry_in, limit=limit, op=op, claim=claim
        )

    def _supersede(self, lease: Lease) -> Step:
        op, claim = self._op(), self._claims()
        carry = self.random.choice([None, b"so far"])
        changes = self.random.choice([None, self._changes(lease)])
        return lambda state: state.supersede(
            lease, op=op, claim=claim, carry=carry, changes=changes
        )

    def _park(self, lease: Lease) -> Step:
        op = self._op()
        return lambda state: state.park(lease, op=op)
