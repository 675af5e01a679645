"""Speak the gateway's protocol: its numbers, what clients may send, and what is granted to them."""

import json
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum

from discord import Intents
from pydantic import BaseModel, ValidationError
from simcord.intents import missing_privileged_intents

SENDS = 120
"""Frames that a client may send in `SENDS_WINDOW` seconds."""

SENDS_WINDOW = 60.0
"""Seconds."""

FRAME_BYTES = 4_096
"""Bytes in the largest frame that a client may send."""


class Op(IntEnum):
    """Number the gateway's operations."""

    DISPATCH = 0
    HEARTBEAT = 1
    IDENTIFY = 2
    PRESENCE = 3
    VOICE = 4
    RESUME = 6
    RECONNECT = 7
    MEMBERS = 8
    INVALID_SESSION = 9
    HELLO = 10
    ACK = 11


class CloseCode(IntEnum):
    """Number the reasons for which the gateway closes a socket."""

    UNKNOWN_OP = 4001
    DECODE_ERROR = 4002
    NOT_AUTHENTICATED = 4003
    AUTHENTICATION_FAILED = 4004
    ALREADY_AUTHENTICATED = 4005
    RATE_LIMITED = 4008
    TIMED_OUT = 4009
    INVALID_SHARD = 4010
    INVALID_INTENTS = 4013
    DISALLOWED_INTENTS = 4014


class Closed(Exception):
    """Ends a connection with a close code."""

    def __init__(self, code: CloseCode) -> None:
        super().__init__(code.name)
        self.code = code


class Identify(BaseModel):
    """Begin a session."""

    token: str
    intents: int
    shard: tuple[int, int] = (0, 1)


class Resume(BaseModel):
    """Go on with a session after the event numbered `seq`."""

    token: str
    session_id: str
    seq: int


class Members(BaseModel):
    """Ask for members of a guild: by their ids, or by how their names begin (at most `limit`)."""

    guild_id: int
    query: str = ""
    limit: int = 0
    user_ids: list[int] | int | None = None
    nonce: str | None = None


Sent = Identify | Resume | Members | None

_KINDS: dict[Op, type[Identify | Resume | Members]] = {
    Op.IDENTIFY: Identify,
    Op.RESUME: Resume,
    Op.MEMBERS: Members,
}


def parse_frame(raw: str | bytes) -> tuple[Op, Sent]:
    """Read what a client sent; what the gateway has no use for is left unread."""
    if len(raw) > FRAME_BYTES:
        raise Closed(CloseCode.DECODE_ERROR)
    try:
        frame = json.loads(raw)
        number, payload = int(frame["op"]), frame.get("d")
    except (AttributeError, KeyError, TypeError, ValueError):
        raise Closed(CloseCode.DECODE_ERROR) from None
    if number not in set(Op):
        raise Closed(CloseCode.UNKNOWN_OP)
    kind = _KINDS.get(Op(number))
    try:
        return Op(number), None if kind is None else kind.model_validate(payload)
    except ValidationError:
        raise Closed(CloseCode.DECODE_ERROR) from None


@dataclass(frozen=True, slots=True)
class Terms:
    """
    Say what the gateway grants.

    `heartbeat` in seconds. `approved` are the intents switched on in the developer portal. One
    identify per `identify_interval` seconds is granted in each of `max_concurrency` buckets of
    shards; 0 grants any number.
    """

    token: str
    shards: int = 1
    max_concurrency: int = 16
    identify_interval: float = 0.0
    heartbeat: float = 41.25
    approved: Intents = field(default_factory=Intents.all)

    @property
    def application_flags(self) -> int:
        """Show the approved intents as an application's flags, as for a bot in few guilds."""
        return (
            self.approved.presences << 13
            | self.approved.members << 15
            | self.approved.message_content << 19
        )

    def authenticate(self, token: str) -> None:
        """Close on a token that is not the bot's."""
        if token.removeprefix("Bot ") != self.token:
            raise Closed(CloseCode.AUTHENTICATION_FAILED)

    def intents(self, value: int) -> Intents:
        """Read the intents of an identify; close on unknown ones and on those not approved."""
        if value & ~Intents.all().value:
            raise Closed(CloseCode.INVALID_INTENTS)
        intents = Intents.none()
        intents.value = value
        if missing_privileged_intents(intents, self.approved):
            raise Closed(CloseCode.DISALLOWED_INTENTS)
        return intents


class Pace:
    """Close on a client that sends more than the gateway takes."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._recent: deque[float] = deque(maxlen=SENDS)

    def count(self) -> None:
        """Count one frame."""
        now = self._clock()
        if len(self._recent) == SENDS and now - self._recent[0] < SENDS_WINDOW:
            raise Closed(CloseCode.RATE_LIMITED)
        self._recent.append(now)


class IdentifyGate:
    """Grant identifies at the pace of the terms."""

    def __init__(self, terms: Terms, clock: Callable[[], float] = time.monotonic) -> None:
        self._terms = terms
        self._clock = clock
        self._granted: dict[int, float] = {}

    def grant(self, shard: int) -> bool:
        """Tell whether this shard may identify now."""
        bucket, now = shard % self._terms.max_concurrency, self._clock()
        last = self._granted.get(bucket)
        if last is not None and now - last < self._terms.identify_interval:
            return False
        self._granted[bucket] = now
        return True


def unnumbered(op: Op, payload: object = None) -> str:
    """Write a frame that is no event."""
    return json.dumps({"op": op, "d": payload, "s": None, "t": None})
