"""
The state port: steps, each one atomic change of one conversation.

Lock, inbox, journal, wake and transcript of a conversation move together or not at all. The
docstrings below are the contract; `state.contract` holds a test for each sentence, and
`state.memory` is the specification that runs.

Rules of every step:

* Every mutating step may be sent twice. Those that are not repeatable by nature take *op*, an
  operation id that the caller chose before the call (`[A-Za-z0-9_-]`, at least 96 random bits): for
  60 s a repeat gets the first answer and changes nothing. Callers stop repeating after 20 s.
* A step that takes a lease compares its whole token with the living one and raises `LeaseLost`
  when they differ or the lease has expired. A refused step has changed nothing.
* Tokens and order numbers come from one counter per partition, max(last + 1, the store's
  microseconds), so that they grow whatever was released, forgotten or restored.
* The only clock is the store's. Delays are passed, never points in time.
* Pending work implies a wake: no step leaves an inbound behind that `due` would not report.
* `StateUnavailable` tells nothing about the outcome; `Gone` is raised while a forget runs.
"""

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from state.outcomes import (
    Admission,
    Busy,
    Drift,
    Due,
    Entry,
    Held,
    Killed,
    Lost,
    NotRunning,
    Retrying,
    Signalled,
    Subscriptions,
    Turnover,
    View,
)
from state.values import (
    Changes,
    Claim,
    Conversation,
    Could,
    Inbound,
    Lease,
    Page,
    Policy,
    Signal,
    SignalKind,
)

#: Expiries of a turn's lease without a new step in between, after which it is a dead letter.
MAX_EXPIRIES = 5

#: Seconds for which an operation id is answered with its first answer.
#: Relation: three times the 20 s after which clients stop repeating.
OP_WINDOW = 60.0

#: Seconds for which an inbound id is known: longer than any backfill (24 h) and its slack.
SEEN_WINDOW = 26 * 3600.0

#: Dead letters kept per conversation; the oldest is dropped.
DEAD_LETTER_LIMIT = 100


