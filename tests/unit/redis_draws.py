"""Draws values at random: few of each, so that the same ones meet again."""

import random
from dataclasses import dataclass, field
from typing import Any

from state.keys import Put, Scope
from state.outcomes import ShardLease
from state.values import (
    CatchUp,
    Changes,
    Claim,
    Conversation,
    Could,
    Inbound,
    Lease,
    Overflow,
    Policy,
    StopRight,
    Timer,
)

CONVERSATIONS = [
    Conversation("guild/1", "10"),
    Conversation("guild/2", "10"),
    Conversation("user/3", "11"),
]
PEOPLE = ["ann", "bob", "cy"]
SCOPES = [Scope("guild/1"), Scope("guild/1", "10"), Scope("guild/1", person="ann"), Scope("user/3")]


@dataclass
class Draws:
    """Values for the next step; what was drawn before tells what they may refer to."""

    chance: random.Random
    serial: int = 0
    leases: list[Lease] = field(default_factory=list)
    shards: list[ShardLease] = field(default_factory=list)
    #: Ids of what was admitted, newest last.
    said: list[str] = field(default_factory=list)

    def op(self) -> str:
        """An operation id that was not used."""
        self.serial += 1
        return f"op{self.serial}"

    def lease(self, where: Conversation) -> Lease:
        """Choose the newest lease of the conversation, now and then a stale or an invented one."""
        mine = [lease for lease in self.leases if lease.conversation == where]
        if not mine or self.chance.random() < 0.03:
            return Lease(where, "1", "1-x", 0)
        return mine[-1] if self.chance.random() < 0.9 else self.chance.choice(mine)

    def claim(self) -> Claim | None:
        """A claim, now and then none."""
        if self.chance.random() < 0.15:
            return None
        return Claim(self.chance.choice([5.0, 30.0]), self.chance.choice([20.0, 86_400.0]))

    def changes(self, owner: str) -> Changes:
        """What an ending writes."""
        chance = self.chance
        return Changes(
            state=chance.choice([None, b"", b"\x00state"]),
            state_version=chance.randint(1, 3),
            transcript=tuple(b"line %d" % n for n in range(chance.randint(0, 3))),
            keep=chance.choice([0, 2, 200]),
            authors=tuple(chance.choices(["", *PEOPLE], k=chance.randint(0, 3))),
            asked=chance.choice([None, None, frozenset({("a", "1"), ("b", "")})]),
            **(self._beside(owner) if chance.random() < 0.3 else {}),
        )

    def _beside(self, owner: str) -> dict[str, Any]:
        chance = self.chance
        scope = Scope(owner, chance.choice([None, "10"]))
        put = Put(scope, chance.choice("kl"), chance.choice([None, b"", b"put"]), self.ttl())
        return {
            "timers": tuple(self.timer() for _ in range(chance.randint(0, 2))),
            "unschedule": tuple(chance.choices("tuv", k=chance.randint(0, 1))),
            "puts": (put,) * chance.randint(0, 1),
            "answer": chance.choice([None, b"", b"answer"]),
            "usage": {"tokens": chance.randint(1, 9), "é s": 1} if chance.random() < 0.5 else {},
        }

    def ttl(self) -> float | None:
        """A time to live."""
        return self.chance.choice([None, 2.0, 10.0])

    def timer(self) -> Timer:
        """A timer; no two are due at once, since their order is nobody's promise."""
        self.serial += 1
        inbound = Inbound("timer", self.chance.choice(PEOPLE), b"ring\x00")
        delay = self.chance.choice([0.0, 3.0, 12.0]) + self.serial / 8192
        every = self.chance.choice([None, None, 2.5])
        return Timer(
            self.chance.choice("tuv"), inbound, delay, every, self.chance.choice(list(CatchUp))
        )

    def inbound(self) -> Inbound:
        """Something new, or something that was said before."""
        self.serial += 1
        forms = [f"m{self.serial}", str(1_200_000_000_000_000_000 + (self.serial << 40)), "twice"]
        payload = b"\x00hello\n" * self.chance.randint(0, 3)
        inbound = Inbound(self.chance.choice(forms), self.chance.choice(PEOPLE), payload)
        self.said.append(inbound.id)
        return inbound

    def could(self) -> Could:
        """What it could be."""
        chance = self.chance
        joins = chance.choice(self.said[-3:]) if self.said and chance.random() < 0.2 else None
        if chance.random() < 0.6:
            return Could(trigger=True, joins=joins)
        stop = chance.choice([*StopRight, StopRight.NONE])
        return Could(chance.random() < 0.8, chance.random() < 0.5, stop, joins)

    def policy(self) -> Policy:
        """Tight bounds."""
        chance = self.chance
        return Policy(
            inbox=chance.choice([2, 20]),
            per_person=chance.choice([2, 3]),
            overflow=chance.choice(list(Overflow)),
            max_followups=2,
            early_only=chance.random() < 0.3,
            interrupt=chance.random() < 0.1,
            drop=chance.random() < 0.1,
            gather=chance.random() < 0.4,
            not_before=chance.choice([0.0, 0.0, 0.0, 4.0]),
            quiet=chance.choice([0.0, 0.0, 1.5]),
            quiet_most=3.0,
        )
