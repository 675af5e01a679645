"""A conversation's row and the entries of its inbox, as a step loads, changes and stores them."""

from dataclasses import dataclass
from operator import attrgetter

from state.values import Conversation, Inbound, SignalKind

#: The columns of `conversation` that a step may change, in the order of the table.
_COLUMNS = (
    *("token", "expires", "wake", "backing_off", "turn", "lead", "admitted", "begun"),
    *("attempts", "followups", "expiries", "signal", "signal_by", "everyone", "rejoined"),
    *("detached", "waiting", "timers", "stateful", "kept", "dead", "given", "entries"),
    *("head", "tail", "subscribed"),
)

LOAD = f"SELECT {', '.join(_COLUMNS)} FROM conversation WHERE key = ?"  # noqa: S608 (our columns)
INSERT = f"INSERT INTO conversation VALUES (?, ?{', ?' * len(_COLUMNS)})"  # noqa: S608 (our columns)
UPDATE = f"UPDATE conversation SET {', '.join(f'{name} = ?' for name in _COLUMNS)} WHERE key = ?"  # noqa: S608 (our columns)


@dataclass(slots=True, eq=False)
class Waiting:
    """An entry of the inbox; the migrations say what each column means."""

    name: str
    author: str
    at: int
    after: int = 0
    gather: int = 0
    joins: str | None = None
    place: int = 0
    #: What was admitted; of an entry that has a row, None until it is asked for.
    inbound: Inbound | None = None
    #: Whether the file has a row of it.
    stored: bool = True

    @classmethod
    def of(cls, inbound: Inbound, at: int) -> "Waiting":
        """Make an entry that has no row yet."""
        return cls(inbound.id, inbound.author, at, inbound=inbound, stored=False)


@dataclass(slots=True)
class Record:
    """One row of `conversation`; the migrations say what each column means."""

    conversation: Conversation
    key: str
    token: str | None = None
    expires: int = 0
    wake: int | None = None
    backing_off: int = 0
    turn: str | None = None
    lead: str = ""
    admitted: int = 0
    begun: int = 0
    attempts: int = 0
    followups: int = 0
    expiries: int = 0
    signal: str | None = None
    signal_by: str | None = None
    everyone: int = 0
    rejoined: int = 0
    detached: int = 0
    waiting: int = 0
    timers: int = 0
    stateful: int = 0
    kept: int = 0
    dead: int = 0
    given: int = 0
    entries: int = 0
    head: int = 0
    tail: int = 0
    subscribed: int = 0
    #: Whether the file has a row of it.
    stored: bool = True
    #: Its inbox, once a step has asked for it.
    inbox: list[Waiting] | None = None

    @property
    def pending(self) -> SignalKind | None:
        """The request that waits for the turn."""
        return None if self.signal is None else SignalKind(self.signal)

    def living(self, now: int) -> str | None:
        """The token of the living lease."""
        return self.token if self.token is not None and self.expires > now else None

    def held(self, now: int) -> bool:
        """Whether somebody holds a living lease."""
        return self.living(now) is not None

    def idle(self) -> bool:
        """Whether nothing at all is left worth keeping."""
        pending = self.turn is not None or self.token is not None or self.waiting or self.timers
        kept = self.stateful or self.kept or self.dead or self.given or self.subscribed
        return not (pending or kept)


columns = attrgetter(*_COLUMNS)
