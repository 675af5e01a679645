"""What a commit keeps beside its conversation: usage, and the answers that were given."""

import datetime as dt

import pytest

from state import State
from state.contract.factory import Clock
from state.contract.scene import (
    CLAIM,
    FOLLOW_UP,
    HERE,
    LOCAL,
    THERE,
    begin,
    claimed,
    finish,
    message,
    op,
    say,
    started,
    twice,
)
from state.keys import Put
from state.ports import ANSWER_WINDOW
from state.values import Changes, Conversation, Inbound, Timer

pytestmark = pytest.mark.asyncio


def day(clock: Clock) -> str:
    """Return the store's day."""
    return dt.datetime.fromtimestamp(clock(), dt.UTC).date().isoformat()


async def spend(state: State, id_: str, *, at: Conversation = HERE, **usage: int) -> None:
    """Commit a turn that used so much."""
    await finish(state, (await begin(state, message(id_), at=at)).lease, Changes(usage=usage))


async def test_usage_adds_up_per_owner(one: State, two: State, clock: Clock) -> None:
    """Over all its conversations and processes, by name; others have their own. Contract 66."""
    assert await one.usage(HERE.owner, day(clock)) == {}
    await spend(one, "m1", tokens=5, turns=1)
    await spend(two, "m2", at=THERE, tokens=7)
    await spend(two, "m1", at=Conversation("guild/12", "10"), tokens=100)
    assert await two.usage(HERE.owner, day(clock)) == {"tokens": 12, "turns": 1}
    assert await two.usage("guild/12", day(clock)) == {"tokens": 100}
    assert await two.usage("guild", day(clock)) == {}


async def test_usage_is_told_by_day(one: State, two: State, clock: Clock) -> None:
    """A day of UTC by the store's clock; the one before stays. Contract 66."""
    first = day(clock)
    await spend(one, "m1", tokens=5)
    clock.move(86_400)
    await spend(one, "m2", tokens=7)
    assert day(clock) != first
    assert await two.usage(HERE.owner, first) == {"tokens": 5}
    assert await two.usage(HERE.owner, day(clock)) == {"tokens": 7}


async def test_usage_outlives_its_conversation(one: State, two: State, clock: Clock) -> None:
    """Whatever is reset or forgotten. Contract 66, 70."""
    await spend(one, "m1", tokens=5)
    await one.reset(HERE)
    assert (await one.forget(HERE)).done
    assert await two.usage(HERE.owner, day(clock)) == {"tokens": 5}


async def test_an_answer_can_be_read_after_its_turn(one: State, two: State, clock: Clock) -> None:
    """For every inbound of the turn and no other, for its window. Contract 41."""
    lease = (await begin(one, message("m1"))).lease
    await say(one, message("m2", "bob"))
    await one.take(lease, "k")
    await say(one, message("m3"))
    assert await two.answer(HERE, "m1") is None
    await finish(one, lease, Changes(answer=b"\0done\xff"), claim=None)
    for inbound in ("m1", "m2"):
        assert await two.answer(HERE, inbound) == b"\0done\xff"
    for home, inbound in ((HERE, "m3"), (HERE, "m9"), (THERE, "m1")):
        assert await two.answer(home, inbound) is None
    clock.move(ANSWER_WINDOW - 1)
    assert await two.answer(HERE, "m1") == b"\0done\xff"
    clock.move(2)
    assert await two.answer(HERE, "m1") is None


async def test_an_answer_given_never_changes(one: State, two: State) -> None:
    """A second turn with the same inbound, as after a requeue, leaves the first. Contract 41."""
    lease = (await begin(one, message("m1"))).lease
    changes = Changes(answer=b"")
    await one.fail(lease, "no", changes, retry_in=None, limit=1, op=op(), claim=CLAIM)
    assert await two.answer(HERE, "m1") == b""
    (letter,) = (await one.dead_letters(HERE.owner)).letters
    await one.requeue(HERE, letter.id, op=op())
    await finish(one, (await claimed(one)).lease, Changes(answer=b"second"))
    assert await two.answer(HERE, "m1") == b""


