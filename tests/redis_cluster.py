"""A real Redis Cluster of the tests' own: primaries on loopback, without replicas."""

import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

import redis

from state.redis.slots import SLOTS
from tests.redis_server import START_WITHIN, STOP_WITHIN, free_port, server_binary

# Milliseconds that a server may be silent before the others count it as failed.
NODE_TIMEOUT = 2000

# A cluster's servers talk to each other on the port that is so much higher.
BUS = 10_000
HIGHEST = 65_535


@dataclass(frozen=True, slots=True)
class Server:
    """One server of a cluster."""

    port: int
    directory: Path
    process: subprocess.Popen[bytes]
    #: Its second port, when it speaks TLS as well.
    tls_port: int | None

    @property
    def address(self) -> str:
        """Tell where it listens."""
        return f"127.0.0.1:{self.port}"

    def client(self) -> redis.Redis:
        """Return a client of this very server."""
        return redis.Redis(port=self.port)

    def asked(self, *arguments: str | int) -> str:
        """Send one command, which answers text."""
        with self.client() as client:
            # Callbacks of the driver read answers of CLUSTER in ways that change with its version.
            client.response_callbacks.clear()
            answer = client.execute_command(*arguments)
            return answer.decode() if isinstance(answer, bytes) else str(answer)


@dataclass(frozen=True, slots=True)
class Cluster:
    """A running cluster."""

    servers: list[Server]
    #: What ends the servers with the cluster.
    running: ExitStack

    @property
    def url(self) -> str:
        """Give its address as the bot takes it: that of one server."""
        return f"redis+cluster://{self.servers[0].address}"

    def holder(self, slot: int) -> Server:
        """Return the server that holds *slot*."""
        for server in self.servers:
            with server.client() as client:
                client.response_callbacks.clear()
                told = cast("list[Any]", client.execute_command("CLUSTER", "SLOTS"))
            for first, last, primary, *_ in told:
                if first <= slot <= last and primary[1] == server.port:
                    return server
        raise AssertionError(f"nobody holds slot {slot}")

    def add_replica(self, primary: Server) -> Server:
        """Start a server that takes over when *primary* dies; it has a copy of all when given."""
        directory = primary.directory.with_name(f"{primary.directory.name}-replica")
        directory.mkdir()
        replica = _started(directory, None)
        self.running.callback(stop, replica)
        replica.asked("CLUSTER", "MEET", "127.0.0.1", primary.port)
        name = primary.asked("CLUSTER", "MYID")
        _wait(lambda: name in replica.asked("CLUSTER", "NODES"), "the replica knows its primary")
        replica.asked("CLUSTER", "REPLICATE", name)
        copied = "master_link_status:up"
        _wait(lambda: copied in replica.asked("INFO", "replication"), "the replica has a copy")
        return replica

    def restart(self, server: Server) -> None:
        """Start a server again that was stopped, with what it had on disk."""
        again = _spawn(server.directory, server.port)
        self.servers[self.servers.index(server)] = again
        self.running.callback(stop, again)
        _wait(partial(_answers, again), f"{again.address} answers again")

    def clear(self, prefix: str) -> None:
        """Delete the keys of a test on all servers."""
        for server in self.servers:
            with server.client() as client:
                for key in client.scan_iter(f"*{prefix}*", count=1000):
                    client.delete(key)


@contextmanager
def running_cluster(size: int = 3, tls: Mapping[str, object] | None = None) -> Iterator[Cluster]:
    """
    Run a cluster of *size* servers, which share the slots, until the block ends.

    With *tls*, the settings that name certificates, they speak it among themselves too.
    """
    with tempfile.TemporaryDirectory(prefix="interlock-cluster-") as root, ExitStack() as running:
        servers = []
        for number in range(size):
            directory = Path(root) / str(number)
            directory.mkdir()
            server = _started(directory, tls)
            running.callback(stop, server)
            servers.append(server)
        _join(servers)
        yield Cluster(servers, running)


def stop(server: Server) -> None:
    """End a server's process as a crash would, and reap it."""
    server.process.kill()
    server.process.wait(STOP_WITHIN)


def _join(servers: list[Server]) -> None:
    """Give each server its share of the slots and let all meet."""
    share = -(-SLOTS // len(servers))
    for number, server in enumerate(servers):
        server.asked("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
        mine = range(number * share, min((number + 1) * share, SLOTS))
        server.asked("CLUSTER", "ADDSLOTS", *mine)
        server.asked("CLUSTER", "MEET", "127.0.0.1", servers[0].tls_port or servers[0].port)
    for server in servers:
        _wait(partial(_whole, server, len(servers)), f"{server.address} joins")


def _whole(server: Server, size: int) -> bool:
    told = server.asked("CLUSTER", "INFO").split("\r\n")
    return "cluster_state:ok" in told and f"cluster_known_nodes:{size}" in told


def _started(directory: Path, tls: Mapping[str, object] | None) -> Server:
    # Another process can take a free port between our look and the server's bind.
    for _ in range(5):
        server = _spawn(directory, _free_port(), tls)
        with suppress(AssertionError):
            _wait(partial(_answers, server), "it answers")
            return server
        stop(server)
    raise AssertionError(f"no server would start:\n{(directory / 'log').read_text()}")


def _spawn(directory: Path, port: int, tls: Mapping[str, object] | None = None) -> Server:
    tls_port = None if tls is None else _free_port()
    settings = {
        "port": port,
        "bind": "127.0.0.1",
        "dir": directory,
        "appendonly": "yes",
        "save": "",
        "cluster-enabled": "yes",
        "cluster-node-timeout": NODE_TIMEOUT,
        **({} if tls is None else {**tls, "tls-port": tls_port, "tls-cluster": "yes"}),
    }
    arguments = [str(part) for key, value in settings.items() for part in (f"--{key}", value)]
    with (directory / "log").open("ab") as log:
        process = subprocess.Popen(
            [server_binary(), *arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    return Server(port, directory, process, tls_port)


def _answers(server: Server) -> bool:
    if server.process.poll() is not None:
        raise AssertionError("it ended")
    with suppress(redis.ConnectionError):
        return bool(server.asked("PING"))
    return False


def _free_port() -> int:
    while (port := free_port()) + BUS > HIGHEST:
        pass
    return port


def _wait(done: Callable[[], bool], description: str) -> None:
    deadline = time.monotonic() + START_WITHIN
    while not done():
        if time.monotonic() > deadline:
            raise AssertionError(f"still waiting until {description}")
        time.sleep(0.01)
