"""
Judges every answer of the store, in the order in which the steps were carried out.

It knows the port's promises and nothing of an adapter. `Book` has a method for each step, under the
step's name, that is given the answer and then the step's arguments.
"""

from collections.abc import Sequence
from typing import Any

from chaos.simulation.asked import Asked
from chaos.simulation.grants import ASKED, ENDED_BY, same
from chaos.simulation.notes import Notes, TurnNote, demand
from chaos.simulation.script import SCRIPTS
from state.outcomes import (
    Busy,
    Drift,
    Due,
    Held,
    Lost,
    Retrying,
    Turnover,
    View,
)
from state.values import (
    Changes,
    Claim,
    Conversation,
    Inbound,
    Lease,
    Outcome,
    Page,
)

#: Seconds within which a stop or kill acts on a healthy holder. Relation: a sweep or a renewal, and
#: what the holder is waiting for.
ACTS_WITHIN = 3.5

#: Answers of which a repeat may differ.
UNKEPT = (Busy, Drift)


class Book(Asked):
    """The judge of one store that may be set back to an older copy."""

    def observe(
        self, step: str, answer: object, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        """Judge one answer."""
        op = kwargs.get("op")
        if op in self.answers:
            first = self.answers[op]
            demand(
                first == answer, "one answer", "{} {} again: {}, before {}", step, op, answer, first
            )
            return
        getattr(self, step)(answer, *args, **kwargs)
        if op is not None and not isinstance(answer, UNKEPT):
            self.answers[op] = answer

    def refused(self, step: str, args: tuple[Any, ...]) -> None:
        """Judge a `LeaseLost`, which the living lease must not get."""
        lease: Lease = args[0]
        turn = self.of(lease.conversation).turn
        living = turn is not None and turn.token == lease.token and turn.held(self.now)
        demand(not living, "one holder", "{} by the living {} was refused", step, lease.token)

    def lost(self, lease: Lease) -> None:
        """Judge a renewal that was refused: by a store that was set back any may be."""
        turn = self.of(lease.conversation).turn
        if not self.set_back or turn is None or turn.token != lease.token:
            self.refused("renew", (lease,))
        elif turn.held(self.now):
            turn.token = None

    # --- taking and keeping ----------------------------------------------------------------------

    def claim(
        self, answer: Turnover | Busy, conversation: Conversation, *, op: str, claim: Claim
    ) -> None:
        """Judge a claim."""
        if isinstance(answer, Turnover):
            self.turnover(self.of(conversation), answer, claim)

    def renew(self, answer: Sequence[Held | Lost], leases: Sequence[Lease], seconds: float) -> None:
        """Judge renewals, each on its own."""
        for one, lease in zip(answer, leases, strict=True):
            if isinstance(one, Lost):
                self.lost(lease)
                continue
            outlived = lease.token in self.outlived
            demand(not outlived, "a new beginning", "{} lives on in a copy", lease.token)
            self.renewed[lease.token] = self.now
            _, turn = self.holder(lease, "renew")
            demand(same(turn, one.signal), "signals", "{} was told as {}", turn.signal, one.signal)
            turn.expires = self.granted[lease.token] = self.now + int(seconds * 1e6)

    def steal(
        self,
        answer: Turnover | Busy,
        conversation: Conversation,
        token: str,
        *,
        op: str,
        claim: Claim,
    ) -> None:
        """Judge a theft, which is from the living token only."""
        if isinstance(answer, Busy):
            return
        notes = self.of(conversation)
        turn = notes.turn
        stolen = turn is not None and turn.token == token
        demand(stolen, "one holder", "{} was stolen from {}", token, turn)
        if turn is not None:
            turn.token = None
        self.turnover(notes, answer, claim)

    # --- the holder's steps ----------------------------------------------------------------------

    def record(self, answer: bytes, lease: Lease, name: str, key: str, value: bytes) -> None:
        """Judge a step: the first write wins."""
        _, turn = self.holder(lease, "record")
        if (name, key) not in turn.steps:
            turn.steps[name, key] = value
            turn.expiries = 0
        first = turn.steps[name, key]
        demand(answer == first, "journal", "{} {} is {}, answered {}", name, key, first, answer)

    def page(self, answer: Page, lease: Lease, number: int, issue: int, intent: bytes) -> None:
        """Judge a page's intent: the first write wins."""
        _, turn = self.holder(lease, "page")
        first = turn.pages.setdefault((number, issue), Page(number, issue, intent))
        demand(answer == first, "journal", "the page is {}, answered {}", first, answer)

    def posted(self, answer: None, lease: Lease, number: int, issue: int, message_id: str) -> None:
        """Note a page's message."""
        _, turn = self.holder(lease, "posted")
        intent = turn.pages[number, issue].intent if (number, issue) in turn.pages else b""
        turn.pages[number, issue] = Page(number, issue, intent, message_id)

    def take(
        self, answer: Sequence[Inbound], lease: Lease, key: str, author: str | None = None
    ) -> None:
        """Judge what was taken: the same for a replay."""
        notes, turn = self.holder(lease, "take")
        took = tuple(inbound.id for inbound in answer)
        if key not in turn.taken:
            for inbound in answer:
                notes.leave(inbound, self.now)
            turn.taken[key] = took
            notes.relent()
        first = turn.taken[key]
        demand(first == took, "journal", "{} took {}, a replay {}", key, first, took)

    # --- the ends of a turn ----------------------------------------------------------------------

    def commit(
        self,
        answer: Turnover | Drift,
        lease: Lease,
        changes: Changes,
        *,
        op: str,
        claim: Claim | None,
    ) -> None:
        """Judge the end of a turn."""
        notes, turn = self.holder(lease, "commit")
        if isinstance(answer, Drift):
            return
        if changes.outcome is Outcome.ANSWERED:
            self.visible(turn)
        else:
            asked = self.requests.get(turn.id, set())
            fits = ASKED.get(changes.outcome) in asked
            demand(
                fits, "signals", "{} ended {}, it was asked to {}", turn.id, changes.outcome, asked
            )
        self.acted(turn)
        for timer in changes.timers:
            notes.timers[timer.id] = (self.now + int(timer.delay * 1e6), None)
        notes.end(changes.outcome)
        self.turnover(notes, answer, claim)

    def visible(self, turn: TurnNote) -> None:
        """Demand that what was answered can be seen."""
        for number in range(SCRIPTS[turn.payload].pages):
            shown = self._discord.shows(turn.id, number)
            demand(shown, "nothing is lost", "{} was answered without page {}", turn.id, number)

    def acted(self, turn: TurnNote) -> None:
        """Demand that a healthy holder has heeded a stop or kill soon."""
        if turn.signalled is not None and turn.signalled > self.troubled:
            after = self.now / 1e6 - turn.signalled
            demand(
                after <= ACTS_WITHIN, "signals", "{} heeded {} in {} s", turn.id, turn.signal, after
            )

    def supersede(
        self,
        answer: Turnover,
        lease: Lease,
        *,
        op: str,
        claim: Claim,
        carry: bytes | None = None,
        changes: Changes | None = None,
    ) -> None:
        """Judge a turn that made room."""
        notes, turn = self.holder(lease, "supersede")
        self.acted(turn)
        started = list(answer.started.inbounds if answer.started else ())
        told = tuple(inbound.id for inbound in started)
        dying = ENDED_BY.get(turn.signal) if turn.signal else None
        # A timer may have fired by now, or only in this very hand-over: nobody was told which.
        fired = any("@" in one for one in told) and told != turn.members
        moves = notes.succeeding(turn) or (fired and told[: len(turn.members)] == turn.members)
        if dying is not None or not moves:
            notes.end(dying or Outcome.SUPERSEDED)
            self.turnover(notes, answer, claim)
            return
        for inbound in started:
            notes.ring(inbound, self.now)
        mine = notes.succeeding(turn)
        again = notes.staying(turn, mine)
        if turn.relented_whole and fired and told[: len(turn.members)] == turn.members:
            # A timer's inbound kept the request of a paste alive whose rest is gone.
            again = turn.members
        # Among those that wait by their order, one that a timer made stands where nobody was told.
        right = sorted(told) == sorted((*again, *mine)) and (
            told == (*again, *mine) or not all(notes.waiting[one].plain for one in mine)
        )
        demand(right, "follow-ups", "{} came after {}, the next turn is of {}", mine, turn.id, told)
        notes.end(Outcome.SUPERSEDED, but=again)
        for one in mine:
            del notes.waiting[one]
        notes.turn = TurnNote(told[-1], told, started[0].author, started[-1].payload)
        self.turnover(notes, answer, claim)

    def fail(
        self,
        answer: Turnover | Retrying,
        lease: Lease,
        error: str,
        changes: Changes,
        *,
        retry_in: float | None,
        limit: int,
        op: str,
        claim: Claim | None,
    ) -> None:
        """Judge an exception that was counted."""
        notes, turn = self.holder(lease, "fail")
        turn.attempts += 1
        ended = turn.signal in ENDED_BY
        again = retry_in is not None and turn.attempts < limit and not ended
        told = "attempt {} of {} was answered {}", turn.attempts, limit, answer
        demand(isinstance(answer, Retrying) == again, "patience", *told)
        if isinstance(answer, Retrying):
            demand(answer.attempts == turn.attempts, "patience", *told)
            turn.token = None
            return
        if ended:  # the hand-over settles it
            turn.token = None
        else:
            notes.end(Outcome.DEAD)
        self.turnover(notes, answer, claim)
        demand(notes.turn is not turn, "signals", "{} failed and was not settled", turn.id)

    def park(self, answer: None, lease: Lease, *, op: str) -> None:
        """Note a lease that was given back."""
        _, turn = self.holder(lease, "park")
        turn.token = None

    # --- reading ---------------------------------------------------------------------------------

    def due(self, answer: Due, partition: int, limit: int) -> None:
        """Judge the signals that a sweep sees."""
        for signal in answer.signals:
            turn = self.current(self.of(signal.conversation), signal.turn, "signalled")
            known = same(turn, signal.kind)
            demand(known, "signals", "{} was swept as {}", turn.signal, signal)

    def view(self, answer: View, conversation: Conversation) -> None:
        """Judge what a conversation shows."""
        notes: Notes = self.of(conversation)
        shown = {inbound.id for inbound in answer.waiting}
        fired = {one for one in shown if one.partition("@")[0] in notes.timers}
        lost = set(notes.waiting) ^ (shown - fired)
        demand(not lost, "nothing is lost", "{} of {} differ", sorted(lost), conversation.id)
