"""What Discord's refusals mean for a reply, and where we were refused lately."""

import time
from enum import Enum, auto

from bot.speaking import Rejected

# Discord's codes, by their names in its documentation.
UNKNOWN_CHANNEL = 10003
UNKNOWN_MESSAGE = 10008
OLD_MESSAGE_EDITED_TOO_OFTEN = 30046
MISSING_ACCESS = 50001
THREAD_ARCHIVED = 50083
THREAD_THERE = 160004
THREAD_LOCKED = 160005
CANNOT_READ_HISTORY = 160002
BLOCKED_BY_AUTOMOD = 200000
UNKNOWN_INTERACTION = 10062
UNKNOWN_WEBHOOK = 10015
INVALID_WEBHOOK_TOKEN = 50027
ALREADY_ACKNOWLEDGED = 40060

#: What tells that the token of an interaction is over, or was never acknowledged.
TOKEN_OVER = frozenset({UNKNOWN_INTERACTION, UNKNOWN_WEBHOOK, INVALID_WEBHOOK_TOKEN})

MISSING_PERMISSIONS = 50013
TOO_LARGE = 40005

#: Refusals that may be about a message's embeds and files, and not about the message.
NOT_WITH_PIECES = frozenset({MISSING_PERMISSIONS, TOO_LARGE})

#: Refused edits after which the page goes on in a new message.
SEND_ANEW = frozenset({UNKNOWN_MESSAGE, THREAD_ARCHIVED, OLD_MESSAGE_EDITED_TOO_OFTEN})

#: Seconds for which a place that refused us is left alone: long enough to spare a model call for
#: each message, short enough that a mended right is soon noticed.
REMEMBERED = 900.0

#: Places remembered at once; the oldest are forgotten first.
PLACES = 10_000

UNAUTHORIZED = 401
FORBIDDEN = 403


class Refused(Enum):
    """What to do about a refusal that ends a reply."""

    #: The channel is gone or hidden from us: drop what waits there, follow it no more.
    GONE = auto()
    #: We may not speak there for now.
    SILENCED = auto()
    #: This text was not let through.
    CENSORED = auto()
    #: Something is wrong with what we sent.
    FAULTY = auto()


def meaning(error: Rejected) -> Refused:
    """Tell what a refusal means."""
    if error.code in (UNKNOWN_CHANNEL, MISSING_ACCESS):
        return Refused.GONE
    if error.code == BLOCKED_BY_AUTOMOD:
        return Refused.CENSORED
    if error.status == FORBIDDEN or error.code == THREAD_LOCKED:
        return Refused.SILENCED
    return Refused.FAULTY


class Silence:
    """The channels in which this process was refused lately."""

    def __init__(self) -> None:
        """Start with none."""
        self._until: dict[str, float] = {}

    def fall(self, channel: str) -> bool:
        """Leave *channel* alone for a while; whether that is news."""
        news = not self.reigns(channel)
        self._until.pop(channel, None)
        self._until[channel] = time.monotonic() + REMEMBERED
        while len(self._until) > PLACES:
            del self._until[next(iter(self._until))]
        return news

    def lift(self, channel: str) -> None:
        """Leave *channel* alone no longer."""
        self._until.pop(channel, None)

    def reigns(self, channel: str) -> bool:
        """Whether *channel* is left alone."""
        return self._until.get(channel, 0.0) > time.monotonic()
