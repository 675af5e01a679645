"""The steps that ask something of a conversation from outside its turn."""

from collections.abc import AsyncGenerator
from typing import Protocol

from state.outcomes import (
    Amended,
    Duplicate,
    Killed,
    NotRunning,
    NotWaiting,
    Signalled,
    Superseding,
    Withdrawn,
)
from state.values import (
    Conversation,
    Inbound,
    Signal,
    SignalKind,
)


class Requests(Protocol):
    """Signals to a holder, changes of what waits, and the hints about both."""

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

    def hints(self) -> AsyncGenerator[Signal, None]:
        """
        Yield signals as they are published, by any process, until closed.

        Best effort: a hint may be lost or repeated, `renew` and `due` tell the same later. The
        iterator survives an outage of the store.
        """
        ...

    async def withdraw(
        self, conversation: Conversation, inbound: str, *, op: str
    ) -> Withdrawn | NotWaiting:
        """
        Remove one inbound that waits, since its message was deleted.

        Its id counts as seen from now on, so that an admit that comes late is a Duplicate. One that
        is part of the current turn is left alone: NotWaiting names the turn. Once nothing waits any
        more that would move into its successor (see `supersede`), a turn need not make room: the
        request is taken back, also when what waited is taken, dropped, killed or forgotten.
        """
        ...

    async def amend(
        self, conversation: Conversation, inbound: str, edited: Inbound, *, op: str
    ) -> Amended | Superseding | NotWaiting | Duplicate:
        """
        Give one inbound a new payload, since its message was edited.

        *edited.id* is the id of the edit, marked seen: Duplicate the second time. One that waits
        keeps its id and place: Amended. One that is part of the current turn, which has no page yet
        and carries no stop or kill: *edited* waits first in line as what continues it, and the turn
        is asked to make room, Superseding. Else NotWaiting.
        """
        ...