class State(Protocol):
    """One store, shared by every process that serves the same application."""

    @property
    def partitions(self) -> int:
        """The number of partitions, fixed when the store was created."""
        ...

    async def open(self) -> None:
        """
        Connect, create or check the schema, and be ready for every step.

        Idempotent; concurrent calls share one attempt; a failed one can be repeated. Raise
        `StateInvalid` when the store must not be used, `StateUnavailable` when it is not there.
        """
        ...

    async def close(self) -> None:
        """Give back every connection, task and file. A second call does nothing."""
        ...

    async def ping(self) -> None:
        """Return when the store answers, raise `StateUnavailable` when it does not."""
        ...

    # --- admission and hand-over ---------------------------------------------------------------

    async def admit(
        self,
        conversation: Conversation,
        inbound: Inbound,
        could: Could,
        policy: Policy,
        *,
        op: str,
        claim: Claim | None,
    ) -> Admission:
        """
        Decide once, for all processes, what *inbound* is, and act on it.

        Mark its id seen, else answer Duplicate. Then the first that fits:

        1. `could.stop` and a turn it has a right on (ANY: any turn; OWN: one of whose inbounds the
           author wrote): the turn gets a STOP signal and the waiting inbounds of its lead are
           withdrawn → Signalled. Without such a turn, the author's own waiting inbounds, if any,
           are withdrawn → Signalled(None).
        2. `could.follow_up` and the current turn's lead is the author, it carries no stop or kill,
           was superseded fewer than `policy.max_followups` times, and (`early_only`) has no page
           yet: append, and signal SUPERSEDE → Superseding. The bounds of 3 hold here too.
        3. `could.trigger`: append if fewer than `policy.inbox` wait and fewer than
           `policy.per_person` of the author's, → Placed. Over the person's share: Refused. Full:
           Refused, or under DROP_OLDEST the oldest waiting one is settled as DROPPED.
        4. → Ignored.

        When nobody holds a living lease and the head is not backing off, *claim* takes it in the
        same step, as `claim` does. With a claim of None nothing is started; a wake is left.
        """
        ...

    async def claim(self, conversation: Conversation, *, op: str, claim: Claim) -> Turnover | Busy:
        """
        Take up what is pending, if nobody holds it.

        A living lease, or a head that is backing off: Busy. Otherwise the head is started: the
        unfinished turn, with its steps and pages, else the oldest waiting inbound as a new turn
        whose id is that inbound's. On the way, each settled and returned: waiting inbounds older
        than `claim.expire_after` (EXPIRED); an unfinished turn that carries a stop or kill
        (STOPPED, KILLED), never run again; one whose lease has now expired `MAX_EXPIRIES` times
        without a new step (DEAD, kept as a dead letter). Nothing pending: an empty Turnover, and
        the conversation has no wake.
        """
        ...

    async def renew(self, leases: Sequence[Lease], seconds: float) -> list[Held | Lost]:
        """
        Prolong many leases, of any conversations, to *seconds* from now; answer in their order.

        A held lease comes with the signal that waits for its turn. A stale, foreign or expired
        token is Lost and leaves the expiry as it is. Not atomic across leases.
        """
        ...

    async def supersede(
        self,
        lease: Lease,
        *,
        op: str,
        claim: Claim,
        carry: bytes | None = None,
        changes: Changes | None = None,
    ) -> Turnover:
        """
        Put the lead's waiting inbounds into a new turn in the place of this one.

        The new turn has the newest of those inbounds' id as its id, a new token, no steps, no
        pages, *carry*, and a count of follow-ups one higher; its order is before all that waits.
        The old turn's inbounds are acknowledged as SUPERSEDED and the transcript of *changes* is
        written. If the lead has nothing waiting any more, or the turn carries a stop or kill, this
        is a commit with the outcome SUPERSEDED (or STOPPED, KILLED) instead.
        """
        ...

    async def take(self, lease: Lease, key: str, author: str | None = None) -> tuple[Inbound, ...]:
        """
        Move what waits (of *author*, or all) into the running turn; answer it, oldest first.

        Recorded under *key*: asked again with the same key, by this holder or the next, the answer
        is the same. The inbounds are acknowledged with the turn.
        """
        ...

    async def record(self, lease: Lease, name: str, key: str, value: bytes) -> bytes:
        """
        Record the result of a step; answer what is recorded.

        The first write of (name, key) wins. A new step counts as progress of the turn.
        """
        ...

    async def page(self, lease: Lease, number: int, issue: int, intent: bytes) -> Page:
        """Record the intent to send a page; the first write of (number, issue) wins, answer it."""
        ...

    async def posted(self, lease: Lease, number: int, issue: int, message_id: str) -> None:
        """Record the id of the message that a page became."""
        ...

    async def commit(
        self, lease: Lease, changes: Changes, *, op: str, claim: Claim | None
    ) -> Turnover | Drift:
        """
        End the turn and hand over, in one step.

        Acknowledge its inbounds with `changes.outcome`, write state and transcript, drop steps,
        pages, takes and signal; then start the next head as `claim` does, or release. A claim of
        None takes nothing, frees the lease and leaves a wake. With `changes.asked` given, recorded
        steps outside it refuse the whole commit: Drift.
        """
        ...

    async def fail(
        self,
        lease: Lease,
        error: str,
        changes: Changes,
        *,
        retry_in: float | None,
        limit: int,
        op: str,
        claim: Claim | None,
    ) -> Turnover | Retrying:
        """
        Count an exception.

        With *retry_in* and fewer than *limit* exceptions so far (this one included): give the lease
        back, keep head, steps and pages, wake in *retry_in* seconds; nothing overtakes it. Else the
        turn becomes a dead letter with *error*, the transcript of *changes* is written (its state
        is not), and the conversation is handed over as by `commit`.
        """
        ...

    async def park(self, lease: Lease, *, op: str) -> None:
        """Give the lease back and be due at once; turn, steps, pages and counts stay."""
        ...

    # --- requests to a holder -------------------------------------------------------------------

    async def signal(
        self, conversation: Conversation, turn: str, kind: SignalKind, *, by: str, op: str
    ) -> Signalled | NotRunning:
        """
        Ask the holder of exactly that turn to end it, and publish a hint.

        A stronger kind replaces a weaker one. STOP also withdraws the waiting inbounds of the
        turn's lead. A turn without a living holder is settled at once, and what waits is due.
        """
        ...

    async def kill(
        self, conversation: Conversation, *, by: str, op: str, author: str | None = None
    ) -> Killed:
        """
        Signal KILL to the current turn and drop every waiting inbound, in one step.

        With *author*, only a turn that this person takes part in, and only their waiting inbounds.
        A turn without a living holder is settled at once.
        """
        ...

    def hints(self) -> AsyncIterator[Signal]:
        """
        Yield signals as they are published, by any process, until closed.

        Best effort: a hint may be lost or repeated, `renew` and `due` tell the same later. The
        iterator survives an outage of the store.
        """
        ...

    # --- reading --------------------------------------------------------------------------------

    async def due(self, partition: int, limit: int) -> Due:
        """
        List conversations of one partition whose wake has come, and unfinished signals.

        Read only; at most *limit* of each, the earliest wake first. Two callers may see the same:
        `claim` gives a conversation to one of them.
        """
        ...

    async def view(self, conversation: Conversation) -> View:
        """Show the turn, what waits and the wake of one conversation; change nothing."""
        ...

    async def history(
        self, conversation: Conversation, *, before: int | None = None, limit: int = 50
    ) -> tuple[Entry, ...]:
        """Answer the newest *limit* transcript entries (numbered below *before*), oldest first."""
        ...

    async def reset(self, conversation: Conversation) -> None:
        """
        Drop transcript and state now, whatever runs.

        A turn that runs meanwhile ends without writing either, so that what it says belongs to the
        conversation that was ended.
        """
        ...

    # --- subscriptions --------------------------------------------------------------------------

    async def subscribe(self, conversation: Conversation) -> None:
        """Follow a conversation. Following it already is fine."""
        ...

    async def unsubscribe(self, conversation: Conversation) -> None:
        """Follow it no more. Not following it is fine."""
        ...

    async def is_subscribed(self, conversation: Conversation) -> bool:
        """Whether the conversation is followed."""
        ...

    async def subscriptions(self, cursor: str | None = None, limit: int = 200) -> Subscriptions:
        """List followed conversations by pages, no repeats or gaps among those that stay."""
        ...
