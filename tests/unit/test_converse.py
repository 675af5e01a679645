"""What a cog's author is shown by `converse`: a real turn, its crashes included."""

import asyncio
import re
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from discord.ext import commands

import cogs.echo
from bot import Button, Buttons, Chunk, Embed, Ending, File, RetryLater, Turn, texts
from bot.client import Interlock
from bot.errors import ResponderInvalid
from bot.testing import Conversation, converse

ROOT = Path(__file__).parents[2]


class Parrot(commands.Cog):
    """Repeats words."""

    async def respond(self, turn: Turn) -> AsyncGenerator[str, None]:
        """Yield each word."""
        for word in turn.text.split():
            yield word + " "


class Shop(commands.Cog):
    """Charges once, whatever happens."""

    def __init__(self) -> None:
        self.charged: list[str] = []
        self.greeted = 0

    async def respond(self, turn: Turn) -> AsyncGenerator[str, None]:
        """Charge, then thank."""
        self.greeted += 1
        yield "One moment. "
        receipt = await turn.step("charge", self.charge)
        yield f"Paid: {receipt}."

    async def charge(self, key: str) -> int:
        """Take the money."""
        self.charged.append(key)
        return len(set(self.charged))


class Counter(commands.Cog):
    """Counts slowly, and remembers in itself and in the conversation."""

    made: ClassVar[int] = 0

    def __init__(self, bot: Interlock) -> None:
        Counter.made += 1
        self.prefix = bot.settings.state.prefix

    async def respond(self, turn: Turn) -> AsyncGenerator[str, None]:
        """Count until stopped."""
        if turn.interrupted is not None:
            yield f"again, {turn.text}: "
        for number in range(1000):
            yield f"{number} "
            await asyncio.sleep(0.01)


# ------------------------------------------------------------------------------------------- shown


async def test_a_message_is_answered_as_a_channel_would_show_it() -> None:
    """Text, what it replies to, no button left, and how the turn ended."""
    shown = await converse(Parrot, "hello world")
    assert (shown.text, shown.ending) == ("hello world", Ending.FINISHED)
    [message] = shown.messages
    assert (message.buttons, message.file) == ((), None)
    assert message.reply_to is not None


async def test_the_readmes_test_of_the_readmes_cog_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both copied as they stand."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    [cog] = [block for block in blocks if "class Parrot" in block]
    [test] = [block for block in blocks if "import converse" in block]
    (tmp_path / "parrot.py").write_text(cog)
    monkeypatch.syspath_prepend(tmp_path)
    namespace: dict[str, Any] = {}
    exec(test, namespace)  # noqa: S102 (the README's own)
    await namespace["test_parrot_says_nothing_twice"]()
    del sys.modules["parrot"]


async def test_several_texts_are_answered_one_after_the_other() -> None:
    """Each once the one before is answered: no follow-up, no queue."""
    shown = await converse(Parrot, "a", "b", "c")
    assert [message.text for message in shown.messages] == ["a", "b", "c"]


async def test_nothing_said_is_shown_as_a_shrug() -> None:
    """No message, and a mark on what was written."""
    shown = await converse(Parrot, " ")
    assert (shown.messages, shown.reactions) == ((), (texts.EMPTY,))


class Flaky(commands.Cog):
    """Succeeds at the third attempt, or breaks for good."""

    async def respond(self, turn: Turn) -> AsyncGenerator[str, None]:
        """Fail as asked."""
        if turn.text == "break":
            raise ValueError("broken")
        if turn.attempt < 3:
            raise RetryLater("overloaded")
        yield f"attempt {turn.attempt}"


async def test_retries_are_not_waited_for() -> None:
    """The store's time is moved to the next attempt; each attempt is a run."""
    shown = await converse(Flaky, "go")
    assert shown.text == "attempt 3"
    assert [run.ending for run in shown.runs] == [Ending.FAILED, Ending.FAILED, Ending.FINISHED]
    assert shown.runs[0].error == "RetryLater: overloaded"


