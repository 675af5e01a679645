"""Stories that end alike, wherever the process that lives them dies."""

from dataclasses import dataclass, replace

from chaos.simulation.people import Deleted, Edited, Event, Killed, Reminded, Said
from state.values import Conversation, Could, Inbound, Policy, StopRight, Timer

#: Where each scenario is told; where it happens, `Scenario.of` says.
ANYWHERE = Conversation("guild/0", "10")


@dataclass(frozen=True, slots=True)
class Scenario:
    """What people do in one conversation, with the second at which they do it, in order."""

    name: str
    events: tuple[tuple[float, Event], ...]
    #: Whether the commit of m1 sets a timer.
    sets_a_timer: bool = False

    def of(self, owner: str) -> "Scenario":
        """The same in a conversation of *owner*."""
        where = Conversation(owner, ANYWHERE.id)
        events = tuple((at, replace(event, conversation=where)) for at, event in self.events)
        return replace(self, events=events)

    @property
    def conversation(self) -> Conversation:
        """Where it happens."""
        return self.events[0][1].conversation

    @property
    def messages(self) -> tuple[str, ...]:
        """Ids of what is said and may be answered."""
        said = (event for _, event in self.events if isinstance(event, Said))
        return tuple(one.inbound.id for one in said if one.could.trigger)


def says(id_: str, kind: bytes = b"plain", author: str = "ann", *, follow_up: bool = False) -> Said:
    """Somebody says what makes a turn of a kind in `SCRIPTS`."""
    could = Could(trigger=True, follow_up=follow_up)
    return Said(ANYWHERE, Inbound(id_, author, kind), could, Policy())


STOP = Said(ANYWHERE, Inbound("s1", "eve", b""), Could(stop=StopRight.ANY), Policy())
KILL = Killed(ANYWHERE, "k1", None)
REMIND = Reminded(ANYWHERE, "r1", Timer("t", Inbound("t", "ann", b"plain"), 3.0))
EDIT = Edited(ANYWHERE, "e1", "m1", Inbound("m1@1", "bob", b"pages"))
DELETION = Deleted(ANYWHERE, "d1", "m2")

SCENARIOS = (
    Scenario("steps and pages", ((0.0, says("m1", b"rich")),)),
    Scenario("failure and retry", ((0.0, says("m1", b"flaky")), (0.5, says("m2")))),
    Scenario("poison", ((0.0, says("m1", b"poison")), (0.5, says("m2")))),
    Scenario("a turn's timer", ((0.0, says("m1")),), sets_a_timer=True),
    Scenario("a timer", ((0.0, says("m1")), (0.5, REMIND))),
    Scenario("hand-over", ((0.0, says("m1")), (0.1, says("m2", author="bob")), (0.2, says("m3")))),
    Scenario(
        "supersede",
        (
            (0.0, says("m1", b"slow")),
            (0.5, says("m2", author="bob")),
            (1.0, says("m3", follow_up=True)),
        ),
    ),
    Scenario("stop", ((0.0, says("m1", b"slow")), (0.5, says("m2", author="bob")), (1.0, STOP))),
    Scenario(
        "kill",
        (
            (0.0, says("m1", b"slow")),
            (0.5, says("m2", author="bob")),
            (1.0, KILL),
            (8.0, says("m3")),
        ),
    ),
    Scenario("take", ((0.0, says("m1", b"taker")), (0.5, says("m2", author="bob")))),
    Scenario(
        "edit and deletion",
        (
            (0.0, says("m0", b"slow")),
            (0.5, says("m1", author="bob")),
            (0.6, says("m2", author="bob")),
            (1.0, EDIT),
            (1.1, DELETION),
        ),
    ),
)
