"""
The responder while no model is set: it shows how a reply streams, and every way it can end.

It says so itself. Its commands are in the text, so that they pass the same door as everything.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable

from discord.ext import commands

from bot import Button, Buttons, Chunk, Embed, Field, File, Kind, RetryLater, Status, Turn

#: Seconds between two words, about the pace of a model.
WORD = 0.04

#: Seconds between two numbers of a slow count: time enough to write "stop".
SLOW = 0.5

Act = Callable[[Turn, "re.Match[str]"], AsyncGenerator[Chunk, None]]

ANSWER = """\
### Hello {name}, this is Interlock's demo

No model is set, so **I am not answering your question**. I only show how a reply behaves: it \
*streams*, it is split over several messages when it is long, and it can be interrupted.

> You wrote: {text}

Try one of these while you watch:

- `count to 100 slowly`, then write `stop`, or use `/kill`
- the same, and write something else meanwhile: your follow-up takes over
- the same, and write as somebody else: they wait with an hourglass and are answered next
- `use a tool for 20 s`: work that a follow-up must not cut short
- `show a card`, `send a file`, `ask me`: what a reply may hold beside text
- `fail`, `fail twice`, `say nothing`, `write a long answer`: the other ways to end

To get a real answer, set a model in `interlock.toml`:

```toml
[cogs.chat]
model = "openai:gpt-5-mini"   # or anthropic:…, ollama:…
```

Or write a responder of your own. This one repeats what it hears:

```python
class Parrot(commands.Cog):
    async def respond(self, turn: Turn) -> AsyncGenerator[Chunk, None]:
        for word in turn.text.split():
            yield word + " "
```
"""

CHAPTER = """\
## Chapter {number}

One conversation has one speaker at a time. Whoever holds the lease speaks; whoever comes then \
waits in line and is answered in order of arrival. When the speaker dies in the middle of a \
sentence, the next one finds the journal and goes on in the same message.

```python
async def chapter_{number}(turn: Turn) -> str:
    # A step runs once, even if the process is killed right after it.
    return await turn.step("chapter", lambda key: look_up({number}, key))
```

| what | chapter {number} says |
|---|---|
| a second message | waits, marked with an hourglass |
| the word stop | ends the stream within two seconds |
| kill -9 | costs nothing but the time to start again |

