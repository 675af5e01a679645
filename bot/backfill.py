"""
What was written while we were away: read once the gateway is there.

Only in followed conversations and direct messages. A new session brings no replay of what the old
one missed, so each one begins with this; what was heard all the same is a Duplicate to the store.
Messages come in before it is done: until then no answer notes how far its conversation has been
heard, or what was missed before it would never be read.
"""

import asyncio
import datetime as dt
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

import aiohttp
import discord
import structlog

from bot.admission import Heard
from bot.config.model import HistorySettings
from bot.followed import Followed
from bot.gaps import Gaps
from bot.inbound import Message
from state.errors import StateError
from state.values import Conversation

#: Seconds until a channel with a gap is read again: an outage of the store that outlasted our
#: patience seldom ends in the next second.
MEND_AFTER = 5.0

#: Messages read per conversation: as many as one turn may sensibly gather.
MOST = 50

log = structlog.get_logger(__name__)

Hear = Callable[[discord.Message], tuple[Message, Heard]]
CatchUp = Callable[[Sequence[tuple[Message, Heard]]], Awaitable[None]]


class Backfill:
    """Reads what was missed."""

    def __init__(
        self,
        client: discord.AutoShardedClient,
        followed: Followed,
        gaps: Gaps,
        history: Callable[[], HistorySettings],
    ) -> None:
        """Look back as far as *history* says when it begins."""
        self._client = client
        self._followed = followed
        self._gaps = gaps
        self._history = history
        self._sessions = 0
        self._read_for = 0

    def session_begins(self) -> None:
        """Note that something may be missed before the session that begins now."""
        self._sessions += 1

    @property
    def done(self) -> bool:
        """Whether `run` has ended since the last session began."""
        return self._read_for == self._sessions

    async def run(self, hear: Hear, catch_up: CatchUp) -> None:
        """Catch up with every followed conversation that this process serves."""
        sessions = self._sessions
        try:
            await self._followed.read()
        except StateError as error:
            log.warning("nothing caught up with", reason=str(error))
            return
        for conversation in self._followed.conversations:
            if self._serves(conversation):
                await self._try(conversation, hear, catch_up)
        self._read_for = sessions

    async def mend(self, hear: Hear, catch_up: CatchUp) -> None:
        """Read again, until cancelled, where a message was heard that the store did not take."""
        while True:
            channels = await self._gaps.wait()
            await asyncio.sleep(MEND_AFTER)
            followed = {one.id: one for one in self._followed.conversations}
            for channel in channels:
                if channel in followed:
                    await self._try(followed[channel], hear, catch_up)
                else:  # what is said where we do not follow cannot be told from what is not for us
                    self._gaps.close(channel, self._gaps.newest(channel))

    async def _try(self, conversation: Conversation, hear: Hear, catch_up: CatchUp) -> None:
        channel = conversation.id
        gap = self._gaps.newest(channel)
        try:
            await self._read(conversation, hear, catch_up)
        except (discord.HTTPException, aiohttp.ClientError, OSError, StateError) as error:
            log.warning("conversation not caught up with", conversation=channel, reason=str(error))
            if not isinstance(error, discord.Forbidden | discord.NotFound):
                self._gaps.open(channel)
                return
        self._gaps.close(channel, gap)

    def _serves(self, conversation: Conversation) -> bool:
        """Whether its guild is on one of our shards; direct messages are on shard 0."""
        kind, _, id_ = conversation.owner.partition("/")
        if kind == "user":
            return not self._client.shard_ids or 0 in self._client.shard_ids
        return self._client.get_guild(int(id_)) is not None

    async def _read(self, conversation: Conversation, hear: Hear, catch_up: CatchUp) -> None:
        rules, direct = self._history(), conversation.owner.startswith("user/")
        seconds = rules.backfill_dm if direct else rules.backfill_guild
        heard = await self._followed.heard(conversation)
        if not seconds or heard is None:
            return
        oldest = discord.utils.utcnow() - dt.timedelta(seconds=seconds)
        after = max(int(heard), discord.utils.time_snowflake(oldest))
        channel = self._client.get_channel(int(conversation.id))
        if not isinstance(channel, discord.abc.Messageable):
            channel = await self._client.fetch_channel(int(conversation.id))
        if not isinstance(channel, discord.abc.Messageable):
            return
        history = channel.history(after=discord.Object(after), limit=MOST, oldest_first=True)
        heard_now = [hear(message) async for message in history]
        # Read without a gap from where the last answer was noted, so theirs may be noted as well.
        missed = [(replace(message, caught_up=True), facts) for message, facts in heard_now]
        if missed:
            log.info("catching up", conversation=conversation.id, messages=len(missed))
            await catch_up(missed)
