"""`interlock status`, `deadletters` and `forget`: what they show of a store, and do to it."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from bot.cli import deadletters
from bot.inbound import Message, Person
from state import State, connect
from state.listings import DeadLetter
from state.outcomes import Placed
from state.values import Changes, Claim, Could, Lease, Policy, Timer
from tests.unit.command_line import interlock, refused
from tests.unit.fakes import ADA, BO, CHANNEL, GUILD, message

CLAIM = Claim(15.0, by="test")


@pytest.fixture(autouse=True)
def _surroundings(empty_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def in_store(work: Callable[[State], Awaitable[object]]) -> None:
    """Do something in the store of the default settings."""

    async def run() -> None:
        state = connect("sqlite:interlock.db")
        await state.open()
        await work(state)
        await state.close()

    asyncio.run(run())


async def begun(state: State, asked: Message) -> Lease:
    """Begin the turn that answers *asked*."""
    placed = await state.admit(
        asked.conversation, asked.inbound(), Could(trigger=True), Policy(), op=asked.id, claim=CLAIM
    )
    assert isinstance(placed, Placed)
    assert placed.turnover.started is not None
    return placed.turnover.started.lease


async def waits(state: State, asked: Message) -> None:
    """Let *asked* wait."""
    await state.admit(
        asked.conversation, asked.inbound(), Could(trigger=True), Policy(), op=asked.id, claim=None
    )


async def given_up(state: State, asked: Message, error: str = "ValueError: broken") -> None:
    """Make a dead letter of *asked*."""
    lease = await begun(state, asked)
    await state.fail(
        lease, error, Changes(), retry_in=None, limit=1, op=f"fail{asked.id}", claim=None
    )


WHERE = "is this the bot's working directory?"

LONG = Person("104", "Bartholomew Featherstonehaugh-Cholmondeley of Wigglesworth")


def test_status_shows_turns_what_waits_timers_and_dead_letters() -> None:
    """In 80 columns, whatever people are called."""

    async def work(state: State) -> None:
        await given_up(state, message("c", channel="203"))
        await begun(state, message("a", LONG, channel="1" * 19, guild="2" * 19))
        await waits(state, message("b", BO, channel="1" * 19, guild="2" * 19))
        lease = await begun(state, message("d", channel="204", guild=None))
        await state.park(lease, op="park" * 8)
        timed = message("e", channel="205")
        timer = Timer("t", timed.inbound(), 7200.0)
        await state.schedule(timed.conversation, timer, op="timer" * 8)

    in_store(work)
    lines = interlock("status", "--once").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    head, *rows, summary, more = [" ".join(line.split()) for line in lines]
    assert head == "channel in answering for waits next"
    assert any(row.startswith(f"{'1' * 19} {'2' * 19} Barth") and " 1 1" in row for row in rows)
    assert any(row.startswith("204 direct ⏸ Ada") for row in rows)
    assert any(row.startswith(f"205 {GUILD} (a timer)") and row.endswith("2 h") for row in rows)
    assert summary == "1 being answered, ⏸ 1 left to be taken up, 1 waiting, 1 with a timer."
    assert more == "Dead letters: 1; see interlock deadletters list"


def test_status_of_an_idle_store_is_a_line() -> None:
    """No empty table."""

    async def nothing(_: State) -> None: ...

    in_store(nothing)
    assert interlock("status", "--once").stdout == "0 being answered.\n"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            ["status"],
            f"state.url: sqlite:interlock.db: there is no interlock.db; {WHERE}",
        ),
        (
            ["deadletters", "list", "--state-url", "memory:"],
            "state.url: memory: is known to the bot's own process alone",
        ),
        (["forget", "--yes"], "forget: name whom, by --user ID or by --guild ID"),
        (
            ["forget", "--user", "1", "--guild", "2"],
            "forget: name whom, by --user ID or by --guild ID",
        ),
        (
            ["forget", "--user", "@ada"],
            'forget: "@ada" is no id; copy it by Discord\'s developer mode',
        ),
    ],
)
def test_what_cannot_be_done_is_told_in_a_line(words: list[str], line: str) -> None:
    """And no database is made on the way."""
    assert refused(*words) == line
    assert list(Path.cwd().iterdir()) == []


def test_dead_letters_are_listed_shown_requeued_and_discarded() -> None:
    """By the ids that the list shows."""
    first, second = message("what is broken?", channel="202"), message("b", BO, channel="203")

    async def work(state: State) -> None:
        await given_up(state, first)
        await given_up(state, second, "x" * 200)

    in_store(work)
    lines = interlock("deadletters", "list").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    ids = [line.split()[0] for line in lines[1:]]
    assert [one.partition(".")[0] for one in ids] == [first.id, second.id]
    assert "Ada" in lines[1]
    shown = interlock("deadletters", "show", ids[0]).stdout
    assert "ValueError: broken" in shown
    assert "Ada: what is broken?" in shown
    assert shown.endswith("interlock deadletters requeue ID, or discard ID\n")
    assert interlock("deadletters", "requeue", ids[0]).stdout == f"Tried again: {ids[0]}\n"
    assert refused("deadletters", "discard", ids[1], "nonsense") == (
        "there is no dead letter nonsense; see interlock deadletters list"
    )
    assert interlock("deadletters", "discard", ids[1]).stdout == f"Dropped: {ids[1]}\n"
    assert interlock("deadletters", "list").stdout == "There are no dead letters.\n"
    assert "(not begun)" in interlock("status", "--once").stdout


def test_a_letter_that_could_not_be_read_can_only_be_discarded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What the store has of it is shown."""
    where = message("a").conversation
    torn = DeadLetter("torn.1", where, (), "payload version 9", None, raw=b"\xffnine", age=3.0)

    async def found(_: State) -> list[DeadLetter]:
        return [torn]

    async def nothing(_: State) -> None: ...

    in_store(nothing)
    monkeypatch.setattr(deadletters, "letters", found)
    assert "(unreadable)" in interlock("deadletters", "list").stdout
    shown = interlock("deadletters", "show", "torn.1").stdout
    assert r"\xffnine" in shown
    assert shown.endswith("interlock deadletters discard ID\n")  # it would be refused otherwise
    assert refused("deadletters", "requeue", "torn.1") == (
        "torn.1 could not be read: there is nothing to try again; discard it"
    )
    gone = interlock("deadletters", "discard", "torn.1").stdout
    assert gone == "torn.1 has just gone by itself\n"


