"""
Redis' wire protocol, version 2: arguments to bytes, bytes to replies.

Small because the scripts are ours: they answer bytes, integers, nil, errors, and lists of those.
"""

from collections.abc import Sequence
from typing import Any

Argument = bytes | str | int

#: The heads of short bulk strings, ready made: every call has a dozen.
_HEADS = [b"$%d" % size for size in range(1024)]

_BULK, _LIST, _INTEGER, _STATUS = b"$*:+"


class ServerError(Exception):
    """An error that the server answered; *code* is its first word."""

    def __init__(self, text: str) -> None:
        """Take the whole line."""
        super().__init__(text)
        self.code = text.partition(" ")[0]


class Incomplete(Exception):
    """Raised when a reply is not there as a whole yet."""


def packed(arguments: Sequence[Argument]) -> bytes:
    """Return *arguments* as bulk strings, one after the other."""
    parts: list[bytes] = []
    for argument in arguments:
        raw = argument
        if not isinstance(raw, bytes):
            raw = raw.encode() if isinstance(raw, str) else b"%d" % raw
        size = len(raw)
        parts += (_HEADS[size] if size < len(_HEADS) else b"$%d" % size, raw)
    parts.append(b"")
    return b"\r\n".join(parts)


def command(*arguments: Argument) -> bytes:
    """Return a whole command."""
    return b"*%d\r\n" % len(arguments) + packed(arguments)


def parse(buffer: bytes, at: int) -> tuple[Any, int]:
    """
    Return the reply that starts at *at*, and where the next one starts.

    Raise `Incomplete` when it is not there as a whole.
    """
    end = buffer.find(b"\r\n", at)
    if end < 0:
        raise Incomplete
    kind, after = buffer[at], end + 2
    if kind == _BULK:
        size = int(buffer[at + 1 : end])
        if size < 0:
            return None, after
        if len(buffer) < after + size + 2:
            raise Incomplete
        return buffer[after : after + size], after + size + 2
    if kind == _LIST:
        items: list[Any] = []
        for _ in range(int(buffer[at + 1 : end])):
            item, after = parse(buffer, after)
            items.append(item)
        return items, after
    if kind == _INTEGER:
        return int(buffer[at + 1 : end]), after
    if kind == _STATUS:
        return buffer[at + 1 : end], after
    return ServerError(buffer[at + 1 : end].decode("utf-8", "replace")), after


def replies_in(buffer: bytes) -> tuple[list[Any], int]:
    """Return the replies that are there as a whole, and where the first that is not starts."""
    found: list[Any] = []
    at, length = 0, len(buffer)
    try:
        while at < length:
            reply, at = parse(buffer, at)
            found.append(reply)
    except Incomplete:
        pass
    return found, at
