"""The bot as a whole: gateway in, cogs loaded, everything wired together, and how it ends."""

import asyncio
import sys
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any, cast

import discord
import structlog
import yarl
from discord.ext import commands

from bot import extensions, texts
from bot.asks import Asks
from bot.backfill import Backfill
from bot.choices import Choices, choice_of
from bot.commands import CommandTree, sync_commands
from bot.config import Loaded, Place, Settings
from bot.core import Core, CoreRules
from bot.errors import ConfigInvalid
from bot.gateway import CONTEXTS, connect, intents, keep_session, log_in
from bot.guild_settings import GuildSettings
from bot.hearing import Ears, locked_against_us, place_in, place_of, threads_in
from bot.inbound import conversation_of
from bot.presses import Presses
from bot.reloading import Reloading
from bot.rereading import Rereading
from bot.responders import Responder
from bot.rules import Rulebook
from bot.shards import IdentifyGate
from bot.sight import DiscordSight
from bot.speaking import Wire
from bot.texts import Texts
from bot.webhook import DiscordWebhook
from bot.wire import DiscordWire, trace_config
from state import State
from state.ports import SEEN_WINDOW

#: A place without settings of its own.
ANYWHERE = Place()

log = structlog.get_logger(__name__)


class Interlock(commands.AutoShardedBot):
    """A discord.py bot whose messages pass the door. Cogs use its public attributes."""

    def __init__(
        self,
        settings: Settings,
        state: State,
        wire: Wire | None = None,
        *,
        source: Loaded | None = None,
    ) -> None:
        """
        Wire everything; nothing runs and nothing is sent before `setup_hook`.

        A *wire* of its own leads a test's replies past Discord. Settings with a *source* follow it.
        """
        super().__init__(
            command_prefix=commands.when_mentioned,
            tree_cls=CommandTree,
            help_command=None,
            intents=intents(),
            allowed_mentions=discord.AllowedMentions.none(),
            allowed_contexts=CONTEXTS,
            max_messages=None,
            member_cache_flags=discord.MemberCacheFlags.none(),
            chunk_guilds_at_startup=False,
            http_trace=trace_config(),
            shard_count=settings.discord.shard_count,
            shard_ids=cast("list[int]", settings.discord.shards and list(settings.discord.shards)),
        )
        self.guild_settings = GuildSettings(state, lambda: self.settings)
        self.rules = Rulebook(settings, self.guild_settings.at)
        self.state = state
        wire = wire or DiscordWire(self, DiscordWebhook(self), DiscordSight(self))
        core = Core(state, wire, self._core_rules(), self.responder)
        self.locks, self.notices, self.conversations = core.locks, core.notices, core.conversations
        self.requests, self.door, self.wakes = core.requests, core.door, core.wakes
        self.followed, self._silence = core.followed, core.silence
        self._reloading = Reloading(self, self.locks, self.rules.check_cog)
        self._presses = Presses(self.requests, self.rules.operators)
        self._asks = Asks(
            self.door,
            wire.webhook,
            self.rules.allows,
            self.followed,
            self._responder_named,
            lambda guild: self.get_guild(guild) is not None,
        )
        self._choices = Choices(state, self.door, self.rules.allows)
        self._backfill = Backfill(self, self.followed, self.door.gaps, self.rules.history)
        self._identify_gate = IdentifyGate(state, self._max_concurrency)
        self.rereading = Rereading(source or Loaded.made(settings), self.rules, self)
        self._ears: Ears | None = None
        self._ending = asyncio.Event()

    # --- cogs ------------------------------------------------------------------------------------

    async def load(self) -> None:
        """Load the extensions and find the responder; raise a `StartupFailed` otherwise."""
        await extensions.load(self, self.settings.extensions, self.settings.extension_paths)
        for cog in self.cogs.values():
            self.rules.check_cog(cog)
        if unread := self.settings.unread(self.settings.extensions):
            raise ConfigInvalid(unread)
        extensions.check_responders(self.cogs, self.rules.responders())

    @property
    def settings(self) -> Settings:
        """The settings in force. They may be others a moment later."""
        return self.rules.settings

    @property
    def responder_name(self) -> str:
        """The responder of new messages where no place says otherwise."""
        return self.rules.responder(ANYWHERE)

    def said(self, interaction: discord.Interaction[Any]) -> Texts:
        """What we say of our own where *interaction* was made."""
        guild = str(interaction.guild_id) if interaction.guild_id else None
        return self.rules.texts(replace(place_of(interaction.channel), guild=guild))

    def _core_rules(self) -> CoreRules:
        return CoreRules(
            lease=self.rules.claim(ANYWHERE),
            claim=lambda where: self.rules.claim(place_in(self, where)),
            reactions=self.rules.reactions,
            quota=self.rules.quota,
            door=lambda place: self.rules.door(place).if_possible(threads=threads_in(self, place)),
            proxied=lambda: bool(self.rules.proxies()),
            turn=self.rules.turn,
            learn=self.guild_settings.learn,
            cog=self.rules.cog,
        )

    def responder(self, name: str) -> Responder:
        """Find a loaded responder by the name of its cog, or raise `ResponderInvalid`."""
        return self._reloading.responder(name)

    def _responder_named(self, name: str | None) -> str:
        if name:
            self.responder(name)
        return name or ""

    async def start_turn(
        self,
        interaction: discord.Interaction[Any],
        text: str,
        *,
        responder: str | None = None,
        payload: object = None,
    ) -> None:
        """
        Answer a slash command or context menu by a turn, as if *text* had been written to us.

        Call it first, instead of answering or deferring: the person sees "thinking…" within a
        second, then the reply in its place, in turn with what else is asked in the channel.
        *responder* names a loaded cog other than that of messages. The turn's `trigger` has the
        command's name and *payload* (JSON), else its options as Discord sends them. Return when the
        turn waits or runs. Raise `TurnNotStarted` when the call makes no sense.
        """
        await self._asks.start(interaction, text, responder, payload)

    # --- shards ----------------------------------------------------------------------------------

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Wait for our turn: among all processes when the shards are shared out, else our own."""
        if self.settings.discord.shard_count is None:
            await super().before_identify_hook(shard_id, initial=initial)
        else:
            await self._identify_gate.wait(shard_id or 0)
        self._backfill.session_begins()

    async def launch_shard(
        self, gateway: yarl.URL, shard_id: int, *, initial: bool = False
    ) -> None:
        """Open a shard's first socket; its session outlives that."""
        await super().launch_shard(gateway, shard_id, initial=initial)
        keep_session(self, shard_id)

    async def _max_concurrency(self) -> int:
        return (await self.fetch_session_start_limits()).max_concurrency

    # --- events ----------------------------------------------------------------------------------

    async def setup_hook(self) -> None:
        """After login: now it is known who we are."""
        assert self.user is not None  # noqa: S101 (discord.py sets it at login)
        self._ears = Ears(
            self.user,
            self.rules.allows,
            self.rules.operators,
            self.rules.proxies,
            self.rules.is_stop,
            self.followed.__contains__,
            lambda: self._backfill.done,
        )
        await self.followed.read()  # the first message may come before the next reading
        await sync_commands(self)

    async def on_message(self, message: discord.Message, /) -> None:
        """Pass it through the door. Nothing is awaited before, so that the order is kept."""
        if self._ears is None:
            return
        heard, facts = self._ears.hear(message)
        admission = await self.door.enter(heard, facts)
        if admission is not None and heard.guild is None and heard.channel not in self.followed:
            await self.followed.follow(heard.conversation, heard.id)

    async def on_ready(self) -> None:
        """A new session has no replay: catch up with what it missed. May happen many times."""
        if self._ears is not None:
            await self._backfill.run(self._ears.hear, self.door.catch_up)

    async def _mend(self) -> None:
        if self._ears is not None:
            await self._backfill.mend(self._ears.hear, self.door.catch_up)

    async def on_raw_message_edit(self, event: discord.RawMessageUpdateEvent) -> None:
        """Take the new text of what waits; judge any other as new: it may only now address us."""
        message = event.message
        if message.edited_at is None or self._ears is None:
            return  # an embed was added
        if self.door.knows(str(message.id)):
            edit = str(int(message.edited_at.timestamp() * 1000))
            await self.door.edited(self._ears.hear(message)[0], edit)
            return
        age = (discord.utils.utcnow() - message.created_at).total_seconds()
        # One that was judged before is a Duplicate, as long as the store remembers it.
        expire_after = self.rules.conversation(place_of(message.channel)).expire_after
        if age < min(expire_after, SEEN_WINDOW):
            await self.on_message(message)

    async def on_raw_message_delete(self, event: discord.RawMessageDeleteEvent) -> None:
        """Answer no message that is gone."""
        await self.door.deleted(str(event.channel_id), str(event.message_id))

    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """Act on buttons; commands are the tree's."""
        texts.speak(self.said(interaction))
        if (choice := choice_of(interaction)) is not None:
            await self._choices.chosen(interaction, choice)
        else:
            await self._presses.pressed(interaction)

    async def on_guild_channel_delete(self, channel: discord.abc.GuildChannel) -> None:
        """Keep nothing of a channel that is gone."""
        await self._forget(channel.id, channel.guild.id)

    async def on_raw_thread_update(self, event: discord.RawThreadUpdateEvent) -> None:
        """Leave a thread alone while it is locked: what is said there could not be answered."""
        thread = str(event.thread_id)
        if locked_against_us(event, self.get_guild(event.guild_id)):
            self._silence.fall(thread)
            await self.requests.stop_here(conversation_of(thread, str(event.guild_id), ""), "lock")
        else:
            self._silence.lift(thread)

    async def on_raw_thread_delete(self, event: discord.RawThreadDeleteEvent) -> None:
        """Keep nothing of a thread that is gone."""
        await self._forget(event.thread_id, event.guild_id)

    async def _forget(self, channel: int, guild: int) -> None:
        conversation = conversation_of(str(channel), str(guild), "")
        await self.requests.forget(conversation)
        self.followed.drop(conversation)

    async def on_error(self, event_method: str, /, *_: object, **__: object) -> None:
        """Log by our log, which takes secrets out of tracebacks. Called while handling it."""
        log.error("event failed", event_method=event_method, exc_info=sys.exc_info())

    # --- life ------------------------------------------------------------------------------------

    def end(self) -> bool:
        """Ask `live` to drain and return; whether it had been asked before."""
        asked_before = self._ending.is_set()
        self._ending.set()
        return asked_before

    async def live(self, token: str) -> None:
        """Log in, serve until `end` is called, drain. Raise a `StartupFailed` if refused."""
        await self.state.open()
        for notice in self.state.notices:
            log.warning(notice)
        await log_in(self, token)
        background: dict[str, Coroutine[Any, Any, None]] = {
            "heartbeat": self.locks.heartbeat(),
            "hints": self.locks.listen(),
            "wakes": self.wakes.run(),
            "followed": self.followed.run(),
            "settings": self.rereading.run(),
            "gaps": self._mend(),
        }
        if self.settings.extension_reload:
            background["extensions"] = self._reloading.run()
        tasks = [asyncio.create_task(work, name=name) for name, work in background.items()]
        gateway = asyncio.create_task(connect(self), name="gateway")
        waiting = asyncio.create_task(self._ending.wait(), name="until asked to end")
        try:
            await asyncio.wait({gateway, waiting, *tasks}, return_when="FIRST_COMPLETED")
            log.info("draining; a second signal ends at once", turns=len(self.locks))
            await self.conversations.drain(self.settings.process.drain)
        finally:
            await self.requests.close()
            await self.notices.close()
            await self.close()
            everything: list[asyncio.Task[Any]] = [*tasks, waiting, gateway]
            for task in everything:
                task.cancel()
            ended = await asyncio.gather(*everything, return_exceptions=True)
        for outcome in ended:
            if isinstance(outcome, Exception):
                raise outcome
