"""Each way a turn can end: what people see, what is kept, and who speaks next."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from bot import RetryLater, speech, texts
from bot.endings import Ending
from bot.inbound import Message
from bot.responders import Interrupted, Turn
from bot.stream import units
from bot.transcript import Said, read
from tests.unit.fake_process import RULES, Process, Script, hurry, running
from tests.unit.fakes import ADA, BO, Fault, message
from tests.waiting import wait_until

#: What a request by a person makes of a turn, and what is then put behind its reply.
BY_REQUEST = [
    (Ending.STOPPED, "stopped"),
    (Ending.KILLED, "killed"),
    (Ending.SUPERSEDED, "superseded"),
]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)


def says(*chunks: str) -> Script:
    """Make a responder that says *chunks* to its first question and hangs; others get an echo."""
    first = True

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        nonlocal first
        if not first:
            yield f"to {turn.text}"
            return
        first = False
        for chunk in chunks:
            yield chunk
        await asyncio.Event().wait()

    return Script(respond)


async def begun(bot: Process, *shown: str) -> tuple[Message, Message]:
    """Let one person be answered as far as *shown*, and another wait."""
    await bot.hears(asked := message("a", ADA, age=1))
    await bot.hears(waits := message("b", BO))
    await wait_until(
        lambda: bot.discord.replies(asked)[:1] == list(shown[:1]), description="it has begun"
    )
    return asked, waits


async def transcript(bot: Process, asked: Message) -> list[Said]:
    """Read what is kept of the conversation."""
    return read(await bot.store.port.history(asked.conversation))


@pytest.mark.parametrize("ending", [Ending.STOPPED, Ending.KILLED, Ending.SUPERSEDED])
async def test_a_reply_is_marked_while_its_responder_cleans_up(
    ending: Ending, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever asked for silence sees it at once; both share the time that an end may take."""
    monkeypatch.setattr(speech, "END_WITHIN", 60.0)
    marked = asyncio.Event()

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        try:
            yield "half an"
            await asyncio.Event().wait()
        finally:
            await marked.wait()

    async with running(Script(respond)) as bot:
        await bot.hears(asked := message("a"))
        await wait_until(lambda: bot.discord.replies(asked), description="it has begun")
        bot.locks.cancel(asked.id, ending)
        shown = [f"half an{texts.here().mark(ending)}"]
        await wait_until(lambda: bot.discord.replies(asked) == shown, description="the mark")
        assert bot.conversations._tasks
        marked.set()
        await bot.settles()


# ----------------------------------------------------------------------------------------- finished


async def test_a_finished_turn_is_answered_kept_and_followed_by_the_next() -> None:
    """All of its text is there, and in the transcript, before the next one begins."""

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        yield "an answer "
        yield f"to {turn.text}"

    async with running(Script(respond)) as bot:
        asked, waits = await begun(bot)
        await bot.settles()
        assert bot.discord.replies(asked) == ["an answer to a"]
        assert bot.discord.replies(waits) == ["an answer to b"]
        assert bot.store.endings == [(asked.id, "answered"), (waits.id, "answered")]
        assert await transcript(bot, asked) == [
            Said("person", "a", ADA),
            Said("bot", "an answer to a", ending=Ending.FINISHED),
            Said("person", "b", BO),
            Said("bot", "an answer to b", ending=Ending.FINISHED),
        ]


# --------------------------------------------------------------------------------------- by request


@pytest.mark.parametrize(("ending", "outcome"), BY_REQUEST)
async def test_a_turn_ended_by_request_is_marked_before_the_next_begins(
    ending: Ending, outcome: str
) -> None:
    """What was shown stays, with the mark behind it, and is kept with its ending."""
    async with running(says("half an")) as bot:
        asked, waits = await begun(bot, "half an")
        bot.locks.cancel(asked.id, ending)
        await bot.settles()
        marked = f"half an{texts.here().mark(ending)}"
        assert bot.discord.replies(asked) == [marked]
        assert bot.discord.replies(waits) == ["to b"]
        sent = [request.text for request in bot.discord.asked("create", "edit")]
        assert sent.index(marked) < sent.index("to b")
        assert bot.store.endings == [(asked.id, outcome), (waits.id, "answered")]
        assert (await transcript(bot, asked))[:2] == [
            Said("person", "a", ADA),
            Said("bot", "half an", ending=ending),
        ]


