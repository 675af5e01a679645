"""
Turns that end at random, in any way and at any moment: whatever comes of each, nothing stays.

What is drawn follows from a seed, which every failure tells. A process that drains or dies is
followed by another on the same store and the same Discord, as after a deploy.
"""

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field, replace
from itertools import count

import pytest

from bot import Buttons, Embed, File, RetryLater, Status, draft, notices, speech, texts
from bot.inbound import Message, Person
from bot.replies import Button, Chunk
from bot.responders import Turn
from bot.speaking import STATUS_SIGN, Unreachable
from bot.speech import Limits
from bot.testing.traffic import Sent
from state.errors import StateUnavailable
from state.values import SignalKind
from tests.unit.fake_process import RULES, Process, Script, hurry, running
from tests.unit.fake_store import Store, Trouble
from tests.unit.fakes import ADA, BO, CY, Discord, Fault, message

TURNS, AT_ONCE = 200, 50

#: A life of the lease and a little more, in seconds of the store's clock.
LEASE_AND_MORE = 16.0

#: How long a turn may be silent, in seconds: short, for some are silent until they are ended.
SILENT = 0.3

#: How a responder ends by itself; `mute` never does.
ENDS = ("finish", "finish", "mute", "empty", "decline", "raise", "retry later", "resist")

#: What becomes of each process once its turns have begun.
FATES = ("lives", "drains", "lives", "dies")


@dataclass
class World:
    """One store and one Discord, and what was asked of the processes on them."""

    seed: int
    store: Store = field(default_factory=Store)
    discord: Discord = field(default_factory=Discord)
    asked: list[Message] = field(default_factory=list)
    #: The text of each run, under the ids of its messages, the newest run last.
    written: dict[tuple[str, ...], str] = field(default_factory=dict)
    #: Channels in which a process has drained or died.
    fell: set[str] = field(default_factory=set)
    #: How often a responder has begun.
    runs: int = 0

    def __post_init__(self) -> None:
        self.draw = random.Random(self.seed)
        self._numbers = count()

    def fails_now_and_then(self) -> None:
        """Let one step in 40 and one request in 40 go wrong, though another try would do."""
        troubles, draw = (Trouble.REFUSED, Trouble.LOST), self.draw

        def fault() -> Fault:
            return Fault(Unreachable("503"), lost=draw.random() < 0.5)

        self.store.plan = lambda *_: draw.choice(troubles) if draw.random() < 1 / 40 else None
        self.discord.plan = lambda *_: fault() if draw.random() < 1 / 40 else None

    def fails_no_more(self) -> None:
        """Let everything be well again."""
        self.store.plan, self.discord.plan = (lambda *_: None), (lambda *_: None)

    def ask(self, channel: str, author: Person = ADA, text: str = "question") -> Message:
        """Make one more message of a person's."""
        asked = message(f"{text} {next(self._numbers)}", author, channel=channel)
        self.asked.append(asked)
        return asked

    async def respond(self, turn: Turn) -> AsyncGenerator[Chunk, None]:
        """Do a few things and end somehow: what is drawn, the same for every run of a turn."""
        self.runs += 1
        ids = tuple(one.id for one in turn.messages)
        self.written[ids] = ""
        draw = random.Random(f"{self.seed} {turn.text}")
        end = draw.choice(ENDS)
        if end in ("empty", "decline"):
            if end == "decline":
                turn.decline()
            yield " "
            return
        for number in range(draw.randrange(1, 9)):
            await asyncio.sleep(draw.choice((0, 0, 0.003)))
            said = f"[{turn.text.splitlines()[-1]}: {number}{draw.choice(('', ' long' * 150))}]"
            self.written[ids] += said
            yield said
            if (piece := await _something_else(turn, draw)) is not None:
                yield piece
        await self._end(turn, end)

    async def _end(self, turn: Turn, end: str) -> None:
        if end == "raise":
            raise ValueError("a bug")
        if end == "retry later" and turn.attempt < 2:
            raise RetryLater("busy")
        if end == "mute":
            await asyncio.Event().wait()
        if end == "resist":
            for _ in range(2):
                with suppress(asyncio.CancelledError):
                    await asyncio.sleep(0.5)

    def check(self, left: object, what: str) -> None:
        """Fail, telling the seed, when anything is *left*."""
        assert not left, f"seed {self.seed}: {what}: {left!r}"

    def of(self, channel: str) -> list[Sent]:
        """What is to be seen in a channel."""
        return [one for one in self.discord.messages if one.channel == channel and not one.deleted]


