"""Records that no version of the adapter wrote, beside those that it did."""

import pytest

from state import State
from state.contract.factory import Clock
from state.contract.faults import Faults, Poison
from state.contract.scene import (
    CLAIM,
    HERE,
    LEASE,
    THERE,
    begin,
    claimed,
    due,
    finish,
    ids,
    is_due,
    message,
    op,
    placed,
    say,
    started,
)
from state.listings import DeadLetter
from state.outcomes import Due, Held, Turnover
from state.values import Conversation, Timer

pytestmark = pytest.mark.asyncio


async def set_aside(state: State, at: Conversation = HERE) -> DeadLetter:
    """Return the one dead letter of a conversation, which must be of what could not be read."""
    (letter,) = (await state.dead_letters(at.owner)).letters
    assert (letter.conversation, letter.inbounds) == (at, ())
    assert "cannot be read" in letter.error
    assert letter.raw
    assert (await state.view(at)).dead_letters == 1
    return letter


async def test_a_message_that_cannot_be_read_is_set_aside(
    one: State, two: State, faults: Faults
) -> None:
    """Those before and behind it are answered; operators find it and drop it. Contract 80."""
    held = (await begin(one, message("m1"))).lease
    for name in ("m2", "m3"):
        await say(one, message(name))
    await faults.poison(HERE, Poison.WAITING)
    after = started(await finish(two, held))
    assert ids(after.inbounds) == ["m3"]
    letter = await set_aside(one)
    assert not await one.requeue(HERE, letter.id, op=op())
    assert await one.discard(HERE, letter.id)
    assert (await finish(two, after.lease)).started is None
    assert await due(one) == Due((), ())


async def test_a_message_is_admitted_behind_one_that_cannot_be_read(
    one: State, two: State, clock: Clock, faults: Faults
) -> None:
    """It is taken and is started, as if the other had not been there. Contract 80."""
    await say(one, message("m1"), claim=None)
    await faults.poison(HERE, Poison.WAITING)
    placed(await say(two, message("m2"), claim=None))
    assert ids((await claimed(one)).inbounds) == ["m2"]
    await set_aside(one)


async def test_a_turn_that_cannot_be_read_is_set_aside(
    one: State, two: State, clock: Clock, faults: Faults
) -> None:
    """Whoever takes it up begins what waits; other conversations notice nothing. Contract 80."""
    held = (await begin(one, message("m1"))).lease
    other = (await begin(one, message("m9"), at=THERE)).lease
    await say(one, message("m2"))
    await faults.poison(HERE, Poison.TURN)
    assert (await one.renew([held, other], LEASE))[1] == Held()
    clock.move(LEASE / 2)
    assert await one.renew([other], LEASE) == [Held()]
    clock.move(LEASE / 2)
    assert await is_due(two)
    assert not await is_due(two, at=THERE)
    after = await claimed(two)
    assert ids(after.inbounds) == ["m2"]
    await set_aside(one)
    await finish(two, after.lease)
    assert (await begin(two, message("m4"))).lease.turn == "m4"


async def test_a_view_of_what_cannot_be_read(one: State, two: State, faults: Faults) -> None:
    """It shows the rest; so do the lists. Contract 80."""
    await begin(one, message("m1"))
    await say(one, message("m2"))
    await one.schedule(HERE, Timer("t", message("m3"), 60.0), op=op())
    await one.schedule(THERE, Timer("t", message("m3"), 60.0), op=op())
    for what in Poison:
        await faults.poison(HERE, what)
    view = await two.view(HERE)
    assert (view.turn, view.waiting) == (None, ())
    assert [timer.conversation for timer in (await two.schedules(HERE.owner)).timers] == [THERE]
    letters = (await two.dead_letters(HERE.owner)).letters
    assert [letter.conversation for letter in letters] == [HERE] * 3
    assert len({letter.id for letter in letters}) == 3
    await forgotten(one, HERE)
    assert (await two.dead_letters(HERE.owner)).letters == ()


async def test_a_timer_that_cannot_be_read_is_set_aside(
    one: State, two: State, clock: Clock, faults: Faults
) -> None:
    """Nothing fires, and nothing is due for ever. Contract 80."""
    await one.schedule(HERE, Timer("t", message("m1"), LEASE), op=op())
    await faults.poison(HERE, Poison.TIMER)
    clock.move(LEASE)
    assert await two.claim(HERE, op=op(), claim=CLAIM) == Turnover()
    assert not await is_due(two)
    await set_aside(one)


async def forgotten(state: State, target: Conversation) -> None:
    """Forget a conversation, in however many batches."""
    while not (await state.forget(target)).done:
        pass
