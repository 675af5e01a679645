"""Turns whose reply is more than text: its order, its endings, its replays, its buttons."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace

import pytest

from bot import Button, Buttons, Embed, File, Kind, Status, Trigger, Turn, texts
from bot.buttons import Choice, read_choice
from bot.endings import Ending
from bot.inbound import Message
from bot.offers import LIFE, Offer, offered
from bot.replies import Chunk
from bot.speaking import STATUS_SIGN
from bot.testing.traffic import Sent
from bot.transcript import read
from tests.unit.fake_process import RULES, Process, Script, hurry, running
from tests.unit.fake_store import Store
from tests.unit.fakes import ADA, BO, Discord, message
from tests.waiting import wait_until

CARD = Embed(title="card")
NOTE = File("note.txt", b"note")
ASK = Buttons(Button("Yes", {"answer": 1}, "success"), Button("Docs", url="https://example.org"))


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)


def yields(*chunks: Chunk, then: Callable[[Turn], object] = lambda _turn: None) -> Script:
    """Make a responder that yields *chunks*."""

    async def respond(turn: Turn) -> AsyncGenerator[Chunk, None]:
        for chunk in chunks:
            yield chunk
        then(turn)

    return Script(respond)


def hangs(*chunks: Chunk) -> Script:
    """Make a responder that yields *chunks* and never ends."""

    async def respond(turn: Turn) -> AsyncGenerator[Chunk, None]:
        for chunk in chunks:
            yield chunk
        await asyncio.Event().wait()

    return Script(respond)


def outline(bot: Process) -> list[str]:
    """Say of each visible message what it says, and what it carries by initials."""
    return [
        sent.text + "F" * len(sent.files) + "E" * len(sent.embeds) + "B" * len(sent.buttons)
        for sent in bot.discord.messages
        if not sent.deleted
    ]


async def kept(bot: Process, asked: Message) -> list[str]:
    """The transcript's texts."""
    return [said.text for said in read(await bot.store.port.history(asked.conversation))]


async def test_a_reply_of_all_kinds_is_shown_in_order_and_kept_as_its_text() -> None:
    """The first message is the reply; what it carries is no part of the transcript."""
    async with running(yields("see ", CARD, "and", NOTE, ASK, Status("…"), "done")) as bot:
        await bot.hears(asked := message("a"))
        await bot.settles()
        assert outline(bot) == ["seeE", "andFBB", "done"]
        assert bot.discord.replies(asked) == ["see"]
        assert await kept(bot, asked) == ["a", "see anddone"]
        assert bot.discord.busiest == 1


async def test_a_turn_that_only_told_what_it_does_is_an_empty_reply() -> None:
    """Its status is gone with it, and the question is shrugged at."""

    async def respond(turn: Turn) -> AsyncGenerator[Chunk, None]:
        yield Status("reading")
        await wait_until(bot.discord.visible, description="the status is shown")

    async with running(Script(respond)) as bot:
        await bot.hears(asked := message("a"))
        await bot.settles()
        await wait_until(
            lambda: bot.discord.reactions(asked.id) == {texts.EMPTY}, description="the shrug"
        )
        assert [sent.texts for sent in bot.discord.messages] == [[f"{STATUS_SIGN}reading"]]
        assert bot.discord.visible() == []


async def test_a_status_becomes_the_text_that_follows_it() -> None:
    """It is one message from the first status to the last word."""

    async def respond(turn: Turn) -> AsyncGenerator[Chunk, None]:
        yield Status("reading")
        await wait_until(bot.discord.visible, description="the first status")
        yield Status("thinking")
        await wait_until(lambda: bot.discord.asked("edit"), description="the second status")
        yield "done"

    async with running(Script(respond)) as bot:
        await bot.hears(message("a"))
        await bot.settles()
        (sent,) = bot.discord.messages
        assert sent.texts == [f"{STATUS_SIGN}reading", f"{STATUS_SIGN}thinking", "done"]