async def _something_else(turn: Turn, draw: random.Random) -> Chunk | None:
    """Take a step, say something beside the reply, or make a piece of it that is no text."""
    match draw.randrange(12):
        case 0:
            return Status("looking…")
        case 1:
            return Embed("card", "of a few words")
        case 2:
            return File("a.txt", b"words")
        case 3:
            return Buttons(Button("More", {"more": 1}))
        case 4:
            await turn.say(f"aside to {turn.text[:100]}")
        case 5:
            with turn.call_chain():
                await turn.step("tool", lambda _key: asyncio.sleep(0.002, "seen"))
        case 6:
            turn.remember("seen", [turn.text])
            turn.schedule("later", delay=86_400.0)
            await turn.checkpoint()
        case _:
            pass
    return None


# --- what people and processes do meanwhile -------------------------------------------------------

Act = Callable[[World, Process, Message], Awaitable[object]]


async def _nothing(_world: World, _bot: Process, _asked: Message) -> None:
    pass


async def _say_stop(_world: World, bot: Process, asked: Message) -> None:
    await bot.hears(message("stop", asked.author, channel=asked.channel), stop_phrase=True)


async def _press_stop(world: World, bot: Process, asked: Message) -> None:
    await bot.requests.stop(asked.conversation, asked.id, ADA.id, f"press-{world.draw.random()}")


async def _kill(world: World, bot: Process, asked: Message) -> None:
    by = world.draw.choice((None, asked.author.id))
    await bot.requests.kill(asked.conversation, CY.id, f"kill-{world.draw.random()}", by)


async def _follow_up(world: World, bot: Process, asked: Message) -> None:
    await bot.hears(world.ask(asked.channel, asked.author, "follow-up"))


async def _wait_in_line(world: World, bot: Process, asked: Message) -> None:
    await bot.hears(world.ask(asked.channel, BO, "another's question"))


async def _edit(_world: World, bot: Process, asked: Message) -> None:
    await bot.door.edited(replace(asked, text=f"{asked.text}, edited"), "1")


async def _delete(_world: World, bot: Process, asked: Message) -> None:
    await bot.door.deleted(asked.channel, asked.id)


async def _lose(_world: World, bot: Process, asked: Message) -> None:
    bot.locks.lose(asked.conversation)


async def _signal_from_afar(world: World, bot: Process, asked: Message) -> None:
    """Stop it as another process does, whose hint is lost: the next sweep finds it."""
    op = f"far-{world.draw.random()}"
    await bot.store.port.signal(asked.conversation, asked.id, SignalKind.STOP, by=BO.id, op=op)
    await bot.wakes.sweep()


ACTS: tuple[Act, ...] = (
    _nothing,
    _say_stop,
    _press_stop,
    _kill,
    _follow_up,
    _wait_in_line,
    _edit,
    _delete,
    _lose,
    _signal_from_afar,
)


async def _one(world: World, bot: Process, channel: str) -> None:
    """Ask one question, and let up to three things happen to its turn."""
    asked = world.ask(channel)
    draw = random.Random(f"{world.seed} {channel}")
    await bot.hears(asked)
    for act in _acts(world, channel):
        await asyncio.sleep(draw.choice((0, 0, 0.004, 0.02)))
        with suppress(StateUnavailable):  # then people have to ask once more
            await act(world, bot, asked)


def _acts(world: World, channel: str) -> list[Act]:
    draw = random.Random(f"{world.seed} acts {channel}")
    return draw.choices(ACTS, k=draw.randrange(4))