@pytest.mark.parametrize("ending", [Ending.STOPPED, Ending.SUPERSEDED])
async def test_what_was_written_is_flushed_with_its_markdown_closed(ending: Ending) -> None:
    """What the model had said by then is not lost for being in a queue, nor a code block torn."""
    async with running(says("see", ":\n```py\nx = 1")) as bot:
        hold = asyncio.Event()
        bot.discord.next("create", Fault(hold=hold))
        await bot.hears(asked := message("a"))
        await wait_until(lambda: bot.discord.asked("create"), description="it is on its way")
        bot.locks.cancel(asked.id, ending)
        await asyncio.sleep(0.01)
        hold.set()
        await bot.settles()
        assert bot.discord.replies(asked) == [f"see:\n```py\nx = 1\n```{texts.here().mark(ending)}"]


async def test_a_kill_drops_what_was_not_sent() -> None:
    """What is on Discord stays, marked; the transcript has what people saw."""
    more = asyncio.Event()

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        yield "seen"
        await more.wait()
        yield ", unseen"
        await asyncio.Event().wait()

    async with running(Script(respond)) as bot:
        await bot.hears(asked := message("a"))
        await wait_until(bot.discord.visible, description="it has begun")
        bot.discord.next("edit", Fault(hold=asyncio.Event()))
        more.set()
        await wait_until(lambda: bot.discord.asked("edit"), description="the rest is on its way")
        bot.locks.cancel(asked.id, Ending.KILLED)
        await bot.settles()
        await wait_until(lambda: not bot.notices._tasks, description="the mark has followed")
        assert bot.discord.replies(asked) == [f"seen{texts.here().mark(Ending.KILLED)}"]
        assert (await transcript(bot, asked))[1] == Said("bot", "seen", ending=Ending.KILLED)


@pytest.mark.parametrize("reactions", [True, False])
@pytest.mark.parametrize(("ending", "outcome"), BY_REQUEST)
async def test_a_turn_ended_before_its_first_word_says_nothing(
    ending: Ending, outcome: str, reactions: bool
) -> None:
    """The question is marked, unless a follow-up goes on below, or marks are switched off."""
    async with running(says(), reactions=reactions) as bot:
        await bot.hears(asked := message("a"))
        await wait_until(lambda: len(bot.locks), description="it runs")
        bot.locks.cancel(asked.id, ending)
        await bot.settles()
        assert bot.discord.visible() == []
        marked = reactions and ending is not Ending.SUPERSEDED
        assert bot.discord.reactions(asked.id) == ({texts.STOPPED} if marked else set())
        assert bot.store.ended(asked) == [outcome]
        assert await transcript(bot, asked) == [Said("person", "a", ADA)]


async def test_a_follow_up_is_answered_by_a_turn_that_knows_what_it_replaces() -> None:
    """It takes the old one's place, before those who waited, and sees its text and steps."""
    seen: list[Interrupted | None] = []

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        seen.append(turn.interrupted)
        if len(seen) > 1:
            yield f"to {turn.text}"
            return
        await turn.step("look", lambda _key: asyncio.sleep(0, 1))
        yield "half an"
        await asyncio.Event().wait()

    async with running(Script(respond)) as bot:
        asked, waits = await begun(bot, "half an")
        await bot.hears(follows := message("c", ADA))
        await bot.settles()
        marked = f"half an{texts.here().mark(Ending.SUPERSEDED)}"
        assert bot.discord.visible() == [marked, "to c", "to b"]
        assert seen == [None, Interrupted("half an", ("look",)), None]
        ended = [(asked.id, "superseded"), (follows.id, "answered"), (waits.id, "answered")]
        assert bot.store.endings == ended


async def test_the_partial_reply_of_a_follow_up_can_be_deleted() -> None:
    """By the setting; a page that is still on its way is deleted when it has arrived."""
    rules = replace(RULES, delete_partial=True)
    async with running(says("half an"), rules=rules) as bot:
        hold = asyncio.Event()
        bot.discord.next("create", Fault(hold=hold))
        await bot.hears(asked := message("a"))
        await wait_until(lambda: bot.discord.asked("create"), description="it is on its way")
        bot.locks.cancel(asked.id, Ending.SUPERSEDED)
        await asyncio.sleep(0.01)
        hold.set()
        await bot.settles()
        assert len(bot.discord.messages) == 1
        assert bot.discord.visible() == []


# ------------------------------------------------------------------------------------------- failed


def raises(error: Exception, *chunks: str) -> Script:
    """Make a responder that says *chunks* and raises."""

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        for chunk in chunks:
            yield chunk
            await asyncio.sleep(0.02)
        raise error

    return Script(respond)


