"""Steps, pages and takes: what a turn keeps, and what its next holder finds."""

import asyncio

import pytest

from state import State
from state.contract.factory import Clock
from state.contract.scene import (
    CLAIM,
    GAPS,
    HERE,
    begin,
    finish,
    ids,
    message,
    op,
    race,
    say,
    started,
    taken_over,
)
from state.outcomes import Drift, Turnover
from state.values import Changes, Conversation, Page, Step

pytestmark = pytest.mark.asyncio


async def test_the_first_record_of_a_step_wins(one: State, two: State, clock: Clock) -> None:
    """A second one is answered with the first, by this holder and the next. Contract 32."""
    lease = (await begin(one, message("m1"))).lease
    assert await one.record(lease, "ask", "1", b"first") == b"first"
    assert await one.record(lease, "ask", "1", b"second") == b"first"
    again = await taken_over(two, clock)
    assert again.steps == (Step("ask", "1", b"first"),)
    assert await two.record(again.lease, "ask", "1", b"third") == b"first"


async def test_of_two_racing_records_both_are_told_the_same(one: State, two: State) -> None:
    """Parallel tools may ask at once; what is recorded is what both go on with. Contract 32."""
    lease = (await begin(one, message("m1"))).lease
    first, second = await asyncio.gather(
        one.record(lease, "ask", "1", b"one"), two.record(lease, "ask", "1", b"two")
    )
    assert first == second
    assert first in (b"one", b"two")


async def test_a_step_is_told_apart_by_name_and_key(one: State, two: State, clock: Clock) -> None:
    """Whatever characters they are made of. Contract 32, 31."""
    lease = (await begin(one, message("m1"))).lease
    pairs = [
        ("a", "bc"), ("ab", "c"), ("a b", "c"), ("a", "b c"), ("a:b", "c"), ("a", "b:c"),
        ("a\0b", "c"), ("a", "b\0c"), ("a\nb", "c"), ("a", "b\nc"), ("", "abc"), ("abc", ""),
        ("naïve", "🧵"), ("{a}", "{b}"),
    ]  # fmt: skip
    for n, (name, key) in enumerate(pairs):
        value = f"{n}".encode()
        assert await one.record(lease, name, key, value) == value, (name, key)
    again = await taken_over(two, clock)
    assert [(step.name, step.key) for step in again.steps] == pairs


async def test_steps_come_back_in_the_order_of_their_recording(
    one: State, two: State, clock: Clock
) -> None:
    """A replay may rely on it; names, keys and sizes do not matter. Contract 34."""
    lease = (await begin(one, message("m1"))).lease
    names = [f"{(n * 7) % 12}" for n in range(12)]
    for name in names:
        await one.record(lease, name, name, b"x" * int(name) * 100)
    assert [step.name for step in (await taken_over(two, clock)).steps] == names


async def test_a_new_turn_has_no_step_or_page_of_another(one: State, two: State) -> None:
    """Nor does the next in line, nor one that begins after a release. Contract 34, 42."""
    lease = (await begin(one, message("m1"))).lease
    await say(two, message("m2"))
    await one.record(lease, "ask", "1", b"old")
    await one.page(lease, 0, 0, b"old")
    await one.take(lease, "none", "nobody")
    following = started(await finish(one, lease))
    assert (following.steps, following.pages) == ((), ())
    await two.record(following.lease, "ask", "1", b"newer")
    await finish(two, following.lease)
    last = await begin(one, message("m3"))
    assert (last.steps, last.pages) == ((), ())
    assert await one.record(last.lease, "ask", "1", b"newest") == b"newest"


async def test_the_first_intent_of_a_page_wins(one: State, two: State, clock: Clock) -> None:
    """By number and issue; a second one is answered with the first. Contract 33."""
    lease = (await begin(one, message("m1"))).lease
    assert await one.page(lease, 0, 0, b"first") == Page(0, 0, b"first")
    assert await one.page(lease, 0, 0, b"second") == Page(0, 0, b"first")
    assert await one.page(lease, 0, 1, b"again") == Page(0, 1, b"again")
    again = await taken_over(two, clock)
    assert again.pages == (Page(0, 0, b"first"), Page(0, 1, b"again"))


async def test_a_page_keeps_the_id_of_its_message(one: State, two: State, clock: Clock) -> None:
    """The next holder edits that message instead of sending another. Contract 33."""
    lease = (await begin(one, message("m1"))).lease
    await one.page(lease, 0, 0, b"text")
    await one.posted(lease, 0, 0, "1180000000000000001")
    posted = Page(0, 0, b"text", "1180000000000000001")
    assert await one.page(lease, 0, 0, b"other") == posted
    assert (await taken_over(two, clock)).pages == (posted,)


