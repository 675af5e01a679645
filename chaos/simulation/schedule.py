"""
One schedule: what a seed makes of people, processes, faults and a store that may be set back.

Everything follows from the seed, so that a failure can be seen again.
"""

from collections.abc import Callable
from functools import partial
from random import Random

from chaos.simulation.copying import copied
from chaos.simulation.discord import NONCE_WINDOW
from chaos.simulation.engine import FELT_FOR, Engine
from chaos.simulation.gateway import Gateway
from chaos.simulation.grants import Copy
from chaos.simulation.ground import Ground, SharedGround
from chaos.simulation.notes import demand
from chaos.simulation.people import Event
from chaos.simulation.plan import QUIET, planned
from chaos.simulation.planted import NOTHING, Planted
from chaos.simulation.process import Process
from chaos.simulation.seat import Seat
from state.memory import Database, MemoryState

#: Processes of a schedule, and seconds by which their wall clocks may be wrong.
SEATS, SKEW = 2, 20.0

#: Seconds after the faults within which everything is done. Relation: five expiries of two turns
#: that kill whoever runs them.
DRAINS_WITHIN = 150.0


class Schedule(Engine):
    """A seed's schedule on a store in memory, with a fault planted or sound."""

    def __init__(
        self,
        seed: int,
        planted: Planted = NOTHING,
        ground: Ground | None = None,
        trace: Callable[[str], None] | None = None,
    ) -> None:
        """Plan it; `run` does it. Only a store in memory can be set back, or broken."""
        super().__init__(Random(seed), planted, ground, trace)
        self.plan = planned(seed, self.draw)
        self.faults, self.calm_from = self.plan.faults, self.epoch + QUIET
        self._database = Database(1)
        self._seats = [Seat(self, self.ground.handle(self._handle)) for _ in range(SEATS)]
        self._gateway = Gateway(self._seats, self.discord, self.draw)

    def _handle(self) -> MemoryState:
        skew = (self.draw.random() * 2 - 1) * SKEW if self._planted.skewed else 0.0
        handle = self._planted.adapter(self._database, lambda: self.now + skew)
        self.ground.drive(handle.open())
        return handle

    def run(self) -> None:
        """Run it to its end; raise `Violation` when an invariant does not hold."""
        plan = self.plan
        for seat in self._seats:
            self.begin(seat)
        for at, event in plan.events:
            self.at(self.epoch + at, partial(self._tell, event))
        if plan.rollback is not None and not isinstance(self.ground, SharedGround):
            until = self.epoch + plan.rollback[1]
            self.at(self.epoch + plan.rollback[0], partial(self._copy, until))
        if plan.deploy is not None:
            self.at(self.epoch + plan.deploy, self._deploy)
        if plan.blackout is not None:
            self.at(self.epoch + plan.blackout, self._black_out)
        self.at(self.calm_from, self._look)
        self.loop()
        self.ground.now = self.now + 1

    def handled(self, event: Event) -> None:
        """See `Stage.handled`."""
        self._gateway.handled(event)

    def _tell(self, event: Event) -> None:
        self.say("{}", event)
        self._gateway.tell(event)

    def begin(self, seat: Seat) -> None:
        """Let a new process begin, which hears what may have been missed."""
        seat.process = self._planted.process(seat)
        seat.spawn(seat.process.sweep())
        self._gateway.tell_again(seat)

    def _deploy(self) -> None:
        seat = self._seats[0]
        if seat.process is not None:
            seat.spawn(self._retire(seat, seat.process))

    async def _retire(self, seat: Seat, process: Process) -> None:
        await process.drain()
        self.die(seat)

    def _black_out(self) -> None:
        for seat in self._seats:
            self.die(seat, NONCE_WINDOW)
        self.book.troubled = self.now + NONCE_WINDOW + FELT_FOR

    def _copy(self, until: float) -> None:
        """Copy the store, and set it back to the copy later."""
        self.at(until, partial(self._set_back, copied(self._database), self.book.copy()))

    def _set_back(self, database: Database, notes: Copy) -> None:
        self.say("the store is set back")
        vars(self._database).update(vars(database))
        self.book.roll_back(notes)
        self.book.troubled = self.now + FELT_FOR
        self._tell_again()
        # Once more, for what was on its way to being acknowledged when the store was set back.
        self.at(self.now + FELT_FOR, self._tell_again)

    def _tell_again(self) -> None:
        self._gateway.forget(self.book.seen())

    def _look(self) -> None:
        """See whether everything is done, once no fault strikes any more."""
        left = self._left()
        if not left:
            self._done = True
            self._check_nothing_stays()
            return
        demand(self.now < self.calm_from + DRAINS_WITHIN, "everything drains", left)
        for seat in self._seats:
            if seat.process is not None and not seat.process.listening:
                self._gateway.tell_again(seat)
        self.at(self.now + 1.0, self._look)

    def _left(self) -> str:
        """Tell what is not done yet, in one word."""
        if any(seat.process is None or seat.process.conversations for seat in self._seats):
            return "a process is dead or speaks"
        if self._gateway.unhandled:
            return "a message was not handled"
        if self.plan.rollback and self.now < self.book.troubled:
            return "the store was set back a moment ago"
        notes = self.book.notes.values()
        pending = any(one.waiting or one.turn or one.timers for one in notes)
        return "something waits" if pending else ""

    def _check_nothing_stays(self) -> None:
        state = self._seats[0].state
        lost = self._gateway.told - self.book.seen()
        demand(not lost, "nothing is lost", "{} was never admitted", lost)
        for conversation in self.book.notes:
            view = self.ground.drive(state.view(conversation))
            self.book.view(view, conversation)
            nothing = view.turn is None and view.wake is None
            demand(nothing, "nothing stays", "{} shows {}", conversation.id, view)
        due = self.ground.drive(state.due(0, 1))
        demand(not (due.conversations or due.signals), "nothing stays", "due is {}", due)
