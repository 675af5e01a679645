"""A store in memory for tests: a clock that they move, a log of its steps, and planned faults."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, cast

from bot.inbound import Message
from state.errors import LeaseLost, StateUnavailable
from state.memory import Database, MemoryState
from state.outcomes import Killed, Settled, Signalled, Turnover
from state.ports import State
from state.values import Conversation, Inbound, Lease, Outcome, Signal


class Clock:
    """The store's clock, in seconds; it stands still until the test moves it."""

    def __init__(self) -> None:
        self.now = float(int(time.time()))

    def __call__(self) -> float:
        """Tell the time."""
        return self.now


class Trouble(Enum):
    """What can go wrong with one step."""

    #: The store was not reached.
    REFUSED = "refused"
    #: The step was carried out and its answer lost.
    LOST = "lost"
    #: Somebody else holds the lease by now.
    LEASE_LOST = "lease lost"


#: The steps that present a lease.
LEASED = {"supersede", "take", "record", "page", "posted", "commit", "fail", "park"}

#: What a step may still meet: whatever is decided by its number (from 0) and name.
Plan = Callable[[int, str], Trouble | None]


@dataclass(slots=True)
class Store:
    """One process's handle on a database in memory, with a log of its steps and planned faults."""

    clock: Clock = field(default_factory=Clock)
    database: Database = field(default_factory=lambda: Database(partitions=1))
    plan: Plan = lambda _number, _name: None
    #: Whether no step reaches the store.
    down: bool = False
    #: While set, each step waits for it before it begins.
    hold: asyncio.Event | None = None
    #: While set, each answer waits for it on its way back.
    answering: asyncio.Event | None = None
    #: The names of the steps that were asked for, in order.
    steps: list[str] = field(default_factory=list)
    #: (inbound id, how it ended), as the steps that were carried out had it.
    endings: list[tuple[str, str]] = field(default_factory=list)

    @property
    def port(self) -> State:
        """The store as the port sees it."""
        return cast("State", _Steps(self))

    def ended(self, message: Message) -> list[str]:
        """List how *message* ended; one that is to be answered has exactly one ending."""
        return [ending for inbound, ending in self.endings if inbound == message.id]

    def another(self) -> "Store":
        """Make another process's handle on the same database."""
        return Store(self.clock, self.database, endings=self.endings)

    async def ask(self, name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:  # noqa: ANN401
        """Carry a step out, or let it meet its fault."""
        number, trouble = len(self.steps), self.plan(len(self.steps), name)
        self.steps.append(name)
        await asyncio.sleep(0)
        if self.hold is not None:
            await self.hold.wait()
        if self.down or trouble is Trouble.REFUSED:
            raise StateUnavailable(f"step {number}, {name}: refused")
        if trouble is Trouble.LEASE_LOST:
            raise LeaseLost(f"step {number}, {name}: another holder")
        answer = await self._carry_out(name, arguments, options)
        await asyncio.sleep(0)
        if self.answering is not None:
            await self.answering.wait()
        if trouble is Trouble.LOST:
            raise StateUnavailable(f"step {number}, {name}: answer lost")
        return answer

    async def _carry_out(
        self, name: str, arguments: tuple[Any, ...], options: dict[str, Any]
    ) -> object:
        memory = MemoryState(self.database, self.clock)
        await memory.open()
        lease = arguments[0] if arguments and isinstance(arguments[0], Lease) else None
        asked = [one for one in arguments if isinstance(one, Conversation)]
        where = [lease.conversation] if lease else asked
        repeated = any((one, options.get("op")) in self.database.answers for one in where)
        record = self.database.records.get(lease.conversation) if lease else None
        inbounds = record.turn.all_inbounds if record and record.turn else ()
        answer = await getattr(memory, name)(*arguments, **options)
        if not repeated:
            self._note(name, arguments, inbounds, answer)
        return answer

    def _note(
        self, name: str, arguments: tuple[Any, ...], inbounds: tuple[Inbound, ...], answer: object
    ) -> None:
        """Note which inbounds a step has ended."""
        match name, answer:
            case "commit", Turnover():
                self._end(inbounds, arguments[1].outcome)
            case "supersede", Turnover():
                self._end(inbounds, Outcome.SUPERSEDED)
            case "fail", Turnover():
                self._end(inbounds, Outcome.DEAD)
            case _:
                pass
        if isinstance(answer, Signalled):
            self._end(answer.withdrawn, Outcome.WITHDRAWN)
        if isinstance(answer, Killed):
            self._end(answer.dropped, Outcome.KILLED)
        turnover = answer if isinstance(answer, Turnover) else getattr(answer, "turnover", None)
        settled: tuple[Settled, ...] = turnover.settled if turnover else ()
        for one in settled:
            self._end(one.inbounds, one.outcome)

    def _end(self, inbounds: Iterable[Inbound], outcome: Outcome) -> None:
        self.endings += [(inbound.id, outcome.value) for inbound in inbounds]


class _Steps:
    """The port over a `Store`: each of its methods passes `Store.ask`."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @property
    def partitions(self) -> int:
        return self._store.database.partitions

    @property
    def notices(self) -> tuple[str, ...]:
        return ()

    async def hints(self) -> AsyncIterator[Signal]:
        memory = MemoryState(self._store.database, self._store.clock)
        await memory.open()
        async for signal in memory.hints():
            yield signal

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        async def step(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401
            return await self._store.ask(name, arguments, options)

        return step
