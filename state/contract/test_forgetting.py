"""Forgetting: a conversation, an owner, or one person, and what is left of them."""

import datetime as dt
from collections.abc import Awaitable, Callable

import pytest

from state import State
from state.contract.factory import Clock
from state.contract.scene import (
    CLAIM,
    ELSEWHERE,
    HERE,
    LEASE,
    LOCAL,
    PERSONAL,
    SHARED,
    THERE,
    TRIGGER,
    begin,
    due,
    everything,
    finish,
    message,
    number,
    op,
    say,
)
from state.errors import Gone, LeaseLost, StateError
from state.keys import Author, Owner, Put, Scope
from state.outcomes import Due, Held, Lost
from state.values import Changes, Conversation, Inbound, Lease, Policy, SignalKind, Timer

pytestmark = pytest.mark.asyncio

#: More than any test needs to forget all that it has left.
BATCHES = 20

#: What no store may hold any more after its author or owner was forgotten.
SECRET = b"a secret of ann's"


async def filled(state: State, home: Conversation = HERE, author: str = "ann") -> Lease:
    """Leave something of every kind behind in *home*; return the lease of the turn that runs."""
    ring = Inbound("ring", author, SECRET)
    mine = Changes(
        state=SECRET,
        transcript=(SECRET, b"ours"),
        authors=(author,),
        timers=(Timer("t", ring, 60), Timer("bobs", Inbound("bobs", "bob", b"bob's"), 60)),
        puts=(Put(Scope(home.owner, home.id), "k", SECRET),),
        answer=SECRET,
        usage={"tokens": 5},
    )
    lease = (await begin(state, message("f1", author, SECRET), at=home)).lease
    await state.fail(lease, "no", Changes(), retry_in=None, limit=1, op=op(), claim=CLAIM)
    await finish(state, (await begin(state, message("f2", author, SECRET), at=home)).lease, mine)
    lease = (await begin(state, message("f3", author, SECRET), at=home)).lease
    await state.record(lease, "a", "1", SECRET)
    await state.page(lease, 0, 0, SECRET)
    await say(state, message("f4", author, SECRET), at=home)
    await state.take(lease, "k")
    await say(state, message("f5", author, SECRET), at=home)
    await say(state, message("f6", "bob", b"bob's"), at=home)
    await state.subscribe(home)
    await state.put(Scope(home.owner), "k", SECRET)
    await state.put(Scope(home.owner, person=author), "k", SECRET)
    await state.append(Scope(home.owner, person=author), "l", SECRET, most=3, op=op())
    return lease


async def all_forgotten(state: State, target: Owner | Conversation | Author, limit: int) -> int:
    """Forget in batches until it is done; return how much was removed."""
    removed = 0
    for _ in range(BATCHES):
        answer = await state.forget(target, limit=limit)
        assert answer.removed <= limit
        removed += answer.removed
        if answer.done:
            return removed
    raise AssertionError(f"{target} is not forgotten after {BATCHES} batches")


async def untouched(state: State, home: Conversation) -> None:
    """Check that a conversation is as one that nobody ever spoke in."""
    found = await everything(state, home)
    view = found.view
    assert (view.turn, view.waiting, view.wake, view.dead_letters) == (None, (), None, 0)
    assert (found.history, found.subscribed) == ((), False)
    assert home not in found.due.conversations
    assert all(signal.conversation != home for signal in found.due.signals)
    assert all(letter.conversation != home for letter in found.letters)
    assert all(timer.conversation != home for timer in found.timers)
    assert await state.answer(home, "f2") is None
    assert await state.get(Scope(home.owner, home.id), "k") is None


