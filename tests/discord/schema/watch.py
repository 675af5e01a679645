"""Watch every answer that the sandboxes of this process give, and list what is wrong with them."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from aiohttp import web

from sandbox.calls import Call
from sandbox.rest import Rest
from tests.discord.schema.allowed import ALLOWED
from tests.discord.schema.check import Fault, faults


@dataclass
class Answers:
    """Note answers as they go out, and judge them afterwards, when nobody waits for them."""

    _given: set[tuple[str, str, int, bytes]] = field(default_factory=set)

    def note(self, call: Call, answer: web.Response) -> None:
        """Note one answer; the same again is no news."""
        body = answer.body
        assert body is None or isinstance(body, bytes)
        self._given.add((call.method, call.path, answer.status, body or b"null"))

    def faults(self) -> list[Fault]:
        """List what Discord's schema has against them."""
        return [
            fault
            for method, path, status, body in sorted(self._given)
            for fault in faults(method, path, status, json.loads(body))
        ]

    def unexpected(self) -> list[Fault]:
        """List the faults that are not allowed for."""
        return [one for one in self.faults() if not any(entry.covers(one) for entry in ALLOWED)]


@contextmanager
def watched() -> Iterator[Answers]:
    """Watch for as long as the context lasts."""
    answers = Answers()
    Rest.watchers.append(answers.note)
    try:
        yield answers
    finally:
        Rest.watchers.remove(answers.note)
