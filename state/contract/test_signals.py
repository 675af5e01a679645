"""Signals and kills: a request reaches the holder of exactly one turn, hints or no hints."""

import pytest

from state import State
from state.contract.factory import Clock
from state.contract.scene import (
    CLAIM,
    GAPS,
    HERE,
    LEASE,
    THERE,
    begin,
    claimed,
    due,
    everything,
    finish,
    ids,
    is_due,
    message,
    op,
    race,
    say,
    settled,
    started,
)
from state.outcomes import Held, NotRunning, Settled, Signalled, Turnover
from state.values import Changes, Conversation, Outcome, Signal, SignalKind

pytestmark = pytest.mark.asyncio


async def test_a_signal_reaches_the_holder_with_the_next_renewal(one: State, two: State) -> None:
    """With every hint lost, each renewal tells it until the turn is over. Contract 55."""
    lease = (await begin(one, message("m1"))).lease
    assert await two.signal(HERE, "m1", SignalKind.STOP, by="bob", op=op()) == Signalled("m1")
    for _ in range(2):
        assert await one.renew([lease], LEASE) == [Held(SignalKind.STOP, "bob")]
    turn = (await two.view(HERE)).turn
    assert turn is not None
    assert turn.signal is SignalKind.STOP


async def test_a_sweep_tells_of_signals_until_the_turn_is_over(one: State, two: State) -> None:
    """Of every unfinished one in the partition, at most so many at a time. Contract 55."""
    leases = [
        (await begin(one, message(f"m{n}"), at=home)).lease for n, home in enumerate((HERE, THERE))
    ]
    assert (await due(one)).signals == ()
    for lease in leases:
        await two.signal(lease.conversation, lease.turn, SignalKind.KILL, by="bob", op=op())
    sent = {Signal(lease.conversation, lease.turn, SignalKind.KILL, "bob") for lease in leases}
    assert set((await due(one)).signals) == sent
    assert len((await due(one, limit=1)).signals) == 1
    await finish(one, leases[0])
    assert (await due(one)).signals == (Signal(THERE, "m1", SignalKind.KILL, "bob"),)


async def test_a_signal_survives_the_death_of_the_holder(
    one: State, two: State, clock: Clock
) -> None:
    """The next claim ends the turn without running it, then goes on. Contract 55."""
    for n, (kind, outcome) in enumerate(
        ((SignalKind.STOP, Outcome.STOPPED), (SignalKind.KILL, Outcome.KILLED))
    ):
        home = Conversation("guild/1", f"c{n}")
        lease = (await begin(one, message("m1"), at=home)).lease
        await one.page(lease, 0, 0, b"half")
        await say(one, message("m2", "bob"), at=home)
        await one.signal(home, "m1", kind, by="eve", op=op())
        clock.move(LEASE)
        answer = await two.claim(home, op=op(), claim=CLAIM)
        assert [(s.outcome, s.turn, ids(s.inbounds)) for s in settled(answer)] == [
            (outcome, "m1", ["m1"])
        ]
        assert [page.intent for page in settled(answer)[0].pages] == [b"half"]
        assert (started(answer).lease.turn, started(answer).signal) == ("m2", None)


async def test_a_request_to_supersede_survives_the_death_of_the_holder(
    one: State, two: State, clock: Clock
) -> None:
    """The next holder runs the turn and is told to make room. Contract 55."""
    await begin(one, message("m1"))
    await two.signal(HERE, "m1", SignalKind.SUPERSEDE, by="ann", op=op())
    clock.move(LEASE)
    start = await claimed(two)
    assert (start.lease.turn, start.signal) == ("m1", SignalKind.SUPERSEDE)


async def test_a_parked_turn_that_is_stopped_is_not_run_again(one: State, two: State) -> None:
    """A stop that came just before the park is kept. Contract 50, 55."""
    lease = (await begin(one, message("m1"))).lease
    await two.signal(HERE, "m1", SignalKind.STOP, by="bob", op=op())
    await one.park(lease, op=op())
    answer = await two.claim(HERE, op=op(), claim=CLAIM)
    assert answer == Turnover(None, (Settled(Outcome.STOPPED, (message("m1"),), "m1"),))
    assert (await two.view(HERE)).wake is None


