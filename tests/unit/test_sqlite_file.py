"""Opening the SQLite file: whose it is, how old it is, and who else opens it just now."""

import asyncio
import sqlite3
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from state import connect
from state.errors import StateInvalid, StateUnavailable
from state.sqlite import SqliteState, file, schema
from state.values import Claim, Conversation, Could, Inbound, Policy

CONVERSATION = Conversation("guild/1", "10")

#: What another process does to a file that several open at once.
OPENS = """
import asyncio, sys
from state.sqlite import SqliteState
from state.values import Conversation

async def main(path, name):
    state = SqliteState(path)
    await state.open()
    await state.subscribe(Conversation("guild/1", name))
    await state.close()

asyncio.run(main(*sys.argv[1:]))
"""


#: Two processes that hear the same events.
HEARS = """
import asyncio, sys
from state.outcomes import Placed
from state.sqlite import SqliteState
from state.values import Claim, Conversation, Could, Inbound, Policy

async def main(path, process):
    state = SqliteState(path)
    await state.open()
    for number in range(40):
        answer = await state.admit(
            Conversation("guild/1", f"{number % 3}"),
            Inbound(f"{number}", "ann", b""),
            Could(trigger=True),
            Policy(inbox=100, per_person=100),
            op=f"{process}-{number}",
            claim=Claim(30),
        )
        if isinstance(answer, Placed):
            print(number)
    await state.close()

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Give a path where no file is yet."""
    return str(tmp_path / "state.db")


@pytest.fixture
async def opened(path: str) -> AsyncIterator[SqliteState]:
    """Give an open handle on a new file."""
    state = SqliteState(path, partitions=4)
    await state.open()
    yield state
    await state.close()


async def admit(state: SqliteState, name: str = "1") -> object:
    """Have an inbound admitted and started."""
    inbound = Inbound(name, "ann", b"hello")
    return await state.admit(
        CONVERSATION, inbound, Could(trigger=True), Policy(), op=f"op-{name}", claim=Claim(30)
    )


def write(path: str, *statements: str) -> None:
    """Change a database as some other program would."""
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def content(path: str) -> bytes:
    """Read a whole file."""
    return Path(path).read_bytes()


def in_processes(script: str, path: str, names: list[str]) -> list[list[str]]:
    """Run *script* in one process for each name at the same time; answer what each told."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", script, path, name], stdout=subprocess.PIPE, text=True
        )
        for name in names
    ]
    told = [process.communicate(timeout=20)[0].split() for process in processes]
    assert [process.returncode for process in processes] == [0] * len(names)
    return told


async def refusal(state: SqliteState, error: type[Exception]) -> str:
    """Open *state*, which must fail with *error*; answer its text, which must be one line."""
    with pytest.raises(error) as refused:
        await state.open()
    text = str(refused.value)
    assert text
    assert "\n" not in text
    return text


async def test_a_file_keeps_everything_over_a_restart(opened: SqliteState, path: str) -> None:
    """What was admitted, and the number of partitions, are those of the file."""
    await admit(opened)
    before = await opened.view(CONVERSATION)
    await opened.close()
    again = SqliteState(path, partitions=32)
    await again.open()
    after = await again.view(CONVERSATION)
    assert (again.partitions, after.turn and after.turn.id) == (4, before.turn and "1")
    await again.close()


async def test_a_file_is_ours_and_in_wal(opened: SqliteState, path: str) -> None:
    """The file says which program and which schema it belongs to."""
    connection = sqlite3.connect(path)
    asked = ("application_id", "user_version", "journal_mode")
    told = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in asked]
    connection.close()
    assert told == [schema.APPLICATION_ID, len(schema.migrations()), "wal"]


@pytest.mark.parametrize("statement", ["CREATE TABLE notes (t)", "PRAGMA application_id = 7"])
async def test_another_programs_database_is_refused_untouched(path: str, statement: str) -> None:
    """A wrong path does not turn somebody's database into ours."""
    write(path, statement)
    before = content(path)
    assert "another program" in await refusal(SqliteState(path), StateInvalid)
    assert content(path) == before


