"""What a test must not leave behind: tasks, sockets, open files, temporary files, keys."""

import asyncio
import fnmatch
import gc
from pathlib import Path

import redis

# Where this process's open descriptors are listed, on Linux and on macOS.
DESCRIPTORS = Path("/dev/fd")

# Turns of the loop that a task which is already ending gets to end in.
GRACE_TURNS = 10


async def leftover_tasks() -> list[str]:
    """Name the tasks of this loop that still run, the asking one apart."""
    for _ in range(GRACE_TURNS):
        if not _others():
            return []
        await asyncio.sleep(0)
    return sorted(map(repr, _others()))


def _others() -> set[asyncio.Task[object]]:
    return {task for task in asyncio.all_tasks() if task is not asyncio.current_task()}


def open_descriptors() -> dict[int, str]:
    """
    Map each open socket and file of this process to what it is.

    Only Linux tells what a descriptor is; elsewhere the answer is empty, and Python's own warning
    about an unclosed resource is the check.
    """
    found = {}
    for descriptor in DESCRIPTORS.iterdir():
        try:
            target = str(descriptor.readlink())
        except OSError:
            continue  # the descriptor of this very listing, or one that cannot say what it is
        if target.startswith("socket:") or Path(target).is_file():
            found[int(descriptor.name)] = target
    return found


def leftover_descriptors(before: dict[int, str]) -> dict[int, str]:
    """Tell which sockets and files were opened since *before* and are open still."""
    if left := _opened_since(before):
        # Something unreachable may hold them; collecting it closes them and warns, an error here.
        gc.collect()
        left = _opened_since(before)
    return left


def _opened_since(before: dict[int, str]) -> dict[int, str]:
    return {
        number: target
        for number, target in open_descriptors().items()
        if before.get(number) != target
    }


class Keyspace:
    """
    The keys of one test in the shared server, found by the test's prefix.

    A key without a time to live is a leftover, unless the test allowed it.
    """

    def __init__(self, client: redis.Redis, prefix: str) -> None:
        self._client = client
        self.prefix = prefix
        self._allowed: list[str] = []

    def allow(self, *patterns: str) -> None:
        """Let keys stay that match one of the glob *patterns*, each against the whole key."""
        self._allowed += patterns

    def keys(self) -> list[str]:
        """List the test's keys."""
        return sorted(
            key.decode() for key in self._client.scan_iter(f"*{self.prefix}*", count=1000)
        )

    def leftovers(self) -> list[str]:
        """List the keys that would stay for ever and that nobody allowed."""
        return [
            key
            for key in self.keys()
            if self._client.ttl(key) == -1
            and not any(fnmatch.fnmatchcase(key, pattern) for pattern in self._allowed)
        ]

    def clear(self) -> None:
        """Delete the test's keys."""
        if keys := self.keys():
            self._client.delete(*keys)
