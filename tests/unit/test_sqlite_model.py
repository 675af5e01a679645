"""The SQLite adapter against the executable specification, step by random step."""

import dataclasses
import random
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from state.errors import LeaseLost, StateError
from state.keys import Author, Owner, Scope
from state.listings import DeadLetters
from state.memory import Database, MemoryState
from state.outcomes import Forgetting, ShardLease
from state.ports import State
from state.sqlite import SqliteState
from state.values import (
    CatchUp,
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
    Timer,
)

PARTITIONS = 4
STEPS = 120
SEEDS = 12

CONVERSATIONS = (
    Conversation("guild/1", "10"),
    Conversation("guild/1", "11"),
    Conversation("guild/12", "10"),
    Conversation("user/1", "12"),
)
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

OWNERS = ("guild/1", "guild/12", "user/1")
SCOPES = (Scope("guild/1"), Scope("guild/1", "10"), Scope("guild/12", person="ann"))

Step = Callable[[State], Awaitable[Any]]


class Clock:
    """A clock that only the test moves, shared by both stores."""

    def __init__(self) -> None:
        """Start on a day of 2026."""
        self.now = 1_780_000_000.0

    def __call__(self) -> float:
        """Tell the time in seconds."""
        return self.now


class Walk:
    """Draws steps that make sense about half of the time, from what earlier answers showed."""

    def __init__(self, seed: int) -> None:
        """Draw the same walk for the same *seed*."""
        self.random = random.Random(seed)
        self.leases: list[Lease] = []  # the newest of each conversation
        self.old: list[Lease] = []
        self.used: Lease | None = None
        self.shards = ShardLease("0-1/2", 0, "", 0)
        self.letters = ["none"]
        self.forgetting = False
        self.sent: list[Step] = []
        self.inbounds = 0
        self.ops = 0

    def step(self) -> Step:
        """Draw a step; one in eight is sent a second time, later and perhaps elsewhere."""
        self.used = None
        if self.sent and self.random.random() < 1 / 8:
            return self.random.choice(self.sent[-6:])
        draw = self.random.choice(
            [self._admit] * 8
            + [self._holder] * 14
            + [self._claim, self._claim, self._renew, self._signal, self._kill, self._forget]
            + [self._whole, self._message, self._timer, self._keep, self._keep, self._shards]
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
            self.random.choice("xyz"),
            self._inbound("timer"),
            self.random.choice([0.0, 2.0, 30.0]),
            self.random.choice([None, 3.0]),
            self.random.choice(list(CatchUp)),
        )

    def _claims(self) -> Claim:
        return Claim(self.random.choice([5.0, 30.0]), self.random.choice([20.0, 1000.0]))

    def _changes(self) -> Changes:
        entries = self.random.randrange(4)
        return Changes(
            outcome=self.random.choice([Outcome.ANSWERED, Outcome.STOPPED]),
            state=self.random.choice([None, b"", b"{}", self.random.randbytes(9)]),
            state_version=self.random.randrange(3),
            transcript=tuple(self.random.randbytes(4) for _ in range(entries)),
            keep=self.random.choice([0, 3, 200]),
            asked=self.random.choice(
                [None, None, frozenset(), frozenset({("a", "0"), ("b", "0")})]
            ),
        )

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
        limit = self.random.choice([1, 200])
        return self.random.choice(
            [
                lambda state: state.forget(target, limit=limit),
                lambda state: state.dead_letters(here.owner),
                lambda state: state.requeue(here, letter, op=op),
                lambda state: state.requeue(here, letter, op=op),
                lambda state: state.discard(here, letter),
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
        changes, op = self._changes(), self._op()
        claim = self.random.choice([None, self._claims()])
        return lambda state: state.commit(lease, changes, op=op, claim=claim)

    def _fail(self, lease: Lease) -> Step:
        changes, op = self._changes(), self._op()
        claim = self.random.choice([None, self._claims()])
        retry_in, limit = self.random.choice([None, 0.0, 15.0]), self.random.choice([1, 3])
        return lambda state: state.fail(
            lease, "broken", changes, retry_in=retry_in, limit=limit, op=op, claim=claim
        )

    def _supersede(self, lease: Lease) -> Step:
        op, claim = self._op(), self._claims()
        carry = self.random.choice([None, b"so far"])
        changes = self.random.choice([None, self._changes()])
        return lambda state: state.supersede(
            lease, op=op, claim=claim, carry=carry, changes=changes
        )

    def _park(self, lease: Lease) -> Step:
        op = self._op()
        return lambda state: state.park(lease, op=op)


async def told(step: Awaitable[Any]) -> object:
    """Answer what a step answers, an error of ours as itself."""
    try:
        return await step
    except StateError as error:
        return type(error), str(error)


async def everything(state: State) -> list[object]:
    """Read all that a store shows."""
    shown: list[object] = [await state.subscriptions(limit=2)]
    for owner in OWNERS:
        shown += [await state.schedules(owner, limit=2), await state.dead_letters(owner, limit=2)]
        shown.append(await state.usage(owner, "2026-05-28"))
    for scope in SCOPES:
        for key in "kl":
            shown.append(await told(state.get(scope, key)))
            shown.append(await told(state.items(scope, key)))
    for conversation in CONVERSATIONS:
        shown.append(await state.view(conversation))
        shown.append(await state.history(conversation, limit=5))
        shown.append(await state.is_subscribed(conversation))
    shown += [await state.due(partition, 10) for partition in range(PARTITIONS)]
    return shown


async def walk(
    seed: int, models: tuple[State, ...], adapters: tuple[State, ...], clock: Clock
) -> None:
    """Take the same steps on both stores, on handles drawn anew for each."""
    drawn = Walk(seed)
    for number in range(STEPS):
        clock.now += drawn.random.choice([0.0] * 12 + [0.001] * 6 + [1.0] * 4 + [8.0, 40.0])
        step, handle = drawn.step(), drawn.random.randrange(len(models))
        expected = await told(step(models[handle]))
        assert await told(step(adapters[handle])) == expected, f"step {number} of walk {seed}"
        drawn.learn(expected)
        left, right = await everything(models[0]), await everything(adapters[0])
        assert right == left, f"after step {number} of walk {seed}"


@pytest.mark.parametrize("seed", range(SEEDS))
async def test_every_answer_and_every_view_is_the_specifications(seed: int, tmp_path: Path) -> None:
    """Two handles on one file answer as two handles on the specification, whatever is asked."""
    clock, database = Clock(), Database(PARTITIONS)
    models = (MemoryState(database, clock), MemoryState(database, clock))
    path = str(tmp_path / "state.db")
    adapters = tuple(
        SqliteState(path, partitions=PARTITIONS, clock=clock, synchronous="normal")
        for _ in range(2)
    )
    async with AsyncExitStack() as stack:
        handles: tuple[State, ...] = (*models, *adapters)
        for handle in handles:
            stack.push_async_callback(handle.close)
            await handle.open()
        await walk(seed, models, adapters, clock)
