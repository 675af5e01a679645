"""Dead letters: what was given up, for an operator to look at, try again or drop."""

import pytest

from state import State
from state.contract.factory import Clock
from state.contract.scene import (
    CLAIM,
    HERE,
    LEASE,
    THERE,
    begin,
    claimed,
    everything,
    finish,
    ids,
    is_due,
    message,
    op,
    say,
    started,
    taken_over,
    twice,
)
from state.listings import DeadLetter
from state.outcomes import Duplicate, Turnover
from state.ports import DEAD_LETTER_LIMIT, MAX_EXPIRIES
from state.values import Changes, Conversation, Policy

pytestmark = pytest.mark.asyncio

#: More than any test has of an owner.
PAGES = 200


async def give_up(
    state: State, id_: str, *, at: Conversation = HERE, error: str = "it broke"
) -> None:
    """Make a dead letter of a new message."""
    lease = (await begin(state, message(id_), at=at)).lease
    await state.fail(lease, error, Changes(), retry_in=None, limit=1, op=op(), claim=CLAIM)


async def letters(
    state: State, owner: str | None = HERE.owner, limit: int = 200
) -> list[DeadLetter]:
    """Read every page of an owner's dead letters."""
    found: list[DeadLetter] = []
    cursor = None
    for _ in range(PAGES):
        page = await state.dead_letters(owner, cursor, limit)
        assert len(page.letters) == limit or page.cursor is None
        found += page.letters
        cursor = page.cursor
        if cursor is None:
            return found
    raise AssertionError(f"no end after {PAGES} pages")


async def test_a_dead_letter_tells_what_was_given_up(one: State, two: State, clock: Clock) -> None:
    """Inbounds, taken ones too, the error, the state it was given, and its age. Contract 45, 46."""
    await finish(one, (await begin(one, message("m0"))).lease, Changes(state=b"before"))
    lease = (await begin(one, message("m1", payload=b"\0\xff"))).lease
    await say(one, message("m2", "bob"))
    await one.take(lease, "k")
    lost = Changes(state=b"lost")
    await one.fail(lease, "boom: ✗", lost, retry_in=None, limit=1, op=op(), claim=CLAIM)
    clock.move(6)
    (letter,) = await letters(two)
    assert letter.conversation == HERE
    assert letter.inbounds == (message("m1", payload=b"\0\xff"), message("m2", "bob"))
    assert (letter.error, letter.state, letter.age) == ("boom: ✗", b"before", 6)


async def test_a_turn_that_expired_too_often_says_so(one: State, two: State, clock: Clock) -> None:
    """Its letter has an error of the store's own; no state where there was none. Contract 45."""
    await begin(one, message("m1"))
    for _ in range(MAX_EXPIRIES - 1):
        await taken_over(two, clock)
    clock.move(LEASE)
    await two.claim(HERE, op=op(), claim=CLAIM)
    (letter,) = await letters(two)
    assert "expired" in letter.error
    assert letter.state is None


async def test_dead_letters_list_the_oldest_first(one: State, two: State, clock: Clock) -> None:
    """Of a conversation, over any size of page, each once. Contract 46."""
    for n in (3, 1, 4, 0, 2):
        await give_up(one, f"m{n}")
        clock.move(1)
    for limit in (1, 2, 5, 200):
        found = [ids(letter.inbounds)[0] for letter in await letters(two, limit=limit)]
        assert found == ["m3", "m1", "m4", "m0", "m2"], limit
    assert len({letter.id for letter in await letters(two)}) == 5


async def test_dead_letters_are_listed_by_owner(one: State, two: State) -> None:
    """With more of others than a page, each page is full. Contract 67, 68."""
    homes = [Conversation("guild/1", f"c{n}") for n in range(6)]
    alike = ("guild/12", "guild", "a/1")
    others = [Conversation(owner, f"c{n}") for owner in alike for n in range(6)]
    for home in (*others, *homes):
        await give_up(one, "m1", at=home)
    page = await two.dead_letters("guild/1", limit=4)
    assert len(page.letters) == 4
    assert {letter.conversation for letter in await letters(two, limit=4)} == set(homes)
    assert await letters(two, "guild/123") == []


