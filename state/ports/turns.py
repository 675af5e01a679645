"""The steps that admit, start, run and end turns."""

from collections.abc import Sequence
from typing import Protocol

from state.outcomes import (
    Admission,
    Busy,
    Drift,
    Held,
    Lost,
    Retrying,
    Turnover,
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
)


class Turns(Protocol):
    """Admission, hand-over, and what the holder of a lease does."""

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
        2. The current turn carries no stop or kill, and one of: `could.joins` is an inbound of it;
           `policy.interrupt` and `could.trigger`; `could.follow_up`, its lead is the author, it was
           superseded fewer than `policy.max_followups` times and (`early_only`) has no page yet.
           Append, and signal SUPERSEDE → Superseding. The bounds of 3 hold here too. When all
           that asked for room is withdrawn, taken, dropped or killed, so is the signal.
        3. `could.trigger`: append if fewer than `policy.inbox` wait and fewer than
           `policy.per_person` of the author's, → Placed. Over the person's share: Refused. Full:
           Refused, or under DROP_OLDEST the oldest waiting one is settled as DROPPED. Under
           `policy.drop`: Refused while there is a turn or anything waits.
        4. → Ignored.

        What waits may be held back: `policy.not_before` holds this inbound alone. With
        `policy.quiet`, in a conversation without a turn, all that gathers is held back until that
        long after now, at most `quiet_most` after the oldest. Held-back inbounds start nothing and
        block nobody; the wake is when the first may start.

        When nobody holds a living lease and the head is not backing off, *claim* takes it in the
        same step, as `claim` does. With a claim of None nothing is started: a turn that carries a
        stop or kill is settled, and a wake is left for the rest.
        """
        ...

    async def claim(self, conversation: Conversation, *, op: str, claim: Claim) -> Turnover | Busy:
        """
        Take up what is pending, if nobody holds it.

        A living lease, or a head that is backing off: Busy. Otherwise the head is started: the
        unfinished turn, with its steps and pages, else a new turn of the oldest waiting inbound
        that is not held back, of all that waits with `gather` if it has that too, and of those that
        continue one of them (`could.joins`); its id is the newest's. Due timers are promoted to
        waiting inbounds before. On the way, each settled and returned: waiting inbounds older
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
        token, or one of a conversation that is being forgotten, is Lost and leaves the expiry as it
        is. Not atomic across leases.

        When the store has gone back to before the last renewal of this handle, its journals are not
        those that the holders have in mind: all are Lost, and their turns due at once.
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
        With them move those that continue an inbound of the turn (`could.joins`, an edit), whoever
        wrote them; superseded by an interruption, everybody's. What the old turn was to answer of
        other people than those whose inbounds move comes along, first; superseded by the rest of
        its own (`could.joins`), all of it does and the count stays. The others are acknowledged as
        SUPERSEDED. If nothing moves, or the turn carries a stop or kill, this is a commit with the
        outcome SUPERSEDED (or STOPPED, KILLED) instead. Either way, transcript, timers, usage and
        answer of *changes* are written; state and key-values never are.
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
        """
        Record the id of the message that a page became.

        Of a page that was not recorded, an empty intent is recorded with it.
        """
        ...

    async def commit(
        self, lease: Lease, changes: Changes, *, op: str, claim: Claim | None
    ) -> Turnover | Drift:
        """
        End the turn and hand over, in one step.

        Acknowledge its inbounds with `changes.outcome`, write all of *changes*, drop steps, pages,
        takes and signal; then start the next head as `claim` does, or release. A claim of None
        takes nothing, frees the lease and leaves a wake. With `changes.asked` given, recorded steps
        outside it refuse the whole commit: Drift. A key of another owner: `Unacceptable`.
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

        Either way the usage of *changes* is written. With *retry_in* and fewer than *limit*
        exceptions so far (this one included): give the lease back, keep head, steps and pages, wake
        in *retry_in* seconds; nothing overtakes it. Else the turn becomes a dead letter with
        *error*, what else `supersede` would write of *changes* is written, and the conversation is
        handed over as by `commit`. One that carries a stop or kill is neither tried again nor a
        dead letter: the hand-over settles it as STOPPED or KILLED.
        """
        ...

    async def park(self, lease: Lease, *, op: str) -> None:
        """Give the lease back and be due at once; turn, steps, pages and counts stay."""
        ...

    async def acquire(self, conversation: Conversation, *, op: str, claim: Claim) -> Lease | Busy:
        """
        Hold a conversation without an inbound; what arrives meanwhile waits.

        The lease's turn is empty: `renew` and `release` know it, every other step of a holder
        raises `LeaseLost`. Busy while it is held, or has an unfinished turn.
        """
        ...

    async def release(self, lease: Lease, *, op: str, claim: Claim | None) -> Turnover:
        """
        Give an acquired lease back, and hand over as `commit` does.

        Raise `LeaseLost` for a lease on a turn, too, which only its end gives back.
        """
        ...

    async def steal(
        self, conversation: Conversation, token: str, *, op: str, claim: Claim
    ) -> Turnover | Busy:
        """
        Take the conversation from the holder whose living lease has *token* (`View` shows it).

        Of several at once one wins; the others, whose token is no longer the living one, are told
        Busy. The old holder's steps are refused from now on. A turn with a stop or kill is settled
        and the next head started; any other is started anew with its steps and pages. Neither an
        attempt nor an expiry is counted, also when the lease has run out meanwhile and nobody has
        claimed since.
        """
        ...
