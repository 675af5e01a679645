"""
One fault at every moment: two questions are answered while one thing goes wrong, each time later.

Whatever it is and whenever it comes: every question ends once, every page of a reply is one visible
message, all of its text is there, and nothing is left running.
"""

import asyncio
import itertools
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any

import pytest

from bot import pace, pages, texts
from bot.draft import mark_room
from bot.endings import Ending
from bot.inbound import Message
from bot.responders import Turn
from bot.speaking import Unreachable
from bot.stream import Stream
from tests.unit.fake_process import Process, Script, hurry, running
from tests.unit.fake_store import LEASED, Store, Trouble
from tests.unit.fakes import ADA, BO, Discord, Fault, message

#: More than a page.
TEXT = "A sentence of some length, for a page holds many. " * 50

#: What happens in any performance: four pages are created, and each of them is recorded twice.
LEAST_MOMENTS = 4

#: A life of the lease and a little more, in seconds of the store's clock.
LEASE_AND_MORE = 16.0


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)
    monkeypatch.setattr(pace, "CADENCE", 0.004)


async def respond(turn: Turn) -> AsyncGenerator[str, None]:
    """Take a step and write two pages in a few pieces."""
    seen = await turn.step("look", lambda _key: asyncio.sleep(0, "seen"))
    yield f"{turn.text} {seen}: "
    await asyncio.sleep(0.006)
    for start in range(0, len(TEXT), 900):
        yield TEXT[start : start + 900]
        await asyncio.sleep(0.001)


def wanted(asked: Message) -> list[str]:
    """List the messages that answer *asked*."""
    stream = Stream(reserve=mark_room())
    stream.write(f"{asked.text} seen: {TEXT}")
    return [page.shown for page in stream.pages]


#: Something that is asked for while the questions are answered.
Ask = Callable[["Play", Process], Coroutine[Any, Any, None]]


@dataclass
class Play:
    """One performance: two questions, and an act at the *moment*-th thing that happens."""

    moment: int

    def __post_init__(self) -> None:
        self.store, self.discord = Store(), Discord()
        self.first, self.second = message("one", ADA, age=2), message("two", BO, age=1)
        self.third = message("three", ADA)
        self.happened = 0
        self.act: Callable[[], object] = lambda: None
        self.store.plan = lambda _number, _name: self._happens()
        self.discord.plan = lambda _number, _method: self._happens()

    @property
    def reached(self) -> bool:
        """Whether the play lasted until its moment."""
        return self.happened > self.moment

    def _happens(self) -> None:
        self.happened += 1
        if self.happened == self.moment + 1:
            self.act()

    async def perform(self, bot: Process) -> None:
        """Let both questions be asked and everything end."""
        for asked in (self.first, self.second):
            await bot.hears(asked)
        await self.ends(bot)

    async def perform_with(self, bot: Process, ask: Ask) -> None:
        """The same while somebody asks for something at the moment."""
        asking: list[asyncio.Task[None]] = []
        self.act = lambda: asking.append(asyncio.create_task(ask(self, bot)))
        await self.perform(bot)
        await asyncio.gather(*asking)
        await self.ends(bot)

    async def until_asked(self, bot: Process, ask: Ask) -> None:
        """Let the questions be asked, and the process end itself at the moment."""
        asking: list[asyncio.Task[None]] = []
        self.act = lambda: asking.append(asyncio.create_task(ask(self, bot)))
        for asked in (self.first, self.second):
            await bot.hears(asked)
        await bot.settles()
        await asyncio.gather(*asking)

    async def ends(self, bot: Process) -> None:
        """Take up what is left until nothing is, as sweeps do in the course of time."""
        for _ in range(12):
            await bot.settles()
            record = self.store.database.records.get(self.first.conversation)
            if record is None or (record.turn is None and not record.inbox):
                break
            self.store.clock.now += LEASE_AND_MORE
            await bot.wakes.sweep()
        else:
            pytest.fail(f"moment {self.moment}: the conversation never comes to rest")

    def answered(self, *asked: Message) -> None:
        """Check that each was answered once and wholly, and that nothing else was said."""
        where = f"moment {self.moment}"
        for one in asked:
            assert self.store.ended(one) == ["answered"], where
        assert self.discord.visible() == [page for one in asked for page in wanted(one)], where
        assert self.discord.busiest == 1, where

    async def rests(self, bot: Process) -> None:
        """Check that nothing runs any more."""
        await bot.end()
        assert asyncio.all_tasks() == {asyncio.current_task()}, f"moment {self.moment}"


async def every_moment(perform: Callable[[Play], Awaitable[None]]) -> None:
    """Perform again and again, the fault one moment later each time, until it comes too late."""
    for moment in itertools.count():
        play = Play(moment)
        await perform(play)
        if not play.reached:
            assert moment > LEAST_MOMENTS
            break


@pytest.mark.parametrize("trouble", list(Trouble))
async def test_one_step_of_the_store_goes_wrong(trouble: Trouble) -> None:
    """It is repeated, or the turn left to the next holder."""

    async def perform(play: Play) -> None:
        def plan(number: int, name: str) -> Trouble | None:
            play.happened = number + 1
            lost_without_lease = trouble is Trouble.LEASE_LOST and name not in LEASED
            return trouble if number == play.moment and not lost_without_lease else None

        play.store.plan = plan
        async with running(Script(respond), store=play.store, discord=play.discord) as bot:
            begun = play.store.clock.now
            await play.perform(bot)
            play.answered(play.first, play.second)
            if trouble is not Trouble.LEASE_LOST:
                assert play.store.clock.now == begun, f"moment {play.moment}: a lease ran out"
            await play.rests(bot)

    await every_moment(perform)


