"""One process lives a scenario, dies at chosen calls, and is followed by another."""

from dataclasses import dataclass
from functools import partial
from random import Random

from chaos.points.scenarios import Scenario
from chaos.simulation.calls import Call
from chaos.simulation.engine import Engine
from chaos.simulation.ground import Ground
from chaos.simulation.holding import Holding
from chaos.simulation.notes import demand
from chaos.simulation.people import Event
from chaos.simulation.process import AskedFor, Process
from chaos.simulation.seat import Seat, Task, TurnCoroutine
from state import State
from state.keys import Put, Scope
from state.values import Changes, Inbound, Lease, Outcome, Timer

#: Calls that change nothing.
READING = frozenset({"due", "view", "recent"})

#: Seconds after the last event within which everything is done.
DRAINS_WITHIN = 120.0

#: Seconds after which a timer that a turn has set fires.
LATER = 2.0


@dataclass(frozen=True, slots=True)
class Point:
    """A crash at the n-th call that changes something, counted from the crash before."""

    number: int
    #: Whether the call is carried out first.
    after: bool


class Still(Random):
    """Nothing is left to chance."""

    def random(self) -> float:
        """Answer the middle."""
        return 0.5


class Rehearsal(Engine):
    """A scenario with its crashes, on a store of any kind."""

    def __init__(self, scenario: Scenario, points: tuple[Point, ...], ground: Ground) -> None:
        """Plan it; `run` does it."""
        super().__init__(Still(0), ground=ground)
        self.scenario = scenario
        #: Calls that changed something since the last crash; those of each life that has ended.
        self.count, self.lives = 0, list[int]()
        self._points = list(points)
        self._seat = Seat(self, ground.handle(self._nothing))
        self._handled: set[int] = set()
        self._stored: dict[str, bytes] = {}

    def _nothing(self) -> State:
        raise NotImplementedError("a rehearsal needs a store that is open")

    def run(self) -> None:
        """Live it to its end."""
        self.begin(self._seat)
        for at, event in self.scenario.events:
            self.at(self.epoch + at, partial(self._tell, event))
        self.at(self.epoch + self.scenario.events[-1][0] + 1.0, self._look)
        self.loop()
        self.lives.append(self.count)
        self.ground.now = self.now + 1

    # --- crashes ---------------------------------------------------------------------------------

    def meets_fault(self, task: Task, call: Call) -> bool:
        """Die here, if this is the point."""
        if call.name in READING:
            return False
        self.count += 1
        if not self._points or self._points[0].number != self.count:
            return False
        if self._points.pop(0).after:
            self.carry_out(task, call)
        self.lives.append(self.count)
        self.count = 0
        self.die(task.seat)
        return True

    # --- the process -----------------------------------------------------------------------------

    def begin(self, seat: Seat) -> None:
        """Let a process begin, which is told what nobody acted upon."""
        seat.process = Process(seat)
        seat.spawn(seat.process.sweep())
        for at, event in self.scenario.events:
            if self.epoch + at <= self.now and id(event) not in self._handled:
                seat.process.deliver(event)

    def _tell(self, event: Event) -> None:
        if self._seat.process is not None:
            self._seat.process.deliver(event)

    def handled(self, event: Event) -> None:
        """See `Stage.handled`."""
        self._handled.add(id(event))

    def run_turn(self, process: Process, holding: Holding) -> TurnCoroutine:
        """See `Stage.run_turn`."""
        started = holding.started
        self._stored[started.lease.turn] = started.state or b""
        return super().run_turn(process, holding)

    def changes(self, lease: Lease, outcome: Outcome, asked: AskedFor) -> Changes:
        """See `Stage.changes`: what is answered leaves a trace of each kind."""
        turn, owner = lease.turn.encode(), lease.conversation.owner
        if outcome is Outcome.DEAD:  # of a turn that made room, or failed
            return Changes(outcome, transcript=(turn + b" gave up",))
        if outcome is not Outcome.ANSWERED:
            return Changes(outcome)
        reminder = Timer("later", Inbound("later", "ann", b"plain"), LATER)
        return Changes(
            outcome,
            state=self._stored[lease.turn] + named(turn) + b";",
            state_version=1,
            transcript=(named(turn),),
            asked=asked,
            timers=(reminder,) if lease.turn == "m1" and self.scenario.sets_a_timer else (),
            puts=(Put(Scope(owner), "newest", named(turn)),),
            answer=b"answer to " + named(turn),
            usage={"turns": 1},
        )

    # --- the end ---------------------------------------------------------------------------------

    def _look(self) -> None:
        """End when everything is done."""
        process = self._seat.process
        notes = self.book.notes.values()
        pending = any(one.waiting or one.turn or one.timers for one in notes)
        told = len(self._handled) == len(self.scenario.events)
        self._done = bool(process and not process.conversations and told and not pending)
        over = self.epoch + self.scenario.events[-1][0] + DRAINS_WITHIN
        demand(self.now < over, "everything drains", "{} waits", self.scenario.name)
        self.at(self.now + 1.0, self._look)


def named(turn: bytes) -> bytes:
    """The id of a turn, without the generation of the timer that made it."""
    return turn.partition(b"@")[0]
