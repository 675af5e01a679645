"""The Redis adapter against the memory adapter: same random steps, same answers and views."""

import random
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from state import State
from state.errors import LeaseLost
from state.memory import Database, MemoryState
from state.outcomes import Due, Started, View
from state.redis import RedisState
from state.values import (
    Changes,
    Claim,
    Conversation,
    Could,
    Inbound,
    Lease,
    Overflow,
    Policy,
    SignalKind,
    StopRight,
)

PARTITIONS = 2
CONVERSATIONS = [
    Conversation("guild/1", "10"),
    Conversation("guild/2", "10"),
    Conversation("user/3", "11"),
]
PEOPLE = ["ann", "bob", "cy"]
STEPS = 120

Call = Callable[[State], Awaitable[Any]]


@dataclass
class Run:
    """Draws steps, and remembers what later ones refer to."""

    chance: random.Random
    now: float = 1_700_000_000.0
    serial: int = 0
    leases: list[Lease] = field(default_factory=list)
    #: Steps that an unknown outcome may repeat: of each conversation the last one that changed it.
    last: dict[Conversation, Call] = field(default_factory=dict)

    def clock(self) -> float:
        """Tell the time of both stores."""
        return self.now

    def draw(self) -> Call:
        """Choose a step for some conversation, now and then a repeat of its last one."""
        where = self.chance.choice(CONVERSATIONS)
        if where in self.last and self.chance.random() < 0.1:
            return self.last[where]
        names, weights = zip(*WEIGHTS.items(), strict=True)
        name = self.chance.choices(names, weights)[0]
        call: Call = getattr(self, f"_{name}")(where)
        if name in REPEATED:
            self.last[where] = call
        return call

    def remember(self, answer: object) -> None:
        """Keep the lease that an answer gave."""
        turnover = getattr(answer, "turnover", answer)
        started: Started | None = getattr(turnover, "started", None)
        if started is not None:
            self.leases.append(started.lease)

    def _op(self) -> str:
        self.serial += 1
        return f"op{self.serial}"

    def _lease(self, where: Conversation) -> Lease:
        """Choose the newest lease of the conversation, now and then a stale or an invented one."""
        mine = [lease for lease in self.leases if lease.conversation == where]
        if not mine or self.chance.random() < 0.03:
            return Lease(where, "1", "1-x", 0)
        return mine[-1] if self.chance.random() < 0.9 else self.chance.choice(mine)

    def _claim(self) -> Claim | None:
        if self.chance.random() < 0.15:
            return None
        return Claim(self.chance.choice([5.0, 30.0]), self.chance.choice([20.0, 86_400.0]))

    def _changes(self) -> Changes:
        chance = self.chance
        return Changes(
            state=chance.choice([None, b"", b"\x00state"]),
            state_version=chance.randint(1, 3),
            transcript=tuple(b"line %d" % n for n in range(chance.randint(0, 3))),
            keep=chance.choice([0, 2, 200]),
            asked=chance.choice([None, None, frozenset({("a", "1"), ("b", "")})]),
        )

    def _admit(self, where: Conversation) -> Call:
        chance = self.chance
        self.serial += 1
        forms = [f"m{self.serial}", str(1_200_000_000_000_000_000 + (self.serial << 40)), "twice"]
        inbound = Inbound(
            chance.choice(forms), chance.choice(PEOPLE), b"\x00hello\n" * chance.randint(0, 3)
        )
        could = Could(
            chance.random() < 0.8,
            chance.random() < 0.5,
            chance.choice([*StopRight, StopRight.NONE]),
        )
        if chance.random() < 0.6:
            could = Could(trigger=True)
        policy = Policy(
            inbox=chance.choice([2, 20]),
            per_person=chance.choice([2, 3]),
            overflow=chance.choice(list(Overflow)),
            max_followups=2,
            early_only=chance.random() < 0.3,
        )
        op, claim = self._op(), self._claim()
        return lambda state: state.admit(where, inbound, could, policy, op=op, claim=claim)

    def _take_up(self, where: Conversation) -> Call:
        op, claim = self._op(), self._claim() or Claim(5.0)
        return lambda state: state.claim(where, op=op, claim=claim)

    def _renew(self, where: Conversation) -> Call:
        leases = [self._lease(other) for other in CONVERSATIONS]
        return lambda state: state.renew(leases, 20.0)

    def _supersede(self, where: Conversation) -> Call:
        lease, op, claim = self._lease(where), self._op(), self._claim() or Claim(5.0)
        carry, changes = (
            self.chance.choice([None, b"", b"carry"]),
            self.chance.choice([None, self._changes()]),
        )
        return lambda state: state.supersede(
            lease, op=op, claim=claim, carry=carry, changes=changes
        )

    def _take(self, where: Conversation) -> Call:
        lease, key = self._lease(where), self.chance.choice("xy")
        author = self.chance.choice([None, *PEOPLE])
        return lambda state: state.take(lease, key, author)

    def _record(self, where: Conversation) -> Call:
        lease, name, key = (
            self._lease(where),
            self.chance.choice("abc"),
            self.chance.choice(["", "1", "é 2"]),
        )
        value = self.chance.randbytes(self.chance.randint(0, 80))
        return lambda state: state.record(lease, name, key, value)

    def _page(self, where: Conversation) -> Call:
        lease, number, issue = (
            self._lease(where),
            self.chance.randint(0, 11),
            self.chance.randint(0, 1),
        )
        intent = b"page %d" % self.chance.randint(0, 9)
        return lambda state: state.page(lease, number, issue, intent)

    def _posted(self, where: Conversation) -> Call:
        lease, number, issue = (
            self._lease(where),
            self.chance.randint(0, 11),
            self.chance.randint(0, 1),
        )
        message = str(self.chance.randint(1, 9))
        return lambda state: state.posted(lease, number, issue, message)

    def _commit(self, where: Conversation) -> Call:
        lease, changes, op, claim = self._lease(where), self._changes(), self._op(), self._claim()
        return lambda state: state.commit(lease, changes, op=op, claim=claim)

    def _fail(self, where: Conversation) -> Call:
        lease, changes, op, claim = self._lease(where), self._changes(), self._op(), self._claim()
        retry_in = self.chance.choice([None, 3.0, 8.0])
        return lambda state: state.fail(
            lease, "it broke", changes, retry_in=retry_in, limit=3, op=op, claim=claim
        )

    def _park(self, where: Conversation) -> Call:
        lease, op = self._lease(where), self._op()
        return lambda state: state.park(lease, op=op)

    def _signal(self, where: Conversation) -> Call:
        turn = self._lease(where).turn
        kind, by, op = self.chance.choice(list(SignalKind)), self.chance.choice(PEOPLE), self._op()
        return lambda state: state.signal(where, turn, kind, by=by, op=op)

    def _kill(self, where: Conversation) -> Call:
        by, op, author = self.chance.choice(PEOPLE), self._op(), self.chance.choice([None, *PEOPLE])
        return lambda state: state.kill(where, by=by, op=op, author=author)

    def _reset(self, where: Conversation) -> Call:
        self.last.pop(where, None)  # a repeated Started shows the state as it is now
        return lambda state: state.reset(where)

    def _follow(self, where: Conversation) -> Call:
        if self.chance.random() < 0.5:
            return lambda state: state.subscribe(where)
        return lambda state: state.unsubscribe(where)


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
    "reset": 1,
    "follow": 3,
}

