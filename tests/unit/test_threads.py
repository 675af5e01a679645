"""Replies in threads: each opened on its message, once, and only for something to show."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from bot import texts
from bot.endings import Ending
from bot.inbound import Message
from bot.refusals import MISSING_PERMISSIONS, UNKNOWN_CHANNEL
from bot.responders import Turn
from bot.speaking import Rejected, Unreachable
from bot.threads import NAME, NAMELESS, in_thread
from tests.unit.fake_process import DOOR_RULES, HEARD, Process, Script, hurry, running, script
from tests.unit.fake_store import Store
from tests.unit.fakes import ADA, BO, CHANNEL, Discord, Fault, message, snowflake
from tests.waiting import wait_until

#: What a place is ruled by that answers in threads.
THREADS = replace(DOOR_RULES, threads=True)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)


async def hang(turn: Turn) -> AsyncGenerator[str, None]:
    """Begin and go on for ever."""
    yield f"to {turn.text}"
    await asyncio.Event().wait()


async def follows(bot: Process) -> set[str]:
    """The conversations that are followed."""
    return {one.id for one in (await bot.store.port.subscriptions(None)).conversations}


async def test_a_message_is_answered_in_a_thread_on_it_that_is_followed() -> None:
    """The thread has the id of the message, whose conversation is known from the start."""
    async with running(script("hello"), door_rules=THREADS) as bot:
        await bot.hears(asked := message("what is new?"))
        await bot.settles()
        assert bot.discord.threads == {asked.id: "what is new?"}
        assert bot.discord.visible(asked.id) == ["hello"]
        assert bot.discord.visible(CHANNEL) == []
        assert await follows(bot) == {asked.id}


async def test_two_messages_of_one_channel_are_answered_at_once_each_in_its_thread() -> None:
    """A thread is a conversation of its own: nobody waits for another one's."""
    async with running(Script(hang), door_rules=THREADS) as bot:
        await bot.hears(first := message("a", ADA))
        await bot.hears(second := message("b", BO))
        await wait_until(lambda: bot.discord.visible(second.id), description="the second begins")
        assert bot.discord.visible(first.id) == ["to a"]


@pytest.mark.parametrize(
    "elsewhere",
    [
        message(guild=None),
        replace(message(), parent="7"),
        replace(message(), addressed=False),
    ],
    ids=["direct", "in a thread", "in a followed channel"],
)
async def test_what_has_no_thread_of_its_own_is_answered_where_it_stands(
    elsewhere: Message,
) -> None:
    """Direct messages have no threads, and threads none in them; chatter is gathered."""
    async with running(script("hello"), door_rules=THREADS) as bot:
        await bot.hears(elsewhere, followed=True)
        await wait_until(lambda: bot.discord.visible(CHANNEL), description="it is answered")
        await bot.settles()
        assert bot.discord.threads == {}


async def test_a_turn_without_a_word_opens_no_thread() -> None:
    """An empty thread would say that something is to come."""

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        turn.decline()
        if turn.text == "speak":
            yield "a word"

    async with running(Script(respond), door_rules=THREADS) as bot:
        await bot.hears(message())
        await bot.settles()
        assert bot.discord.threads == {}


async def test_where_no_thread_can_be_opened_the_reply_comes_to_the_channel() -> None:
    """A right that is missing must not cost the answer."""
    async with running(script("hello"), door_rules=THREADS) as bot:
        bot.discord.next("open_thread", Rejected(403, MISSING_PERMISSIONS))
        await bot.hears(asked := message())
        await bot.settles()
        assert bot.discord.replies(asked) == ["hello"]
        assert await follows(bot) == set()


async def test_a_channel_that_is_gone_ends_the_turn() -> None:
    """There is nowhere left to reply."""
    async with running(script("hello"), door_rules=THREADS) as bot:
        bot.discord.next("open_thread", Rejected(404, UNKNOWN_CHANNEL))
        await bot.hears(message())
        await bot.settles()
        assert len(bot.discord.asked("create")) == 0


async def test_a_thread_whose_opening_was_not_answered_is_opened_once() -> None:
    """B60: asked again, Discord has it already, and the answer goes there, once."""
    async with running(script("hello"), door_rules=THREADS) as bot:
        bot.discord.next("open_thread", Fault(Unreachable("lost"), lost=True))
        await bot.hears(asked := message())
        await bot.settles()
        assert list(bot.discord.threads) == [asked.id]
        assert bot.discord.visible(asked.id) == ["hello"]


async def test_after_a_crash_the_reply_goes_on_in_its_thread() -> None:
    """The next process finds the thread there and the page in it."""
    store, discord = Store(), Discord()
    asked = message("a")
    async with running(Script(hang), store=store, discord=discord, door_rules=THREADS) as bot:
        await bot.hears(asked)
        await wait_until(lambda: discord.visible(asked.id), description="it begins")
        await bot.crash()
    store.clock.now += 16
    async with running(script("to a, b"), store=store.another(), discord=discord) as bot:
        await bot.wakes.sweep()
        await bot.settles()
    assert discord.visible(asked.id) == ["to a, b"]
    assert discord.visible(CHANNEL) == []