def steps_on(
    state: State, lease: Lease, author: str = "zoe"
) -> dict[str, Callable[[], Awaitable[object]]]:
    """Return steps that would change the conversation of *lease*, each by its name."""
    home = lease.conversation
    late = Changes(state=b"late", transcript=(b"late",))
    new = message("late", author)
    return {
        "admit": lambda: state.admit(home, new, TRIGGER, Policy(), op=op(), claim=CLAIM),
        "claim": lambda: state.claim(home, op=op(), claim=CLAIM),
        "acquire": lambda: state.acquire(home, op=op(), claim=CLAIM),
        "steal": lambda: state.steal(home, lease.token, op=op(), claim=CLAIM),
        "signal": lambda: state.signal(home, lease.turn, SignalKind.STOP, by="eve", op=op()),
        "kill": lambda: state.kill(home, by="eve", op=op()),
        "withdraw": lambda: state.withdraw(home, "f6", op=op()),
        "amend": lambda: state.amend(home, "f6", new, op=op()),
        "schedule": lambda: state.schedule(home, Timer("late", new, 9), op=op()),
        "unschedule": lambda: state.unschedule(home, "t"),
        "requeue": lambda: state.requeue(home, "f1.0", op=op()),
        "discard": lambda: state.discard(home, "f1.0"),
        "reset": lambda: state.reset(home),
        "subscribe": lambda: state.subscribe(home),
        "unsubscribe": lambda: state.unsubscribe(home),
        "record": lambda: state.record(lease, "late", "1", b"late"),
        "page": lambda: state.page(lease, 9, 0, b"late"),
        "posted": lambda: state.posted(lease, 9, 0, "900"),
        "take": lambda: state.take(lease, "late"),
        "commit": lambda: state.commit(lease, late, op=op(), claim=CLAIM),
        "fail": lambda: state.fail(lease, "no", late, retry_in=None, limit=1, op=op(), claim=CLAIM),
        "supersede": lambda: state.supersede(lease, op=op(), claim=CLAIM, changes=late),
        "park": lambda: state.park(lease, op=op()),
    }


HOLDERS = ("record", "page", "posted", "take", "commit", "fail", "supersede", "park")


async def test_a_forgotten_conversation_leaves_nothing(one: State, two: State) -> None:
    """Neither what ran, waited or was given up, nor state, transcript and keys. Contract 69."""
    await filled(one)
    await filled(one, THERE)
    before = await two.view(THERE)
    assert await all_forgotten(two, HERE, 200) == 1
    await untouched(one, HERE)
    assert await two.view(THERE) == before
    assert await one.get(SHARED, "k") == SECRET
    assert await one.get(Scope(THERE.owner, THERE.id), "k") == SECRET


async def test_a_holder_of_what_was_forgotten_is_refused(one: State, two: State) -> None:
    """Every late step of it, so that nothing lands afterwards. Contract 38, 69."""
    for target in (HERE, Owner(HERE.owner)):
        lease = await filled(one)
        await all_forgotten(two, target, 200)
        for name in HOLDERS:
            with pytest.raises(LeaseLost):
                await steps_on(one, lease)[name]()
        assert await one.renew([lease], LEASE) == [Lost()]
        await untouched(two, HERE)


async def test_a_timer_of_what_was_forgotten_never_fires(
    one: State, two: State, clock: Clock
) -> None:
    """Of a conversation or an owner: nothing is due when its time comes. Contract 53."""
    for target in (HERE, Owner(HERE.owner)):
        await filled(one)
        await all_forgotten(two, target, 200)
        clock.move(3600)
        assert await due(two) == Due((), ())


async def test_a_forgotten_owner_leaves_nothing_but_usage(
    one: State, two: State, clock: Clock
) -> None:
    """In one batch or in many; every key of it goes, whatever its scope. Contract 70."""
    homes = [Conversation("guild/1", f"c{n}") for n in range(5)]
    for limit in (200, 2, 1):
        for home in homes:
            await filled(one, home)
        await one.put(PERSONAL, "k", b"1")
        assert await all_forgotten(two, Owner("guild/1"), limit) == len(homes), limit
        for home in homes:
            await untouched(two, home)
        assert (await one.get(SHARED, "k"), await one.get(PERSONAL, "k")) == (None, None)
        assert await one.items(PERSONAL, "l") == ()
    today = dt.datetime.fromtimestamp(clock(), dt.UTC).date().isoformat()
    assert await two.usage("guild/1", today) == {"tokens": 5 * 3 * len(homes)}


async def test_forgetting_an_owner_leaves_the_others(one: State, two: State) -> None:
    """However alike the names are, in listings and in keys. Contract 68, 70."""
    others = [Conversation(owner, "10") for owner in ("guild/12", "guild", "guild/1/2", "a/1")]
    for home in (HERE, *others):
        await filled(one, home)
    before = [await everything(two, home) for home in others]
    await all_forgotten(two, Owner("guild/1"), 1)
    assert [await everything(two, home) for home in others] == before
    for home in others:
        assert await two.get(Scope(home.owner), "k") == SECRET
        assert await two.items(Scope(home.owner, person="ann"), "l") == (SECRET,)