@pytest.mark.parametrize("lost", [True, False])
async def test_one_request_to_discord_goes_wrong(lost: bool) -> None:
    """Carried out or not, it is repeated until its outcome is known."""

    async def perform(play: Play) -> None:
        def plan(number: int, _method: str) -> Fault | None:
            play.happened = number + 1
            return Fault(Unreachable("503"), lost=lost) if number == play.moment else None

        play.store.plan = lambda _number, _name: None
        play.discord.plan = plan
        async with running(Script(respond), store=play.store, discord=play.discord) as bot:
            await play.perform(bot)
            play.answered(play.first, play.second)
            await play.rests(bot)

    await every_moment(perform)


@pytest.mark.parametrize("knows_nonces", [True, False])
async def test_the_process_dies(monkeypatch: pytest.MonkeyPatch, knows_nonces: bool) -> None:
    """Another one takes up what was abandoned, and says nothing twice, whatever Discord knows."""
    monkeypatch.setattr(pages, "NONCE_WINDOW", 120.0 if knows_nonces else -1.0)

    async def perform(play: Play) -> None:
        play.discord.knows_nonces = knows_nonces

        def die() -> None:
            play.store.down = bot.wire.cut = True
            performance.cancel()

        play.act = die
        async with running(Script(respond), store=play.store, discord=play.discord) as bot:
            performance = asyncio.create_task(play.perform(bot))
            await asyncio.wait({performance})
            await bot.crash()
        play.store.clock.now += LEASE_AND_MORE
        other = play.store.another()
        async with running(Script(respond), store=other, discord=play.discord) as bot:
            await play.perform(bot)  # hears both again, as after a reconnect
            play.answered(play.first, play.second)
            await play.rests(bot)

    await every_moment(perform)


async def stop(play: Play, bot: Process) -> None:
    """Say stop, as the author of the first question."""
    await bot.hears(message("stop", ADA, addressed=False), stop_phrase=True)


async def kill(play: Play, bot: Process) -> None:
    """Use /kill on what is one's own."""
    await bot.requests.kill(play.first.conversation, ADA.id, "kill-1", ADA.id)


async def follow_up(play: Play, bot: Process) -> None:
    """Write again, as the author of the first question."""
    await bot.hears(play.third)


async def drain(play: Play, bot: Process) -> None:
    """End the process in good order, at once."""
    await bot.conversations.drain(0)


async def lose(play: Play, bot: Process) -> None:
    """Learn that the lease is another's."""
    bot.locks.cancel_all(Ending.LOST)


def marked(shown: list[str], ending: Ending, whole: list[str]) -> bool:
    """Whether each page is a beginning of what it should be, with the mark behind the last one."""
    if not shown or shown == whole:
        return True
    last = shown[-1].removesuffix(texts.here().mark(ending))
    begun = zip(whole, [*shown[:-1], last], strict=False)
    return last != shown[-1] and all(page.startswith(text) for page, text in begun)


@pytest.mark.parametrize(("ending", "ask"), [(Ending.STOPPED, stop), (Ending.KILLED, kill)])
async def test_the_first_turn_is_ended_by_its_author(ending: Ending, ask: Ask) -> None:
    """It ends once, marked if it had begun; the second question is answered in any case."""

    async def perform(play: Play) -> None:
        async with running(Script(respond), store=play.store, discord=play.discord) as bot:
            await play.perform_with(bot, ask)
            where = f"moment {play.moment}"
            (ended,) = play.store.ended(play.first)
            assert ended in (ending.value, "answered"), where
            assert play.store.ended(play.second) == ["answered"], where
            shown = play.discord.visible()
            assert shown[-2:] == wanted(play.second), where
            assert marked(shown[:-2], ending, wanted(play.first)), where
            await play.rests(bot)

    await every_moment(perform)


async def test_the_author_of_the_first_question_writes_again() -> None:
    """The first turn makes room or is done; follow-up and second question are answered once."""

    async def perform(play: Play) -> None:
        async with running(Script(respond), store=play.store, discord=play.discord) as bot:
            await play.perform_with(bot, follow_up)
            where = f"moment {play.moment}"
            (ended,) = play.store.ended(play.first)
            assert ended in ("superseded", "answered"), where
            others = (play.second, play.third) if play.reached else (play.second,)
            for one in others:
                assert play.store.ended(one) == ["answered"], where
            pages_of_others = [page for one in others for page in wanted(one)]
            count, shown = len(pages_of_others), play.discord.visible()
            assert sorted(shown[-count:]) == sorted(pages_of_others), where
            assert marked(shown[:-count], Ending.SUPERSEDED, wanted(play.first)), where
            await play.rests(bot)

    await every_moment(perform)


@pytest.mark.parametrize("ask", [drain, lose])
async def test_the_turn_has_to_be_left_to_another_process(ask: Ask) -> None:
    """Parked in good order or lost: it is taken up, and said once."""

    async def perform(play: Play) -> None:
        async with running(Script(respond), store=play.store, discord=play.discord) as bot:
            if ask is drain:
                await play.until_asked(bot, ask)
            else:
                await play.perform_with(bot, ask)
            await play.rests(bot)
        other = play.store.another()
        async with running(Script(respond), store=other, discord=play.discord) as bot:
            await play.perform(bot)
            play.answered(play.first, play.second)
            await play.rests(bot)

    await every_moment(perform)
