"""Rows of SQLite that no version of ours wrote: text that is none, words and ids of nobody."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from state.contract.factory import Clock
from state.contract.scene import (
    ALL,
    HERE,
    LEASE,
    ROOMY,
    THERE,
    begin,
    claimed,
    due,
    ids,
    message,
    op,
    say,
)
from state.keys import Author
from state.outcomes import Held
from state.ports import DEAD_LETTER_LIMIT
from state.sqlite import SqliteState
from state.values import Changes, SignalKind, Timer

#: In the place of a text, `CAST(?1 AS TEXT)`.
FOREIGN = b"\xff\x00"


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Give a path where no file is yet."""
    return str(tmp_path / "state.db")


@pytest.fixture
def clock() -> Clock:
    """Give the clock that moves the store."""
    return Clock()


@pytest.fixture
async def state(path: str, clock: Clock) -> AsyncIterator[SqliteState]:
    """Give an open handle on a new file."""
    state = SqliteState(path, clock=clock)
    await state.open()
    yield state
    await state.close()


def spoil(path: str, statement: str) -> None:
    """Change rows as some other program would, or a bit that fell over."""
    with closing(sqlite3.connect(path)) as connection, connection:
        given = (FOREIGN,) if "?1" in statement else ()
        assert connection.execute(statement, given).rowcount > 0


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE conversation SET lead = CAST(?1 AS TEXT) WHERE key = 'guild/1 10'",
        "UPDATE conversation SET signal = 'dance' WHERE key = 'guild/1 10'",
        "UPDATE conversation SET signal_by = CAST(?1 AS TEXT) WHERE key = 'guild/1 10'",
        "UPDATE journal SET name = CAST(?1 AS TEXT) WHERE kind = 'step'",
        "UPDATE journal SET key = 'one' WHERE kind = 'page'",
        "UPDATE inbound SET author = 'a b' WHERE part = 0 AND conversation = 'guild/1 10'",
    ],
)
async def test_a_turn_of_foreign_rows_is_set_aside(
    state: SqliteState, path: str, clock: Clock, statement: str
) -> None:
    """Its conversation goes on with what waits, and the leases of others are renewed."""
    held = (await begin(state, message("m1"))).lease
    theirs = (await begin(state, message("m9"), at=THERE)).lease
    await state.record(held, "ask", "1", b"x")
    await state.page(held, 0, 0, b"y")
    await state.signal(HERE, "m1", SignalKind.SUPERSEDE, by="ann", op=op())
    await say(state, message("m2", "bob"))
    spoil(path, statement)
    assert (await state.renew([held, theirs], LEASE))[1] == Held()
    clock.move(LEASE / 2)
    assert await state.renew([theirs], LEASE) == [Held()]
    clock.move(LEASE / 2)
    assert (await due(state)).conversations == (HERE,)
    assert ids((await claimed(state)).inbounds) == ["m2"]
    assert await errors(state) == ["a turn that cannot be read"]


async def errors(state: SqliteState) -> list[str]:
    """List the errors of the dead letters."""
    return [letter.error for letter in (await state.dead_letters(HERE.owner)).letters]


async def test_lists_go_on_without_what_cannot_be_read(state: SqliteState, path: str) -> None:
    """Dead letters and timers of an owner; what names a person goes with that person."""
    held = (await begin(state, message("m1"))).lease
    await state.fail(held, "e", Changes(), retry_in=None, limit=1, op=op(), claim=None)
    await state.schedule(HERE, Timer("t", message("m2"), 60), op=op())
    await state.schedule(THERE, Timer("t", message("m3"), 60), op=op())
    spoil(path, "UPDATE dead_letter SET error = CAST(?1 AS TEXT)")
    spoil(path, "UPDATE timer SET catch_up = 'never' WHERE conversation = 'guild/1 10'")
    assert [timer.conversation for timer in (await state.schedules("guild/1")).timers] == [THERE]
    cannot = "that cannot be read"
    assert sorted(await errors(state)) == [f"a dead letter {cannot}", f"a timer {cannot}"]
    await state.forget(Author("ann"))
    assert await errors(state) == []


async def test_a_key_that_is_none_keeps_nothing_else_from_being_due(
    state: SqliteState, path: str
) -> None:
    """It names no conversation, so that nobody could be told of it."""
    for at in (HERE, THERE):
        await say(state, message("m1"), at=at, policy=ROOMY, claim=None)
    spoil(path, "UPDATE conversation SET key = CAST(?1 AS TEXT) WHERE key = 'guild/1 11'")
    assert (await due(state)).conversations == (HERE,)


async def test_a_letter_that_cannot_be_read_takes_the_place_of_itself(
    state: SqliteState, path: str
) -> None:
    """Not that of another beside it, when a conversation has as many as it may."""
    for number in range(DEAD_LETTER_LIMIT):
        lease = (await begin(state, message(f"m{number}"))).lease
        await state.fail(lease, "e", Changes(), retry_in=None, limit=1, op=op(), claim=None)
    spoil(path, "UPDATE dead_letter SET error = CAST(?1 AS TEXT) WHERE name LIKE 'm7.%'")
    letters = (await state.dead_letters(HERE.owner, limit=ALL)).letters
    assert len(letters) == DEAD_LETTER_LIMIT
    assert {inbound.id for letter in letters for inbound in letter.inbounds} == {
        f"m{number}" for number in range(DEAD_LETTER_LIMIT) if number != 7
    }
