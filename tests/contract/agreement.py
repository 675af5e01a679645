"""
A machine that asks an adapter and the memory adapter the same, at random, and compares.

What a directed test cannot think of, a stale lease that meets a repeat that meets a follow-up, is
met here. After each step all that can be read of every conversation is compared as well.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from state import State
from state.contract.factory import Clock, MemoryFactory, StateFactory
from state.contract.scene import ELSEWHERE, HERE, THERE
from state.errors import LeaseLost
from state.outcomes import Busy, Drift
from state.ports import OP_WINDOW
from state.values import (
    Changes,
    Claim,
    Conversation,
    Could,
    Inbound,
    Lease,
    Outcome,
    Overflow,
    Policy,
    SignalKind,
    StopRight,
)
from tests.contract.alike import alike, followed, granted, visible

HOMES = (HERE, THERE, ELSEWHERE)

#: How many of the newest leases steps are tried with: most of them live, some do not.
RECENT = 4

homes = st.sampled_from(HOMES)
authors = st.sampled_from(["ann", "bob", "cy"])
picks = st.integers(0, RECENT - 1)
contents = st.sampled_from([b"", b"a", b"\0\xff"])
keys = st.sampled_from(["1", "2"])
coulds = st.sampled_from(
    [
        Could(trigger=True),
        Could(trigger=True, follow_up=True),
        Could(follow_up=True),
        Could(stop=StopRight.OWN),
        Could(trigger=True, stop=StopRight.ANY),
        Could(),
    ]
)
policies = st.sampled_from(
    [
        Policy(),
        Policy(inbox=2, per_person=1),
        Policy(inbox=1, per_person=2),
        Policy(inbox=2, per_person=2, overflow=Overflow.DROP_OLDEST),
        Policy(max_followups=1),
        Policy(early_only=True),
    ]
)
claims = st.sampled_from([Claim(8.0), Claim(16.0), Claim(16.0, expire_after=30.0)])
changes = st.builds(
    Changes,
    outcome=st.sampled_from(Outcome),
    state=st.none() | contents,
    state_version=st.integers(0, 3),
    transcript=st.lists(contents, max_size=2).map(tuple),
    keep=st.sampled_from([1, 3, 200]),
    asked=st.none() | st.just(frozenset({("a", "1")})),
)

#: A step with everything bound but the side that it is taken on.
Step = Callable[[State], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Sent:
    """A step under an operation id: when it was sent, and its first answer."""

    at: float
    step: Step
    answer: object


class Agreement(RuleBasedStateMachine):
    """Two handles of the tried adapter and one of the memory adapter, under one clock."""

    def __init__(self, factory: StateFactory) -> None:
        """Open all of them."""
        super().__init__()
        self.runner, self.clock, self.factory = asyncio.Runner(), Clock(), factory
        self.model = MemoryFactory().make(self.clock)
        self.tried = [factory.make(self.clock), factory.make(self.clock)]
        for state in (self.model, *self.tried):
            self.runner.run(state.open())
        #: Each lease as the model granted it and as the tried adapter did.
        self.leases: list[tuple[Lease, Lease]] = []
        self.sent: list[Sent] = []
        self.said = self.ops = 0

    def teardown(self) -> None:
        """Close all of them and remove the database."""
        for state in (self.model, *self.tried):
            self.runner.run(state.close())
        self.runner.run(self.factory.clean())
        self.runner.close()

    # --- asking both ---------------------------------------------------------------------------

    def ask(self, step: Step) -> object:
        """Take *step* on both sides; compare the answers and all that is left."""
        expected, model_lease = self.taken(self.model, step)
        self.tried.reverse()  # the other handle's turn
        answered, tried_lease = self.taken(self.tried[0], step)
        assert answered == expected
        assert self.seen(self.tried[1]) == self.seen(self.model)
        if model_lease and tried_lease and (model_lease, tried_lease) not in self.leases:
            self.leases.append((model_lease, tried_lease))
        return expected

    def taken(self, state: State, step: Step) -> tuple[object, Lease | None]:
        """Take *step* on one side; return a comparable answer and the lease that it grants."""

        async def take() -> object:
            return await step(state)

        try:
            answer = self.runner.run(take())
        except LeaseLost:
            return "lease lost", None
        return alike(answer), granted(answer)

    def seen(self, state: State) -> object:
        """Read all that one side shows."""
        return self.runner.run(visible(state, HOMES))

    def send(self, step: Step) -> None:
        """Ask both, and keep the step for a repeat if it gave an answer that must stand."""
        answer = self.ask(step)
        kind = answer[0] if isinstance(answer, list) else answer
        if kind not in ("lease lost", Busy.__name__, Drift.__name__):
            self.sent.append(Sent(self.clock(), step, answer))

    def lease(self, pick: int) -> Callable[[State], Lease]:
        """Return the lease that is *pick* steps older than the newest, for either side."""
        ours, theirs = self.leases[-1 - pick % len(self.leases)]
        return lambda state: ours if state is self.model else theirs

    def op(self) -> str:
        """Return an operation id that was not used."""
        self.ops += 1
        return f"{self.ops:024}"

    def holding(self) -> bool:
        """Whether there is any lease to try, as most rules need."""
        return bool(self.leases)

    # --- admission and hand-over ---------------------------------------------------------------

    @rule(
        home=homes,
        old=st.sampled_from([0, 0, 0, 1, 2]),
        author=authors,
        could=coulds,
        policy=policies,
        claim=st.none() | claims,
    )
    def admit(
        self,
        home: Conversation,
        old: int,
        author: str,
        could: Could,
        policy: Policy,
        claim: Claim | None,
    ) -> None:
        """Say something new, or something that was said already."""
        self.said += not old
        inbound, op = Inbound(f"m{max(1, self.said - old)}", author, b"text"), self.op()
        self.send(lambda s: s.admit(home, inbound, could, policy, op=op, claim=claim))

    @rule(home=homes, claim=claims)
    def claim(self, home: Conversation, claim: Claim) -> None:
        """Take up what is pending."""
        op = self.op()
        self.send(lambda s: s.claim(home, op=op, claim=claim))

    @precondition(holding)
    @rule(
        chosen=st.lists(picks, min_size=1, max_size=3, unique=True),
        seconds=st.sampled_from([4.0, 32.0]),
    )
    def renew(self, chosen: list[int], seconds: float) -> None:
        """Prolong several leases at once."""
        leases = [self.lease(pick) for pick in chosen]
        self.ask(lambda s: s.renew([lease(s) for lease in leases], seconds))

    @precondition(holding)
    @rule(pick=picks, claim=claims, carry=st.none() | contents, changes=st.none() | changes)
    def supersede(
        self, pick: int, claim: Claim, carry: bytes | None, changes: Changes | None
    ) -> None:
        """Make room for a follow-up, if there is one."""
        lease, op = self.lease(pick), self.op()
        self.send(lambda s: s.supersede(lease(s), op=op, claim=claim, carry=carry, changes=changes))

    # --- the holder's steps --------------------------------------------------------------------

    @precondition(holding)
    @rule(pick=picks, key=keys, author=st.none() | authors)
    def take(self, pick: int, key: str, author: str | None) -> None:
        """Move what waits into the turn."""
        lease = self.lease(pick)
        self.ask(lambda s: s.take(lease(s), key, author))

    @precondition(holding)
    @rule(pick=picks, name=st.sampled_from(["a", "b"]), key=keys, value=contents)
    def record(self, pick: int, name: str, key: str, value: bytes) -> None:
        """Record a step."""
        lease = self.lease(pick)
        self.ask(lambda s: s.record(lease(s), name, key, value))

    @precondition(holding)
    @rule(
        pick=picks,
        number=st.integers(0, 11),
        issue=st.integers(0, 1),
        intent=contents,
        message_id=st.none() | st.sampled_from(["900", "901"]),
    )
    def page(
        self, pick: int, number: int, issue: int, intent: bytes, message_id: str | None
    ) -> None:
        """Record a page, and perhaps the message that it became."""
        lease = self.lease(pick)
        self.ask(lambda s: s.page(lease(s), number, issue, intent))
        if message_id is not None:
            self.ask(lambda s: s.posted(lease(s), number, issue, message_id))

    @precondition(holding)
    @rule(pick=picks, changes=changes, claim=st.none() | claims)
    def commit(self, pick: int, changes: Changes, claim: Claim | None) -> None:
        """End the turn."""
        lease, op = self.lease(pick), self.op()
        self.send(lambda s: s.commit(lease(s), changes, op=op, claim=claim))

    @precondition(holding)
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

    @precondition(holding)
    @rule(pick=picks)
    def park(self, pick: int) -> None:
        """Give the lease back."""
        lease, op = self.lease(pick), self.op()
        self.send(lambda s: s.park(lease(s), op=op))

    # --- requests, subscriptions, time ---------------------------------------------------------

    @precondition(holding)
    @rule(pick=picks, home=st.none() | homes, kind=st.sampled_from(SignalKind), by=authors)
    def signal(self, pick: int, home: Conversation | None, kind: SignalKind, by: str) -> None:
        """Ask a turn to end, mostly where it runs or ran."""
        lease, op = self.lease(pick)(self.model), self.op()
        where = home or lease.conversation
        self.send(lambda s: s.signal(where, lease.turn, kind, by=by, op=op))

    @rule(home=homes, by=authors, author=st.none() | authors)
    def kill(self, home: Conversation, by: str, author: str | None) -> None:
        """Kill what runs and drop what waits."""
        op = self.op()
        self.send(lambda s: s.kill(home, by=by, op=op, author=author))

    @rule(home=homes)
    def reset(self, home: Conversation) -> None:
        """Begin the conversation anew."""
        self.ask(lambda s: s.reset(home))

    @rule(home=homes, follow=st.booleans())
    def follow(self, home: Conversation, follow: bool) -> None:
        """Follow a conversation, or follow it no more."""
        self.ask(lambda s: s.subscribe(home) if follow else s.unsubscribe(home))
        self.ask(followed)

    @rule(seconds=st.sampled_from([0.125, 1.0, 4.0, 8.0, 16.0, 32.0, 300.0]))
    def move(self, seconds: float) -> None:
        """Let time pass."""
        self.clock.move(seconds)

    @precondition(lambda self: self.repeatable())
    @rule(pick=st.integers(0, 7))
    def repeat(self, pick: int) -> None:
        """Send one of the last steps again: the first answer comes, and nothing changes."""
        repeatable = self.repeatable()
        sent = repeatable[-1 - pick % len(repeatable)]
        before = self.seen(self.model)
        assert self.ask(sent.step) == sent.answer
        assert self.seen(self.model) == before

    def repeatable(self) -> list[Sent]:
        """Return the steps that a caller may still repeat."""
        return [sent for sent in self.sent if sent.at + OP_WINDOW > self.clock()]
