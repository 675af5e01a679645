"""Name the numbers of Discord's gateway protocol, and what this gateway grants."""

from dataclasses import dataclass, field
from enum import IntEnum

from discord import Intents

SENDS = 120
"""Frames that a client may send in `SENDS_WINDOW` seconds."""

SENDS_WINDOW = 60.0
"""Seconds."""

FRAME_BYTES = 4_096
"""Bytes in the largest frame that a client may send."""


class Op(IntEnum):
    """Number the gateway's operations."""

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

    UNKNOWN_ERROR = 4000
    UNKNOWN_OP = 4001
    DECODE_ERROR = 4002
    NOT_AUTHENTICATED = 4003
    AUTHENTICATION_FAILED = 4004
    ALREADY_AUTHENTICATED = 4005
    INVALID_SEQ = 4007
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
