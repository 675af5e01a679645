"""`interlock deadletters`: look at what was given up, try it again, or drop it."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated

import typer
from rich.console import Group
from rich.table import Table
from rich.text import Text

from bot.cli import show
from bot.cli.options import with_settings
from bot.cli.status import place, span
from bot.cli.store import opened
from bot.config import Loaded
from bot.errors import StartupFailed
from bot.insist import new_op
from bot.notices import readable
from bot.overview import letters
from state import State
from state.listings import DeadLetter

app = typer.Typer(help="Look at what was given up, try it again, or drop it.")

#: Dead letters shown at once; the others are counted.
SHOWN = 50

#: Bytes shown of what could not be read.
RAW = 300

#: Columns of the names, and those that all but the reason take at most.
NAMES, BESIDE = 12, 60

_Letters = Annotated[list[str], typer.Argument(help="Ids, as the list shows them.")]


@app.command("list")
@with_settings("state.url")
def list_(loaded: Loaded) -> int:
    """List the dead letters of all conversations."""

    async def run(state: State) -> int:
        console = show.console()
        console.print(_table(await letters(state), console.width))
        return 0

    return _in_store(loaded, run)


@app.command("show")
@with_settings("state.url")
def show_(loaded: Loaded, letter: Annotated[str, typer.Argument(help="Its id.")]) -> int:
    """Show one dead letter: what was asked, and why it was given up."""

    async def run(state: State) -> int:
        [found] = await _found(state, [letter])
        show.console().print(_told(found))
        return 0

    return _in_store(loaded, run)


@app.command()
@with_settings("state.url")
def requeue(loaded: Loaded, letters: _Letters) -> int:
    """Try dead letters again, behind what waits in their conversations."""

    async def again(state: State, letter: DeadLetter) -> bool:
        return await state.requeue(letter.conversation, letter.id, op=new_op())

    return _in_store(
        loaded, lambda state: _each(state, letters, again, "Tried again", needs_inbounds=True)
    )


@app.command()
@with_settings("state.url")
def discard(loaded: Loaded, letters: _Letters) -> int:
    """Drop dead letters for good."""

    async def drop(state: State, letter: DeadLetter) -> bool:
        return await state.discard(letter.conversation, letter.id)

    return _in_store(
        loaded, lambda state: _each(state, letters, drop, "Dropped", needs_inbounds=False)
    )


def _in_store(loaded: Loaded, run: Callable[[State], Awaitable[int]]) -> int:
    async def opening() -> int:
        async with opened(loaded.settings.state) as state:
            return await run(state)

    return asyncio.run(opening())


async def _each(
    state: State,
    wanted: Sequence[str],
    act: Callable[[State, DeadLetter], Awaitable[bool]],
    done: str,
    *,
    needs_inbounds: bool,
) -> int:
    """Act on each letter, once it is known that it can be done to all of them."""
    found = await _found(state, wanted)
    if unreadable := [letter.id for letter in found if needs_inbounds and not letter.inbounds]:
        raise StartupFailed(
            f"{', '.join(unreadable)} could not be read: there is nothing to try again; discard it"
        )
    for letter in found:
        there = await act(state, letter)
        typer.echo(f"{done}: {letter.id}" if there else f"{letter.id} has just gone by itself")
    return 0


async def _found(state: State, wanted: Sequence[str]) -> list[DeadLetter]:
    known = {letter.id: letter for letter in await letters(state)}
    if missing := [letter for letter in wanted if letter not in known]:
        raise StartupFailed(
            f"there is no dead letter {', '.join(missing)}; see interlock deadletters list"
        )
    return [known[letter] for letter in wanted]


def _table(found: Sequence[DeadLetter], width: int) -> Table | Text | Group:
    if not found:
        return Text("There are no dead letters.")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("id", style="cyan", no_wrap=True)
    table.add_column("age", justify="right", no_wrap=True)
    table.add_column("from", no_wrap=True, overflow="ellipsis", max_width=NAMES)
    reason = max(width - BESIDE, NAMES)
    table.add_column("why", no_wrap=True, overflow="ellipsis", max_width=reason)
    for letter in found[:SHOWN]:
        table.add_row(letter.id, span(letter.age), _people(letter), letter.error)
    more = len(found) - SHOWN
    return Group(table, Text(f"and {more} more", style="dim")) if more > 0 else table


def _people(letter: DeadLetter) -> str:
    names = {message.author.name: None for message in readable(letter.inbounds)}
    return ", ".join(names) or "(unreadable)"


def _told(letter: DeadLetter) -> Text:
    text = Text.assemble(
        ("id       ", "dim"), (letter.id, "cyan"), "\n",
        ("channel  ", "dim"), f"{letter.conversation.id} in {place(letter.conversation)}", "\n",
        ("given up ", "dim"), f"{span(letter.age)} ago", "\n",
        ("why      ", "dim"), (letter.error, "red"),
    )  # fmt: skip
    for message in readable(letter.inbounds):
        text.append(f"\n{message.author.name}: ", "bold").append(message.text)
    if letter.raw is not None:
        text.append("\nstored   ", "dim").append(repr(letter.raw[:RAW])[2:-1])
    if letter.state is not None:
        text.append("\nstate    ", "dim").append(_pretty(letter.state))
    able = "requeue ID, or discard ID" if letter.raw is None else "discard ID"
    return text.append("\nnext     ", "dim").append(f"interlock deadletters {able}")


def _pretty(state: bytes) -> str:
    try:
        return json.dumps(json.loads(state), ensure_ascii=False)
    except ValueError:
        return f"{len(state)} bytes"
