"""One fault at every moment of two commands: each is answered once, first in its own response."""

from collections import Counter

import pytest

from bot import pace, pages
from bot.draft import mark_room
from bot.inbound import Message
from bot.responses import name_room
from bot.speaking import Unreachable
from bot.stream import Stream
from tests.unit.fake_process import Process, Script, hurry, running
from tests.unit.fakes import ADA, BO, Fault
from tests.unit.test_faults import LEASE_AND_MORE, TEXT, Play, every_moment, respond
from tests.unit.test_responses import command, response
from tests.waiting import wait_until


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)
    monkeypatch.setattr(pace, "CADENCE", 0.004)


def wanted(asked: Message) -> list[str]:
    """List the messages that answer *asked*."""
    stream = Stream(reserve=mark_room() + name_room())
    stream.write(f"{asked.text} seen: {TEXT}")
    return [page.shown for page in stream.pages]


def use(play: Play, bot: Process) -> None:
    """Let the play be about two commands, which show "thinking…" from then on."""
    play.first, play.second = command(bot, "one", ADA, age=2), command(bot, "two", BO, age=1)


def answered(play: Play) -> None:
    """Check that each was answered once and wholly, in its response and below."""
    where = f"moment {play.moment}"
    for one in (play.first, play.second):
        assert play.store.ended(one) == ["answered"], where
        assert response(play.discord, one) == wanted(one)[0], where
    texts = [*wanted(play.first), *wanted(play.second)]
    assert Counter(play.discord.visible()) == Counter(texts), where


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
            use(play, bot)
            await play.perform(bot)
            answered(play)
            await play.rests(bot)

    await every_moment(perform)


@pytest.mark.parametrize("knows_nonces", [True, False])
async def test_the_process_dies(monkeypatch: pytest.MonkeyPatch, knows_nonces: bool) -> None:
    """Another one goes on by the token that was journaled, whatever Discord knows."""
    monkeypatch.setattr(pages, "NONCE_WINDOW", 120.0 if knows_nonces else -1.0)

    async def perform(play: Play) -> None:
        play.discord.knows_nonces = knows_nonces

        async def die_and_go_on() -> None:
            async with running(Script(respond), store=play.store, discord=play.discord) as bot:
                use(play, bot)

                def die() -> None:
                    play.store.down = bot.wire.cut = True

                play.act = die
                for asked in (play.first, play.second):
                    await bot.hears(asked)
                await wait_until(
                    lambda: play.reached or not bot.conversations._tasks,
                    description="it dies or is done",
                )
                await bot.crash()

        await die_and_go_on()
        play.store.clock.now += LEASE_AND_MORE
        other = play.store.another()
        async with running(Script(respond), store=other, discord=play.discord) as bot:
            await play.perform(bot)  # hears both again, as after a reconnect
            answered(play)
            await play.rests(bot)

    await every_moment(perform)
