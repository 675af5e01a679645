"""Ration the starts of sessions: how many identifies a day has, and at what pace."""

from dataclasses import replace
from typing import Any

from sandbox.protocol import IdentifyGate, Terms

A_DAY = 1_000
"""Identifies that Discord grants a bot in a day."""

DAY = 86_400_000
"""Milliseconds."""


class Starts:
    """Grant identifies, and tell what is left of them."""

    def __init__(self, terms: Terms) -> None:
        self.remaining = A_DAY
        self.interval = terms.identify_interval
        self._terms = terms
        self._gate = IdentifyGate(terms)

    def limit(self) -> dict[str, int]:
        """Answer the `session_start_limit` of `GET /gateway/bot`."""
        return {
            "total": A_DAY,
            "remaining": self.remaining,
            "reset_after": DAY,
            "max_concurrency": self._terms.max_concurrency,
        }

    def change(self, *, remaining: int | None = None, **terms: Any) -> None:  # noqa: ANN401 - those of Terms
        """Set what is left of the day, and terms by their names; what is None stays."""
        if remaining is not None:
            self.remaining = remaining
        changed = {name: value for name, value in terms.items() if value is not None}
        self._terms = replace(self._terms, **changed)
        self.interval = self._terms.identify_interval
        self._gate = IdentifyGate(self._terms)

    def in_time(self, shard: int) -> bool:
        """Tell whether this shard may identify by now."""
        return self._gate.grant(shard)

    def spend(self) -> bool:
        """Take one of the day's identifies; tell whether there was one."""
        if self.remaining == 0:
            return False
        self.remaining -= 1
        return True