"""


class Demo(commands.Cog):
    """Plays one act for each message."""

    async def respond(self, turn: Turn) -> AsyncGenerator[Chunk, None]:
        """Play the act that the text asks for, else the welcome."""
        if turn.interrupted is not None:
            yield f"-# you interrupted me after {len(turn.interrupted.text)} characters\n"
        if turn.trigger.kind is Kind.BUTTON:
            yield f"{turn.author.name} chose **{turn.trigger.name}**: `{turn.trigger.payload}`"
            return
        if (asked := _act(turn)) is not None:
            act, found = asked
            async for chunk in act(turn, found):
                yield chunk
            return
        quoted = turn.text.replace("\n", "\n> ") or "(nothing)"
        async for chunk in words(ANSWER.format(name=turn.author.name, text=quoted)):
            yield chunk


def _act(turn: Turn) -> "tuple[Act, re.Match[str]] | None":
    """Find what is asked for; the newest message decides, for it may have cut the older short."""
    for message in reversed(turn.messages):
        for pattern, act in ACTS:
            if (found := re.search(pattern, message.text, re.IGNORECASE)) is not None:
                return act, found
    return None


async def words(text: str, pause: float = WORD) -> AsyncGenerator[str, None]:
    """Yield *text* word by word, white space kept."""
    for word in re.findall(r"\S+\s*|\s+", text):
        yield word
        await asyncio.sleep(pause)


async def count(_: Turn, asked: "re.Match[str]") -> AsyncGenerator[Chunk, None]:
    """Count to a number, fast or slowly."""
    pause = SLOW if asked["slowly"] else WORD
    for number in range(1, min(int(asked["to"]), 10_000) + 1):
        yield f"{number} "
        await asyncio.sleep(pause)


async def use_tool(turn: Turn, asked: "re.Match[str]") -> AsyncGenerator[Chunk, None]:
    """Work for some seconds inside a call chain; the result outlives a crash."""
    seconds = min(float(asked["seconds"]), 300.0)
    yield f"Using a tool for {seconds:g} s; follow-ups wait, stop and kill do not.\n"
    with turn.call_chain():
        result = await turn.step("tool", working(seconds))
    yield f"The tool says: {result}"


def working(seconds: float) -> Callable[[str], Awaitable[str]]:
    """Make an effect that takes *seconds*, as a slow service would."""

    async def effect(key: str) -> str:
        await asyncio.sleep(seconds)
        return f"done (idempotency key `{key}`)"

    return effect


async def fail(_: Turn, __: "re.Match[str]") -> AsyncGenerator[Chunk, None]:
    """Raise in the middle of the reply."""
    async for chunk in words("I am about to fail, on purpose, in the middle of this "):
        yield chunk
    raise RuntimeError("the demo was asked to fail")


async def fail_twice(turn: Turn, __: "re.Match[str]") -> AsyncGenerator[Chunk, None]:
    """Fail in a way that is worth a retry, and succeed at the third attempt."""
    if turn.attempt < 3:  # noqa: PLR2004 (the third attempt of "fail twice")
        yield f"attempt {turn.attempt} fails, and is tried again by itself…"
        raise RetryLater("the demo was asked to fail twice")
    yield f"attempt {turn.attempt} worked."


async def say_nothing(_: Turn, __: "re.Match[str]") -> AsyncGenerator[Chunk, None]:
    """End without a word."""
    for chunk in ("", " "):
        yield chunk


async def long_answer(_: Turn, __: "re.Match[str]") -> AsyncGenerator[Chunk, None]:
    """Write more than fits one message, with code, tables and headings."""
    for number in range(1, 9):
        async for chunk in words(CHAPTER.format(number=number), WORD / 8):
            yield chunk


async def show_card(_: Turn, __: "re.Match[str]") -> AsyncGenerator[Chunk, None]:
    """Tell what is being done, then show an embed between two texts."""
    yield "Here is a card, with a status below me until it comes:"
    for status in ("shuffling…", "drawing…"):
        yield Status(status)
        await asyncio.sleep(SLOW)
    fields = [Field("speakers", "one", inline=True), Field("waiting", "the others", inline=True)]
    yield Embed(
        "A card", "One conversation, one speaker at a time.", colour=0x5865F2, fields=fields
    )
    yield "What follows a card begins a new message."


async def send_file(_: Turn, __: "re.Match[str]") -> AsyncGenerator[Chunk, None]:
    """Send a file under the text before it."""
    yield "Here is a file:"
    table = "".join(f"{number},{number * number}\n" for number in range(1, 11))
    yield File("squares.csv", table.encode(), description="the first ten squares")


async def ask(_: Turn, __: "re.Match[str]") -> AsyncGenerator[Chunk, None]:
    """Ask by buttons; the press is another turn, also after a restart."""
    yield "Which one?"
    yield Buttons(
        Button("Heads", {"side": 1}, "primary"),
        Button("Tails", {"side": 2}, "primary"),
        only_author=True,
    )


ACTS: tuple[tuple[str, Act], ...] = (
    (r"\bcount to (?P<to>\d{1,5})\b(?P<slowly>.*\bslowly\b)?", count),
    (r"\buse a tool(?: for (?P<seconds>\d{1,3}(?:\.\d)?) ?s\w*)", use_tool),
    (r"\bshow (?:a card|an embed)\b", show_card),
    (r"\bsend a file\b", send_file),
    (r"^\W*(?:ask me|buttons)\W*$", ask),
    (r"\bfail twice\b", fail_twice),
    (r"^\W*fail\W*$", fail),
    (r"\bsay nothing\b", say_nothing),
    (r"\blong answer\b", long_answer),
)


async def setup(bot: commands.Bot) -> None:
    """Add the cog."""
    await bot.add_cog(Demo())
