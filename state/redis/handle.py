"""A handle on a store: opening, closing, the clock, and the call of one step."""

import asyncio
import re
import secrets
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Any

from state.errors import Gone, LeaseLost, StateInvalid, StateUnavailable
from state.partition import DEFAULT_PARTITIONS
from state.redis import scripts
from state.redis.driver import connections_to, is_cluster
from state.redis.hints import Hints
from state.redis.keys import COUNT, ConversationKeys, Keys
from state.redis.opening import Checked, check
from state.redis.replies import Reply
from state.redis.resp import Argument, command, packed
from state.redis.scripts import Script
from state.redis.way import Way, way_to
from state.values import Conversation, Lease, Policy, Signal

#: Braces would break the hash tag, a space the names in the indexes.
_PREFIX = re.compile(r"[A-Za-z0-9_.-]{1,64}\Z")


class Handle:
    """Open and close, and what all steps share."""

    def __init__(
        self,
        url: str,
        *,
        prefix: str = "interlock",
        partitions: int = DEFAULT_PARTITIONS,
        clock: Callable[[], float] | None = None,
    ) -> None:
        """
        Name a store; `open` connects to it.

        *url* as redis-py reads it, for a cluster with `+cluster` after its scheme; *prefix* one per
        application, *partitions* for a new store. A *clock* (seconds) replaces the store's in
        tests. Raise `StateInvalid` for what cannot work.
        """
        if not _PREFIX.match(prefix):
            raise StateInvalid(f"state.prefix {prefix!r}: 1 to 64 of A-Z a-z 0-9 _ . - are allowed")
        if partitions < 1:
            raise StateInvalid(f"state.partitions {partitions}: at least 1 is needed")
        self._url = url
        self._prefix = prefix
        self._wanted = partitions
        self._clock = clock
        self._keys = Keys(prefix, partitions)
        self._calls_made: Way | None = None
        self._opening: asyncio.Task[None] | None = None
        self._policies: dict[int, tuple[Policy, bytes]] = {}
        self._listeners: set[Hints] = set()
        self._notices: tuple[str, ...] = ()
        self._name = secrets.token_hex(8)
        #: By partition, how far this handle came with its renewals, and when (monotonic).
        self._beats: dict[int, tuple[int, float]] = {}
        self._happened: tuple[str, ...] = ()
        connections_to(url, timeout=None)  # a bad URL is told here, not at open

    @property
    def partitions(self) -> int:
        """The number of partitions; an existing store's own once it is open."""
        return self._keys.partitions

    @property
    def notices(self) -> tuple[str, ...]:
        """What an operator should know about the server, one sentence each; known once open."""
        return self._notices + self._happened

    async def open(self) -> None:
        """See `State.open`."""
        if self._calls_made is not None:
            return
        if self._opening is None:
            self._opening = asyncio.create_task(self._open())
        opening = self._opening
        try:
            await asyncio.shield(opening)
        finally:
            if opening.done() and self._opening is opening:
                self._opening = None

    async def _open(self) -> None:
        calls = way_to(self._url)
        try:
            checked: Checked = await check(calls, self._url, self._prefix, self._wanted)
        except BaseException:
            await calls.close()
            raise
        self._keys = Keys(self._prefix, checked.partitions, cluster=is_cluster(self._url))
        self._notices = checked.notices
        calls.checked = True
        self._calls_made = calls

    async def close(self) -> None:
        """See `State.close`."""
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.wait([self._opening])
            self._opening = None
        for listener in tuple(self._listeners):
            await listener.close()
        calls, self._calls_made = self._calls_made, None
        if calls is not None:
            await calls.close()

    async def ping(self) -> None:
        """See `State.ping`."""
        await self._calls.command("PING")

    async def hints(self) -> AsyncGenerator[Signal]:
        """See `State.hints`."""
        listener = Hints(self._keys, self._calls)
        self._listeners.add(listener)
        try:
            async with aclosing(listener.signals()) as signals:
                async for signal in signals:
                    yield signal
        finally:
            self._listeners.discard(listener)
            await listener.close()

    # --- what the steps share -------------------------------------------------------------------

    @property
    def _calls(self) -> Way:
        if self._calls_made is None:
            msg = "the state is not open: await state.open() first"
            raise StateUnavailable(msg)
        return self._calls_made

    def _now(self) -> Argument:
        """Microseconds of the injected clock, or nothing: the script then asks its own."""
        return "" if self._clock is None else int(self._clock() * 1e6)

    async def _step(
        self,
        script: Script,
        conversation: Conversation,
        *arguments: Argument,
        keys: Sequence[str] = (),
    ) -> Reply:
        """Run a script about one conversation; the reply is read from after its kind."""
        reply = Reply(await self._ask(script, self._keys.of(conversation), keys, arguments))
        reply.next()
        return reply

    async def _holding(
        self,
        script: Script,
        lease: Lease,
        *arguments: Argument,
        keys: Sequence[str] = (),
    ) -> Any:  # noqa: ANN401 (mostly a list; each script answers its own)
        """Run a step of a holder; `LeaseLost` when it holds no more."""
        of = self._keys.of(lease.conversation)
        question = self._question(script, of, packed(keys), len(keys), arguments)
        reply = await self._calls.run(script, question)
        if reply[0] == b"lost":
            where = lease.conversation.id
            raise LeaseLost(f"conversation {where}: the lease {lease.token} does not hold")
        if reply[0] == b"gone":
            raise gone(of)
        return reply

    async def _set_aside(self, conversation: Conversation) -> None:
        """Make dead letters of what cannot be read."""
        question = self._question(scripts.SET_ASIDE, self._keys.of(conversation), b"", 0, ())
        await self._calls.run(scripts.SET_ASIDE, question)

    async def _ask(
        self,
        script: Script,
        of: ConversationKeys,
        keys: Sequence[str],
        arguments: Sequence[Argument],
    ) -> list[Any]:
        """Run a script about one conversation; *keys* follow those of the conversation."""
        question = self._question(script, of, packed(keys), len(keys), arguments)
        return await self._told(of, script, question)

    async def _told(self, of: ConversationKeys, script: Script, question: bytes) -> list[Any]:
        """Send a packed call about one conversation."""
        reply: list[Any] = await self._calls.run(script, question)
        if reply[0] == b"gone":
            raise gone(of)
        return reply

    def _question(
        self,
        script: Script,
        of: ConversationKeys,
        keys: bytes,
        more: int,
        arguments: Sequence[Argument],
    ) -> bytes:
        """Pack a call about one conversation; *keys*, *more* of them, are packed already."""
        count = COUNT + more + (1 if of.never else 0)
        return b"*%d\r\n%b$%d\r\n%d\r\n%b%b%b%b%b%b" % (
            count + len(arguments) + 5,
            script.packed,
            len(str(count)),
            count,
            of.packed,
            keys,
            of.never,
            NOTHING if self._clock is None else packed([self._now()]),
            of.packed_name,
            packed(arguments),
        )

    async def _run(self, script: Script, keys: Sequence[str], arguments: Sequence[Argument]) -> Any:  # noqa: ANN401 (each script answers its own)
        """Run a script that is not about one conversation."""
        question = command("EVALSHA", script.sha, len(keys), *keys, self._now(), *arguments)
        return await self._calls.run(script, question)


#: An empty argument, as it is sent.
NOTHING = packed([""])


def gone(of: ConversationKeys) -> Gone:
    """Return the refusal of a step that is addressed to what is being forgotten."""
    return Gone(f"{of.name} is being forgotten; try again in a moment")