async def test_dead_letters_of_all_owners_are_listed_each_once(one: State, two: State) -> None:
    """Over any size of page and every partition. Contract 46."""
    homes = [Conversation(f"guild/{n}", f"c{m}") for n in range(9) for m in range(2)]
    assert await letters(two, None) == []
    for home in homes:
        await give_up(one, "m1", at=home)
    for limit in (1, 4, 200):
        found = [letter.conversation for letter in await letters(two, None, limit)]
        assert len(found) == len(homes), limit
        assert set(found) == set(homes), limit


async def test_a_requeued_letter_runs_again(one: State, two: State) -> None:
    """As one turn with its old ids, which are duplicates still. Contract 18, 46."""
    lease = (await begin(one, message("m1"))).lease
    for id_ in ("m2", "m3"):
        await say(one, message(id_, "bob"))
    await one.take(lease, "k")
    await one.fail(lease, "no", Changes(), retry_in=None, limit=1, op=op(), claim=CLAIM)
    (letter,) = await letters(two)
    assert await two.requeue(HERE, letter.id, op=op())
    assert await letters(two) == []
    assert await is_due(one)
    assert await say(one, message("m1"), claim=None) == Duplicate(None)
    start = await claimed(one)
    assert (start.lease.turn, ids(start.inbounds)) == ("m3", ["m1", "m2", "m3"])
    assert (start.attempts, start.steps) == (0, ())
    assert await finish(one, start.lease) == Turnover()


async def test_a_requeued_letter_waits_its_turn(one: State, two: State) -> None:
    """Behind what waits already, and beyond the bounds. Contract 22, 46."""
    await give_up(one, "m1")
    lease = (await begin(one, message("m2"))).lease
    await say(one, message("m3", "bob"), policy=Policy(inbox=1))
    (letter,) = await letters(two)
    assert await two.requeue(HERE, letter.id, op=op())
    view = await one.view(HERE)
    assert (ids(view.waiting), view.wake) == (["m3", "m1"], LEASE)
    lease = started(await finish(one, lease)).lease
    assert lease.turn == "m3"
    assert started(await finish(one, lease)).lease.turn == "m1"


async def test_a_letter_is_discarded_for_good(one: State, two: State) -> None:
    """It leaves nothing, and others are left alone. Contract 46."""
    before = await everything(one)
    await give_up(one, "m1")
    await give_up(one, "m2", at=THERE)
    letter, other = sorted(await letters(two), key=lambda each: ids(each.inbounds))
    assert await two.discard(HERE, letter.id)
    assert await letters(one) == [other]
    assert await two.discard(THERE, other.id)
    assert await everything(one) == before


async def test_a_letter_that_is_not_there_is_no_letter(one: State, two: State) -> None:
    """Unknown, of another conversation, or gone already: nothing is changed. Contract 46, 75."""
    await give_up(one, "m1")
    (letter,) = await letters(one)
    before = await everything(one)
    for home, id_ in ((HERE, "m1.0"), (THERE, letter.id)):
        assert not await two.requeue(home, id_, op=op())
        assert not await two.discard(home, id_)
    assert await everything(one) == before
    await one.discard(HERE, letter.id)
    assert not await two.requeue(HERE, letter.id, op=op())


async def test_dead_letters_are_bounded(one: State, clock: Clock) -> None:
    """The oldest of a conversation make room for the newest. Contract 45, 46."""
    for n in range(DEAD_LETTER_LIMIT + 2):
        await give_up(one, f"m{n}")
        clock.move(0.125)
    found = [ids(letter.inbounds)[0] for letter in await letters(one)]
    assert found == [f"m{n}" for n in range(2, DEAD_LETTER_LIMIT + 2)]
    assert (await one.view(HERE)).dead_letters == DEAD_LETTER_LIMIT


async def test_a_requeue_sent_twice(one: State, two: State) -> None:
    """The letter runs once, and was there both times. Contract 73."""
    await give_up(one, "m1")
    (letter,) = await letters(one)
    own = op()
    assert await twice(one, two, lambda state: state.requeue(HERE, letter.id, op=own))
    assert ids((await one.view(HERE)).waiting) == ["m1"]


async def test_a_discard_sent_twice(one: State, two: State) -> None:
    """It drops one letter; the repeat finds nothing left. Contract 73."""
    for n in (1, 2):
        await give_up(one, f"m{n}", at=(HERE, THERE)[n - 1])
    letter = next(each for each in await letters(one) if each.conversation == HERE)
    assert await one.discard(HERE, letter.id)
    before = await everything(one)
    assert not await two.discard(HERE, letter.id)
    assert await everything(one) == before
