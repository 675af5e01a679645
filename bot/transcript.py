"""What was said: the transcript entries that a commit writes and a responder reads."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Literal

from bot.endings import Ending
from bot.inbound import Kind, Message, Person
from state.outcomes import Entry

VERSION = 1


@dataclass(frozen=True, slots=True)
class Said:
    """One thing said in a conversation, by a person or by us."""

    role: Literal["person", "bot"]
    text: str
    #: Who said it; None for us.
    author: Person | None = None
    #: How the turn that said it ended; None for a person.
    ending: Ending | None = None

    def pack(self) -> bytes:
        """Pack it for the store."""
        body = json.dumps({"v": VERSION, **asdict(self)}, ensure_ascii=False, separators=(",", ":"))
        return body.encode("utf-8", "replace")


def exchange(messages: Iterable[Message], reply: str, ending: Ending) -> list[Said]:
    """Tell what people wrote and what was shown of the reply, whatever its ending."""
    said = [
        Said("person", message.text, message.author)
        for message in messages
        if message.trigger.kind is not Kind.TIMER  # nobody has said anything
    ]
    return [*said, Said("bot", reply, ending=ending)] if reply else said


def read(entries: Iterable[Entry]) -> list[Said]:
    """Read entries, oldest first; one that this build cannot read is left out."""
    return [said for entry in entries if (said := _read(entry)) is not None]


def _read(entry: Entry) -> Said | None:
    try:
        body = json.loads(entry.payload)
        if body["v"] != VERSION:
            return None
        author = Person(**body["author"]) if body["author"] else None
        ending = Ending(body["ending"]) if body["ending"] else None
        return Said(body["role"], body["text"], author, ending)
    except (ValueError, KeyError, TypeError):
        return None
