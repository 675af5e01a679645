"""A room of the sandbox in which people use commands that ask for a turn."""

from typing import Any
from unittest.mock import patch

from tests.discord.bots import Room
from tests.waiting import PATIENCE, wait_until


class Asking(Room):
    """A room in which people use /ask."""

    def ask(self, person: str, question: str) -> Any:  # noqa: ANN401 (of the sandbox)
        """Use /ask; the interaction."""
        return self.use(person, "ask", question=question)

    def use(self, person: str, command: str, **options: object) -> Any:  # noqa: ANN401
        """Use any command; the interaction."""
        who = self.world.person(person).id
        return self.sandbox.interactions.use(self.id, who, command, options)

    def event(self, person: str, command: str, **options: object) -> tuple[Any, dict[str, Any]]:
        """Use a command whose event is not told yet: the interaction, and the event."""
        with patch.object(self.world.discord, "emit") as told:
            asked = self.use(person, command, **options)
        return asked, dict(told.call_args.args[1])

    def view(self, asked: Any) -> dict[str, Any]:  # noqa: ANN401
        """What the interaction is by now."""
        return self.sandbox.interactions.view(asked)

    async def until(
        self,
        asked: Any,  # noqa: ANN401
        *,
        says: str,
        timeout: float = PATIENCE,
    ) -> dict[str, Any]:
        """Wait until the response says something and ends so."""

        def there() -> bool:
            view = self.view(asked)
            return bool(view["content"]) and view["content"].endswith(says)

        await wait_until(there, timeout=timeout, description=f"the response says {says!r}")
        return self.view(asked)

    async def until_thinking(self, asked: Any) -> None:  # noqa: ANN401
        """Wait until it is deferred."""
        await wait_until(lambda: self.view(asked)["thinking"], description="it is deferred")
