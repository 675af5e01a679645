"""Kill: the turn and what waits, in one step."""

import pytest

from state import State
from state.contract.factory import Clock
from state.contract.scene import (
    CLAIM,
    HERE,
    LEASE,
    begin,
    claimed,
    finish,
    ids,
    is_due,
    message,
    op,
    say,
)
from state.outcomes import Held, Killed, Settled, Turnover
from state.values import Changes, Outcome, SignalKind

pytestmark = pytest.mark.asyncio


async def test_a_kill_signals_the_turn_and_drops_all_that_waits(one: State, two: State) -> None:
    """In one step, and returns both. Contract 27."""
    lease = (await begin(one, message("m1"))).lease
    for id_, author in (("m2", "ann"), ("m3", "bob")):
        await say(one, message(id_, author))
    killed = await two.kill(HERE, by="eve", op=op())
    assert killed.turn is not None
    assert (killed.turn.id, killed.turn.live) == ("m1", True)
    assert killed.dropped == (message("m2"), message("m3", "bob"))
    assert await one.renew([lease], LEASE) == [Held(SignalKind.KILL, "eve")]
    assert await finish(one, lease, Changes(Outcome.KILLED)) == Turnover()


async def test_a_kill_of_one_persons_leaves_the_others(one: State, two: State) -> None:
    """Their turn if they take part in it, and their waiting messages alone. Contract 27."""
    lease = (await begin(one, message("m1"))).lease
    for id_, author in (("m2", "ann"), ("m3", "bob"), ("m4", "ann")):
        await say(one, message(id_, author))
    assert await two.kill(HERE, by="eve", op=op(), author="bob") == Killed(
        None, (message("m3", "bob"),)
    )
    assert await one.renew([lease], LEASE) == [Held()]
    killed = await two.kill(HERE, by="eve", op=op(), author="ann")
    assert killed.turn is not None
    assert (killed.turn.id, ids(killed.dropped)) == ("m1", ["m2", "m4"])


async def test_a_kill_where_nothing_runs_drops_what_waits(one: State) -> None:
    """And leaves neither turn nor wake; of nothing at all it tells nothing. Contract 27, 51."""
    assert await one.kill(HERE, by="eve", op=op()) == Killed(None)
    await say(one, message("m1"), claim=None)
    assert await one.kill(HERE, by="eve", op=op()) == Killed(None, (message("m1"),))
    assert (await one.view(HERE)).wake is None


async def test_a_kill_settles_a_turn_that_nobody_holds(
    one: State, two: State, clock: Clock
) -> None:
    """Here and now; nothing of the conversation is left to claim. Contract 27, 55."""
    await begin(one, message("m1"))
    await say(one, message("m2"))
    clock.move(LEASE)
    killed = await two.kill(HERE, by="eve", op=op())
    assert killed.turn is not None
    assert (killed.turn.id, killed.turn.live, ids(killed.dropped)) == ("m1", False, ["m2"])
    assert killed.turnover == Turnover(None, (Settled(Outcome.KILLED, (message("m1"),), "m1"),))
    assert (await two.view(HERE)).wake is None
    assert await two.claim(HERE, op=op(), claim=CLAIM) == Turnover()


async def test_a_kill_of_one_persons_turn_leaves_the_rest_due(one: State, two: State) -> None:
    """When nobody held it, what others have waiting is looked at now. Contract 27, 51."""
    lease = (await begin(one, message("m1"))).lease
    await say(one, message("m2", "bob"))
    await one.fail(lease, "busy", Changes(), retry_in=600, limit=3, op=op(), claim=CLAIM)
    killed = await two.kill(HERE, by="eve", op=op(), author="ann")
    assert [s.outcome for s in killed.turnover.settled] == [Outcome.KILLED]
    assert await is_due(two)
    assert (await claimed(two)).lease.turn == "m2"
