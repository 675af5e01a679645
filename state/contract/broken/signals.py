"""Faults in requests to a holder: whom they hit, what they drop, whether they last."""

from dataclasses import replace

from state.contract.broken.planted import caught_by
from state.memory import MemoryState
from state.memory.records import Record
from state.outcomes import Busy, Killed, NotRunning, Signalled, Turnover
from state.values import Claim, Conversation, Outcome, SignalKind


class Asked(MemoryState):
    """Signals another turn or kind than it was asked for; the faults below say which."""

    def _instead(self, record: Record, turn: str, kind: SignalKind) -> tuple[str, SignalKind]:
        """Return the turn and the kind to signal instead; the record may be changed."""
        raise NotImplementedError

    async def signal(
        self, conversation: Conversation, turn: str, kind: SignalKind, *, by: str, op: str
    ) -> Signalled | NotRunning:
        """Signal something else."""
        record = self._db.records.get(conversation) or Record(conversation)
        turn, kind = self._instead(record, turn, kind)
        return await super().signal(conversation, turn, kind, by=by, op=op)


@caught_by(
    "test_a_signal_for_a_turn_that_is_over_is_refused",
    "test_a_signal_for_a_message_that_waits_is_refused",
    "test_a_signal_racing_a_commit_hits_its_turn_or_nothing",
)
class HitsWhateverRuns(Asked):
    """A signal is for the conversation, so it may reach the turn after the one it was meant for."""

    def _instead(self, record: Record, turn: str, kind: SignalKind) -> tuple[str, SignalKind]:
        return (record.turn.id if record.turn else turn), kind


@caught_by("test_a_stronger_signal_replaces_a_weaker_one")
class LetsTheLastSignalWin(Asked):
    """A stop replaces a kill."""

    def _instead(self, record: Record, turn: str, kind: SignalKind) -> tuple[str, SignalKind]:
        if record.turn is not None and record.turn.pending() is not kind:
            record.turn.signal = None
        return turn, kind


@caught_by(
    "test_a_parked_turn_that_is_stopped_is_not_run_again",
    "test_a_request_to_supersede_survives_the_death_of_the_holder",
    "test_a_signal_survives_the_death_of_the_holder",
    "test_a_sweep_tells_of_an_edit_until_the_turn_has_made_room",
)
class SignalsTheHolderOnly(MemoryState):
    """A request dies with the process that it was made to."""

    async def claim(self, conversation: Conversation, *, op: str, claim: Claim) -> Turnover | Busy:
        """Start the turn without what was asked of it."""
        record = self._record(conversation)
        if record.turn is not None and not record.held(self._now()):
            record.turn.signal = None
        return await super().claim(conversation, op=op, claim=claim)


@caught_by(
    "test_a_signal_ends_a_turn_that_nobody_holds",
)
class WaitsForTheRetry(MemoryState):
    """A stopped turn that backs off is settled when its retry is due."""

    async def signal(
        self, conversation: Conversation, turn: str, kind: SignalKind, *, by: str, op: str
    ) -> Signalled | NotRunning:
        """Signal as if the turn were held, when it backs off."""
        record, now = self._record(conversation), self._now()
        if record.backing_off <= now:
            return await super().signal(conversation, turn, kind, by=by, op=op)
        record.token, record.expires = "held", now + 1
        answer = await super().signal(conversation, turn, kind, by=by, op=op)
        record.token, record.expires = None, 0
        return answer


@caught_by("test_a_stop_withdraws_what_the_lead_has_waiting")
class WithdrawsWithEverySignal(MemoryState):
    """A kill signal withdraws what the lead has waiting, as a stop does."""

    async def signal(
        self, conversation: Conversation, turn: str, kind: SignalKind, *, by: str, op: str
    ) -> Signalled | NotRunning:
        """Withdraw for a kill, too."""
        answer = await super().signal(conversation, turn, kind, by=by, op=op)
        record = self._record(conversation)
        if kind is SignalKind.KILL and isinstance(answer, Signalled) and record.turn is not None:
            withdrawn = record.withdraw(record.turn.lead)
            return replace(answer, withdrawn=answer.withdrawn + withdrawn)
        return answer


class Killing(MemoryState):
    """Kills as asked and then spoils the outcome; the faults below say how."""

    def _spoiled(self, record: Record, before: Record, killed: Killed) -> Killed:
        """Return what to answer instead; the record may be changed."""
        raise NotImplementedError

    async def kill(
        self, conversation: Conversation, *, by: str, op: str, author: str | None = None
    ) -> Killed:
        """Kill, then spoil; not when it is a repeat."""
        repeated = (conversation, op) in self._db.answers
        record = self._record(conversation)
        before = replace(record, inbox=record.inbox.copy())
        killed = await super().kill(conversation, by=by, op=op, author=author)
        return killed if repeated else self._spoiled(self._record(conversation), before, killed)


@caught_by(
    "test_a_kill_signals_the_turn_and_drops_all_that_waits",
    "test_a_kill_racing_a_commit_lets_nothing_start_that_waited",
    "test_a_kill_sent_twice",
)
class KillsTheTurnOnly(Killing):
    """What waits behind a killed turn starts when the holder commits."""

    def _spoiled(self, record: Record, before: Record, killed: Killed) -> Killed:
        if record.turn is not None and killed.dropped and killed.turn is not None:
            record.inbox = before.inbox
        return killed


@caught_by(
    "test_a_kill_of_one_persons_leaves_the_others",
    "test_a_request_goes_with_the_interruption_that_is_stopped",
)
class KillsForEverybody(MemoryState):
    """The author that a kill is limited to is overlooked."""

    async def kill(
        self, conversation: Conversation, *, by: str, op: str, author: str | None = None
    ) -> Killed:
        """Drop everybody's, if the turn is held."""
        held = self._record(conversation).held(self._now())
        return await super().kill(conversation, by=by, op=op, author=None if held else author)


@caught_by("test_a_kill_of_one_persons_turn_leaves_the_rest_due")
class KillsWithoutAWake(Killing):
    """What others have waiting is left for nobody to find."""

    def _spoiled(self, record: Record, before: Record, killed: Killed) -> Killed:
        if record.turn is None:
            record.wake = None
        return killed


@caught_by("test_a_kill_settles_a_turn_that_nobody_holds")
class KillsWithTheWrongOutcome(Killing):
    """A turn that a kill settles is told as stopped."""

    def _spoiled(self, record: Record, before: Record, killed: Killed) -> Killed:
        settled = tuple(
            replace(s, outcome=Outcome.STOPPED) if killed.dropped and s.turn else s
            for s in killed.turnover.settled
        )
        return replace(killed, turnover=replace(killed.turnover, settled=settled))


@caught_by("test_every_way_to_ask_gives_a_hint")
class HintsAtSignalsOnly(MemoryState):
    """A follow-up or a stop phrase is learned with the next renewal."""

    def _publish(self, record: Record) -> None:
        if record.turn is not None and record.turn.pending() is not None and not record.inbox:
            super()._publish(record)
