"""People, messages and speakers for tests of the bot's core, and the Discord they meet."""

from collections.abc import Iterator
from contextlib import contextmanager

from bot.inbound import Message, Person
from bot.locks import Holding
from bot.speaking import speaker
from bot.testing.traffic import CHANNEL, Fault, snowflake
from bot.testing.wire import Discord, FakeWire

__all__ = [
    "ADA",
    "BO",
    "CHANNEL",
    "CY",
    "GUILD",
    "Discord",
    "FakeWire",
    "Fault",
    "message",
    "snowflake",
    "speaking",
]

ADA, BO, CY = Person("101", "Ada"), Person("102", "Bo"), Person("103", "Cy")
GUILD = "301"


def message(
    text: str = "hello",
    author: Person = ADA,
    *,
    age: float = 0.0,
    id: str | None = None,  # noqa: A002 (as the field it fills)
    channel: str = CHANNEL,
    guild: str | None = GUILD,
    addressed: bool = True,
    responder: str = "Script",
) -> Message:
    """Make a message as it comes from hearing, written *age* seconds ago."""
    return Message(id or snowflake(age), channel, guild, author, text, addressed, responder)


@contextmanager
def speaking(holding: Holding) -> Iterator[None]:
    """Send in the name of *holding*, as a turn's tasks do."""
    token = speaker.set(holding)
    try:
        yield
    finally:
        speaker.reset(token)
