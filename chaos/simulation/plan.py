"""What one seed makes of a schedule: who says what and when, and which faults may strike."""

from dataclasses import dataclass, replace
from random import Random

from chaos.simulation.people import Deleted, Edited, Event, Killed, Pressed, Reminded, Said
from state.values import Conversation, Could, Inbound, Policy, StopRight, Timer

#: Seconds of virtual time in which people speak, and after which faults stop.
SPEAKING, QUIET = 5.0, 7.5

PEOPLE = ("ann", "bob")

#: Kinds of turns, the common ones more often.
KINDS = (b"plain",) * 6 + (b"pages", b"effects", b"slow", b"slow", b"flaky", b"taker")
RARE = (b"poison", b"killer")

POLICIES = (
    Policy(),
    Policy(),
    Policy(),
    Policy(gather=True),
    Policy(gather=True, quiet=1.0, quiet_most=3.0),
    Policy(interrupt=True, gather=True),
)


@dataclass(frozen=True, slots=True)
class Plan:
    """One schedule's cast. Whatever else happens follows from the seed as well."""

    seed: int
    #: What people do, with the second at which they do it, in order.
    events: tuple[tuple[float, Event], ...]
    #: How likely a fault is at each call.
    faults: float
    #: Seconds at which the store is copied and later set back to that copy.
    rollback: tuple[float, float] | None
    #: When one process is told to end, and is replaced.
    deploy: float | None
    #: When all processes die at once and stay away for longer than a nonce is known.
    blackout: float | None


def planned(seed: int, draw: Random) -> Plan:
    """Draw a plan from *draw*, which was seeded with *seed*."""
    here, there = (Conversation(f"guild/{seed}", name) for name in ("10", "11"))
    count = draw.choice((1, 2, 2, 2, 3))
    policy = draw.choice(POLICIES)
    apart = draw.random() < 0.15
    said: list[tuple[float, Said]] = []
    for number in range(count):
        at = draw.random() * SPEAKING
        said.append((at, message(number, policy, there if apart and number % 2 else here, draw)))
    if count > 1 and draw.random() < 0.1:
        said[1] = continued(*said[0], said[1][1])
    events: list[tuple[float, Event]] = [*said]
    for number in range(draw.choice((0, 0, 1, 1, 2))):
        at = draw.random() * (SPEAKING + 2)
        events.append((at, deed(number, draw.choice(said)[1], draw)))
    events.sort(key=lambda event: event[0])
    copied = draw.random() * SPEAKING
    rollback = (copied, copied + 0.1 + draw.random() * 6) if draw.random() < 0.08 else None
    return Plan(
        seed,
        tuple(events),
        faults=draw.choice((0.0, 0.04, 0.08, 0.16)),
        rollback=rollback,
        deploy=draw.random() * QUIET if draw.random() < 0.1 else None,
        blackout=draw.random() * QUIET if draw.random() < 0.05 else None,
    )


def message(number: int, policy: Policy, where: Conversation, draw: Random) -> Said:
    """Draw what somebody says."""
    kind = draw.choice(RARE) if draw.random() < 0.03 else draw.choice(KINDS)
    author = draw.choice(PEOPLE)
    could = Could(trigger=True, follow_up=draw.random() < 0.3)
    return Said(where, Inbound(f"m{number}", author, kind), could, policy)


def continued(at: float, first: Said, rest: Said) -> tuple[float, Said]:
    """Make *rest* the end of a long paste that began with *first*."""
    inbound = replace(rest.inbound, author=first.inbound.author)
    could = replace(rest.could, joins=first.inbound.id)
    return at + 0.2, replace(rest, conversation=first.conversation, inbound=inbound, could=could)


def deed(number: int, about: Said, draw: Random) -> Event:
    """Draw what somebody does besides speaking."""
    where, op, inbound = about.conversation, f"deed{number}", about.inbound
    match draw.randrange(8):
        case 0 | 1:
            stop = Could(stop=draw.choice((StopRight.OWN, StopRight.ANY)))
            spoken = Inbound(f"s{number}", draw.choice(PEOPLE), b"plain")
            return Said(where, spoken, stop, Policy())
        case 2:
            return Pressed(where, op)
        case 3 | 4:
            return Killed(where, op, draw.choice((None, None, *PEOPLE)))
        case 5:
            return Deleted(where, op, inbound.id)
        case 6:
            return Edited(where, op, inbound.id, replace(inbound, id=f"{inbound.id}@e{number}"))
        case _:
            timer = Timer(f"t{number}", Inbound(f"t{number}", inbound.author, b"plain"), 2.0)
            return Reminded(where, op, timer)
