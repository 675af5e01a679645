"""The way to Redis: one connection for many callers, and nothing that runs twice or hangs."""

import asyncio
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path
from unittest.mock import patch

import pytest

from state.errors import StateUnavailable
from state.outcomes import Placed, Turnover
from state.redis import RedisState, calls, mux
from state.redis.calls import Calls
from state.redis.driver import connections_to
from state.redis.resp import command
from state.values import Changes, Claim, Conversation, Could, Inbound, Policy
from tests.redis_server import RedisServer, running_redis, stop
from tests.waiting import wait_until

HERE = Conversation("guild/1", "10")
CLAIM = Claim(30.0)


class Proxy:
    """Stands between a client and the server, and does to replies what networks do."""

    def __init__(self, server: RedisServer) -> None:
        self._path = str(server.directory / "redis.sock")
        self._server: asyncio.Server | None = None
        self._pipes: set[asyncio.Task[None]] = set()
        #: Replies to swallow; the connection is cut with each.
        self.lose = 0
        #: Whether replies stay away.
        self.frozen = False
        #: Whether replies arrive byte by byte.
        self.split = False
        self.connections = 0

    @property
    def url(self) -> str:
        """The proxy's own address."""
        assert self._server is not None
        return f"redis://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/0"

    async def start(self) -> None:
        """Listen."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)

    async def stop(self) -> None:
        """Cut every connection."""
        assert self._server is not None
        self._server.close()
        for pipe in self._pipes:
            pipe.cancel()
        await asyncio.gather(*self._pipes, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._pipes.add(task)
        self.connections += 1
        there, back = await asyncio.open_unix_connection(self._path)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._ask(reader, back))
                group.create_task(self._answer(there, writer))
        except* (ConnectionError, EOFError):
            pass
        finally:
            self._pipes.discard(task)
            for end in (writer, back):
                end.close()
                with suppress(ConnectionError):
                    await end.wait_closed()

    async def _ask(self, reader: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        while asked := await reader.read(65_536):
            back.write(asked)
        raise EOFError

    async def _answer(self, there: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while answered := await there.read(65_536):
            if self.lose:
                self.lose -= 1
                raise ConnectionResetError
            if self.frozen:
                continue
            for piece in [bytes([b]) for b in answered] if self.split else [answered]:
                writer.write(piece)
                await writer.drain()
                if self.split:
                    await asyncio.sleep(0)
        raise EOFError


@pytest.fixture
async def proxy(redis_server: RedisServer) -> AsyncIterator[Proxy]:
    """Give a proxy before the shared server."""
    standing = Proxy(redis_server)
    await standing.start()
    yield standing
    await standing.stop()


@pytest.fixture
async def state(proxy: Proxy, redis_prefix: str) -> AsyncIterator[RedisState]:
    """Give an open adapter behind the proxy."""
    opened = RedisState(proxy.url, prefix=redis_prefix)
    await opened.open()
    yield opened
    await opened.close()


@pytest.fixture
async def line(redis_socket_url: str) -> AsyncIterator[Calls]:
    """Give a plain way to the shared server."""
    way = Calls(redis_socket_url)
    await way.command("PING")
    yield way
    await way.close()


@pytest.fixture
def hasty() -> Iterator[None]:
    """Let deadlines be short, so that the test is."""
    with patch.object(mux, "SOCKET_TIMEOUT", 0.2), patch.object(calls, "CALL_TIMEOUT", 0.5):
        yield


async def admit(state: RedisState, name: str = "m1", op: str = "op1") -> Placed:
    """Let *name* start a turn."""
    answer = await state.admit(
        HERE, Inbound(name, "ann", b"hello"), Could(trigger=True), Policy(), op=op, claim=CLAIM
    )
    assert isinstance(answer, Placed)
    return answer


def test_the_driver_never_retries_by_itself() -> None:
    """Every connection of the one factory has retries switched off: a retry runs a script twice."""
    connection = connections_to("redis://127.0.0.1:1/0", timeout=1.0)()
    assert connection.retry.get_retries() == 0
    assert connection.retry_on_error == []
    assert not connection.retry_on_timeout
    assert connection.health_check_interval == 0


async def test_what_one_turn_of_the_loop_asks_leaves_in_one_write(line: Calls) -> None:
    """A hundred callers cost one write, and each gets its own answer."""
    asked = line._line.mux
    assert asked is not None
    with patch.object(asked, "_transport", wraps=asked._transport) as transport:
        transport.is_closing.return_value = False
        answers = await asyncio.gather(*(asked.ask(command("ECHO", n)) for n in range(100)))
    assert answers == [b"%d" % n for n in range(100)]
    assert transport.write.call_count == 1


async def test_cancelled_callers_leave_the_connection_in_order(line: Calls) -> None:
    """Whoever gives up while waiting takes nobody's answer and costs no connection."""
    before = line._line.mux
    chance = random.Random(random.getrandbits(32))

    async def echo(number: int) -> tuple[int, bytes]:
        return number, await line.command("ECHO", number)

    for _ in range(20):
        tasks = [asyncio.create_task(echo(number)) for number in range(50)]
        for _ in range(chance.randint(0, 3)):
            await asyncio.sleep(0)
        for task in chance.sample(tasks, 25):
            task.cancel()
        done = await asyncio.gather(*tasks, return_exceptions=True)
        for answer in done:
            if not isinstance(answer, BaseException):
                assert answer[1] == b"%d" % answer[0]
    assert line._line.mux is before