async def test_a_failure_shows_the_apology_and_tells_the_test_why() -> None:
    """People see one short text and a button; the author sees the error."""
    shown = await converse(Flaky, "break")
    assert shown.text.endswith(texts.here().apology)
    assert shown.messages[-1].buttons == (texts.here().retry_button,)
    assert (shown.ending, shown.runs[-1].error) == (Ending.FAILED, "ValueError: broken")


# ------------------------------------------------------------------------------------------ crashes


async def test_a_step_on_record_is_not_run_again_after_a_crash() -> None:
    """The second run answers it from the journal; what is outside of steps happens twice."""
    shop = Shop()
    shown = await converse(shop, "buy", crash_after="charge")
    assert (len(shop.charged), shop.greeted) == (1, 2)
    assert shown.text == "One moment. Paid: 1."
    first, second = shown.runs
    assert (first.ending, first.steps, first.replayed) == (None, ["charge"], ())
    assert (second.ending, second.steps, second.replayed) == (Ending.FINISHED, [], ("charge",))


async def test_a_crash_between_effect_and_record_repeats_the_effect_under_its_key() -> None:
    """Twice, and the key lets the outside recognise the repeat."""
    shop = Shop()
    shown = await converse(shop, "buy", crash_during="charge")
    first, second = shop.charged
    assert first == second
    assert shown.steps == ("charge", "charge")
    assert shown.text == "One moment. Paid: 1."


async def test_a_crash_with_pages_on_discord_says_nothing_twice() -> None:
    """The page whose id nobody has noted is found by its nonce, and the reply goes on behind it."""
    long = " ".join(f"word{number}" for number in range(600))
    shown = await converse(Parrot, long, crash_after=2)
    assert len(shown.runs) == 2
    assert shown.text.split() == long.split()
    assert len(shown.messages) == 3


async def test_a_class_is_made_anew_by_the_process_after_a_crash() -> None:
    """So a cog that keeps in memory what must survive is found out."""
    Counter.made = 0
    async with Conversation(Counter) as room:
        await room.say("count")
        await room.shows("0 1")
        await room.crash()
        await room.shows("0 1 2")
        await room.stop()
        shown = await room.settles()
    assert Counter.made == 2
    assert [run.ending for run in shown.runs] == [None, Ending.STOPPED]


async def test_a_crash_that_is_never_reached_fails_the_test() -> None:
    """A misspelt step must not pass for a crash that was survived."""
    with pytest.raises(AssertionError, match=r"'chrge' was never reached: steps \['charge'\]"):
        await converse(Shop, "buy", crash_after="chrge")


# ----------------------------------------------------------------------------- people who interrupt


async def test_a_follow_up_takes_over() -> None:
    """The turn that was cut short and its successor are both shown."""
    async with Conversation(Counter) as room:
        await room.say("count")
        await room.shows("0 1")
        await room.say("faster")
        await room.shows("again, faster: 0")
        await room.stop()
        shown = await room.settles()
    assert [run.ending for run in shown.runs] == [Ending.SUPERSEDED, Ending.STOPPED]


async def test_another_person_waits_and_is_answered_next() -> None:
    """Unlike the author of the reply, whose message would replace it."""
    async with Conversation(Parrot) as room:
        await room.say("first", by="Ada")
        await room.say("second", by="Bo")
        shown = await room.settles()
    assert [message.text for message in shown.messages] == ["first", "second"]
    assert [run.ending for run in shown.runs] == [Ending.FINISHED] * 2


async def test_a_kill_ends_what_runs_and_drops_what_waits() -> None:
    """One run, and nobody is answered after it."""
    async with Conversation(Counter) as room:
        await room.say("count", by="Ada")
        await room.shows("0 1")
        await room.say("mine", by="Bo")
        await room.kill(by="Cy")
        shown = await room.settles()
    assert [run.ending for run in shown.runs] == [Ending.KILLED]


# ---------------------------------------------------------------------------------- which cog it is


async def test_an_extension_is_set_up_as_the_bot_would() -> None:
    """By its name or as a module."""
    for extension in ("cogs.echo", cogs.echo):
        assert (await converse(extension, "hello")).text == "hello"


