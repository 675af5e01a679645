"""What the book knows of one conversation; copied when the store is, so that both go back."""

from dataclasses import dataclass, field, replace

from state.outcomes import Started
from state.values import Inbound, Outcome, Page, SignalKind


class Violation(Exception):
    """An invariant does not hold."""

    def __init__(self, invariant: str, text: str) -> None:
        """Name the invariant and tell what happened."""
        super().__init__(f"{invariant}: {text}")
        self.invariant = invariant


def demand(condition: object, invariant: str, text: str, *told: object) -> None:
    """Raise `Violation` unless *condition* holds; *text* is formatted with *told* only then."""
    if not condition:
        raise Violation(invariant, text.format(*told))


@dataclass(slots=True)
class Waits:
    """An accepted inbound that has not been started."""

    inbound: Inbound
    order: int
    #: The inbound that it continues.
    joins: str | None = None
    #: Whether it may be started at any time, so that nothing younger may overtake it.
    plain: bool = True


@dataclass(slots=True)
class TurnNote:
    """The current turn."""

    id: str
    made_of: tuple[str, ...]
    lead: str
    #: Of its newest inbound: what its responder does.
    payload: bytes
    #: The living token, None after fail or park. `expires` in microseconds.
    token: str | None = None
    expires: int = 0
    signal: SignalKind | None = None
    #: The second in which the first stop or kill was accepted.
    signalled: float | None = None
    everyone: bool = False
    rejoined: bool = False
    #: Whether a request to make room was taken back.
    relented: bool = False
    #: Whether it was then for the rest of a paste, which the store remembers if a timer's inbound
    #: waits by the same author.
    relented_whole: bool = False
    steps: dict[tuple[str, str], bytes] = field(default_factory=dict)
    pages: dict[tuple[int, int], Page] = field(default_factory=dict)
    taken: dict[str, tuple[str, ...]] = field(default_factory=dict)
    attempts: int = 0
    expiries: int = 0

    @property
    def members(self) -> tuple[str, ...]:
        """All inbounds that it answers, in the order in which the store tells them."""
        return self.made_of + tuple(one for taken in self.taken.values() for one in taken)

    def held(self, now: int) -> bool:
        """Whether its token lives."""
        return self.token is not None and self.expires > now

    def copy(self) -> "TurnNote":
        """Return a copy that changes on its own."""
        return replace(self, steps=dict(self.steps), pages=dict(self.pages), taken=dict(self.taken))


@dataclass(slots=True)
class Notes:
    """One conversation, as the answers of the store tell it."""

    waiting: dict[str, Waits] = field(default_factory=dict)
    turn: TurnNote | None = None
    #: Ids that were marked seen, accepted or not.
    seen: set[str] = field(default_factory=set)
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    #: Timers that were set and have not fired, by id: when, and the generation if it was told.
    timers: dict[str, tuple[int, int | None]] = field(default_factory=dict)
    #: Timers that people have set.
    timers_set: set[str] = field(default_factory=set)
    accepted: int = 0
    #: Who wrote each accepted inbound.
    authors: dict[str, str] = field(default_factory=dict)

    def copy(self) -> "Notes":
        """Return a copy that changes on its own."""
        return Notes(
            dict(self.waiting),
            self.turn.copy() if self.turn else None,
            set(self.seen),
            dict(self.outcomes),
            dict(self.timers),
            set(self.timers_set),
            self.accepted,
            dict(self.authors),
        )

    def accept(
        self,
        inbound: Inbound,
        joins: str | None = None,
        *,
        plain: bool = True,
        first: bool = False,
    ) -> None:
        """Note an inbound that the store took."""
        known = inbound.id in self.waiting or inbound.id in self.outcomes
        running = self.turn is not None and inbound.id in self.turn.members
        demand(not (known or running), "one turn", "{} was accepted twice", inbound.id)
        self.accepted += 1
        self.authors[inbound.id] = inbound.author
        order = -self.accepted if first else self.accepted
        self.waiting[inbound.id] = Waits(inbound, order, joins, plain)

    def leave(self, inbound: Inbound, now: int) -> Waits:
        """Take one off what waits."""
        self.ring(inbound, now)
        demand(
            inbound.id in self.waiting,
            "one outcome",
            "{} was started or settled and does not wait (it became {})",
            inbound.id,
            self.outcomes.get(inbound.id, "nothing"),
        )
        return self.waiting.pop(inbound.id)

    def ring(self, inbound: Inbound, now: int) -> None:
        """Accept one that a timer made; nobody was told when that was."""
        timer, _, occurrence = inbound.id.partition("@")
        if timer in self.timers and inbound.id not in self.waiting:
            due, generation = self.timers.pop(timer)
            demand(due <= now, "timers", "{} fired early", inbound.id)
            known = generation is None or occurrence == f"{generation}.0"
            demand(known, "timers", "{} fired, of generation {}", inbound.id, generation)
            self.accept(inbound, plain=False)

    def settle(self, inbound: str, outcome: Outcome) -> None:
        """Note what became of an inbound."""
        before = self.outcomes.get(inbound)
        demand(before is None, "one outcome", "{} became {} and then {}", inbound, before, outcome)
        self.outcomes[inbound] = outcome

    def end(self, outcome: Outcome, *, but: tuple[str, ...] = ()) -> None:
        """Note that the turn is over."""
        assert self.turn is not None  # noqa: S101 (whoever calls has looked)
        for inbound in self.turn.members:
            if inbound not in but:
                self.settle(inbound, outcome)
        self.turn = None

    def succeeding(self, turn: TurnNote) -> tuple[str, ...]:
        """What waits for *turn* to make room: its lead's, or everybody's, and what continues it."""
        answered, moves = set(turn.members), []
        for waits in sorted(self.waiting.values(), key=lambda one: one.order):
            whose = turn.everyone or waits.inbound.author == turn.lead
            if whose or waits.joins in answered:
                moves.append(waits.inbound.id)
                answered.add(waits.inbound.id)
        return tuple(moves)

    def staying(self, turn: TurnNote, moved: tuple[str, ...]) -> tuple[str, ...]:
        """What *turn* was to answer and its successor is: all of it, or what others wrote."""
        heard = set() if turn.rejoined else {self.authors[one] for one in moved}
        return tuple(one for one in turn.members if moved and self.authors[one] not in heard)

    def relent(self) -> None:
        """Note that nobody is left for whom the turn was to make room."""
        turn = self.turn
        if turn is not None and turn.signal is SignalKind.SUPERSEDE and not self.succeeding(turn):
            # What a timer made may be left, of which nobody was told.
            turn.signal, turn.relented = None, True
            turn.relented_whole = turn.relented_whole or turn.rejoined
            turn.everyone = turn.rejoined = False

    def begin(self, started: Started, now: int) -> TurnNote:
        """Note a new turn, made of what waited."""
        first = self.leave(started.inbounds[0], now)
        rest = [self.leave(inbound, now) for inbound in started.inbounds[1:]]
        overtaken = [
            w.inbound.id for w in self.waiting.values() if w.plain and w.order < first.order
        ]
        demand(
            not (first.plain and overtaken),
            "first in first out",
            "{} was started before {}",
            first.inbound.id,
            overtaken,
        )
        newest = rest[-1] if rest else first
        demand(
            started.lease.turn == newest.inbound.id,
            "one turn",
            "the turn of {} is called {}",
            newest.inbound.id,
            started.lease.turn,
        )
        members = tuple(inbound.id for inbound in started.inbounds)
        payload = newest.inbound.payload
        self.turn = TurnNote(started.lease.turn, members, first.inbound.author, payload)
        return self.turn
