"""
A machine that asks an adapter and the memory adapter the same, at random, and compares.

What a directed test cannot think of, a stale lease that meets a repeat that meets a follow-up, is
met here. After each step all that can be read of every conversation is compared as well.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from state import State
from state.contract.factory import Clock, MemoryFactory, StateFactory
from state.contract.scene import CLAIM, FOLLOW_UP, HERE, TRIGGER
from state.errors import LeaseLost, Unacceptable
from state.keys import Put
from state.outcomes import Busy, Drift
from state.ports import OP_WINDOW
from state.values import (
    Changes,
    Claim,
    Conversation,
    Could,
    Inbound,
    Lease,
    Policy,
    Timer,
)
from tests.contract.alike import alike, granted, visible
from tests.contract.choices import (
    HOMES,
    authors,
    changes,
    claims,
    contents,
    coulds,
    homes,
    keys,
    picks,
    policies,
    puts,
    timers,
)

#: A lease that nobody ever granted.
NEVER = Lease(HERE, "m0", "0-none", 0)

#: Answers that a repeat need not get again: nothing was done.
REFUSALS = frozenset(each.__name__ for each in (LeaseLost, Unacceptable, Busy, Drift))

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
        except (LeaseLost, Unacceptable) as refusal:
            return type(refusal).__name__, None
        return alike(answer), granted(answer)

    def seen(self, state: State) -> object:
        """Read all that one side shows."""
        return self.runner.run(visible(state, HOMES))

    def send(self, step: Step) -> None:
        """Ask both, and keep the step for a repeat if it gave an answer that must stand."""
        answer = self.ask(step)
        kind = answer[0] if isinstance(answer, list) else answer
        if kind not in REFUSALS:
            self.sent.append(Sent(self.clock(), step, answer))

    def lease(self, age: int) -> Callable[[State], Lease]:
        """
        Return a lease as either side granted it: the newest, or one so many grants old.

        The newest is made to live, since most steps with one that does not are only refused.
        """
        if not self.leases or (age == 0 and not self.lives()):
            self.admit(HERE, 0, "ann", TRIGGER, Policy(), CLAIM)
        if not self.leases or (age == 0 and not self.lives()):
            self.take_over(HERE, CLAIM)
        known = self.leases or [(NEVER, NEVER)]
        ours, theirs = known[-1 - age % len(known)]
        return lambda state: ours if state is self.model else theirs

    def lives(self) -> bool:
        """Whether the turn of the newest lease runs and is held."""
        newest = self.leases[-1][0] if self.leases else None
        turn = newest and self.runner.run(self.model.view(newest.conversation)).turn
        return bool(newest and turn and turn.live and turn.id == newest.turn)

    def known(self, age: int) -> str:
        """Return the id of the newest message, or of one so many messages old."""
        return f"m{max(1, self.said - age)}"

    def alone(self, timer: Timer) -> Timer:
        """Return *timer* with a time of its own: the order of two at one moment is free."""
        self.ops += 1
        return replace(timer, delay=timer.delay + self.ops / 8192)

    def op(self) -> str:
        """Return an operation id that was not used."""
        self.ops += 1
        return f"{self.ops:024}"

    # --- admission and hand-over ---------------------------------------------------------------

    @rule(
        home=homes,
        old=st.sampled_from([0, 0, 0, 1, 2]),
        author=authors,
        could=coulds,
        policy=policies,
        claim=st.none() | claims,
        joins=st.sampled_from([0, 0, 0, 0, 1, 2]),
    )
    def admit(
        self,
        home: Conversation,
        old: int,
        author: str,
        could: Could,
        policy: Policy,
        claim: Claim | None,
        joins: int = 0,
    ) -> None:
        """Say something new, perhaps the rest of something, or something that was said already."""
        if joins:
            could = replace(could, joins=self.known(joins - 1))
        self.said += not old
        inbound, op = Inbound(f"m{max(1, self.said - old)}", author, b"text"), self.op()
        self.send(lambda s: s.admit(home, inbound, could, policy, op=op, claim=claim))

    @rule(home=homes, claim=claims)
    def take_over(self, home: Conversation, claim: Claim) -> None:
        """Wait until the conversation is due and claim it, which shows what a turn has kept."""
        wake = self.runner.run(self.model.view(home)).wake
        self.clock.move(max(0.0, wake or 0.0))
        self.claim(home, claim)

    @rule(home=homes, claim=claims)
    def claim(self, home: Conversation, claim: Claim) -> None:
        """Take up what is pending."""
        op = self.op()
        self.send(lambda s: s.claim(home, op=op, claim=claim))

    @rule(
        chosen=st.lists(picks, min_size=1, max_size=3, unique=True),
        seconds=st.sampled_from([4.0, 32.0]),
    )
    def renew(self, chosen: list[int], seconds: float) -> None:
        """Prolong several leases at once."""
        leases = [self.lease(pick) for pick in chosen]
        self.ask(lambda s: s.renew([lease(s) for lease in leases], seconds))

    @rule(
        pick=picks,
        policy=st.none() | policies,
        claim=claims,
        carry=st.none() | contents,
        changes=st.none() | changes,
    )
    def supersede(
        self,
        pick: int,
        policy: Policy | None,
        claim: Claim,
        carry: bytes | None,
        changes: Changes | None,
    ) -> None:
        """Make room for a follow-up, if there is one."""
        lease, op = self.lease(pick), self.op()
        if policy is not None:
            home = lease(self.model).conversation
            self.admit(home, 0, "ann", FOLLOW_UP, policy, claim)
        self.send(lambda s: s.supersede(lease(s), op=op, claim=claim, carry=carry, changes=changes))

    # --- the holder's steps --------------------------------------------------------------------

    @rule(pick=picks, key=keys, author=st.none() | authors)
    def take(self, pick: int, key: str, author: str | None) -> None:
        """Move what waits into the turn."""
        lease = self.lease(pick)
        self.ask(lambda s: s.take(lease(s), key, author))

    @rule(pick=picks, name=st.sampled_from(["a", "b"]), key=keys, value=contents)
    def record(self, pick: int, name: str, key: str, value: bytes) -> None:
        """Record a step."""
        lease = self.lease(pick)
        self.ask(lambda s: s.record(lease(s), name, key, value))

    @rule(
        pick=picks,
        number=st.sampled_from([0, 0, 1, 11]),
        issue=st.sampled_from([0, 0, 1]),
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

    @rule(
        pick=picks,
        changes=changes,
        timer=st.none() | timers,
        put=st.none() | puts,
        claim=st.none() | claims,
    )
    def commit(
        self,
        pick: int,
        changes: Changes,
        timer: Timer | None,
        put: Put | None,
        claim: Claim | None,
    ) -> None:
        """End the turn; a key of another owner than its own is refused."""
        lease, op = self.lease(pick), self.op()
        changes = replace(
            changes,
            timers=() if timer is None else (self.alone(timer),),
            puts=() if put is None else (put,),
        )
        self.send(lambda s: s.commit(lease(s), changes, op=op, claim=claim))

    # --- time ------------------------------------------------------------------------------------

    @rule(seconds=st.sampled_from([0.125, 1.0, 4.0, 8.0, 16.0, 32.0]))
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
