"""The place of one process: it lives there again and again, with its own clock of the wall."""

from collections.abc import Coroutine
from typing import Any, Protocol

from chaos.simulation.calls import Call
from chaos.simulation.holding import Holding
from chaos.simulation.people import Event
from chaos.simulation.process import AskedFor, Process
from state import State
from state.outcomes import Turnover
from state.values import Changes, Lease, Outcome

#: An answer and an error, of which one is None.
Answer = tuple[Any, Exception | None]

TurnCoroutine = Coroutine[Call, Any, tuple[Turnover, float]]


class Stage(Protocol):
    """What all seats have in common."""

    now: float

    def op(self) -> str:
        """An operation id that nobody used."""
        ...

    def resume(self, task: "Task") -> None:
        """Let a task go on to its next call."""
        ...

    def run_turn(self, process: Process, holding: Holding) -> TurnCoroutine:
        """Run a turn."""
        ...

    def changes(self, lease: Lease, outcome: Outcome, asked: AskedFor) -> Changes:
        """What the end of a turn writes."""
        ...

    def handled(self, event: Event) -> None:
        """Note that *event* was acted upon."""
        ...


class Task:
    """A coroutine of a process, and the call that it waits for."""

    __slots__ = ("answer", "call", "delayed", "life", "running", "seat", "since", "work")

    def __init__(self, seat: "Seat", work: Coroutine[Call, Any, None]) -> None:
        """Belong to the present life of *seat*."""
        self.seat, self.work, self.life = seat, work, seat.life
        self.call: Call | None = None
        #: When the call was made, and whether a fault has delayed it already.
        self.since, self.delayed = 0.0, False
        #: A step of a broken store that is half done.
        self.running: Coroutine[Any, Any, Any] | None = None
        #: An answer that has come while the process was frozen.
        self.answer: Answer | None = None


class Seat:
    """The host of a simulated process."""

    def __init__(self, stage: Stage, state: State) -> None:
        """Stand empty until a process begins."""
        self.stage, self.state = stage, state
        self.life = 0
        self.process: Process | None = None
        #: Until when it is frozen.
        self.frozen = 0.0

    def now(self) -> float:
        """See `Host.now`."""
        return self.stage.now

    def op(self) -> str:
        """See `Host.op`."""
        return self.stage.op()

    def spawn(self, work: Coroutine[Call, Any, None]) -> None:
        """See `Host.spawn`."""
        self.stage.resume(Task(self, work))

    def run(self, process: Process, holding: Holding) -> TurnCoroutine:
        """See `Host.run`."""
        return self.stage.run_turn(process, holding)

    def changes(self, lease: Lease, outcome: Outcome, asked: AskedFor) -> Changes:
        """See `Host.changes`."""
        return self.stage.changes(lease, outcome, asked)

    def handled(self, event: Event) -> None:
        """See `Host.handled`."""
        self.stage.handled(event)
