"""
Which server of a cluster holds which keys, as `CLUSTER SLOTS` tells it.

A key belongs to the slot of what stands between the first braces in it; ours all have those.
"""

from binascii import crc_hqx
from bisect import bisect_right
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

#: Slots of every Redis Cluster.
SLOTS = 16_384


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server listens."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class SlotMap:
    """Ranges of slots, in order, each with its primary; and every server that was named."""

    starts: tuple[int, ...]
    stops: tuple[int, ...]
    primaries: tuple[Address, ...]
    servers: tuple[Address, ...]

    def primary_of(self, slot: int) -> Address | None:
        """Return the server of *slot*; None while no server holds it."""
        place = bisect_right(self.starts, slot) - 1
        if place < 0 or slot > self.stops[place]:
            return None
        return self.primaries[place]


def slot_of(tag: bytes) -> int:
    """Return the slot of all keys with the hash *tag*."""
    return crc_hqx(tag, 0) % SLOTS


def tag_in(question: bytes) -> bytes:
    """
    Return the hash tag of the first key in a packed command; empty when it has no key.

    It is the first pair of braces, because neither commands nor the hashes of scripts have any.
    """
    start = question.find(b"{") + 1
    return question[start : question.find(b"}", start)] if start else b""


def slot_map(told: list[Any], asked: Address) -> SlotMap:
    """Read what *asked* answered; it may leave out its own host or that of all."""
    ranges = [
        (first, last, [Address(_host(server[0], asked), server[1]) for server in servers])
        for first, last, *servers in sorted(told, key=itemgetter(0))
    ]
    named = dict.fromkeys(server for _, _, servers in ranges for server in servers)
    return SlotMap(
        tuple(first for first, _, _ in ranges),
        tuple(last for _, last, _ in ranges),
        tuple(servers[0] for _, _, servers in ranges),
        tuple(named),
    )


def redirected(text: str, asked: Address) -> Address:
    """Return where `MOVED <slot> <host>:<port>` or `ASK …` leads; no host means that of *asked*."""
    host, _, port = text.split(" ")[2].rpartition(":")
    return Address(_host(host.encode(), asked), int(port))


def _host(told: bytes | None, asked: Address) -> str:
    """Read a host; a server that does not know one's name answers nothing or a question mark."""
    return told.decode() if told and told != b"?" else asked.host
