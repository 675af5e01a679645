"""The judge's view of leases and turns: who holds, what starts, what was settled on the way."""

from collections.abc import Sequence

from chaos.simulation.discord import NONCE_WINDOW, Discord, Posted
from chaos.simulation.notes import Notes, TurnNote, Violation, demand
from state.outcomes import Settled, Started, Turnover
from state.ports import MAX_EXPIRIES
from state.values import Claim, Conversation, Inbound, Lease, Outcome, SignalKind

#: What a settled turn must have been asked.
ASKED = {Outcome.STOPPED: SignalKind.STOP, Outcome.KILLED: SignalKind.KILL}
ENDED_BY = {SignalKind.STOP: Outcome.STOPPED, SignalKind.KILL: Outcome.KILLED}

#: What a rollback takes back: the notes, and the first answers.
#: And when it was made (µs).
Copy = tuple[dict[Conversation, Notes], dict[str, object], int]


def same(turn: TurnNote, told: SignalKind | None) -> bool:
    """Whether *told* is what the turn was asked, as far as anybody was told."""
    unsure = turn.relented and {told, turn.signal} == {None, SignalKind.SUPERSEDE}
    return told is turn.signal or unsure


class Grants:
    """What happened so far in a store that may be set back to an older copy."""

    def __init__(self, discord: Discord) -> None:
        """Start empty; *discord* tells what is visible."""
        self._discord = discord
        self.notes: dict[Conversation, Notes] = {}
        #: First answers, by operation id.
        self.answers: dict[str, object] = {}
        #: Microseconds of the store's clock, and seconds until which a fault may be felt; whoever
        #: drives keeps both.
        self.now, self.troubled = 0, 0.0
        #: Of tokens, which no rollback takes back: the highest number, all, until when each lived.
        self.highest = 0
        self.granted: dict[str, int] = {}
        #: What each turn was asked. Its holder knows that after a rollback, too.
        self.requests: dict[str, set[SignalKind]] = {}
        self.set_back = False
        #: When each token was renewed last; those that were since the copy, to which the store was
        #: then set back.
        self.renewed: dict[str, int] = {}
        self.outlived: set[str] = set()

    def copy(self) -> Copy:
        """Copy what a rollback takes back."""
        notes = {conversation: notes.copy() for conversation, notes in self.notes.items()}
        return notes, dict(self.answers), self.now

    def roll_back(self, copy: Copy) -> None:
        """Forget what the store has forgotten."""
        self.notes, self.answers, copied = copy
        self.set_back = True
        self.outlived |= {token for token, at in self.renewed.items() if at > copied}

    def of(self, conversation: Conversation) -> Notes:
        """The notes on a conversation."""
        if conversation not in self.notes:
            self.notes[conversation] = Notes()
        return self.notes[conversation]

    def seen(self) -> set[str]:
        """Ids of all that the store has seen."""
        return {id_ for notes in self.notes.values() for id_ in notes.seen}

    # --- hand-over -------------------------------------------------------------------------------

    def turnover(self, notes: Notes, turnover: Turnover, claim: Claim | None) -> None:
        """Judge what was settled on the way, and what starts."""
        for settled in turnover.settled:
            self.settled(notes, settled)
        if turnover.started is not None:
            demand(claim, "draining takes nothing", "{} was granted", turnover.started.lease)
            assert claim is not None  # noqa: S101
            self.started(notes, turnover.started, claim)

    def settled(self, notes: Notes, settled: Settled) -> None:
        """Judge inbounds that were acknowledged without being run."""
        if settled.turn is None:
            for inbound in settled.inbounds:
                notes.leave(inbound, self.now)
                notes.settle(inbound.id, settled.outcome)
            return
        turn = self.current(notes, settled.turn, "settled")
        demand(not turn.held(self.now), "one holder", "{} was settled under its holder", turn.id)
        told = tuple(inbound.id for inbound in settled.inbounds)
        demand(told == turn.members, "one outcome", "{} were settled as {}", turn.members, told)
        if settled.outcome is Outcome.DEAD:
            expiries = turn.expiries + 1
            demand(
                expiries >= MAX_EXPIRIES, "patience", "{} died of {} expiries", turn.id, expiries
            )
        else:
            asked = ASKED[settled.outcome]
            demand(turn.signal is asked, "signals", "{} for {}", settled.outcome, turn.signal)
        notes.end(settled.outcome)

    def started(self, notes: Notes, started: Started, claim: Claim) -> None:
        """Judge a grant."""
        turn, lease = notes.turn, started.lease
        if turn is None:
            turn = notes.begin(started, self.now)
        else:
            demand(
                turn.id == lease.turn, "first in first out", "{} overtook {}", lease.turn, turn.id
            )
            demand(not turn.held(self.now), "one holder", "{} while {} lives", lease, turn.token)
            demand(turn.signal not in ENDED_BY, "signals", "{} ran again, {}", turn.id, turn.signal)
            self.taken_up(turn, started)
        self.grant(turn, lease, claim)

    def taken_up(self, turn: TurnNote, started: Started) -> None:
        """Judge a turn that is started anew."""
        if turn.token is not None:
            turn.expiries += 1
            demand(turn.expiries < MAX_EXPIRIES, "patience", "{} ran once too often", turn.id)
        made_of = tuple(inbound.id for inbound in started.inbounds)
        demand(made_of == turn.made_of, "one turn", "{} became {}", turn.made_of, made_of)
        steps = {(step.name, step.key): step.value for step in started.steps}
        demand(steps == turn.steps, "journal", "steps {}, recorded {}", steps, turn.steps)
        pages = {(page.number, page.issue): page for page in started.pages}
        demand(pages == turn.pages, "journal", "pages {}, recorded {}", pages, turn.pages)
        counted = started.attempts == turn.attempts
        demand(counted, "patience", "{} attempts, {} counted", started.attempts, turn.attempts)
        known = same(turn, started.signal)
        demand(known, "signals", "{} became {}", turn.signal, started.signal)

    def grant(self, turn: TurnNote, lease: Lease, claim: Claim) -> None:
        """Note a new token."""
        number = int(lease.token.partition("-")[0])
        fresh = lease.token not in self.granted and number > self.highest
        demand(fresh, "tokens grow", "{} was granted after {}", lease.token, self.highest)
        self.highest, turn.token = number, lease.token
        turn.expires = self.now + int(claim.seconds * 1e6)
        self.granted[lease.token] = turn.expires

    def current(self, notes: Notes, turn: str, did: str) -> TurnNote:
        """The current turn, which must be the one that an answer names."""
        if notes.turn is None or notes.turn.id != turn:
            is_ = notes.turn.id if notes.turn else "none"
            raise Violation("one turn", f"{turn} was {did} and the current turn is {is_}")
        return notes.turn

    def holder(self, lease: Lease, did: str) -> tuple[Notes, TurnNote]:
        """The turn of a lease that was accepted, and so must be the living one."""
        notes = self.of(lease.conversation)
        turn = notes.turn
        if turn is None or turn.token != lease.token or not turn.held(self.now):
            living = turn.token if turn else None
            raise Violation("one holder", f"{did} by {lease.token}, the living token is {living}")
        return notes, turn

    def speaks(self, token: str, *, unchecked: bool) -> None:
        """Judge a request that a holder begins; *unchecked* if it has not just shown its token."""
        over = self.granted[token] <= self.now
        demand(not over, "silence without a lease", "{} speaks after its end", token)
        holders = {notes.turn.token for notes in self.notes.values() if notes.turn}
        known = token in holders or unchecked
        demand(known, "silence without a lease", "{} speaks, not one of {}", token, holders)

    def shown(self, posted: Posted) -> None:
        """Judge a new message: a page is visible once."""
        others = self._discord.shows(posted.turn, posted.number)[:-1]
        # A journal that was set back knows the page no more, and a nonce is known for a while.
        judged = [one for one in others if not self.set_back or posted.at - one.at < NONCE_WINDOW]
        demand(
            not judged, "visible once", "page {} of {} is shown twice", posted.number, posted.turn
        )

    def drop(self, notes: Notes, inbounds: Sequence[Inbound], outcome: Outcome) -> None:
        """Note inbounds that wait no more."""
        for inbound in inbounds:
            notes.leave(inbound, self.now)
            notes.settle(inbound.id, outcome)
        notes.relent()
