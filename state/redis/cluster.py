"""
Calls to a Redis Cluster: each goes to the server that holds its keys.

Servers redirect while keys move, and die. A call follows under the same bytes, hence the same
operation id, until its deadline.
"""

import asyncio
import random
from collections.abc import AsyncIterator
from dataclasses import dataclass
from time import monotonic
from typing import Any

from redis.asyncio.connection import AbstractConnection

from state.errors import StateUnavailable
from state.redis import calls
from state.redis.driver import FAILURES, may_pass, refusal, unavailable
from state.redis.line import Line
from state.redis.nodes import Nodes
from state.redis.resp import Argument, ServerError, command
from state.redis.scripts import Script
from state.redis.slots import redirected, tag_in

#: Commands that any server can answer, whatever they name.
_ANYWHERE = {"PING", "PUBLISH"}

_ASKING = command("ASKING")

#: Codes of server errors that say nothing against the map.
_IN_PLACE = {"BUSY", "NOSCRIPT", "TRYAGAIN"}


@dataclass(slots=True)
class _Errand:
    """One call, wherever it has to go."""

    question: bytes
    tag: bytes
    deadline: float
    script: Script | None = None
    #: The one server that it is about, if it is.
    pinned: Line | None = None
    #: Where it went last; kept for the next time when it was sent there.
    line: Line | None = None
    stays: bool = False
    #: Whether that server has to be told that it was sent.
    asking: bool = False
    #: The map by which it went, and how often it failed.
    epoch: int = 0
    failures: int = 0


class ClusterCalls:
    """A way to all servers of a cluster."""

    def __init__(self, url: str) -> None:
        """Take the URL of any server; nothing is connected before the first call."""
        self._url = url
        self._nodes = Nodes(url)
        self._closed = False
        #: Set once the store was checked: from then on no error means that it must not be used.
        self.checked = False

    async def close(self) -> None:
        """Give back the connections; calls that still wait fail."""
        self._closed = True
        await self._nodes.close()

    async def run(self, script: Script, question: bytes) -> Any:  # noqa: ANN401 (each answers its own)
        """See `Way.run`."""
        errand = _Errand(question, tag_in(question), _deadline(), script)
        errand.line, errand.epoch = self._nodes.known(errand.tag), self._nodes.epoch
        mux = errand.line.mux if errand.line is not None else None
        if mux is not None and mux.ready:
            try:
                return await mux.ask(question)
            except FAILURES as error:
                return await self._done(errand, error)
        return await self._done(errand)

    async def command(self, *arguments: Argument) -> Any:  # noqa: ANN401 (each answers its own)
        """See `Way.command`."""
        question = command(*arguments)
        tag = b"" if arguments[0] in _ANYWHERE else tag_in(question)
        return await self._done(_Errand(question, tag, _deadline()))

    async def everywhere(self, *arguments: Argument) -> dict[str, Any]:
        """See `Way.everywhere`."""
        lines = await self._lines()
        answers = await asyncio.gather(*(self._at(line, *arguments) for line in lines.values()))
        return dict(zip(lines, answers, strict=True))

    async def keys_like(self, pattern: str, count: int) -> AsyncIterator[list[bytes]]:
        """See `Way.keys_like`; a key that is just being moved may be missed."""
        for line in (await self._lines()).values():
            cursor = b"0"
            while True:
                asked = ("SCAN", cursor, "MATCH", pattern, "COUNT", count)
                cursor, keys = await self._at(line, *asked)
                yield keys
                if cursor == b"0":
                    break

    async def members_like(self, key: str, pattern: str, count: int) -> AsyncIterator[list[bytes]]:
        """See `Way.members_like`; no server understands another's cursor."""
        cursor, before = b"0", None
        while True:
            question = command("ZSCAN", key, cursor, "MATCH", pattern, "COUNT", count)
            errand = _Errand(question, tag_in(question), _deadline())
            cursor, found = await self._done(errand)
            if before not in (None, errand.line):
                cursor, before = b"0", None
                continue
            before = errand.line
            yield found[::2]
            if cursor == b"0":
                return

    def listening(self) -> AbstractConnection:
        """See `Way.listening`."""
        return self._nodes.listening()

    async def _lines(self) -> dict[str, Line]:
        """Return the lines to all servers that hold keys, by address."""
        await self.command("PING")  # learns the servers, and is told when none answers
        return {str(one): self._nodes.line(one) for one in await self._nodes.primaries()}

    async def _at(self, line: Line, *arguments: Argument) -> Any:  # noqa: ANN401 (each answers its own)
        errand = _Errand(command(*arguments), b"", _deadline(), pinned=line)
        return await self._done(errand)

    # --- until it is done -----------------------------------------------------------------------

    async def _done(self, errand: _Errand, failure: Exception | None = None) -> Any:  # noqa: ANN401
        """Send a call, after a *failure* again, until it is answered or its time is up."""
        while True:
            try:
                async with asyncio.timeout_at(errand.deadline):
                    if failure is not None:
                        await self._mend(errand, failure)
                    return await self._sent(errand)
            except TimeoutError:
                last = failure or ConnectionError("no connection in time")
                raise unavailable(last, self._url) from None
            except FAILURES as error:
                if self._closed:
                    raise StateUnavailable("the state was closed") from None
                failure = error

    async def _sent(self, errand: _Errand) -> Any:  # noqa: ANN401
        if not errand.stays or errand.line is None:
            errand.line = None  # a failure before the next line is known is none of the last one
            errand.epoch = self._nodes.epoch
            errand.line = errand.pinned or await self._nodes.serving(errand.tag)
        mux = await errand.line.connected()
        await mux.room()
        if not errand.asking:
            return await mux.ask(errand.question)
        # In one write: the permission is for the very next command of the connection.
        _, reply = await asyncio.gather(mux.ask(_ASKING), mux.ask(errand.question))
        return reply

    async def _mend(self, errand: _Errand, failure: Exception) -> None:
        """Do what the next try takes, or raise when none is worth it."""
        errand.failures += 1
        code = failure.code if isinstance(failure, ServerError) else None
        line = errand.line
        if line is not None and code == "NOSCRIPT" and errand.script is not None:
            await (await line.connected()).ask(command("SCRIPT", "LOAD", errand.script.text))
            errand.stays = True
            return
        sent_on = line is not None and code in {"MOVED", "ASK"}
        if not sent_on and not may_pass(failure):
            raise refusal(failure, self._url, checked=self.checked) from None
        if not sent_on or errand.failures > 1:
            await asyncio.sleep(random.uniform(*calls.PAUSE))
        await self._redirect(errand, failure, code)

    async def _redirect(self, errand: _Errand, failure: Exception, code: str | None) -> None:
        """Find out where to go next."""
        line, errand.stays, errand.asking = errand.line, False, False
        at = None if line is None else self._nodes.address_of(line)
        if at is not None and code == "ASK":
            errand.line, errand.stays = self._nodes.line(redirected(str(failure), at)), True
            errand.asking = True
        elif at is not None and code == "MOVED":
            to = redirected(str(failure), at)
            await self._nodes.draw_anew(errand.epoch, first=to)
        elif code not in _IN_PLACE:
            await self._nodes.draw_anew(errand.epoch, last=at)


def _deadline() -> float:
    return monotonic() + calls.CALL_TIMEOUT