#: Steps that take an operation id.
REPEATED = {"admit", "take_up", "supersede", "commit", "fail", "park", "signal", "kill"}


async def answered(call: Call, state: State) -> Any:  # noqa: ANN401 (each step has answers of its own)
    """Answer what the step answers, a lost lease included."""
    try:
        return await call(state)
    except LeaseLost:
        return LeaseLost


def in_order(due: Due) -> tuple[object, object]:
    """Compare what is due whatever the order of equals."""
    return sorted(map(repr, due.conversations)), sorted(map(repr, due.signals))


async def everything(state: State) -> list[object]:
    """Read all that can be read."""
    seen: list[object] = [
        in_order(await state.due(partition, 100)) for partition in range(PARTITIONS)
    ]
    for where in CONVERSATIONS:
        view: View = await state.view(where)
        seen += [view, await state.history(where), await state.history(where, before=4, limit=2)]
    followed = await state.subscriptions()
    return [*seen, set(followed.conversations)]


@pytest.fixture
async def run() -> Run:
    """Give a run with a seed of pytest-randomly's."""
    return Run(random.Random(random.getrandbits(32)))


@pytest.fixture
async def redis(redis_socket_url: str, redis_prefix: str, run: Run) -> AsyncIterator[RedisState]:
    """Give an open Redis adapter under the run's clock."""
    state = RedisState(
        redis_socket_url, prefix=redis_prefix, partitions=PARTITIONS, clock=run.clock
    )
    await state.open()
    yield state
    await state.close()


@pytest.mark.parametrize("attempt", range(8))
async def test_random_steps_agree_with_the_memory_adapter(
    run: Run, redis: RedisState, attempt: int
) -> None:
    """Every answer and every view is the memory adapter's, with repeats and stale leases."""
    memory = MemoryState(Database(PARTITIONS), run.clock)
    await memory.open()
    for _ in range(STEPS):
        call = run.draw()
        expected = await answered(call, memory)
        assert await answered(call, redis) == expected
        assert await everything(redis) == await everything(memory)
        run.remember(expected)
        if run.chance.random() < 0.3:
            run.now += run.chance.choice([0.125, 1.0, 6.0])
