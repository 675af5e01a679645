"""Stories that end alike, wherever the process that lives them dies."""

from dataclasses import dataclass

from chaos.simulation.people import Deleted, Edited, Event, Killed, Reminded, Said
from state.values import Conversation, Could, Inbound, Policy, StopRight, Timer


@dataclass(frozen=True, slots=True)
class Scenario:
    """What people do in one conversation, with the second at which they do it, in order."""

    name: str
    events: tuple[tuple[float, Event], ...]
    #: Whether the commit of m1 sets a timer.
    sets_a_timer: bool = False

    @property
    def conversation(self) -> Conversation:
        """Where it happens."""
        return self.events[0][1].conversation

    @property
    def messages(self) -> tuple[str, ...]:
        """Ids of what is said and may be answered."""
        said = (event for _, event in self.events if isinstance(event, Said))
        return tuple(one.inbound.id for one in said if one.could.trigger)


def scenarios(owner: str) -> tuple[Scenario, ...]:
    """Make every scenario, in a conversation of *owner*."""
    where = Conversation(owner, "10")

    def says(id_: str, kind: bytes, author: str = "ann", *, follow_up: bool = False) -> Said:
        could = Could(trigger=True, follow_up=follow_up)
        return Said(where, Inbound(id_, author, kind), could, Policy())

    stop = Said(where, Inbound("s1", "eve", b""), Could(stop=StopRight.ANY), Policy())
    edit = Inbound("m1@1", "bob", b"pages")
    reminder = Timer("t", Inbound("t", "ann", b"plain"), 3.0)
    return (
        Scenario("steps and pages", ((0.0, says("m1", b"rich")),)),
        Scenario("failure and retry", ((0.0, says("m1", b"flaky")), (0.5, says("m2", b"plain")))),
        Scenario("poison", ((0.0, says("m1", b"poison")), (0.5, says("m2", b"plain")))),
        Scenario("a turn's timer", ((0.0, says("m1", b"plain")),), sets_a_timer=True),
        Scenario("a timer", ((0.0, says("m1", b"plain")), (0.5, Reminded(where, "r1", reminder)))),
        Scenario(
            "hand-over",
            (
                (0.0, says("m1", b"plain")),
                (0.1, says("m2", b"plain", "bob")),
                (0.2, says("m3", b"plain")),
            ),
        ),
        Scenario(
            "supersede",
            (
                (0.0, says("m1", b"slow")),
                (0.5, says("m2", b"plain", "bob")),
                (1.0, says("m3", b"plain", follow_up=True)),
            ),
        ),
        Scenario(
            "stop",
            ((0.0, says("m1", b"slow")), (0.5, says("m2", b"plain", "bob")), (1.0, stop)),
        ),
        Scenario(
            "kill",
            (
                (0.0, says("m1", b"slow")),
                (0.5, says("m2", b"plain", "bob")),
                (1.0, Killed(where, "k1", None)),
                (8.0, says("m3", b"plain")),
            ),
        ),
        Scenario("take", ((0.0, says("m1", b"taker")), (0.5, says("m2", b"plain", "bob")))),
        Scenario(
            "edit and deletion",
            (
                (0.0, says("m0", b"slow")),
                (0.5, says("m1", b"plain", "bob")),
                (0.6, says("m2", b"plain", "bob")),
                (1.0, Edited(where, "e1", "m1", edit)),
                (1.1, Deleted(where, "d1", "m2")),
            ),
        ),
    )
