"""What a turn can look at: what was said here before, and the files that came with it."""

import asyncio
from dataclasses import asdict, replace
from typing import Any

import structlog

from bot.errors import AttachmentUnreadable
from bot.inbound import Attached, Message, Person, Remark
from bot.insist import insist
from bot.journal import Journal
from bot.locks import Holding
from bot.persist import persist
from bot.speaking import Rejected, Sight
from bot.transcript import Said, read
from state.ports import State

#: Seconds in which a file must have come. Relation: below `limits.progress` by default (180 s).
FETCH_WITHIN = 60.0

#: Messages that are read around a question: as many as one request tells.
MOST_REMARKS = 100

#: Characters of one of them that are kept: all of what people write without paying. Relation:
#: `MOST_REMARKS` of them, at four bytes each, are below the store's `PAYLOAD_LIMIT`.
REMARK = 2000

#: The step under which it is recorded what was read.
CONTEXT = "context"

log = structlog.get_logger(__name__)


class Surroundings:
    """The channel of one turn, read on its behalf."""

    def __init__(
        self,
        state: State,
        sight: Sight,
        holding: Holding,
        journal: Journal,
        asked_by: Message,
        *,
        remarks: int,
    ) -> None:
        """*asked_by* is the first message; *remarks* is how many are read by default."""
        self._state = state
        self._sight = sight
        self._holding = holding
        self._journal = journal
        self._asked_by = asked_by
        self._remarks = remarks
        journal.excuse(CONTEXT)

    async def history(self, limit: int) -> list[Said]:
        """Read the transcript; see `Turn.history`."""
        conversation = self._holding.lease.conversation
        return read(await insist(lambda: self._state.history(conversation, limit=limit)))

    async def context(self, limit: int | None) -> list[Remark]:
        """Read the channel, once for all replays; see `Turn.context`."""
        limit = min(self._remarks if limit is None else limit, MOST_REMARKS)
        if limit < 1:
            return []
        told = await self._journal.step(CONTEXT, lambda _key: self._read(limit))
        return [Remark(**{**one, "author": Person(**one["author"])}) for one in told]

    async def _read(self, limit: int) -> list[dict[str, Any]]:
        channel = self._asked_by.home
        # The id of a command tells its time as that of a message does; its response comes after it.
        timed = self._asked_by.is_written or self._asked_by.deferred is not None
        before = self._asked_by.id if timed else None
        try:
            said = await persist(
                lambda: self._sight.said(channel, before=before, limit=limit),
                self._holding,
                "context",
            )
        except Rejected as error:  # most likely no right to read the channel's history
            log.warning("context not read", reason=str(error))
            return []
        return [asdict(replace(remark, text=remark.text[:REMARK])) for remark in said]

    async def fetch(self, file: Attached, message: str, limit: int) -> bytes:
        """Fetch a file of *message*; see `Attachment.read`."""
        if file.size > limit:
            raise AttachmentUnreadable(f"{file.name}: it has {file.size} bytes, over {limit}")
        try:
            async with asyncio.timeout(FETCH_WITHIN):
                content = await self._signed(file, message, limit)
        except TimeoutError:
            raise AttachmentUnreadable(
                f"{file.name}: it did not come within {FETCH_WITHIN:g} s"
            ) from None
        except (Rejected, AttachmentUnreadable) as error:
            raise AttachmentUnreadable(f"{file.name}: {error}") from None
        self._holding.progress()
        return content

    async def _signed(self, file: Attached, message: str, limit: int) -> bytes:
        """Fetch a file by the address that it came with, or by a new one if that has expired."""
        try:
            return await self._get(file.url, limit)
        except Rejected:
            now = await persist(
                lambda: self._sight.attached(self._asked_by.home, message), self._holding, "file"
            )
        for same in now:
            if same.id == file.id:
                return await self._get(same.url, limit)
        raise AttachmentUnreadable("it was taken off its message")

    async def _get(self, url: str, limit: int) -> bytes:
        return await persist(lambda: self._sight.fetch(url, limit=limit), self._holding, "file")
