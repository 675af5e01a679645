"""A Redis of the benchmark's own, and what it tells about itself."""

import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import redis

from benchmarks.measure import Unavailable

#: Seconds for the server to answer its first PING, and to end once told.
_PATIENCE = 10.0


@dataclass(frozen=True, slots=True)
class Server:
    """A running server; *client* is for questions outside what is measured."""

    port: int
    client: "redis.Redis"

    @property
    def url(self) -> str:
        """Its address, over TCP as in production."""
        return f"redis://127.0.0.1:{self.port}/0"

    def cpu(self) -> float:
        """Seconds of processor time that it has used."""
        told = self.client.info("cpu")
        return float(told["used_cpu_user"] + told["used_cpu_sys"])

    def reads(self) -> int:
        """How often it has read from a socket, these questions included."""
        return int(self.client.info("stats")["total_reads_processed"])

    def memory(self) -> int:
        """Bytes that it has allocated, without what it buffers for its clients."""
        told = self.client.info("memory")
        return int(told["used_memory"] - told["mem_clients_normal"])


@contextmanager
def running_redis(*, durable: bool = False) -> Iterator[Server]:
    """
    Run a server; *durable* keeps an append-only file, written every second.

    Raise `Unavailable` without a redis-server on PATH.
    """
    binary = shutil.which("redis-server")
    if binary is None:
        raise Unavailable("no redis-server on PATH")
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = int(probe.getsockname()[1])
    with tempfile.TemporaryDirectory(prefix="interlock-bench-") as folder:
        process = subprocess.Popen(  # noqa: S603 (the binary on PATH, arguments of our own)
            [
                *(binary, "--port", str(port), "--bind", "127.0.0.1", "--dir", folder),
                *("--save", "", "--appendonly", "yes" if durable else "no"),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        try:
            with redis.Redis(port=port) as client:
                _wait_for(client, process)
                yield Server(port, client)
        finally:
            process.kill()
            process.wait(_PATIENCE)


def _wait_for(client: "redis.Redis", process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _PATIENCE
    while process.poll() is None and time.monotonic() < deadline:
        with suppress(redis.ConnectionError):
            client.ping()
            return
        time.sleep(0.01)
    raise RuntimeError("redis-server does not start")
