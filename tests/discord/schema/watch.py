"""Watch every answer that the sandboxes of this process give, and list what is wrong with them."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from aiohttp import web

from sandbox.calls import Call
from sandbox.rest import Rest
from tests.discord.schema.allowed import ALLOWED
from tests.discord.schema.check import Fault, faults

#: What differs between answers that are the same to the schema: ids, times, ports, texts, nonces.
SAME = re.compile(
    rb'\d{15,}|\d{4}-\d\d-\d\dT[^"]*|(?<=127\.0\.0\.1:)\d+'
    rb'|(?<="content": ")(?:[^"\\]|\\.)+|(?<="nonce": ")[^"]+'
)

Answer = tuple[str, str, int, bytes]

#: Answers without a fault, reduced to what the schema tells apart: to judge one takes milliseconds,
#: and a reply that streams is answered by hundreds alike.
_right: set[Answer] = set()


@dataclass
class Answers:
    """Note answers as they go out, and judge them afterwards, when nobody waits for them."""

    #: Answers by what the schema tells apart, the first of each.
    _given: dict[Answer, Answer] = field(default_factory=dict)

    def note(self, call: Call, answer: web.Response) -> None:
        """Note one answer; the like of it again is no news."""
        body = answer.body
        assert body is None or isinstance(body, bytes)
        given = (call.method, call.path, answer.status, body or b"null")
        like = (call.method, _like(call.path.encode()).decode(), answer.status, _like(given[3]))
        if like not in _right:
            self._given.setdefault(like, given)

    def faults(self) -> list[Fault]:
        """List what Discord's schema has against them."""
        found: list[Fault] = []
        for like, (method, path, status, body) in sorted(self._given.items()):
            wrong = faults(method, path, status, json.loads(body))
            if not wrong:
                _right.add(like)
            found += wrong
        return found

    def unexpected(self) -> list[Fault]:
        """List the faults that are not allowed for."""
        return [one for one in self.faults() if not any(entry.covers(one) for entry in ALLOWED)]


def _like(answered: bytes) -> bytes:
    return SAME.sub(b"0", answered)


@contextmanager
def watched() -> Iterator[Answers]:
    """Watch for as long as the context lasts."""
    answers = Answers()
    Rest.watchers.append(answers.note)
    try:
        yield answers
    finally:
        Rest.watchers.remove(answers.note)
