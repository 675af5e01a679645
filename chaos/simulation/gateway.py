"""Tells processes what people do; what nobody acted upon is told again."""

from dataclasses import replace
from random import Random

from chaos.simulation.discord import Discord
from chaos.simulation.people import Event, Pressed, Said
from chaos.simulation.seat import Seat

#: Part of the events that both processes hear.
HEARD_TWICE = 0.25


class Gateway:
    """The stream of events to all seats."""

    def __init__(self, seats: list[Seat], discord: Discord, draw: Random) -> None:
        """Tell nothing yet."""
        self._seats, self._discord, self._draw = seats, discord, draw
        #: Messages that were told, in order, by id.
        self._told: dict[str, Said] = {}
        self._handled: set[str] = set()

    def tell(self, event: Event) -> None:
        """Tell one process or several."""
        if isinstance(event, Pressed):
            # The button names the turn of the reply that it is under.
            if not self._discord.posted:
                return
            event = replace(event, turn=self._discord.posted[-1].turn)
        if isinstance(event, Said) and event.told_again:
            self._told[event.inbound.id] = event
        twice = self._draw.random() < HEARD_TWICE
        hearers = self._seats if twice else [self._draw.choice(self._seats)]
        for seat in hearers:
            if seat.process is not None:
                seat.process.deliver(event)

    def handled(self, event: Event) -> None:
        """Note that *event* was acted upon."""
        if isinstance(event, Said):
            self._handled.add(event.inbound.id)

    def forget(self, seen: set[str]) -> None:
        """Hold for unhandled what the store, set back, has not seen."""
        self._handled &= seen

    @property
    def told(self) -> set[str]:
        """Ids of the messages that were told."""
        return set(self._told)

    @property
    def unhandled(self) -> list[Said]:
        """Messages that were told and that nobody has acted upon, oldest first."""
        return [said for id_, said in self._told.items() if id_ not in self._handled]

    def tell_again(self, seat: Seat) -> None:
        """Tell a process what may have been missed."""
        for said in self.unhandled:
            if seat.process is not None:
                seat.process.deliver(said)