async def test_pages_come_back_by_number_and_issue(one: State, two: State, clock: Clock) -> None:
    """Not by the order of their writing, and not as text: page 10 follows page 9. Contract 33."""
    lease = (await begin(one, message("m1"))).lease
    written = [(10, 0), (2, 1), (9, 0), (2, 10), (0, 0), (2, 0)]
    for number, issue in written:
        await one.page(lease, number, issue, b"text")
    again = await taken_over(two, clock)
    assert [(page.number, page.issue) for page in again.pages] == sorted(written)


async def test_a_commit_refuses_steps_that_were_not_asked_for(
    one: State, two: State, clock: Clock
) -> None:
    """Drift names them; nothing of the commit lands, and the turn is held still. Contract 33."""
    lease = (await begin(one, message("m1"))).lease
    for name in ("a", "b", "c"):
        await one.record(lease, name, "1", b"x")
    changes = Changes(state=b"new", transcript=(b"line",), asked=frozenset({("b", "1")}))
    answer = await one.commit(lease, changes, op=op(), claim=CLAIM)
    assert answer == Drift((("a", "1"), ("c", "1")))
    assert await one.history(HERE) == ()
    assert await one.record(lease, "d", "1", b"y") == b"y"
    again = await taken_over(two, clock)
    assert ([step.name for step in again.steps], again.state) == (["a", "b", "c", "d"], None)


async def test_a_commit_may_ask_for_more_than_was_recorded(one: State) -> None:
    """A step that was asked for and never ended is no drift; None asks nothing. Contract 33."""
    lease = (await begin(one, message("m1"))).lease
    await one.record(lease, "a", "1", b"x")
    asked = frozenset({("a", "1"), ("b", "1")})
    await finish(one, lease, Changes(asked=asked))
    lease = (await begin(one, message("m2"))).lease
    await one.record(lease, "a", "1", b"x")
    await finish(one, lease, Changes(asked=None))


async def test_what_waits_is_taken_into_the_turn(one: State, two: State) -> None:
    """Oldest first, all or one author's; the rest waits on. Contract 28."""
    lease = (await begin(one, message("m1"))).lease
    for id_, author in (("m2", "bob"), ("m3", "ann"), ("m4", "bob"), ("m5", "cy")):
        await say(two, message(id_, author))
    assert ids(await one.take(lease, "k1", "bob")) == ["m2", "m4"]
    view = await two.view(HERE)
    assert view.turn is not None
    assert (ids(view.turn.inbounds), ids(view.waiting)) == (["m1", "m2", "m4"], ["m3", "m5"])
    assert ids(await one.take(lease, "k2")) == ["m3", "m5"]
    assert await finish(one, lease) == Turnover()


async def test_a_take_is_recorded_under_its_key(one: State, two: State, clock: Clock) -> None:
    """Asked again it answers the same, though more waits by then. Contract 28."""
    lease = (await begin(one, message("m1"))).lease
    await say(two, message("m2"))
    assert ids(await one.take(lease, "k1")) == ["m2"]
    await say(two, message("m3"))
    assert ids(await one.take(lease, "k1")) == ["m2"]
    assert ids((await one.view(HERE)).waiting) == ["m3"]


async def test_a_take_is_seen_by_a_replay_at_the_same_point(
    one: State, two: State, clock: Clock
) -> None:
    """It is not among the inbounds that the turn starts with; an empty one counts. Contract 28."""
    lease = (await begin(one, message("m1"))).lease
    assert await one.take(lease, "k0") == ()
    await say(two, message("m2"))
    assert ids(await one.take(lease, "k1")) == ["m2"]
    await say(two, message("m3"))
    again = await taken_over(two, clock)
    assert ids(again.inbounds) == ["m1"]
    assert await two.take(again.lease, "k0") == ()
    assert ids(await two.take(again.lease, "k1")) == ["m2"]
    assert ids(await two.take(again.lease, "k2")) == ["m3"]


async def test_a_take_racing_an_admit_loses_nobody(one: State, two: State) -> None:
    """The message is taken, or it waits; never both, never neither. Contract 28."""
    for gap in GAPS:
        home = Conversation("guild/1", f"c{gap}")
        lease = (await begin(one, message("m1"), at=home)).lease
        taken, _ = await race(gap, one.take(lease, "k"), say(two, message("m2"), at=home))
        assert ids(taken) + ids((await one.view(home)).waiting) == ["m2"], gap
