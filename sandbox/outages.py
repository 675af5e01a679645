"""Keep the gateway as a whole from working, for a time or until it is mended."""

import asyncio
from collections.abc import Callable


class Outage:
    """One way in which the whole gateway fails; `over` is called when it no longer does."""

    def __init__(self, over: Callable[[], None]) -> None:
        self.lasts = False
        self._over = over
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, seconds: float | None = None) -> None:
        """Fail from now on, for some seconds or until ended."""
        self._stop_timer()
        self.lasts = True
        if seconds is not None:
            self._timer = asyncio.get_running_loop().call_later(seconds, self.end)

    def end(self) -> None:
        """Fail no longer."""
        self._stop_timer()
        if self.lasts:
            self.lasts = False
            self._over()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
