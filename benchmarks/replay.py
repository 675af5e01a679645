"""
The same scripts without our client: recorded once on the wire, replayed in two ways.

Through a redis-py pool they show what our client path gains; as one raw pipeline, what the server
could do at most. The clock is set while recording, so that every token in a question is right again
when it is replayed into an empty database, and every answer can be compared.
"""

import asyncio
import itertools
import socket
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from redis.asyncio import Redis

from benchmarks.measure import Burst, Take, burst
from benchmarks.server import Server
from benchmarks.turns import short_cycle
from state import connect
from state.partition import partition_of
from state.redis.resp import parse
from state.values import Conversation

#: Where recordings are replayed. Relation: not the database of what runs beside them.
_DATABASE = 1

#: Relation: far more than conversations, so that each has a partition, hence a counter, of its own
#: and its tokens do not depend on what the others do.
_PARTITIONS = 4096


@dataclass(frozen=True, slots=True)
class Exchange:
    """One command and its answer, as they were on the wire."""

    question: bytes
    answer: bytes


@dataclass(frozen=True, slots=True)
class Recording:
    """For each conversation its cycles, for each cycle its exchanges."""

    conversations: tuple[tuple[tuple[Exchange, ...], ...], ...]

    @property
    def each(self) -> int:
        """Cycles in each conversation."""
        return len(self.conversations[0])

    def interleaved(self) -> Iterator[Exchange]:
        """All exchanges, the conversations taking turns, as if they spoke at once."""
        for cycles in zip(*self.conversations, strict=True):
            for exchanges in zip(*cycles, strict=True):
                yield from exchanges


class _Relay:
    """Passes bytes between one client and the server, and keeps them, connection by connection."""

    def __init__(self, port: int) -> None:
        self._port = port
        #: What each connection asked and was answered.
        self._lines: list[tuple[bytearray, bytearray]] = []
        self._open = 0
        self.ended = asyncio.Event()

    async def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve a connection until either side closes it."""
        asked, answered = bytearray(), bytearray()
        self._lines.append((asked, answered))
        self._open += 1
        answers, questions = await asyncio.open_connection("127.0.0.1", self._port)
        async with asyncio.TaskGroup() as pumps:
            pumps.create_task(_pump(reader, questions, asked))
            pumps.create_task(_pump(answers, writer, answered))
        self._open -= 1
        if not self._open:
            self.ended.set()

    def exchanges(self) -> list[Exchange]:
        """Match the questions of scripts with their answers."""
        # Besides the one that scripts go over, the start opens one to try what it may listen to.
        lines = [line for line in self._lines if b"EVALSHA" in line[0].upper()]
        assert len(lines) <= 1, "the recording knows no order between connections"
        return [
            Exchange(question, answer)
            for asked, answered in lines
            for question, answer in zip(_split(asked), _split(answered), strict=True)
            if parse(question, 0)[0][0].upper() == b"EVALSHA"
        ]


async def _pump(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, kept: bytearray
) -> None:
    while passed := await reader.read(1 << 16):
        kept += passed
        writer.write(passed)
        await writer.drain()
    writer.close()


def _split(stream: bytes | bytearray) -> list[bytes]:
    whole, at, parts = bytes(stream), 0, []
    while at < len(whole):
        _, end = parse(whole, at)
        parts.append(whole[at:end])
        at = end
    return parts


async def record(server: Server, width: int, cycles: int) -> Recording:
    """Run about *cycles* short cycles in *width* conversations, one after another."""
    relay = _Relay(server.port)
    listening = await asyncio.start_server(relay.connect, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    ticks = itertools.count(int(time.time()) * 1000)
    state = connect(
        f"redis://127.0.0.1:{port}/{_DATABASE}",
        prefix="recorded",
        partitions=_PARTITIONS,
        clock=lambda: next(ticks) / 1000,
    )
    each = max(2, cycles // width)
    async with listening:
        await state.open()
        try:
            cycle = short_cycle(state, _alone(width + 1))
            await cycle(width)  # brings the scripts to the server
            before = len(relay.exchanges())
            for number in range(width):
                for _ in range(each):
                    await cycle(number)
        finally:
            await state.close()
            await relay.ended.wait()
    return _sorted(relay.exchanges()[before:], width, each)


def _sorted(exchanges: list[Exchange], width: int, each: int) -> Recording:
    steps, rest = divmod(len(exchanges), width * each)
    assert not rest, "cycles of different lengths"
    taken = iter(exchanges)
    return Recording(
        tuple(
            tuple(tuple(itertools.islice(taken, steps)) for _ in range(each)) for _ in range(width)
        )
    )


def _alone(width: int) -> list[Conversation]:
    """Name conversations of which no two share a partition."""
    found: dict[int, Conversation] = {}
    for number in itertools.count():
        owner = f"guild/{10**17 + number}"
        found.setdefault(partition_of(owner, _PARTITIONS), Conversation(owner, str(number)))
        if len(found) == width:
            return list(found.values())
    raise AssertionError


@asynccontextmanager
async def pooled(server: Server, recording: Recording) -> AsyncIterator[Take[Burst]]:
    """Send the recorded commands through a redis-py client as it is by default."""
    client = Redis(port=server.port, db=_DATABASE)
    asked = [[[_asked(one) for one in cycle] for cycle in of] for of in recording.conversations]

    async def take() -> Burst:
        await client.flushdb()
        turns = [iter(cycles) for cycles in asked]

        async def cycle(number: int) -> None:
            for command, expected in next(turns[number]):
                answer = await client.execute_command(*command)  # type: ignore[no-untyped-call]
                assert answer == expected, (command, answer)

        return await burst(cycle, len(asked), recording.each)

    async with client:
        await take()
        yield take


def _asked(exchange: Exchange) -> tuple[list[Any], Any]:
    return parse(exchange.question, 0)[0], parse(exchange.answer, 0)[0]


def pipelined(server: Server, recording: Recording) -> Take[Burst]:
    """Send all recorded commands in one go and read all answers: the server is all that works."""
    order = list(recording.interleaved())
    questions = b"".join(one.question for one in order)
    expected = b"".join(one.answer for one in order)
    cycles = len(recording.conversations) * recording.each

    def run() -> Burst:
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            for command in (f"SELECT {_DATABASE}\r\n", "FLUSHDB\r\n"):
                connection.sendall(command.encode())
                assert connection.recv(64) == b"+OK\r\n"
            sender = threading.Thread(target=connection.sendall, args=(questions,))
            received = bytearray()
            cpu, began = time.process_time(), time.perf_counter()
            sender.start()
            while len(received) < len(expected):
                received += connection.recv(1 << 20)
            seconds = time.perf_counter() - began
            sender.join()
        assert received == expected, "the server answered otherwise than when it was recorded"
        return Burst(cycles, seconds, time.process_time() - cpu)

    return lambda: asyncio.to_thread(run)
