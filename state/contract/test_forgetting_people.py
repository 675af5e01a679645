"""Forgetting one person: what they wrote goes, what others wrote stays."""

import pytest

from state import State
from state.contract.scene import (
    CLAIM,
    ELSEWHERE,
    HERE,
    LEASE,
    SHARED,
    THERE,
    begin,
    claimed,
    finish,
    ids,
    message,
    op,
    say,
)
from state.contract.test_forgetting import SECRET, all_forgotten, filled
from state.errors import Gone, LeaseLost
from state.keys import Author, Scope
from state.outcomes import Held
from state.values import Changes, Conversation

pytestmark = pytest.mark.asyncio


async def test_a_forgotten_person_leaves_no_word(one: State, two: State) -> None:
    """In no conversation and under no owner; what others said stays. Contract 71."""
    homes = (HERE, THERE, ELSEWHERE)
    for home in homes:
        await filled(one, home)
    assert await all_forgotten(two, Author("ann"), 2) == 3
    for home in homes:
        view = await two.view(home)
        assert (view.turn, view.dead_letters) == (None, 0)
        assert view.waiting == (message("f6", "bob", b"bob's"),)
        assert [entry.payload for entry in await two.history(home)] == [b"ours"]
        timers = (await two.schedules(home.owner)).timers
        assert {scheduled.timer.id for scheduled in timers} == {"bobs"}
        assert await two.get(Scope(home.owner, person="ann"), "k") is None
        assert await two.items(Scope(home.owner, person="ann"), "l") == ()
    assert await two.get(SHARED, "k") == SECRET


async def test_the_turn_of_a_forgotten_person_ends(one: State, two: State) -> None:
    """Its holder is refused; what others have in it waits again, first in line. Contract 71."""
    lease = (await begin(one, message("m1", "bob"))).lease
    for id_, author in (("m2", "ann"), ("m3", "cy")):
        await say(one, message(id_, author))
    await one.take(lease, "k")
    await say(one, message("m4", "bob"))
    await one.record(lease, "a", "1", SECRET)
    assert (await two.forget(Author("ann"))).done
    with pytest.raises(LeaseLost):
        await one.commit(lease, Changes(state=SECRET), op=op(), claim=CLAIM)
    view = await two.view(HERE)
    assert (view.turn, ids(view.waiting), view.wake) == (None, ["m1", "m3", "m4"], 0)
    start = await claimed(two)
    assert (start.lease.turn, start.steps, start.state) == ("m1", (), None)


async def test_the_turn_of_others_is_left_to_its_holder(one: State, two: State) -> None:
    """A person who only waits, or spoke before, goes without disturbing it. Contract 71."""
    lease = (await begin(one, message("m1", "ann"))).lease
    await finish(one, lease, Changes(transcript=(SECRET, b"ours"), authors=("ann",)))
    lease = (await begin(one, message("m2", "bob"))).lease
    await one.record(lease, "a", "1", b"x")
    for id_, author in (("m3", "ann"), ("m4", "bob")):
        await say(one, message(id_, author))
    assert (await two.forget(Author("ann"))).done
    assert await one.renew([lease], LEASE) == [Held()]
    assert ids((await two.view(HERE)).waiting) == ["m4"]
    assert [entry.payload for entry in await two.history(HERE)] == [b"ours"]


async def test_a_dead_letter_keeps_what_others_wrote(one: State, two: State) -> None:
    """A letter of which nothing is left goes. Contract 71."""
    lease = (await begin(one, message("m1", "bob"))).lease
    await say(one, message("m2", "ann"))
    await one.take(lease, "k")
    await one.fail(lease, "no", Changes(), retry_in=None, limit=1, op=op(), claim=CLAIM)
    lease = (await begin(one, message("m3", "ann"))).lease
    await one.fail(lease, "no", Changes(), retry_in=None, limit=1, op=op(), claim=CLAIM)
    assert (await two.forget(Author("ann"))).done
    (letter,) = (await one.dead_letters(HERE.owner)).letters
    assert letter.inbounds == (message("m1", "bob"),)
    assert (await one.view(HERE)).dead_letters == 1


async def test_a_persons_name_may_begin_as_anothers(one: State, two: State) -> None:
    """Only who was named is forgotten. Contract 68, 71."""
    alike = ("an", "anna", "bob/ann", "Ann")
    await begin(one, message("m0", "bob"))
    for n, author in enumerate(alike):
        await say(one, message(f"m{n + 1}", author))
        await one.put(Scope("guild/1", person=author), "k", b"1")
    await say(one, message("m9", "ann"))
    before = (await two.view(HERE)).waiting[:-1]
    assert (await two.forget(Author("ann"))).done
    assert (await two.view(HERE)).waiting == before
    for author in alike:
        assert await two.get(Scope("guild/1", person=author), "k") == b"1"


async def test_a_person_is_gone_while_being_forgotten(one: State, two: State) -> None:
    """Nothing new of theirs is taken until it is done; others are heard. Contract 71, 72."""
    for n in range(3):
        await filled(one, Conversation("guild/1", f"c{n}"))
    assert not (await two.forget(Author("ann"), limit=1)).done
    with pytest.raises(Gone):
        await say(one, message("late", "ann"), at=ELSEWHERE)
    assert (await begin(one, message("m1", "bob"), at=ELSEWHERE)).lease.turn == "m1"
    await all_forgotten(two, Author("ann"), 1)
    assert (await begin(one, message("m1", "ann"))).inbounds == (message("m1", "ann"),)