async def test_a_conversations_name_may_begin_as_another(one: State, two: State) -> None:
    """Of the same owner: only the one that was named goes. Contract 68, 69."""
    alike = [Conversation("guild/1", name) for name in ("1", "100", "10/1", "c10")]
    for home in (HERE, *alike):
        await filled(one, home)
    views = [await two.view(home) for home in alike]
    await all_forgotten(two, HERE, 200)
    assert [await two.view(home) for home in alike] == views
    for home in alike:
        assert await two.get(Scope(home.owner, home.id), "k") == SECRET
        assert await two.answer(home, "f2") == SECRET


async def test_what_is_being_forgotten_is_gone(one: State, two: State) -> None:
    """Until the last batch every step that would change it is refused. Contract 70, 72, 75."""
    leases = [await filled(one, Conversation("guild/1", f"c{n}")) for n in range(3)]
    assert not (await two.forget(Owner("guild/1"), limit=1)).done
    views = [await two.view(lease.conversation) for lease in leases]
    for lease in leases:
        for name, step in steps_on(one, lease).items():
            with pytest.raises(StateError) as refused:
                await step()
            assert isinstance(refused.value, Gone | LeaseLost), name
            assert isinstance(refused.value, Gone) or name in HOLDERS, name
    for step in (
        lambda: one.put(SHARED, "k", b"late"),
        lambda: one.append(SHARED, "l", b"late", most=3, op=op()),
        lambda: one.increment(LOCAL, "n", op=op()),
        lambda: one.put_if_absent(PERSONAL, "k2", b"late", op=op()),
    ):
        with pytest.raises(Gone):
            await step()
    assert [await two.view(lease.conversation) for lease in leases] == views
    assert (await begin(one, message("m1"), at=ELSEWHERE)).lease.turn == "m1"


async def test_a_renewal_survives_that_one_of_many_is_being_forgotten(
    one: State, two: State
) -> None:
    """That one is lost; the others are answered. Contract 13, 14, 72."""
    leases = [await filled(one, Conversation("guild/1", f"c{n}")) for n in range(2)]
    kept = (await begin(one, message("m1"), at=ELSEWHERE)).lease
    assert not (await two.forget(Owner("guild/1"), limit=1)).done
    assert await one.renew([leases[0], kept, leases[1]], LEASE) == [Lost(), Held(), Lost()]


async def test_after_a_forget_a_message_works_as_the_first_one(one: State, two: State) -> None:
    """Even one that was said before; numbers grow on. Contract 10, 18, 72."""
    for target, limit in ((HERE, 200), (Owner(HERE.owner), 1)):
        lease = await filled(one)
        await filled(one, THERE)
        await all_forgotten(two, target, limit)
        start = await begin(one, message("f2"))
        assert (start.state, start.state_version, start.inbounds) == (None, 0, (message("f2"),))
        assert number(start.lease) > number(lease)
        await finish(one, start.lease, Changes(transcript=(b"new",)))
        assert [entry.payload for entry in await two.history(HERE)] == [b"new"]
        await all_forgotten(two, Owner(HERE.owner), 200)


async def test_forgetting_nothing_is_forgetting(one: State, two: State) -> None:
    """Of what nobody knows nothing is removed, and it is done. Contract 70, 73."""
    await filled(one, ELSEWHERE)
    before = await everything(one, ELSEWHERE)
    for target in (HERE, Owner("guild/1"), Author("nobody")):
        for state in (one, two):
            answer = await state.forget(target)
            assert (answer.done, answer.removed) == (True, 0), target
    assert await everything(one, ELSEWHERE) == before


async def test_a_forget_sent_twice(one: State, two: State) -> None:
    """It goes on where it was, from any process. Contract 70, 73."""
    for n in range(3):
        await filled(one, Conversation("guild/1", f"c{n}"))
    removed = 0
    for state in (one, two, one, two):
        removed += (await state.forget(Owner("guild/1"), limit=1)).removed
    assert removed == 3
    assert (await begin(one, message("m1"))).lease.turn == "m1"


# --- one person ----------------------------------------------------------------------------------