async def test_an_answer_keeps_nothing_pending(one: State, clock: Clock) -> None:
    """An idle conversation is idle, whatever was answered in it. Contract 41, 51."""
    await finish(one, (await begin(one, message("m1"))).lease, Changes(answer=b"done"))
    assert (await one.view(HERE)).wake is None
    clock.move(ANSWER_WINDOW + 1)
    await finish(one, (await begin(one, message("m2"))).lease, Changes(answer=b"more"))
    assert (await one.answer(HERE, "m1"), await one.answer(HERE, "m2")) == (None, b"more")


async def test_a_turn_that_was_cut_short_keeps_its_answer_and_timers(
    one: State, two: State, clock: Clock
) -> None:
    """And what it used; state and keys of such a run are not kept. Contract 28, 45, 66."""
    changes = Changes(
        state=b"lost",
        transcript=(b"half",),
        timers=(Timer("t", Inbound("t", "ann", b""), 9),),
        puts=(Put(LOCAL, "k", b"lost"),),
        answer=b"half",
        usage={"tokens": 5},
    )

    async def check(inbound: str, tokens: int) -> None:
        assert await two.answer(HERE, inbound) == b"half"
        assert [s.timer.id for s in (await two.schedules(HERE.owner)).timers] == ["t"]
        assert await two.get(LOCAL, "k") is None
        assert await two.usage(HERE.owner, day(clock)) == {"tokens": tokens}
        await two.unschedule(HERE, "t")

    old = (await begin(one, message("m1"))).lease
    await say(one, message("m2"), could=FOLLOW_UP)
    start = started(await one.supersede(old, op=op(), claim=CLAIM, changes=changes))
    assert start.state is None
    await check("m1", 5)
    await one.fail(start.lease, "no", changes, retry_in=None, limit=1, op=op(), claim=CLAIM)
    await check("m2", 10)
    assert len(await one.history(HERE)) == 2


async def test_a_failure_that_is_tried_again_keeps_only_what_it_used(
    one: State, two: State, clock: Clock
) -> None:
    """All else is written by the run that ends the turn. Contract 43, 66."""
    lease = (await begin(one, message("m1"))).lease
    changes = Changes(
        transcript=(b"half",),
        timers=(Timer("t", Inbound("t", "ann", b""), 9),),
        puts=(Put(LOCAL, "k", b"1"),),
        answer=b"half",
        usage={"tokens": 5},
    )
    own = op()
    for _ in range(2):
        await one.fail(lease, "busy", changes, retry_in=60, limit=9, op=own, claim=CLAIM)
    assert await two.answer(HERE, "m1") is None
    assert (await two.schedules(HERE.owner)).timers == ()
    assert (await two.get(LOCAL, "k"), await two.history(HERE)) == (None, ())
    assert await two.usage(HERE.owner, day(clock)) == {"tokens": 5}


async def test_a_reset_turn_keeps_what_is_not_the_conversations(
    one: State, two: State, clock: Clock
) -> None:
    """Its answer, keys and usage; state and transcript belong to what ended. Contract 35."""
    lease = (await begin(one, message("m1"))).lease
    await two.reset(HERE)
    changes = Changes(
        state=b"s", transcript=(b"t",), puts=(Put(LOCAL, "k", b"1"),), answer=b"a", usage={"n": 1}
    )
    await finish(one, lease, changes)
    assert (await two.answer(HERE, "m1"), await two.get(LOCAL, "k")) == (b"a", b"1")
    assert await two.usage(HERE.owner, day(clock)) == {"n": 1}
    assert await two.history(HERE) == ()
    assert (await begin(two, message("m2"))).state is None


async def test_what_a_commit_keeps_is_kept_once(one: State, two: State, clock: Clock) -> None:
    """Sent twice it adds once. Contract 37, 73."""
    lease = (await begin(one, message("m1"))).lease
    own = op()
    changes = Changes(
        timers=(Timer("t", Inbound("t", "ann", b""), 9, every=5),),
        puts=(Put(LOCAL, "k", b"1"),),
        usage={"tokens": 5},
    )
    await twice(one, two, lambda s: s.commit(lease, changes, op=own, claim=CLAIM))
    assert await two.usage(HERE.owner, day(clock)) == {"tokens": 5}
    await two.delete(LOCAL, "k")
    await two.commit(lease, changes, op=own, claim=CLAIM)
    assert await one.get(LOCAL, "k") is None
