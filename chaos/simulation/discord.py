"""A chat service that keeps messages, knows nonces for a while, and counts effects by their key."""

from collections import Counter
from dataclasses import dataclass

#: Seconds for which a nonce is known. Relation: longer than a request may be late, so that a late
#: one is recognised; shorter than a process may be away, so that some find it forgotten.
NONCE_WINDOW = 16.0


@dataclass(frozen=True, slots=True)
class Posted:
    """A message of ours, with the page that it shows."""

    id: str
    channel: str
    turn: str
    number: int
    nonce: str | None
    at: float


class Discord:
    """What is visible outside; it survives every process and every store."""

    def __init__(self) -> None:
        """Start empty."""
        self.posted: list[Posted] = []
        #: Runs of each effect, by its idempotency key.
        self.effects: Counter[str] = Counter()
        self._known: dict[str, Posted] = {}

    def create(self, now: float, channel: str, turn: str, number: int, nonce: str | None) -> str:
        """Make a message, unless its nonce is known; answer the id of the one that is there."""
        known = self._known.get(nonce) if nonce is not None else None
        if known is not None and now - known.at < NONCE_WINDOW:
            return known.id
        made = Posted(f"9{len(self.posted)}", channel, turn, number, nonce, now)
        self.posted.append(made)
        if nonce is not None:
            self._known[nonce] = made
        return made.id

    def recent(self, _now: float, channel: str) -> list[Posted]:
        """List our messages of a channel, oldest first."""
        return [posted for posted in self.posted if posted.channel == channel]

    def edit(self, _now: float, turn: str, number: int) -> None:
        """Change nothing: what a page says is not simulated, only who may touch it."""

    def effect(self, _now: float, key: str) -> str:
        """Run an effect, once more; a provider that heeds the key answers alike each time."""
        self.effects[key] += 1
        return f"receipt of {key}"

    def shows(self, turn: str, number: int) -> list[Posted]:
        """List the messages that show one page."""
        return [p for p in self.posted if p.turn == turn and p.number == number]
