"""The servers of a cluster: a line to each, and the map of which serves what."""

import asyncio
import random

from redis.asyncio.connection import AbstractConnection

from state.redis.driver import CONNECT_TIMEOUT, FAILURES, SOCKET_TIMEOUT, address_in, connections_to
from state.redis.line import Line
from state.redis.resp import command
from state.redis.slots import Address, SlotMap, slot_map, slot_of

_SLOTS = command("CLUSTER", "SLOTS")


class Nodes:
    """What is known of a cluster; it starts with one server and learns the others from it."""

    def __init__(self, url: str) -> None:
        """Take the URL of any server; its user, password and options serve for all of them."""
        self._url = url
        self._seed = address_in(url)
        self._map = SlotMap((), (), (), (self._seed,))
        #: How often the map was drawn.
        self.epoch = 0
        self._lines: dict[Address, Line] = {}
        #: Lines by hash tag, as far as they were asked for since the map was drawn.
        self._by_tag: dict[bytes, Line] = {}
        self._drawing: asyncio.Task[None] | None = None

    async def close(self) -> None:
        """Give back all connections."""
        if self._drawing is not None:
            self._drawing.cancel()
            await asyncio.wait([self._drawing])
        lines, self._lines = self._lines, {}
        for line in lines.values():
            await line.close()

    def line(self, address: Address) -> Line:
        """Return the line to one server."""
        line = self._lines.get(address)
        if line is None:
            made = connections_to(self._url, timeout=SOCKET_TIMEOUT, at=address)
            line = self._lines[address] = Line(made)
        return line

    def address_of(self, line: Line) -> Address:
        """Return where a line leads; the first server when it was given up meanwhile."""
        found = (address for address, known in self._lines.items() if known is line)
        return next(found, self._seed)

    def known(self, tag: bytes) -> Line | None:
        """Return the line to the server of a hash tag that was asked for before."""
        return self._by_tag.get(tag)

    async def serving(self, tag: bytes) -> Line:
        """Return the line to the server of a hash tag; without one, to any server."""
        drawn = await self._drawn()
        if not tag:
            return self.line(self._any(drawn.primaries))
        line = self._by_tag.get(tag)
        if line is None:
            slot = slot_of(tag)
            address = drawn.primary_of(slot)
            if address is None:
                raise ConnectionError(f"no server of the cluster holds slot {slot}")
            line = self._by_tag[tag] = self.line(address)
        return line

    async def primaries(self) -> list[Address]:
        """List the servers that hold slots."""
        return list(dict.fromkeys((await self._drawn()).primaries))

    def listening(self) -> AbstractConnection:
        """Return a new connection to any server: each hears what is published on all."""
        return connections_to(self._url, timeout=None, at=self._any(self._map.servers))()

    def _any(self, addresses: tuple[Address, ...]) -> Address:
        """Choose a server, one whose line stands if there is any."""
        return random.choice([one for one in addresses if self._stands(one)] or addresses)

    def _stands(self, address: Address) -> bool:
        line = self._lines.get(address)
        return line is not None and line.mux is not None and line.mux.open

    # --- the map --------------------------------------------------------------------------------

    async def _drawn(self) -> SlotMap:
        if self.epoch == 0:
            await self.draw_anew(0)
        return self._map

    async def draw_anew(
        self, epoch: int, *, first: Address | None = None, last: Address | None = None
    ) -> None:
        """
        Draw the map again, unless that was done since *epoch*; all who want it share one attempt.

        Ask the server *first* that is likely to know, and *last* the one that does not answer.
        """
        if epoch < self.epoch:
            return
        if self._drawing is None:
            self._drawing = asyncio.create_task(self._draw(first, last))
            self._drawing.add_done_callback(self._drawn_or_not)
        await asyncio.shield(self._drawing)

    def _drawn_or_not(self, attempt: asyncio.Task[None]) -> None:
        self._drawing = None
        if not attempt.cancelled():
            attempt.exception()  # seen: whoever waited was told, and nobody may have waited

    async def _draw(self, first: Address | None, last: Address | None) -> None:
        failure: Exception | None = None
        for address in self._in_turn(first, last):
            try:
                async with asyncio.timeout(CONNECT_TIMEOUT):
                    mux = await self.line(address).connected()
                    told = await mux.ask(_SLOTS)
            except TimeoutError:
                failure = ConnectionError(f"{address} is silent")
            except FAILURES as error:
                failure = error
            else:
                if told:  # a server that was taken out of the cluster knows of none
                    await self._adopt(slot_map(told, address))
                    return
        raise failure or ConnectionError("no server tells who serves what")

    def _in_turn(self, first: Address | None, last: Address | None) -> list[Address]:
        """List all servers: those whose lines stand before those that have to be connected to."""
        known = random.sample(self._map.servers, len(self._map.servers))
        known.sort(key=self._stands, reverse=True)
        named = [first, *(one for one in known if one != last), self._seed, last]
        return list(dict.fromkeys(one for one in named if one is not None))

    async def _adopt(self, drawn: SlotMap) -> None:
        self._map = drawn
        self.epoch += 1
        self._by_tag = {}
        left = [one for one in self._lines if one not in drawn.servers]
        for line in [self._lines.pop(one) for one in left]:
            await line.close()