async def test_more_callers_than_fit_wait_for_their_turn(line: Calls) -> None:
    """What may be in flight is bounded; nobody is refused and nobody is lost."""
    with patch.object(mux, "IN_FLIGHT", 10):
        answers = await asyncio.gather(*(line.command("ECHO", n) for n in range(200)))
    assert answers == [b"%d" % n for n in range(200)]


async def test_a_lost_reply_is_asked_for_again_and_nothing_happens_twice(
    state: RedisState, proxy: Proxy
) -> None:
    """Started stays started, and a commit that released is no lost lease."""
    proxy.lose = 1
    answer = await admit(state)
    assert answer.place == 0
    assert answer.turnover.started is not None
    proxy.lose = 2
    lease = answer.turnover.started.lease
    assert await state.commit(lease, Changes(), op="op2", claim=CLAIM) == Turnover()
    assert (await state.view(HERE)).turn is None
    assert proxy.lose == 0


async def test_replies_that_arrive_in_pieces_are_put_together(
    state: RedisState, proxy: Proxy
) -> None:
    """However the network cuts the bytes, everybody gets the whole of their own answer."""
    proxy.split = True
    lease = (await admit(state)).turnover.started.lease  # type: ignore[union-attr]
    values = [bytes([n]) * 700 for n in range(20)]
    answers = await asyncio.gather(
        *(state.record(lease, "step", str(n), value) for n, value in enumerate(values))
    )
    assert answers == values


@pytest.mark.usefixtures("hasty")
async def test_a_server_that_stays_silent_is_an_error_within_the_deadline(
    state: RedisState, proxy: Proxy
) -> None:
    """No call hangs, and the next one works once the server answers again."""
    proxy.frozen = True
    started = asyncio.get_running_loop().time()
    with pytest.raises(StateUnavailable, match="did not answer"):
        await admit(state)
    assert asyncio.get_running_loop().time() - started < 1.5
    proxy.frozen = False
    assert (await admit(state)).place == 0


async def test_scripts_that_the_server_forgot_are_sent_again(
    state: RedisState, redis_server: RedisServer
) -> None:
    """A restarted or flushed server knows no script; nobody notices."""
    lease = (await admit(state)).turnover.started.lease  # type: ignore[union-attr]
    await state._calls.command("SCRIPT", "FLUSH")
    assert await state.record(lease, "step", "", b"value") == b"value"


async def test_a_server_that_comes_back_is_used_without_a_restart(tmp_path: Path) -> None:
    """While it is gone calls fail within the deadline; what it had acknowledged is there after."""
    with running_redis(tmp_path) as server:
        port = int(server.url.rpartition(":")[2].partition("/")[0])
        state = RedisState(server.url)
        await state.open()
        lease = (await admit(state)).turnover.started.lease  # type: ignore[union-attr]
        stop(server)
        with patch.object(calls, "CALL_TIMEOUT", 0.3), pytest.raises(StateUnavailable):
            await state.view(HERE)
    with running_redis(tmp_path, port=port):
        assert await state.record(lease, "step", "", b"value") == b"value"
        await state.close()


async def test_closing_ends_calls_that_wait(state: RedisState, proxy: Proxy) -> None:
    """Nobody is left waiting for a connection that is being given back."""
    proxy.frozen = True
    waiting = asyncio.create_task(state.view(HERE))
    assert isinstance(state._calls, Calls)
    asked = state._calls._line.mux
    assert asked is not None
    await wait_until(lambda: len(asked._waiting) > 0, description="the question is sent")
    await state.close()
    with pytest.raises(StateUnavailable):
        await waiting
