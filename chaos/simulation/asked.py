"""The judge's view of what people ask for: admissions, signals, kills, deletions, edits, timers."""

from collections.abc import Sequence

from chaos.simulation.grants import ENDED_BY, Grants
from chaos.simulation.notes import Notes, TurnNote, demand
from state.outcomes import (
    Admission,
    Amended,
    Duplicate,
    Killed,
    NotRunning,
    NotWaiting,
    Placed,
    Signalled,
    Superseding,
    Withdrawn,
)
from state.values import (
    Claim,
    Conversation,
    Could,
    Inbound,
    Outcome,
    Policy,
    SignalKind,
    Timer,
)


class Asked(Grants):
    """Steps that ask something of a conversation from outside its turn."""

    def admit(
        self,
        answer: Admission,
        conversation: Conversation,
        inbound: Inbound,
        could: Could,
        policy: Policy,
        *,
        op: str,
        claim: Claim | None,
    ) -> None:
        """Judge an admission."""
        notes = self.of(conversation)
        if isinstance(answer, Duplicate):
            demand(inbound.id in notes.seen, "nothing is lost", "{} was never seen", inbound.id)
            return
        notes.seen.add(inbound.id)
        match answer:
            case Placed(turnover=turnover):
                plain = not (policy.not_before or policy.quiet)
                notes.accept(inbound, could.joins, plain=plain)
            case Superseding(turn=superseded, turnover=turnover):
                turn = self.current(notes, superseded, "superseded")
                ours = turn.lead == inbound.author or policy.interrupt or could.joins
                demand(ours, "signals", "{} supersedes the turn of {}", inbound.id, turn.lead)
                notes.accept(inbound, could.joins)
                self.make_room(turn, inbound, could, policy)
            case Signalled(turn=stopped, withdrawn=withdrawn, turnover=turnover):
                self.stopped(notes, stopped, withdrawn)
            case _:
                return
        self.turnover(notes, turnover, claim)
        if isinstance(answer, Placed):
            started = notes.turn is not None and inbound.id == notes.turn.id
            place = answer.place
            demand(
                not (started and place), "place", "{} was started at place {}", inbound.id, place
            )

    def make_room(self, turn: TurnNote, inbound: Inbound, could: Could, policy: Policy) -> None:
        """Note a request to make room."""
        demand(
            turn.signal not in ENDED_BY, "signals", "{} supersedes a dying {}", inbound.id, turn.id
        )
        rejoins = could.joins is not None and could.joins in turn.members
        turn.signal = turn.signal or SignalKind.SUPERSEDE
        turn.everyone |= policy.interrupt
        turn.rejoined |= rejoins

    def stopped(self, notes: Notes, turn: str | None, withdrawn: Sequence[Inbound]) -> None:
        """Note a stop."""
        if turn is not None:
            self.request(self.current(notes, turn, "stopped"), SignalKind.STOP)
        self.drop(notes, withdrawn, Outcome.WITHDRAWN)

    def request(self, turn: TurnNote, kind: SignalKind) -> None:
        """Note a stop or kill."""
        self.requests.setdefault(turn.id, set()).add(kind)
        if kind.beats(turn.signal):
            turn.signal = kind
        turn.signalled = turn.signalled or self.now / 1e6

    def signal(
        self,
        answer: Signalled | NotRunning,
        conversation: Conversation,
        turn: str,
        kind: SignalKind,
        *,
        by: str,
        op: str,
    ) -> None:
        """Judge a signal, which hits the turn it was meant for and no other."""
        notes = self.of(conversation)
        runs = notes.turn is not None and notes.turn.id == turn
        hit = answer.turn if isinstance(answer, Signalled) else None
        demand(hit == (turn if runs else None), "signals", "one for {} hit {}", turn, hit)
        if isinstance(answer, Signalled):
            self.stopped(notes, answer.turn, answer.withdrawn)
            self.turnover(notes, answer.turnover, None)

    def kill(
        self,
        answer: Killed,
        conversation: Conversation,
        *,
        by: str,
        op: str,
        author: str | None = None,
    ) -> None:
        """Judge a kill, which spares nothing that waits, and nobody else's."""
        notes = self.of(conversation)
        self.drop(notes, answer.dropped, Outcome.KILLED)
        spared = [w for w in notes.waiting.values() if author in (None, w.inbound.author)]
        demand(not spared, "signals", "a kill spared {}", spared)
        others = author and [i for i in answer.dropped if i.author != author]
        demand(not others, "signals", "a kill of {} dropped {}", author, others)
        if answer.turn is not None:
            self.request(self.current(notes, answer.turn.id, "killed"), SignalKind.KILL)
        else:
            spared_turn = notes.turn is not None and author is None
            demand(not spared_turn, "signals", "a kill spared the turn")
        self.turnover(notes, answer.turnover, None)

    def withdraw(
        self, answer: Withdrawn | NotWaiting, conversation: Conversation, inbound: str, *, op: str
    ) -> None:
        """Judge a deletion."""
        notes = self.of(conversation)
        notes.seen.add(inbound)
        if isinstance(answer, Withdrawn):
            self.drop(notes, [answer.inbound], Outcome.WITHDRAWN)
            return
        self.waits_not(notes, inbound, answer)

    def waits_not(self, notes: Notes, inbound: str, answer: NotWaiting) -> None:
        """Judge an answer that an inbound does not wait."""
        demand(
            inbound not in notes.waiting, "nothing is lost", "{} waits, was told not to", inbound
        )
        part = notes.turn is not None and inbound in notes.turn.members
        turn = notes.turn.id if part and notes.turn else None
        demand(
            answer.turn == turn, "signals", "{} is part of {}, told {}", inbound, turn, answer.turn
        )

    def amend(
        self,
        answer: Amended | Superseding | NotWaiting | Duplicate,
        conversation: Conversation,
        inbound: str,
        edited: Inbound,
        *,
        op: str,
    ) -> None:
        """Judge an edit."""
        notes = self.of(conversation)
        fresh = edited.id not in notes.seen
        notes.seen.add(edited.id)
        match answer:
            case Duplicate():
                demand(not fresh, "nothing is lost", "{} was never seen", edited.id)
            case Amended():
                demand(fresh and inbound in notes.waiting, "edits", "{} was amended twice", inbound)
                waits = notes.waiting[inbound]
                waits.inbound = Inbound(inbound, edited.author, edited.payload)
            case Superseding(turn=turn):
                self.make_room(self.current(notes, turn, "edited"), edited, Could(), Policy())
                notes.accept(edited, inbound, first=True)
            case NotWaiting():
                self.waits_not(notes, inbound, answer)

    def schedule(self, answer: int, conversation: Conversation, timer: Timer, *, op: str) -> None:
        """Note a timer; people set each only once."""
        notes = self.of(conversation)
        demand(timer.id not in notes.timers_set, "one answer", "{} was set twice", timer.id)
        notes.timers_set.add(timer.id)
        due = self.now + int(timer.delay * 1e6)
        notes.timers[timer.id] = (due, answer)