async def test_a_file_that_is_no_database_is_refused_untouched(tmp_path: Path) -> None:
    """A text file stays what it is."""
    path = str(tmp_path / "notes.txt")
    (tmp_path / "notes.txt").write_text("tokens and other treasures\n" * 100)
    before = content(path)
    assert path in await refusal(SqliteState(path), StateInvalid)
    assert content(path) == before


async def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    """A file that cannot be made is a store that is not there."""
    path = str(tmp_path / "nowhere" / "state.db")
    assert path in await refusal(SqliteState(path), StateUnavailable)


async def test_a_read_only_file_is_refused(
    opened: SqliteState, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that cannot be written must not be used, even though it can be read."""
    real = sqlite3.connect

    def read_only(database: str, **settings: object) -> sqlite3.Connection:
        return real(f"file:{database}?mode=ro", uri=True, isolation_level=None)

    monkeypatch.setattr(sqlite3, "connect", read_only)
    assert "readonly" in await refusal(SqliteState(path), StateInvalid)


async def test_a_newer_schema_is_refused_naming_both_versions(
    opened: SqliteState, path: str
) -> None:
    """An older program does not guess what a newer one wrote."""
    await opened.close()
    known = len(schema.migrations())
    write(path, f"PRAGMA user_version = {known + 1}")
    text = await refusal(SqliteState(path), StateInvalid)
    assert f"schema {known + 1}" in text
    assert f"than {known}" in text


async def test_an_older_schema_is_brought_up_to_date(
    opened: SqliteState, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Migrations that the file has not seen run in order, and what it holds stays."""
    await admit(opened)
    await opened.close()
    newer = [*schema.migrations(), "CREATE TABLE a (x);\n", "ALTER TABLE a ADD COLUMN y;\n"]
    monkeypatch.setattr(schema, "migrations", lambda: newer)
    again = SqliteState(path)
    await again.open()
    assert (await again.view(CONVERSATION)).turn is not None
    await again.close()
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT y FROM a").fetchall() == []
    assert connection.execute("PRAGMA user_version").fetchone() == (len(newer),)
    connection.close()


async def test_a_file_of_the_first_schema_is_brought_up_to_date(path: str) -> None:
    """As the first version of all wrote it, and what it holds is found again."""
    with closing(sqlite3.connect(path)) as connection:
        schema.run(connection, schema.migrations()[:1])
        connection.execute("INSERT INTO store VALUES (4)")
        connection.execute("INSERT INTO usage VALUES ('guild/1', '2026-01-31', 'turns', 3)")
        connection.commit()
    write(path, "PRAGMA user_version = 1", f"PRAGMA application_id = {schema.APPLICATION_ID}")
    state = SqliteState(path)
    await state.open()
    assert (state.partitions, await state.usage("guild/1", "2026-01-31")) == (4, {"turns": 3})
    assert (await state.dead_letters("guild/1")).letters == ()
    await state.close()


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("ALTER TABLE answer RENAME COLUMN value TO content", "answer"),
        ("DROP INDEX seen_at", "seen_at"),
        ("DROP TABLE gate", "gate"),
    ],
)
async def test_a_file_that_differs_from_its_number_is_refused_untouched(
    opened: SqliteState, path: str, statement: str, named: str
) -> None:
    """In one line: which file, what is wrong with it, and what to do."""
    await opened.close()
    write(path, statement)
    before = content(path)
    text = await refusal(SqliteState(path), StateInvalid)
    assert f"{path} says that it has schema {len(schema.migrations())}, but {named} differ" in text
    assert "move the file away" in text
    assert content(path) == before


async def test_what_others_added_to_a_file_is_no_difference(opened: SqliteState, path: str) -> None:
    """Such as what ANALYZE keeps, or an index of an operator's own."""
    await opened.close()
    write(path, "ANALYZE", "CREATE INDEX own ON usage (day)")
    again = SqliteState(path)
    await again.open()
    await again.close()


