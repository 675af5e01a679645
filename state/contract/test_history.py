"""History: the transcript, written by whatever ends a turn, paged, bounded, and reset."""

import pytest

from state import State
from state.contract.scene import (
    HERE,
    THERE,
    begin,
    claimed,
    finish,
    message,
    op,
    say,
    started,
)
from state.outcomes import Entry
from state.values import Changes, Lease

pytestmark = pytest.mark.asyncio


async def write(state: State, lease: Lease, *lines: str, keep: int = 200) -> None:
    """Commit a turn that said *lines*."""
    await finish(state, lease, Changes(transcript=tuple(map(str.encode, lines)), keep=keep))


async def texts(state: State, *, before: int | None = None, limit: int = 50) -> list[str]:
    """Read a page of the transcript as text."""
    return [
        entry.payload.decode() for entry in await state.history(HERE, before=before, limit=limit)
    ]


async def test_the_transcript_is_in_the_order_of_its_writing(one: State, two: State) -> None:
    """Oldest first; the numbers grow from one commit to the next. Contract 40."""
    await write(one, (await begin(one, message("m1"))).lease, "a", "b")
    await write(two, (await begin(two, message("m2"))).lease, "c")
    entries = await one.history(HERE)
    assert [entry.payload for entry in entries] == [b"a", b"b", b"c"]
    numbers = [entry.number for entry in entries]
    assert numbers == sorted(set(numbers))


async def test_the_transcript_is_append_only(one: State) -> None:
    """What was written keeps its number and its text. Contract 40."""
    await write(one, (await begin(one, message("m1"))).lease, "a", "b")
    written = await one.history(HERE)
    await write(one, (await begin(one, message("m2"))).lease, "c")
    assert (await one.history(HERE))[:2] == written


async def test_the_transcript_is_read_by_pages(one: State, two: State) -> None:
    """The newest first page, then what came before it, without repeats or gaps. Contract 40."""
    await write(one, (await begin(one, message("m1"))).lease, *"abcdefghijk")
    assert await texts(two, limit=3) == ["i", "j", "k"]
    read: list[Entry] = []
    while page := await two.history(HERE, before=read[0].number if read else None, limit=4):
        assert len(page) <= 4
        read = [*page, *read]
    assert b"".join(entry.payload for entry in read) == b"abcdefghijk"
    assert await texts(two, limit=0) == []


async def test_the_transcript_is_bounded(one: State) -> None:
    """Each commit cuts it to the newest that it wants kept. Contract 40."""
    await write(one, (await begin(one, message("m1"))).lease, *"abcde", keep=3)
    assert await texts(one) == ["c", "d", "e"]
    await write(one, (await begin(one, message("m2"))).lease, "f", keep=3)
    assert await texts(one) == ["d", "e", "f"]
    await write(one, (await begin(one, message("m3"))).lease, keep=1)
    assert await texts(one) == ["f"]


async def test_a_transcript_belongs_to_one_conversation(one: State) -> None:
    """Not to its owner. Contract 15, 40."""
    await write(one, (await begin(one, message("m1"))).lease, "here")
    assert await one.history(THERE) == ()


async def test_a_reset_drops_transcript_and_state(one: State, two: State) -> None:
    """The next turn begins as the first one did; what waits or is followed stays. Contract 40."""
    lease = (await begin(one, message("m1"))).lease
    await finish(one, lease, Changes(state=b"old", state_version=4, transcript=(b"a",)))
    await one.subscribe(HERE)
    await say(one, message("m2"), claim=None)
    await two.reset(HERE)
    assert await texts(one) == []
    start = await claimed(one)
    assert (start.lease.turn, start.state, start.state_version) == ("m2", None, 0)
    assert await one.is_subscribed(HERE)


async def test_a_turn_that_was_reset_writes_nothing(one: State, two: State) -> None:
    """However it ends: what it says belongs to the conversation that was ended. Contract 40."""
    lost = Changes(state=b"lost", transcript=(b"lost",))
    lease = (await begin(one, message("m1"))).lease
    await say(one, message("m2"))
    await two.reset(HERE)
    start = started(await finish(one, lease, lost))
    assert (start.state, await texts(one)) == (None, [])
    await two.reset(HERE)
    await one.fail(start.lease, "no", lost, retry_in=None, limit=1, op=op(), claim=None)
    assert await texts(one) == []


async def test_a_turn_that_begins_after_a_reset_writes(one: State, two: State) -> None:
    """Only the one that ran at the time is cut off. Contract 40."""
    lease = (await begin(one, message("m1"))).lease
    await say(one, message("m2"))
    await two.reset(HERE)
    lease = started(await finish(one, lease)).lease
    await finish(one, lease, Changes(state=b"new", transcript=(b"new",)))
    assert await texts(two) == ["new"]
    assert (await begin(two, message("m3"))).state == b"new"