def process(world: World) -> AbstractAsyncContextManager[Process]:
    """Run a process on them."""
    rules = replace(RULES, limits=Limits(SILENT, SILENT, 5.0), buttons=True)
    return running(Script(world.respond), store=world.store, discord=world.discord, rules=rules)


async def _rest(world: World, bot: Process) -> None:
    """Take up what is left until nothing is, as sweeps do in the course of time."""
    left: list[object] = []
    for _ in range(30):
        await bot.settles()
        left = [r for r in world.store.database.records.values() if r.turn or r.inbox]
        if not left:
            return
        world.store.clock.now += LEASE_AND_MORE
        with suppress(StateUnavailable):
            await bot.wakes.sweep()
    world.check(left, "conversations that never come to rest")


@pytest.mark.parametrize("seed", [1, 2])
async def test_turns_that_end_at_random_leave_nothing(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No task, lease, typing, button, status line or mark, and no reply that was not sent."""
    hurry(monkeypatch)
    world = World(seed)
    for module, name in ((draft, "MARK_AGAIN"), (notices, "UNMARK_AGAIN")):
        monkeypatch.setattr(module, name, (0.01,) * 5)
    for number, fate in zip(range(TURNS // AT_ONCE), FATES, strict=True):
        channels = [str(1000 + number * AT_ONCE + each) for each in range(AT_ONCE)]
        world.fails_now_and_then()
        async with process(world) as bot:
            await asyncio.gather(*(_one(world, bot, channel) for channel in channels))
            if fate == "lives":
                await _rest(world, bot)
                await bot.notices.told()
                continue
            world.fell |= set(channels)
            await (bot.conversations.drain(0.01) if fate == "drains" else bot.crash())
        world.store.down = False
        async with process(world) as bot:
            await _rest(world, bot)
            await bot.notices.told()
    assert world.runs >= TURNS // 2, "most turns have begun"
    _nothing_is_left(world)


def _nothing_is_left(world: World) -> None:
    world.check(asyncio.all_tasks() - {asyncio.current_task()}, "tasks")
    world.check(speech.stragglers, "responders that go on")
    for record in world.store.database.records.values():
        world.check(record.token, f"lease of {record.conversation.id}")
        world.check(record.turn or record.inbox, f"work in {record.conversation.id}")
    shown = [one for one in world.discord.messages if not one.deleted]
    stop = [one for one in shown if one.button and one.button.label == texts.here().stop_button]
    # A mark that is late dies with its process: the turn is over by then, and says so if pressed.
    world.check([one for one in stop if one.channel not in world.fell], "stop buttons")
    world.check([one for one in stop if not _ended_by_request(world, one)], "stop buttons")
    world.check([one for one in shown if STATUS_SIGN in one.text], "status lines")
    marks = {one.id: world.discord.reactions(one.id) for one in world.asked}
    world.check([id_ for id_, on in marks.items() if texts.WAITING in on], "⏳ that stayed")
    for asked in world.asked:
        _is_answered_once(world, asked)


def _ended_by_request(world: World, reply: Sent) -> bool:
    """Whether it answers somebody whose turn was stopped, killed or superseded."""
    endings = [end for inbound, end in world.store.endings if inbound == reply.reply_to]
    return bool({"stopped", "killed", "superseded"} & set(endings))


def _is_answered_once(world: World, asked: Message) -> None:
    """Check what was written for *asked*, if that was answered: all of it is there, and once."""
    if world.store.ended(asked)[-1:] != ["answered"]:
        return
    ids, text = [one for one in world.written.items() if asked.id in one[0]][-1]
    asides = ("aside to", texts.here().apology)
    shown = [one.text for one in world.of(asked.channel) if not one.text.startswith(asides)]
    there = "".join("".join(shown).split()).count("".join(text.split()))
    assert there == 1 or not text, f"seed {world.seed}: {ids} is shown {there} times: {text}"