async def test_a_stop_beside_the_thread_ends_the_reply_in_it() -> None:
    """Who asked in the channel says stop in the channel."""
    async with running(Script(hang), door_rules=THREADS) as bot:
        await bot.hears(asked := message("a", ADA))
        await wait_until(lambda: bot.discord.visible(asked.id), description="it begins")
        await bot.hears(message("stop", BO), stop_phrase=True, addressed=False)
        assert bot.locks.answering(asked.id) is not None
        await bot.hears(message("stop", ADA), stop_phrase=True, addressed=False)
        await bot.settles()
        assert bot.discord.visible(asked.id) == [f"to a{texts.here().mark(Ending.STOPPED)}"]


async def test_a_deleted_question_ends_the_reply_in_its_thread() -> None:
    """The deletion is heard in the channel."""
    async with running(Script(hang), door_rules=THREADS) as bot:
        await bot.hears(asked := message("a"))
        await wait_until(lambda: bot.discord.visible(asked.id), description="it begins")
        await bot.door.deleted(CHANNEL, asked.id)
        await bot.settles()


async def test_an_edit_before_the_first_word_is_answered_in_the_same_thread() -> None:
    """The edit too is heard in the channel."""

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        if turn.text == "a":
            await asyncio.Event().wait()
        yield f"to {turn.text}"

    async with running(Script(respond), door_rules=THREADS) as bot:
        await bot.hears(asked := message("a"))
        await bot.door.edited(replace(asked, text="b"), "1")
        await bot.settles()
        assert bot.discord.visible(asked.id) == ["to b"]


async def test_the_rest_of_a_paste_is_answered_in_the_thread_of_its_beginning() -> None:
    """B28: Discord split it, not the person."""
    first = message("a", id=snowflake())
    rest = message("b", id=str(int(first.id) + (100 << 22)), addressed=False)
    waits = asyncio.Event()

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        if len(turn.messages) == 1:
            await waits.wait()
        yield f"to {turn.text}"

    async with running(Script(respond), door_rules=THREADS) as bot:
        await bot.hears(first)
        await bot.hears(rest)
        await bot.settles()
        assert bot.discord.visible(first.id) == ["to a\nb"]
        assert list(bot.discord.threads) == [first.id]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("what is\n new?", "what is new?"),
        ("", NAMELESS),
        ("x" * 200, "x" * (NAME - 1) + "…"),
    ],
)
async def test_a_thread_is_named_after_the_first_words(text: str, name: str) -> None:
    """Within what Discord allows."""
    async with running(script("hello"), door_rules=THREADS) as bot:
        await bot.hears(message(text))
        await bot.settles()
        assert list(bot.discord.threads.values()) == [name]


def test_where_it_stands_and_where_it_is_answered_are_both_kept() -> None:
    """Marks go to the channel, the conversation is the thread's."""
    led = in_thread(message(id="17"))
    assert (led.channel, led.parent, led.home) == ("17", CHANNEL, CHANNEL)


# ------------------------------------------------------------------------- in a channel we follow


async def test_what_is_caught_up_with_is_answered_in_the_thread_where_it_was_answered_before() -> (
    None
):
    """A followed channel is read again after every new session: nothing is answered twice."""
    async with running(script("hello"), door_rules=THREADS) as bot:
        await bot.hears(asked := message("what is new?"), followed=True)
        await bot.settles()
        await bot.door.catch_up([(asked, HEARD), (missed := message("and now?", BO), HEARD)])
        bot.store.clock.now += 6
        await bot.wakes.sweep()
        await bot.settles()
        assert bot.discord.visible(asked.id) == bot.discord.visible(missed.id) == ["hello"]
        assert bot.discord.visible(CHANNEL) == []


async def test_an_answer_in_a_thread_notes_how_far_its_channel_has_been_heard() -> None:
    """Or all that was said in the channel would be read again, and the newest not at all."""
    async with running(script("hello"), door_rules=THREADS) as bot:
        await bot.followed.follow(message().conversation, snowflake(60))
        await bot.hears(asked := replace(message(), caught_up=True), followed=True)
        await bot.settles()
        assert await bot.followed.heard(asked.conversation) == asked.id


async def test_what_the_store_did_not_take_is_missing_in_the_channel_where_it_stands() -> None:
    """The channel is read again; the thread would have been opened by its answer."""
    async with running(script("hello"), door_rules=THREADS) as bot:
        bot.store.down = True
        await bot.hears(message())
        assert CHANNEL in bot.door.gaps


async def test_a_channel_whose_threads_refuse_us_is_left_alone() -> None:
    """Else each message there would pay for a turn, and leave an empty thread."""
    async with running(script("hello"), door_rules=THREADS) as bot:
        bot.discord.next("create", Rejected(403, MISSING_PERMISSIONS))
        await bot.hears(message())
        await bot.settles()
        await bot.hears(another := message("again", BO))
        await bot.settles()
        assert another.id not in bot.discord.threads
