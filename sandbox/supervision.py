"""Say what the sandbox asks of whoever runs the bot's process beside it."""

from collections.abc import Mapping
from typing import Protocol


class Supervisor(Protocol):
    """End and start the bot's process for the buttons of the page."""

    async def crash(self) -> None:
        """Kill the process at once, without a chance to clean up."""

    async def restart(self) -> None:
        """Start the process, after ending it if it runs."""

    async def status(self) -> Mapping[str, object]:
        """Describe the process as JSON, such as `{"running": true, "pid": 4711}`."""
        ...
