"""How a turn ends: one enum, matched exhaustively wherever it matters."""

from enum import StrEnum

from state.values import SignalKind

#: Seconds from the request that ends a turn until its lease is given back. The clean-up of its
#: responder and the closing of its reply go on side by side, and share them.
#: Relation: a stop acts within two seconds; the rest is for the store and for who speaks next.
END_WITHIN = 1.5


class Ending(StrEnum):
    """
    How a turn ended.

    Later members beat earlier ones while a turn is being ended: a stop overrides a follow-up, a
    kill overrides a stop, and a lost lease overrides all, because nothing may be said after it.
    """

    #: The responder said all it wanted to.
    FINISHED = "finished"
    #: The process is going away; the next one takes the turn up where it stands.
    PARKED = "parked"
    #: Its author wrote again; a new turn answers that.
    SUPERSEDED = "superseded"
    #: The responder raised, or exceeded a limit.
    FAILED = "failed"
    #: Somebody with the right to said stop.
    STOPPED = "stopped"
    #: Somebody with the right to used /kill.
    KILLED = "killed"
    #: The lease is gone: another holder may already be speaking.
    LOST = "lost"

    def beats(self, other: "Ending | None") -> bool:
        """Whether this reason to end replaces *other*."""
        order = list(Ending)
        return other is None or order.index(self) > order.index(other)


#: What a request to the holder of a turn makes of it.
BY_SIGNAL = {
    SignalKind.SUPERSEDE: Ending.SUPERSEDED,
    SignalKind.STOP: Ending.STOPPED,
    SignalKind.KILL: Ending.KILLED,
}
