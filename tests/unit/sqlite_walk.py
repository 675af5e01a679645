"""Random steps for the SQLite adapter and the executable specification, the same for both."""

import dataclasses

from state.errors import LeaseLost
from state.listings import DeadLetters
from state.outcomes import Forgetting, ShardLease
from state.values import (
    Claim,
    Could,
    Lease,
    Policy,
    SignalKind,
    StopRight,
)
from tests.unit.sqlite_odds import AUTHORS, CONVERSATIONS, POLICIES, Odds, Step


class Walk(Odds):
    """Draws steps that make sense about half of the time, from what earlier answers showed."""

    def __init__(self, seed: int) -> None:
        """Draw the same walk for the same *seed*."""
        super().__init__(seed)
        self.leases: list[Lease] = []  # the newest of each conversation
        self.old: list[Lease] = []
        self.used: Lease | None = None
        self.forgetting = False
        self.burst: list[Step] = []
        self.sent: list[Step] = []

    def step(self) -> Step:
        """Draw a step; one in eight is sent a second time, later and perhaps elsewhere."""
        self.used = None
        if self.burst:
            return self.burst.pop()
        if self.sent and self.random.random() < 1 / 8:
            return self.random.choice(self.sent[-6:])
        draw = self.random.choice(
            [self._admit] * 8
            + [self._holder] * 14
            + [self._claim, self._claim, self._renew, self._signal, self._kill, self._forget]
            + [
                self._whole,
                self._neglect,
                self._crowd,
                self._message,
                self._timer,
                self._timer,
                self._keep,
                self._keep,
                self._shards,
            ]
        )
        step = draw()
        self.sent.append(step)
        return step

    def learn(self, answer: object) -> None:
        """Remember the lease that an answer gave; lost ones stay in use, less often."""
        if self.used in self.leases and isinstance(answer, tuple) and LeaseLost in answer:
            self.leases.remove(self.used)
            self.old = [*self.old, self.used][-3:]
        started = getattr(getattr(answer, "turnover", answer), "started", None)
        if started is not None:
            here = [x for x in self.leases if x.conversation == started.lease.conversation]
            self.leases = [x for x in self.leases if x not in here] + [started.lease]
            self.old = [*self.old, *here][-3:]
        if isinstance(answer, Lease):
            self.old = [*self.old, answer][-3:]
        if isinstance(answer, Forgetting):
            self.forgetting = not answer.done
        if isinstance(answer, ShardLease):
            self.shards = answer
        if isinstance(answer, DeadLetters):
            self.letters = [letter.id for letter in answer.letters] or self.letters

    def _admit(self) -> Step:
        conversation = self.random.choice(CONVERSATIONS)
        if self.random.random() < 0.85:
            self.inbounds += 1
        inbound = self._inbound(f"m{self.inbounds}")
        could = Could(
            trigger=self.random.random() < 0.8,
            follow_up=self.random.random() < 0.4,
            stop=self.random.choice([StopRight.NONE] * 5 + [StopRight.OWN, StopRight.ANY]),
            joins=self.random.choice([None, None, None, self._known()]),
        )
        policy = self.random.choice(POLICIES)
        op, claim = self._op(), self.random.choice([None, self._claims(), self._claims()])
        return lambda state: state.admit(conversation, inbound, could, policy, op=op, claim=claim)

    def _claim(self) -> Step:
        conversation, op, claim = self.random.choice(CONVERSATIONS), self._op(), self._claims()
        return lambda state: state.claim(conversation, op=op, claim=claim)

    def _neglect(self) -> Step:
        """Draw claims of one conversation whose holders let every lease expire."""
        conversation = self.random.choice(CONVERSATIONS)

        def claimed(op: str) -> Step:
            return lambda state: state.claim(conversation, op=op, claim=Claim(-1.0))

        self.burst = [claimed(self._op()) for _ in range(6)]
        return self.burst.pop()

    def _crowd(self) -> Step:
        """Draw several who want the turn that runs, before its holder makes room."""
        lease = self.random.choice(self.leases or [Lease(CONVERSATIONS[0], "", "0-x", 0)])
        claim, carry = self._claims(), self.random.choice([None, b"so far"])

        def wanted(op: str, policy: Policy) -> Step:
            self.inbounds += 1
            inbound = self._inbound(f"m{self.inbounds}")
            could = Could(
                trigger=True, follow_up=True, joins=self.random.choice([None, lease.turn])
            )
            return lambda state: state.admit(
                lease.conversation, inbound, could, policy, op=op, claim=None
            )

        op = self._op()
        policies = self.random.choices([Policy(), Policy(interrupt=True)], k=2)
        room = [lambda state: state.supersede(lease, op=op, claim=claim, carry=carry)]
        self.burst = room + [wanted(self._op(), policy) for policy in policies]
        return self.burst.pop()

    def _renew(self) -> Step:
        leases, seconds = (*self.leases, *self.old), self.random.choice([1.0, 30.0])
        return lambda state: state.renew(leases, seconds)

    def _signal(self) -> Step:
        conversation, op = self.random.choice(CONVERSATIONS), self._op()
        turn = self.random.choice([lease.turn for lease in self.leases] or ["m0"])
        kind, by = self.random.choice(list(SignalKind)), self.random.choice(AUTHORS)
        return lambda state: state.signal(conversation, turn, kind, by=by, op=op)

    def _kill(self) -> Step:
        conversation, op = self.random.choice(CONVERSATIONS), self._op()
        author = self.random.choice([None, *AUTHORS])
        return lambda state: state.kill(conversation, by="mod", op=op, author=author)

    def _whole(self) -> Step:
        """Draw a step on a conversation as a whole."""
        here, op, claim = self.random.choice(CONVERSATIONS), self._op(), self._claims()
        last = self.random.choice(self.leases + self.old or [Lease(here, "", "0-x", 0)])
        give = self.random.choice([None, claim])
        return self.random.choice(
            [
                lambda state: state.reset(here),
                lambda state: state.subscribe(here),
                lambda state: state.unsubscribe(here),
                lambda state: state.acquire(here, op=op, claim=claim),
                lambda state: state.release(last, op=op, claim=give),
                lambda state: state.steal(last.conversation, last.token, op=op, claim=claim),
            ]
        )

    def _message(self) -> Step:
        here, op, name = self.random.choice(CONVERSATIONS), self._op(), self._known()
        edited = self._inbound(f"{name}@{self.random.randrange(3)}")
        # The specification sweeps on this read, which shows half-way through a forget.
        if not self.forgetting and self.random.random() < 1 / 3:
            return lambda state: state.answer(here, name)
        return self.random.choice(
            [
                lambda state: state.withdraw(here, name, op=op),
                lambda state: state.amend(here, name, edited, op=op),
            ]
        )

    def _holder(self) -> Step:
        """Draw a step that takes a lease, now and then one that does not hold."""
        if not self.leases:
            return self._admit()
        lease = self.used = self.random.choice(self.leases * 4 + self.old)
        if self.random.random() < 1 / 20:
            lease = dataclasses.replace(lease, token=lease.token + "x")
        draw = self.random.choice(
            [self._journal] * 6 + [self._commit] * 2 + [self._fail, self._supersede, self._park]
        )
        return draw(lease)
