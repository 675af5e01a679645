"""`interlock status`: a table of what every process is at work on, kept up to date."""

import asyncio

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from bot.cli.store import opened
from bot.config import Settings
from bot.overview import Busy, Overview, look
from state import State
from state.values import Conversation

#: Seconds between two looks.
EVERY = 1.0

#: Conversations shown; the others are counted.
SHOWN = 20

#: Columns that all but the names take at most: two ids of 19, three short numbers, the gaps.
BESIDE = 66

#: Columns that names get at least.
NARROWEST = 10

#: Marks a turn that no process is at work on.
LEFT = "⏸"


async def show(settings: Settings, console: Console, *, once: bool) -> None:
    """Print the table; in a terminal keep it up to date until interrupted, unless *once*."""
    async with opened(settings.state) as state:
        if once or not console.is_terminal:
            console.print(drawn(await look(state), console.width))
            return
        await _follow(state, console)


async def _follow(state: State, console: Console) -> None:
    with Live(drawn(await look(state), console.width), console=console, auto_refresh=False) as live:
        while True:
            await asyncio.sleep(EVERY)
            live.update(drawn(await look(state), console.width), refresh=True)


def drawn(overview: Overview, width: int) -> Group:
    """Draw it in *width* columns: names are cut, ids are not."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("channel", style="cyan", no_wrap=True)
    table.add_column("in", style="dim", no_wrap=True)
    names = max(width - BESIDE, NARROWEST)
    table.add_column("answering", no_wrap=True, overflow="ellipsis", max_width=names)
    table.add_column("for", justify="right", no_wrap=True)
    table.add_column("waits", justify="right", no_wrap=True)
    table.add_column("next", justify="right", no_wrap=True)
    for one in overview.busy[:SHOWN]:
        table.add_row(*_row(one))
    parts: list[Table | Text] = [table] if overview.busy else []
    if (more := len(overview.busy) - SHOWN) > 0:
        parts.append(Text(f"and {more} more", style="dim"))
    return Group(*parts, _summary(overview))


def _row(one: Busy) -> tuple[Text | str, ...]:
    people = ", ".join(person.name for person in one.answering)
    who = Text(people) if one.held else Text(f"{LEFT} {people}", style="yellow")
    timer = Text("(not begun)" if one.waiting else "(a timer)", style="dim")
    return (
        one.conversation.id,
        place(one.conversation),
        who if one.answering else timer,
        span(one.age) if one.answering else "",
        str(one.waiting or ""),
        "" if one.wake is None else span(max(one.wake, 0.0)),
    )


def _summary(overview: Overview) -> Text:
    parts = [f"{overview.held} being answered"]
    parts += [f"{LEFT} {overview.left} left to be taken up"] if overview.left else []
    parts += [f"{overview.waiting} waiting"] if overview.waiting else []
    parts += [f"{overview.timers} with a timer"] if overview.timers else []
    text = Text(", ".join(parts) + ".", style="bold")
    if overview.dead_letters:
        text.append(
            f"\nDead letters: {overview.dead_letters}; see interlock deadletters list", "red"
        )
    return text


def place(conversation: Conversation) -> str:
    """Name the guild, or say that it is a direct message."""
    kind, _, whose = conversation.owner.partition("/")
    return whose if kind == "guild" else "direct"


def span(seconds: float) -> str:
    """Write a length of time in its largest unit, as `12 s` or `3 h`."""
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