async def test_a_broken_migration_changes_nothing(
    opened: SqliteState, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A migration lands whole or not at all, its number included."""
    await opened.close()
    known = len(schema.migrations())
    broken = [*schema.migrations(), "CREATE TABLE a (x);\nINSERT INTO nowhere VALUES (1);\n"]
    with monkeypatch.context() as patch:
        patch.setattr(schema, "migrations", lambda: broken)
        assert "nowhere" in await refusal(SqliteState(path), StateUnavailable)
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA user_version").fetchone() == (known,)
    assert connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'a'").fetchone() is None
    connection.close()


async def test_handles_that_open_a_new_file_at_once_all_succeed(path: str) -> None:
    """The switch to WAL and the schema are made once, whoever comes first."""
    states = [SqliteState(path) for _ in range(6)]
    await asyncio.gather(*(state.open() for state in states))
    await admit(states[0])
    assert (await states[5].view(CONVERSATION)).turn is not None
    await asyncio.gather(*(state.close() for state in states))


async def test_processes_that_open_a_new_file_at_once_all_succeed(path: str) -> None:
    """The same among processes."""
    names = ["10", "11", "12"]
    await asyncio.to_thread(in_processes, OPENS, path, names)
    state = SqliteState(path)
    await state.open()
    followed = (await state.subscriptions()).conversations
    assert [conversation.id for conversation in followed] == names
    await state.close()


async def test_of_two_processes_that_hear_the_same_one_acts(path: str) -> None:
    """Each message is taken by exactly one of them, whoever is first."""
    told = await asyncio.to_thread(in_processes, HEARS, path, ["a", "b"])
    taken = sorted(int(number) for each in told for number in each)
    assert taken == list(range(40))


async def test_a_file_that_stays_locked_is_unavailable(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An opening ends within its time, and the next one works."""
    monkeypatch.setattr(file, "OPEN_TIMEOUT", 0.1)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    state = SqliteState(path)
    assert "locked" in await refusal(state, StateUnavailable)
    other.close()
    await state.open()
    await state.ping()
    await state.close()


async def test_open_is_idempotent_and_shared(path: str) -> None:
    """Concurrent openings share one attempt, so that one thread owns the file."""
    state = SqliteState(path)
    await asyncio.gather(*(state.open() for _ in range(5)))
    await state.open()
    threads = [thread for thread in threading.enumerate() if thread.name == "interlock-sqlite"]
    assert len(threads) == 1
    await state.close()
    await state.close()
    assert not any(thread.name == "interlock-sqlite" for thread in threading.enumerate())


async def test_a_failed_opening_can_be_repeated(tmp_path: Path) -> None:
    """What kept the file away may have been put right, also when nobody waited for the failure."""
    folder = tmp_path / "later"
    state = SqliteState(str(folder / "state.db"))
    opening = asyncio.create_task(state.open())
    await asyncio.sleep(0)
    opening.cancel()
    with pytest.raises(StateUnavailable):
        await state.open()
    folder.mkdir()
    await state.open()
    await state.ping()
    await state.close()


async def test_a_state_that_is_not_open_says_so(path: str) -> None:
    """Before `open` and after `close` each step is refused in words that help."""
    state = SqliteState(path)
    with pytest.raises(StateUnavailable, match="not open"):
        await state.ping()
    await state.open()
    await state.close()
    with pytest.raises(StateUnavailable, match="not open"):
        await admit(state)


async def test_memory_is_private_to_its_handle() -> None:
    """`sqlite::memory:` is a database that nobody else sees."""
    one, two = connect("sqlite::memory:"), connect("sqlite::memory:")
    await one.open()
    await two.open()
    await one.subscribe(CONVERSATION)
    assert await one.is_subscribed(CONVERSATION)
    assert not await two.is_subscribed(CONVERSATION)
    await one.close()
    await two.close()


@pytest.mark.parametrize(
    ("url", "level"),
    [("", 2), ("?synchronous=full", 2), ("?synchronous=normal", 1), ("?synchronous=EXTRA", 3)],
)
async def test_the_address_chooses_the_level_of_synchronous(
    path: str, url: str, level: int
) -> None:
    """FULL unless the address says otherwise."""
    state = connect(f"sqlite:{path}{url}")
    assert isinstance(state, SqliteState)
    await state.open()
    told = await state._read(lambda tx: tx.execute("PRAGMA synchronous").fetchone())
    assert told == (level,)
    await state.close()


@pytest.mark.parametrize("url", ["sqlite:", "sqlite:x?synchronous=off", "sqlite:x?timeout=3"])
def test_an_address_that_makes_no_sense_is_refused(url: str) -> None:
    """A setting that would be ignored is an error."""
    with pytest.raises(StateInvalid, match="synchronous"):
        connect(url)