async def test_a_status_counts_as_progress() -> None:
    """A tool that says what it does is not silent."""

    async def respond(turn: Turn) -> AsyncGenerator[Chunk, None]:
        for number in range(6):
            yield Status(str(number))
            await asyncio.sleep(0.1)
        yield "done"

    limits = replace(RULES.limits, first_chunk=0.4, progress=0.4)
    async with running(Script(respond), rules=replace(RULES, limits=limits)) as bot:
        await bot.hears(message("a"))
        await bot.settles()
        assert bot.discord.visible() == ["done"]


@pytest.mark.parametrize("ending", [Ending.STOPPED, Ending.KILLED, Ending.SUPERSEDED])
@pytest.mark.parametrize(
    ("chunks", "shown", "left"),
    [
        (("a", Status("reading")), f"a\n{STATUS_SIGN}reading", "a{mark}"),
        (("a", CARD, ASK), "aEBB", "a{mark}EBB"),
        ((CARD,), "E", "{mark}E"),
    ],
)
async def test_a_mixed_reply_that_is_ended_keeps_what_it_shows_but_no_status(
    chunks: tuple[Chunk, ...], shown: str, left: str, ending: Ending
) -> None:
    """The mark is behind the text of the last message; our button is gone, the others stay."""
    async with running(hangs(*chunks), rules=replace(RULES, buttons=True)) as bot:
        await bot.hears(asked := message("a"))
        await wait_until(lambda: outline(bot) == [shown], description="it has begun")
        bot.locks.cancel(asked.id, ending)
        marked = left.format(mark=texts.here().mark(ending))
        await wait_until(lambda: outline(bot)[:1] == [marked], description="its end")
        assert bot.discord.messages[0].button is None


@pytest.mark.parametrize("ending", [Ending.STOPPED, Ending.KILLED, Ending.SUPERSEDED])
async def test_a_status_alone_is_gone_when_its_turn_is_ended(ending: Ending) -> None:
    """As with no word at all: the question is marked, if it is not answered anew."""
    async with running(hangs(Status("reading"))) as bot:
        await bot.hears(asked := message("a"))
        await wait_until(bot.discord.visible, description="the status is shown")
        bot.locks.cancel(asked.id, ending)
        await wait_until(lambda: bot.discord.messages[0].deleted, description="it is gone")
        marks = set() if ending is Ending.SUPERSEDED else {texts.STOPPED}
        await wait_until(lambda: bot.discord.reactions(asked.id) == marks, description="the mark")


@pytest.mark.parametrize("before", [["aE"], ["aE", "F"]])
async def test_a_replay_shows_each_piece_once(before: list[str]) -> None:
    """Message k is edited into the replay's message k, with what it carries."""
    store, discord = Store(), Discord()
    async with running(hangs("a ", CARD, NOTE), store=store, discord=discord) as first:
        await first.hears(asked := message("a"))
        await wait_until(lambda: outline(first)[: len(before)] == before, description="half of it")
        await first.crash()
    store.clock.now += 20
    whole = yields("a ", CARD, NOTE, "b", ASK)
    async with running(whole, store=store.another(), discord=discord) as second:
        await second.wakes.sweep()
        await second.settles()
        assert outline(second) == ["aE", "F", "bBB"]
        assert await kept(second, asked) == ["a", "a b"]


@pytest.mark.parametrize(
    ("chunk", "line"),
    [
        (3, "yielded int; it may yield str, Status, Embed, File and Buttons"),
        (File("f.bin", bytes(11 << 20)), "f.bin has 11.0 MiB; 10.0 MiB fit here"),
    ],
)
async def test_what_cannot_be_part_of_a_reply_fails_the_turn_with_one_line(
    chunk: Chunk, line: str
) -> None:
    """It names the responder and what would be right, for whoever reads the dead letter."""
    async with running(yields("a", chunk)) as bot:
        await bot.hears(asked := message("a"))
        await bot.settles()
        (letter,) = (await bot.store.port.dead_letters(asked.conversation.owner)).letters
        assert letter.error == f"PieceInvalid: Script.respond: {line}"
        assert bot.discord.visible() == ["a" + texts.here().mark(Ending.FAILED)]


