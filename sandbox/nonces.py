"""Remember the nonces of recent messages, so that a request sent twice makes one message."""

import time
from collections.abc import Callable
from dataclasses import dataclass

WINDOW = 120.0
"""Seconds. Discord says "the past few minutes"; the shortest reading is the honest test."""


@dataclass(frozen=True, slots=True)
class Made:
    """Say which message a nonce has made; it may be deleted by now."""

    channel_id: int
    message_id: int
    until: float


class Nonces:
    """
    Map the bot's nonces to its messages for `WINDOW` seconds, whatever the channel.

    Discord promises uniqueness per author, not per channel.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._made: dict[str, Made] = {}

    def recall(self, nonce: str | int) -> Made | None:
        """Answer what this nonce has made within the window."""
        self._forget_expired()
        return self._made.get(str(nonce))

    def remember(self, nonce: str | int, *, channel_id: int, message_id: int) -> None:
        """Bind the nonce to a new message."""
        self._forget_expired()
        self._made[str(nonce)] = Made(channel_id, message_id, self._clock() + WINDOW)

    def _forget_expired(self) -> None:
        now = self._clock()
        # Insertion order is expiry order, so the first that still counts ends the search.
        for nonce, made in list(self._made.items()):
            if made.until > now:
                return
            del self._made[nonce]
