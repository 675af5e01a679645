"""Ration the starts of sessions: how many identifies a day has, and at what pace."""

from dataclasses import replace

from sandbox.protocol import IdentifyGate, Terms

A_DAY = 1_000
"""Identifies that Discord grants a bot in a day."""

DAY = 86_400_000
"""Milliseconds."""


class Starts:
    """Grant identifies, and tell what is left of them."""

    def __init__(self, terms: Terms) -> None:
        self.remaining = A_DAY
        self._terms = terms
        self._gate = IdentifyGate(terms)

    @property
    def interval(self) -> float:
        """Answer the seconds between two identifies of one bucket."""
        return self._terms.identify_interval

    def limit(self) -> dict[str, int]:
        """Answer the `session_start_limit` of `GET /gateway/bot`."""
        return {
            "total": A_DAY,
            "remaining": self.remaining,
            "reset_after": DAY,
            "max_concurrency": self._terms.max_concurrency,
        }

    def change(
        self,
        *,
        remaining: int | None = None,
        max_concurrency: int | None = None,
        identify_interval: float | None = None,
    ) -> None:
        """Set what is left of the day, and the pace; what is None stays."""
        if remaining is not None:
            self.remaining = remaining
        if max_concurrency is not None:
            self._terms = replace(self._terms, max_concurrency=max_concurrency)
        if identify_interval is not None:
            self._terms = replace(self._terms, identify_interval=identify_interval)
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
