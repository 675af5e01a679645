"""
Talk with a cog as people would in a channel, without Discord and without sockets.

The bot is the real one, over a store in memory and a channel in memory. Time in the store stands
still while somebody speaks, and is moved to whatever is due next: no test waits for a retry.
"""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from types import TracebackType
from typing import Self

from bot.admission import TO_US
from bot.buttons import read_choice
from bot.client import Interlock
from bot.config import Settings
from bot.inbound import Message, Person, Remark, conversation_of
from bot.insist import new_op
from bot.offers import offered, refusal
from bot.stopwords import StopPhrases
from bot.testing.loading import Cog, add
from bot.testing.shown import Run, Shown, as_shown
from bot.testing.sight import FakeSight
from bot.testing.store import Clock
from bot.testing.traffic import CHANNEL, snowflake
from bot.testing.watched import CrashPoint, Watched
from bot.testing.webhook import FakeWebhook
from bot.testing.wire import Discord, FakeWire
from state.memory import Database
from state.values import Conversation as Where

GUILD = "301"

#: Id of the first person who speaks; the next ones follow.
FIRST_PERSON = 101

#: Seconds between two messages by their ids: none is taken for the second half of a paste.
APART = 1.0

#: Seconds before now at which the first message was written. Relation: many times `APART`, so that
#: no message of a conversation comes from the future.
BEGAN = 1800.0

#: Seconds between two looks at what is shown.
LOOK = 0.01

#: Messages a minute by one person, unless settings have limits of their own: tests talk fast.
UNLIMITED = {"limits": {"person_turns_per_minute": 1000}}