async def test_a_signal_ends_a_turn_that_nobody_holds(one: State, two: State) -> None:
    """It is settled at once, and what waits is due. Contract 55, 51."""
    lease = (await begin(one, message("m1"))).lease
    await say(one, message("m2", "bob"))
    await one.fail(lease, "busy", Changes(), retry_in=600, limit=3, op=op(), claim=CLAIM)
    answer = await two.signal(HERE, "m1", SignalKind.STOP, by="eve", op=op())
    assert settled(answer) == (Settled(Outcome.STOPPED, (message("m1"),), "m1"),)
    view = await two.view(HERE)
    assert (view.turn, ids(view.waiting), view.wake) == (None, ["m2"], 0)
    assert await is_due(two)


async def test_a_signal_for_a_turn_that_is_over_is_refused(one: State, two: State) -> None:
    """It never reaches the turn that runs now, nor the one after. Contract 56, 75."""
    old = (await begin(one, message("m1"))).lease
    await say(one, message("m2"))
    lease = started(await finish(one, old)).lease
    before = await everything(one)
    for kind in SignalKind:
        assert await two.signal(HERE, "m1", kind, by="bob", op=op()) == NotRunning(), kind
    assert await everything(one) == before
    assert await one.renew([lease], LEASE) == [Held()]


async def test_a_signal_for_a_message_that_waits_is_refused(one: State, two: State) -> None:
    """A turn begins when it is started. Contract 56."""
    await begin(one, message("m1"))
    await say(one, message("m2"))
    assert await two.signal(HERE, "m2", SignalKind.STOP, by="bob", op=op()) == NotRunning()
    assert await two.signal(THERE, "m1", SignalKind.STOP, by="bob", op=op()) == NotRunning()


async def test_a_signal_racing_a_commit_hits_its_turn_or_nothing(one: State, two: State) -> None:
    """At every gap the next turn starts without a request. Contract 56."""
    for gap in GAPS:
        home = Conversation("guild/1", f"c{gap}")
        lease = (await begin(one, message("m1"), at=home)).lease
        await say(one, message("m2", "bob"), at=home)
        stop = two.signal(home, "m1", SignalKind.STOP, by="eve", op=op())
        committed, answer = await race(gap, finish(one, lease), stop)
        assert started(committed).signal is None, gap
        assert answer in (Signalled("m1"), NotRunning()), gap
        assert await one.renew([started(committed).lease], LEASE) == [Held()], gap


async def test_a_stronger_signal_replaces_a_weaker_one(one: State, two: State) -> None:
    """Kill beats stop beats supersede; repeated ones are one. Contract 57."""
    lease = (await begin(one, message("m1"))).lease
    sent = [
        (SignalKind.SUPERSEDE, "a"), (SignalKind.SUPERSEDE, "b"), (SignalKind.STOP, "c"),
        (SignalKind.SUPERSEDE, "d"), (SignalKind.STOP, "e"), (SignalKind.KILL, "f"),
        (SignalKind.STOP, "g"), (SignalKind.KILL, "h"),
    ]  # fmt: skip
    told = []
    for kind, by in sent:
        await two.signal(HERE, "m1", kind, by=by, op=op())
        told += await one.renew([lease], LEASE)
    strongest = [(SignalKind.SUPERSEDE, "a")] * 2 + [(SignalKind.STOP, "c")] * 3
    strongest += [(SignalKind.KILL, "f")] * 3
    assert told == [Held(kind, by) for kind, by in strongest]
    assert len((await due(two)).signals) == 1


async def test_a_stop_withdraws_what_the_lead_has_waiting(one: State, two: State) -> None:
    """A kill signal and a supersede signal do not; the rest waits on. Contract 24, 57."""
    await begin(one, message("m1"))
    for id_, author in (("m2", "ann"), ("m3", "bob"), ("m4", "ann")):
        await say(one, message(id_, author))
    for kind in (SignalKind.SUPERSEDE, SignalKind.KILL):
        assert await two.signal(HERE, "m1", kind, by="eve", op=op()) == Signalled("m1")
    answer = await two.signal(HERE, "m1", SignalKind.STOP, by="eve", op=op())
    assert answer == Signalled("m1", (message("m2"), message("m4")))
    assert ids((await one.view(HERE)).waiting) == ["m3"]