async def test_an_embed_that_discord_would_refuse_fails_the_turn_with_one_line() -> None:
    """Also one that is made inside the responder: the line says whose it was."""

    async def respond(turn: Turn) -> AsyncGenerator[Chunk, None]:
        yield Embed(title="t" * 300)

    async with running(Script(respond)) as bot:
        await bot.hears(asked := message("a"))
        await bot.settles()
        letters = await bot.store.port.dead_letters(asked.conversation.owner)
        assert [letter.error for letter in letters.letters] == [
            "PieceInvalid: Script.respond: an Embed's title has 300 characters; 0 to 256 are right"
        ]


# ------------------------------------------------------------------------------------------ buttons


def chosen(sent: Sent) -> Choice:
    """What the first button's id says."""
    choice = read_choice(sent.buttons[0].id)
    assert choice is not None
    return choice


async def meant(bot: Process, asked: Message, choice: Choice) -> Offer | None:
    """Look up what a press in that conversation means."""
    return await offered(bot.store.port, asked.conversation, choice.token, choice.number)


@pytest.mark.parametrize(("only_author", "only"), [(False, None), (True, ADA.id)])
async def test_a_button_is_kept_with_who_made_it_and_for_whom(
    only_author: bool, only: str | None
) -> None:
    """So that its press means the same after a restart, for a month."""
    ask = Buttons(Button("Yes", {"answer": 1}, "success"), only_author=only_author)
    async with running(yields("a", ask)) as bot:
        await bot.hears(asked := message("a"))
        await bot.settles()
        (sent,) = bot.discord.messages
        assert (sent.buttons[0].label, sent.buttons[0].style) == ("Yes", "success")
        assert await meant(bot, asked, chosen(sent)) == Offer("Yes", {"answer": 1}, "Script", only)
        bot.store.clock.now += LIFE + 1
        assert await meant(bot, asked, chosen(sent)) is None


async def test_an_id_that_is_made_up_means_nothing() -> None:
    """Neither one that was never made, nor another of a row, nor one of another conversation."""
    async with running(yields("a", ASK)) as bot:
        await bot.hears(asked := message("a"))
        await bot.settles()
        choice = chosen(bot.discord.messages[0])
        elsewhere = message("a", channel="999")
        assert await meant(bot, asked, replace(choice, token="x" * 22)) is None
        assert await meant(bot, asked, replace(choice, number=2)) is None
        assert await meant(bot, elsewhere, choice) is None


async def test_buttons_of_a_replay_are_the_same_buttons() -> None:
    """Who has the old message on their screen may press it all the same."""
    script = yields("a", ASK, "b", ASK)
    ids = []
    for _ in range(2):
        async with running(script) as bot:
            await bot.hears(message("a", id="1234567890123456789"))
            await bot.settles()
            ids.append([button.id for sent in bot.discord.messages for button in sent.buttons])
    assert ids[0] == ids[1]
    assert len(set(ids[0])) == 4


async def test_a_press_is_a_turn_of_its_own_behind_what_runs() -> None:
    """Also of who is being answered, and in a mode that gathers: it is no follow-up of theirs."""
    go_on = asyncio.Event()

    async def respond(turn: Turn) -> AsyncGenerator[Chunk, None]:
        yield f"{turn.trigger.kind} {turn.trigger.payload} {turn.text}"
        await go_on.wait()

    async with running(Script(respond)) as bot:
        await bot.hears(message("first"))
        await wait_until(bot.discord.visible, description="the first is being answered")
        press = replace(message("Yes"), trigger=Trigger(Kind.BUTTON, "Yes", {"n": 1}))
        await bot.hears(press)
        go_on.set()
        await bot.settles()
        assert bot.discord.visible() == ["message None first", "button {'n': 1} Yes"]
        assert bot.discord.messages[1].reply_to is None
        assert bot.discord.asked("react") == []


async def test_a_press_over_a_rate_or_in_vain_is_marked_nowhere() -> None:
    """An interaction is no message: nothing can be put on it."""
    async with running(yields("")) as bot:
        press = replace(message("Yes", BO), trigger=Trigger(Kind.BUTTON, "Yes"))
        await bot.hears(press)
        await bot.settles()
        assert bot.discord.requests == []
