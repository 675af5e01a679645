"""How fast this process may edit, over all of its conversations together."""

from collections.abc import Iterator
from contextlib import contextmanager

#: Seconds between two edits of one message. Discord allows about five edits in five seconds per
#: channel.
CADENCE = 1.0

#: Edits a second of all streams together. Relation: below Discord's 50 requests a second per bot,
#: so that creates, commands and typing find room; edits are the first to give way.
EDITS_PER_SECOND = 35.0


class Pace:
    """Counts the streams of this process, and stretches their cadence when there are many."""

    def __init__(self) -> None:
        """Start with none."""
        self._streams = 0

    @contextmanager
    def streaming(self) -> Iterator[None]:
        """Count one more stream while the block runs."""
        self._streams += 1
        try:
            yield
        finally:
            self._streams -= 1

    def pause(self, took: float) -> float:
        """
        Seconds to leave a message alone after an edit that *took* so many.

        An edit that had to wait for Discord's limits took long: as long again is left free.
        """
        cadence = max(CADENCE, self._streams / EDITS_PER_SECOND)
        return max(cadence - took, took)