async def test_settings_reach_the_cog_and_the_conversation() -> None:
    """As they would stand in the TOML."""
    shown = await converse(
        Counter, "count", settings={"limits": {"turn": "200ms"}, "state": {"prefix": "mine"}}
    )
    assert "limits.turn" in shown.runs[-1].error


class Mute(commands.Cog):
    """Has no respond."""


async def test_a_cog_that_cannot_answer_is_refused_by_name() -> None:
    """Before anything is said."""
    with pytest.raises(ResponderInvalid, match=r"respond\(turn\), found: Mute"):
        await converse(Mute, "hello")


async def test_a_reply_that_never_ends_is_told_with_what_is_shown() -> None:
    """A test must not hang."""
    async with Conversation(Counter) as room:
        await room.say("count")
        with pytest.raises(AssertionError, match=r"still answering after 0\.3 s; shown so far: '0"):
            await room.settles(within=0.3)
        with pytest.raises(AssertionError, match="'never' is not shown"):
            await room.shows("never", within=0.1)


# ------------------------------------------------------------------------- what a reply may hold


def kitchen() -> commands.Cog:
    """Make the README's cog that yields more than text."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    [block] = re.findall(r"```python\n([^`]*class Kitchen.*?)```", text, re.DOTALL)
    space: dict[str, Any] = {}
    exec(block, space)  # noqa: S102 (the README's own lines)
    made: commands.Cog = space["Kitchen"]()
    return made


async def test_the_reply_of_the_readme_is_shown_and_its_button_works() -> None:
    """Its author's test sees the card, presses as somebody, and reads what comes of it."""
    async with Conversation(kitchen()) as room:
        await room.say("what is there?")
        (menu,) = (await room.settles()).messages
        assert (menu.text, menu.buttons) == ("Today there is:", ("Order",))
        assert [(card.title, card.description) for card in menu.embeds] == [("Soup", "with bread")]
        await room.press("Order", by="Bo")
        assert (await room.settles()).messages[-1].text == "One soup for Bo."


async def test_a_press_in_a_test_works_after_a_crash_and_refuses_what_is_not_there() -> None:
    """As in a channel: what it means is in the store."""
    async with Conversation(kitchen()) as room:
        await room.say("what is there?")
        await room.settles()
        await room.crash()
        await room.press("Order")
        assert (await room.settles()).messages[-1].text == "One soup for Ada."
        with pytest.raises(AssertionError, match="there is no button 'Pay'"):
            await room.press("Pay")


class Private(commands.Cog):
    """Offers something to one person."""

    async def respond(self, turn: Turn) -> AsyncGenerator[Chunk, None]:
        """Offer it."""
        yield File("note.txt", b"for you")
        yield Buttons(Button("Mine"), only_author=True)


async def test_a_press_by_another_is_refused_in_a_test_too() -> None:
    """The author's test is told what the person would be."""
    async with Conversation(Private) as room:
        await room.say("hello")
        (message,) = (await room.settles()).messages
        assert [(file.name, file.data) for file in message.files] == [("note.txt", b"for you")]
        with pytest.raises(AssertionError, match=f"Bo is told: {texts.here().only_its_author}"):
            await room.press("Mine", by="Bo")


class Mixed(commands.Cog):
    """Says all that can be said."""

    async def respond(self, turn: Turn) -> AsyncGenerator[Chunk, None]:
        """Text, a card, text, a file, a card, buttons, text."""
        yield "one"
        yield Embed("card")
        yield "two"
        yield File("a.txt", b"a")
        yield Embed("card")
        yield Buttons(Button("Yes"))
        yield "three"


@pytest.mark.parametrize("crash_after", [None, 1, 2, 3])
async def test_a_crash_at_any_message_changes_nothing_of_a_mixed_reply(
    crash_after: int | None,
) -> None:
    """The next process goes on where the first died: no piece is missing, and none twice."""
    shown = await converse(Mixed, "hello", crash_after=crash_after)
    assert [
        (one.text, [file.name for file in one.files], len(one.embeds), one.buttons)
        for one in shown.messages
    ] == [("one", [], 1, ()), ("two", ["a.txt"], 1, ("Yes",)), ("three", [], 0, ())]
    assert len(shown.runs) == (1 if crash_after is None else 2)
