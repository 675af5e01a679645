"""
Steps several processes in one thread, under one virtual clock.

A step of the store is atomic because it is driven to its end at once. Between any two steps a
process may die, its answer may be lost, its request may be late, or it may freeze for longer than
its lease.
"""

from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from random import Random

from chaos.simulation.book import Book
from chaos.simulation.calls import Call, To, Unreachable
from chaos.simulation.discord import NONCE_WINDOW, Discord
from chaos.simulation.ground import Ground
from chaos.simulation.holding import Holding
from chaos.simulation.planted import NOTHING, Planted
from chaos.simulation.process import LEASE, AskedFor, Process
from chaos.simulation.seat import Answer, Seat, Task, TurnCoroutine
from chaos.simulation.strikes import STRIKES, Strike
from state.errors import LeaseLost, StateUnavailable
from state.values import Changes, Lease, Outcome

#: Seconds by which a request may be late. Relation: twice that is less than the nonce window,
#: within which a page is promised to be one.
LATEST = NONCE_WINDOW / 2 - 1

#: Most seconds that a call takes, by whom it is addressed to.
TAKES = {To.STATE: 0.02, To.DISCORD: 0.4}

#: Seconds for which a fault may be felt.
FELT_FOR = 8.0


class Engine:
    """Tasks, what happens when, and faults."""

    def __init__(
        self,
        draw: Random,
        planted: Planted = NOTHING,
        ground: Ground | None = None,
        trace: Callable[[str], None] | None = None,
    ) -> None:
        """Decide everything by *draw*; *trace* is told each step."""
        self.draw, self.ground = draw, ground or Ground()
        self.epoch = self.now = self.ground.now
        self.discord = Discord()
        self.book = Book(self.discord)
        #: Calls that were made, and faults that struck.
        self.steps = self.struck = 0
        #: How likely a fault is at each call, and until when.
        self.faults, self.calm_from = 0.0, self.epoch
        self._planted, self._trace = planted, trace
        self._ops, self._sequence = count(), count()
        self._ready: list[Task] = []
        #: What happens when, as (second, sequence, what).
        self._timeline: list[tuple[float, int, Task | Callable[[], None]]] = []
        self._done = False

    def loop(self) -> None:
        """Take one step after the other, of whoever is ready, until it is done."""
        ready, timeline, draw = self._ready, self._timeline, self.draw.random
        while not self._done:
            while timeline and timeline[0][0] <= self.now:
                thing = heappop(timeline)[2]
                if isinstance(thing, Task):
                    ready.append(thing)
                else:
                    thing()
            if ready:
                at = int(draw() * len(ready))
                ready[at], ready[-1] = ready[-1], ready[at]
                self._step(ready.pop())
            else:
                self.now = timeline[0][0]

    def at(self, moment: float, thing: Task | Callable[[], None]) -> None:
        """Let a task go on, or something happen, at a moment."""
        heappush(self._timeline, (moment, next(self._sequence), thing))

    def say(self, text: str, *told: object) -> None:
        """Tell the trace."""
        if self._trace is not None:
            self._trace(f"{self.now - self.epoch:8.3f}  {text.format(*told)}")

    def begin(self, seat: Seat) -> None:
        """Let a new process begin on a seat."""
        raise NotImplementedError

    def op(self) -> str:
        """See `Stage.op`."""
        return f"op{next(self._ops)}"

    def run_turn(self, process: Process, holding: Holding) -> TurnCoroutine:
        """See `Stage.run_turn`."""
        return self._planted.turn(process, holding).run()

    def changes(self, lease: Lease, outcome: Outcome, asked: AskedFor) -> Changes:
        """See `Stage.changes`; nothing is kept, so that nothing may stay."""
        return Changes(outcome, asked=asked)

    # --- one step --------------------------------------------------------------------------------

    def _step(self, task: Task) -> None:
        seat, call = task.seat, task.call
        if task.life != seat.life or call is None:
            return  # its process has died
        if seat.frozen > self.now:
            self.at(seat.frozen, task)
        elif call.to is To.SLEEP:
            self.resume(task)
        elif task.answer is not None:
            answer, task.answer = task.answer, None
            self.resume(task, *answer, was_away=True)
        else:
            self.steps += 1
            self.now += self.draw.random() * TAKES[call.to]
            if not self.meets_fault(task, call):
                self._answer(task, self.carry_out(task, call))

    def resume(
        self,
        task: Task,
        answer: object = None,
        error: Exception | None = None,
        *,
        was_away: bool = False,
    ) -> None:
        """See `Stage.resume`."""
        try:
            call = task.work.throw(error) if error else task.work.send(answer)
        except StopIteration:
            return
        task.call, task.since, task.delayed = call, self.now, False
        if call.to is To.SLEEP:
            self.at(self.now + call.args[0], task)
        elif call.to is To.DEATH:
            self.die(task.seat)
        else:
            if call.to is To.DISCORD:
                self.book.now = int(self.now * 1e6)
                # Only a create follows a look at the token; the rest has the local deadline.
                unchecked = was_away or call.name != "create"
                self.book.speaks(call.kwargs["token"], unchecked=unchecked)
            self._ready.append(task)

    def _answer(self, task: Task, answer: Answer | None) -> None:
        """Hand an answer over; without one the step is half done, as only a broken store's is."""
        if answer is None:
            self._ready.append(task)
        else:
            self.resume(task, *answer)

    def carry_out(self, task: Task, call: Call) -> Answer | None:
        """Carry a call out, as far as one step of it goes."""
        if call.to is To.DISCORD:
            return self._ask_discord(call, self.now - task.since)
        work = task.running or getattr(task.seat.state, call.name)(*call.args, **call.kwargs)
        task.running = None
        self.ground.now = self.now
        self.book.now = int(self.now * 1e6)
        try:
            done, answer = self.ground.advance(work)
        except LeaseLost as lost:
            self.say("{} {} {} -> refused", call.name, call.args, call.kwargs)
            self.book.refused(call.name, call.args)
            return None, lost
        if not done:
            task.running = work
            return None
        self.say("{} {} {} -> {}", call.name, call.args, call.kwargs, answer)
        self.book.observe(call.name, answer, call.args, call.kwargs)
        return answer, None

    def _ask_discord(self, call: Call, age: float) -> Answer:
        if age > LATEST:
            return None, Unreachable()  # the connection has not outlived that
        before = len(self.discord.posted)
        answer = getattr(self.discord, call.name)(self.now, *call.args)
        self.say("{} {} -> {}", call.name, call.args, answer)
        if len(self.discord.posted) > before:
            self.book.shown(self.discord.posted[-1])
        return answer, None

    # --- faults ----------------------------------------------------------------------------------

    def meets_fault(self, task: Task, call: Call) -> bool:
        """Let a fault strike, perhaps; whether one did."""
        calm = self.now >= self.calm_from or self.draw.random() >= self.faults
        return not calm and self._strike(task, call)

    def _strike(self, task: Task, call: Call) -> bool:
        """Let a fault strike; whether one did."""
        strike = self.draw.choice(STRIKES)
        self.struck += 1
        seat, unknown = task.seat, UNKNOWN[call.to]
        self.book.troubled = self.now + FELT_FOR
        self.say("{} {}", strike.name, call.name)
        match strike:
            case Strike.DIES_BEFORE:
                self.die(seat)
            case Strike.DIES_AFTER:
                self.carry_out(task, call)
                self.die(seat)
            case Strike.NEVER_ARRIVES:
                self.resume(task, error=unknown())
            case Strike.ANSWER_LOST:
                done = self.carry_out(task, call)
                self._answer(task, (None, unknown()) if done else None)
            case Strike.ARRIVES_LATE:
                late = Task(seat, task.work)
                late.since = self.now
                at = self.now + self.draw.random() * LATEST
                self.at(at, lambda: self._arrive(late, call))
                self.resume(task, error=unknown())
            case Strike.FREEZES_BEFORE | Strike.FREEZES_AFTER if task.delayed:
                return False
            case Strike.FREEZES_BEFORE:
                self._freeze(task)
            case Strike.FREEZES_AFTER:
                task.answer = self.carry_out(task, call)
                self._freeze(task)
        return True

    def _arrive(self, late: Task, call: Call) -> None:
        """Carry out a call for whose answer nobody waits any more."""
        while self.carry_out(late, call) is None:
            pass

    def _freeze(self, task: Task) -> None:
        task.delayed = True
        task.seat.frozen = self.now + 0.5 + self.draw.random() * LEASE * 1.2
        self.book.troubled = task.seat.frozen + FELT_FOR
        self.at(task.seat.frozen, task)

    def die(self, seat: Seat, away: float = 0.2) -> None:
        """Kill a process; another begins in its place."""
        self.say("a process dies")
        seat.life += 1
        seat.process, seat.frozen = None, 0.0
        life, at = seat.life, self.now + away + self.draw.random() * 3
        self.at(at, lambda: self.begin(seat) if seat.life == life else None)


#: What a caller is told of a call whose outcome is unknown.
UNKNOWN: dict[To, type[Exception]] = {To.STATE: StateUnavailable, To.DISCORD: Unreachable}