class Conversation:
    """
    One channel with the bot in it; to be used with `async with`.

    *cog* is a class, an instance, or an extension as a module or its name. A class or extension is
    made anew after a crash, as by a restart; an instance lives on with all that it remembers.
    *settings* is what `interlock.toml` would say, as nested mappings.
    """

    def __init__(
        self,
        cog: Cog,
        *,
        settings: Mapping[str, object] | None = None,
        crash_at: CrashPoint | None = None,
    ) -> None:
        """Prepare; nothing runs before `async with`."""
        self._cog = cog
        self._settings = Settings.model_validate({**UNLIMITED, **(settings or {})})
        self._crash_at = crash_at or CrashPoint()
        stop = self._settings.stop
        self._stops = StopPhrases(stop.languages, stop.extra)
        self._discord = Discord()
        self._clock = Clock()
        self._database = Database(partitions=1)
        self._runs: list[Run] = []
        self._people: dict[str, Person] = {}
        self._said: list[str] = []

    async def __aenter__(self) -> Self:
        """Start the bot's first process."""
        await self._start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End it, and everything that still runs."""
        await self._end()

    # --- what people do --------------------------------------------------------------------------

    async def say(
        self,
        text: str,
        by: str = "Ada",
        *,
        addressed: bool = True,
        files: Mapping[str, bytes] | None = None,
    ) -> str:
        """
        Say *text* and show *files*, by name; return the message's id once the bot has heard it.

        A stop phrase stops. Who speaks while the bot answers them, follows up.
        """
        id_, person = self._next_id(), self._person(by)
        self._discord.remarks.append(Remark(id_, person, text))
        attached = tuple(self._discord.attach(id_, *file) for file in (files or {}).items())
        message = Message(
            id_, CHANNEL, GUILD, person, text, addressed, self._responder, attachments=attached
        )
        await self._enter(message, stop=self._stops.matches(text))
        return message.id

    async def press(self, label: str, by: str = "Ada") -> None:
        """
        Press the newest button of that label; return once the bot has heard it.

        Raise `AssertionError` if there is none, or if it refuses them.
        """
        visible = [sent for sent in self._discord.messages if not sent.deleted]
        buttons = [button for sent in visible for button in sent.buttons if button.label == label]
        choice = read_choice(buttons[-1].id) if buttons else None
        if choice is None:
            raise AssertionError(f"there is no button {label!r}, but {self.shown.text!r}")
        person, store = self._person(by), self._store.port
        offer = await offered(store, self._here, choice.token, choice.number)
        if offer is None or refusal(offer, person.id) is not None:
            raise AssertionError(f"{by} is told: {refusal(offer, person.id)}")
        pressed = Message(
            self._next_id(),
            CHANNEL,
            GUILD,
            person,
            label,
            addressed=True,
            responder=offer.responder,
        )
        await self._enter(replace(pressed, trigger=offer.trigger()), stop=False)

    def _next_id(self) -> str:
        self._said.append(snowflake(BEGAN - APART * len(self._said)))
        return self._said[-1]

    async def _enter(self, message: Message, *, stop: bool) -> None:
        heard = replace(TO_US, addressed=message.addressed, stop_phrase=stop)
        await self._bot.door.enter(message, heard)

    async def stop(self, by: str = "Ada") -> None:
        """Say stop."""
        await self.say("stop", by, addressed=False)

    async def kill(self, by: str = "Ada") -> None:
        """Use /kill, as one who may: the turn ends here and now, and what waits is dropped."""
        await self._bot.requests.kill(self._here, self._person(by).id, new_op())

    # --- what happens ----------------------------------------------------------------------------

    async def crash(self) -> None:
        """Kill the bot's process with -9; the next one takes up what it left."""
        self._die()
        await self._take_over()

    async def passes(self, seconds: float) -> Shown:
        """Let time pass once the bot has answered, and answer what is due then, such as timers."""
        await self.settles()
        self._clock.now += seconds
        await self._bot.wakes.sweep()
        return await self.settles()

    async def shows(self, text: str, within: float = 10.0) -> None:
        """Wait until *text* is to be seen; the reply may go on."""
        try:
            async with asyncio.timeout(within):
                while text not in self.shown.text:  # noqa: ASYNC110 (nobody tells of an edit)
                    await asyncio.sleep(LOOK)
        except TimeoutError:
            raise AssertionError(
                f"after {within:g} s {text!r} is not shown, but {self.shown.text!r}"
            ) from None

    async def settles(self, within: float = 30.0) -> Shown:
        """Wait until everything is answered, retries and the time after a crash included."""
        try:
            async with asyncio.timeout(within):
                while await self._goes_on():
                    pass
        except TimeoutError:
            raise AssertionError(
                f"still answering after {within:g} s; shown so far: {self.shown.text!r}"
            ) from None
        return self.shown

    @property
    def shown(self) -> Shown:
        """What is to be seen now."""
        visible = (sent for sent in self._discord.messages if not sent.deleted)
        marks = (self._discord.reactions(message) for message in self._said)
        return Shown(
            tuple(as_shown(sent) for sent in visible),
            tuple(self._runs),
            len(self._discord.asked("type")),
            tuple(sorted(emoji for emojis in marks for emoji in emojis)),
        )

    async def _goes_on(self) -> bool:
        """Wait for the turns that run, and begin what is due next; False: nothing is."""
        await self._bot.conversations.idle()
        if self._store.down:
            await self._take_over()
            return True
        view = await self._store.port.view(self._here)
        if view.turn is None and not view.waiting:
            await self._bot.notices.told()
            return False
        self._clock.now += max(view.wake or 0.0, 0.0)
        await self._bot.wakes.sweep()
        return True

    # --- processes -------------------------------------------------------------------------------

    async def _start(self) -> None:
        self._store = Watched(
            self._clock, self._database, self._runs, self._crash_at, die=self._die
        )
        self._wire = FakeWire(self._discord)
        self._wire.webhook = FakeWebhook(self._wire)
        self._wire.sight = FakeSight(self._wire)
        self._bot = Interlock(self._settings, self._store.port, self._wire)
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._bot)
            self._responder = await add(self._bot, self._cog)
            self._open = stack.pop_all()
        heartbeat = self._bot.locks.heartbeat()
        self._heartbeat = asyncio.create_task(heartbeat, name="heartbeat")

    def _die(self) -> None:
        """Let nothing of this process reach the store or the channel any more."""
        self._store.down = self._wire.cut = True
        self._bot.conversations.abandon()

    async def _take_over(self) -> None:
        """Start another process once the lease of the dead one has run out."""
        await self._end()
        self._clock.now += self._settings.state.lease + 1
        await self._start()
        await self._bot.wakes.sweep()

    async def _end(self) -> None:
        self._heartbeat.cancel()
        self._bot.conversations.abandon()
        await asyncio.wait({self._heartbeat})
        await self._bot.conversations.idle()
        await self._bot.requests.close()
        await self._bot.notices.close()
        await self._open.aclose()

    # --- who and where ---------------------------------------------------------------------------

    @property
    def _here(self) -> Where:
        return conversation_of(CHANNEL, GUILD, "")

    def _person(self, name: str) -> Person:
        known = self._people.get(name)
        return known or self._people.setdefault(
            name, Person(str(FIRST_PERSON + len(self._people)), name)
        )


async def converse(
    cog: Cog,
    *texts: str,
    crash_after: str | int | None = None,
    crash_during: str | None = None,
    settings: Mapping[str, object] | None = None,
) -> Shown:
    """
    Say each text once the one before is answered; answer what the channel shows at the end.

    *crash_after* kills the process with -9 once: after the step of that name is on record, or when
    that many pages are on Discord. *crash_during* does between a step's effect and its record, the
    moment in which nobody can know. Another process goes on with the turn, and `Shown.runs` tells
    what each of the two did. Code in `finally` does run, which a real kill would not let it; what
    it sends by `turn` goes nowhere. Raise `AssertionError` if that point is never reached.
    """
    point = CrashPoint(
        recorded=crash_after if isinstance(crash_after, str) else None,
        done=crash_during,
        pages=crash_after if isinstance(crash_after, int) else None,
    )
    async with Conversation(cog, settings=settings, crash_at=point) as room:
        for text in texts:
            await room.say(text)
            await room.settles()
        shown = room.shown
    if (wanted := crash_after or crash_during) is not None and not point.reached:
        raise AssertionError(
            f"the crash at {wanted!r} was never reached: steps {list(shown.steps)},"
            f" {len(shown.messages)} pages, the turn {shown.ending}"
        )
    return shown