async def test_a_turn_that_fails_before_its_first_word_is_apologised_for() -> None:
    """Once, without a word of what went wrong; the operator finds that in the dead letter."""
    async with running(raises(ValueError("a secret"))) as bot:
        await bot.hears(asked := message("a"))
        await bot.settles()
        assert bot.discord.replies(asked) == [texts.here().apology]
        (letter,) = (await bot.store.port.dead_letters("guild/301")).letters
        assert letter.error == "ValueError: a secret"
        assert [inbound.id for inbound in letter.inbounds] == [asked.id]


async def test_a_turn_that_fails_midway_keeps_what_it_said_with_a_mark() -> None:
    """The text stays, told to be incomplete, in the transcript too."""
    async with running(raises(ValueError("a bug"), "half an")) as bot:
        await bot.hears(asked := message("a"))
        await bot.settles()
        assert bot.discord.replies(asked) == [f"half an{texts.here().mark(Ending.FAILED)}"]
        assert bot.store.ended(asked) == ["dead-lettered"]
        assert (await transcript(bot, asked))[1] == Said("bot", "half an", ending=Ending.FAILED)


async def test_a_failure_worth_a_retry_is_tried_again_in_the_same_message() -> None:
    """Nobody is told of it; the next run edits the partial reply on."""

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        yield "half an"
        await asyncio.sleep(0.02)
        if turn.attempt < 3:
            raise RetryLater
        yield f" answer at attempt {turn.attempt}"

    async with running(Script(respond)) as bot:
        await bot.hears(asked := message("a"))
        for _ in range(3):
            await bot.settles()
            await bot.wakes.sweep()
        await bot.settles()
        assert bot.discord.messages[0].texts[0] == "half an"
        assert bot.discord.visible() == ["half an answer at attempt 3"]
        assert bot.store.ended(asked) == ["answered"]
        assert texts.here().apology not in bot.discord.messages[0].texts


async def test_a_turn_that_keeps_failing_is_given_up_after_its_last_attempt() -> None:
    """Then, and only then, the person is told."""
    async with running(raises(RetryLater("busy"))) as bot:
        await bot.hears(asked := message("a"))
        for attempt in range(RULES.max_attempts):
            assert bot.discord.visible() == []
            await bot.settles()
            assert bot.store.steps.count("fail") == attempt + 1
            await bot.wakes.sweep()
        await bot.settles()
        assert bot.discord.replies(asked) == [texts.here().apology]
        assert bot.store.ended(asked) == ["dead-lettered"]


async def test_a_responder_that_is_not_there_fails_the_turn() -> None:
    """It was fixed with the message; the settings may have changed since."""
    async with running(says()) as bot:
        await bot.hears(asked := message("a", responder="Gone"))
        await bot.settles()
        assert bot.discord.replies(asked) == [texts.here().apology]
        assert bot.store.ended(asked) == ["dead-lettered"]


# --------------------------------------------------------------------------------------------- lost


async def test_after_its_lease_is_lost_a_turn_says_nothing_and_ends_nothing() -> None:
    """Another holder may be speaking already; it goes on from what is there."""
    async with running(says("half an")) as bot:
        asked, _ = await begun(bot, "half an")
        speech = ("create", "edit", "delete", "type")
        before = len(bot.discord.asked(*speech))
        bot.locks.cancel(asked.id, Ending.LOST)
        await bot.settles()
        assert len(bot.discord.asked(*speech)) == before
        assert bot.store.endings == []


# -------------------------------------------------------------------------------------------- marks


@pytest.mark.parametrize("ending", [Ending.STOPPED, Ending.SUPERSEDED, Ending.FAILED])
@pytest.mark.parametrize("length", [1900, 1940, 1960, 1980, 2000, 4000])
async def test_every_mark_fits_behind_a_full_page(ending: Ending, length: int) -> None:
    """A message over 2,000 UTF-16 units would be refused, and the mark lost."""
    async with running(says("🦊" * (length // 2))) as bot:
        await bot.hears(asked := message("a"))
        await wait_until(bot.discord.visible, description="it has begun")
        bot.locks.cancel(asked.id, ending)
        await bot.settles()
        shown = bot.discord.visible()
        assert shown[-1].endswith(texts.here().mark(ending))
        assert max(map(units, shown)) <= 2000
        text = "".join(shown).removesuffix(texts.here().mark(ending))
        assert text == "🦊" * (length // 2)