def test_an_empty_list_says_so() -> None:
    """Not a table without rows."""

    async def nothing(_: State) -> None: ...

    in_store(nothing)
    assert interlock("deadletters", "list").stdout == "There are no dead letters.\n"


@pytest.mark.parametrize(("words", "typed"), [((), "y\n"), (("--yes",), None)])
def test_a_person_is_forgotten_everywhere(words: tuple[str, ...], typed: str | None) -> None:
    """What they wrote in guilds, and their direct messages; what others wrote stays."""

    async def work(state: State) -> None:
        await given_up(state, message("a", ADA, channel="202"))
        await given_up(state, message("b", BO, channel="203"))
        await waits(state, message("c", ADA, channel="204", guild=None))

    in_store(work)
    asked = interlock("forget", "--user", ADA.id, *words, typed=typed)
    assert asked.exit_code == 0
    assert asked.stdout.splitlines()[-1].startswith("Forgotten: ")
    assert ("cannot be undone" in asked.stdout) is (typed is not None)
    left = interlock("deadletters", "list").stdout
    assert "Bo" in left
    assert "Ada" not in left
    assert "0 being answered" in interlock("status", "--once").stdout


def test_a_guild_is_forgotten_and_others_stay() -> None:
    """All of its conversations."""

    async def work(state: State) -> None:
        await given_up(state, message("a", ADA, channel=CHANNEL))
        await given_up(state, message("b", BO, channel="203", guild="302"))

    in_store(work)
    assert interlock("forget", "--guild", GUILD, "--yes").exit_code == 0
    left = interlock("deadletters", "list").stdout
    assert "Bo" in left
    assert "Ada" not in left


def test_who_says_no_forgets_nothing() -> None:
    """Exit code 2, and all is there."""

    async def work(state: State) -> None:
        await given_up(state, message("a", ADA))

    in_store(work)
    done = interlock("forget", "--guild", GUILD, typed="n\n")
    assert (done.exit_code, done.stderr) == (2, "interlock: given up; nothing was changed\n")
    assert "Ada" in interlock("deadletters", "list").stdout
