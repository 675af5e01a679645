"""Payloads and ids come back as they went in: to a store they mean nothing."""

import pytest

from state import State
from state.contract.factory import Clock
from state.contract.scene import (
    CLAIM,
    FOLLOW_UP,
    HERE,
    begin,
    finish,
    message,
    op,
    say,
    started,
    taken_over,
)
from state.errors import Unacceptable
from state.ids import PAYLOAD_LIMIT
from state.outcomes import (
    Placed,
)
from state.values import (
    Changes,
    Conversation,
    Inbound,
    Page,
    SignalKind,
    Step,
)

pytestmark = pytest.mark.asyncio

#: What JSON, text columns, C strings and Lua numbers are known to change.
PAYLOADS = {
    "nothing": b"",
    "null": b"null",
    "empty list": b"[]",
    "empty object": b"{}",
    "a big number": b"9007199254740993",
    "NUL": b"\0a\0",
    "lines": b"\r\n\n\r ",
    "a lone surrogate": "\ud83d".encode("utf-8", "surrogatepass"),
    "a surrogate pair": "🧵".encode(),
    "every byte": bytes(range(256)),
    "the largest": b"\xff\x00" * (PAYLOAD_LIMIT // 2),
}


async def test_payloads_come_back_unchanged(one: State, two: State, clock: Clock) -> None:
    """From the inbox, a step, a page and the state, to the next holder. Contract 31."""
    for n, (name, payload) in enumerate(PAYLOADS.items()):
        home = Conversation("guild/1", f"c{n}")
        first = await begin(one, message("m0"), at=home)
        await finish(one, first.lease, Changes(state=payload, transcript=(payload, b"-", payload)))
        lease = (await begin(one, message("m1", payload=payload), at=home)).lease
        assert await one.record(lease, "a", "b", payload) == payload, name
        assert await one.page(lease, 0, 0, payload) == Page(0, 0, payload), name
        start = await taken_over(two, clock, at=home)
        assert start.inbounds == (message("m1", payload=payload),), name
        assert start.steps == (Step("a", "b", payload),), name
        assert start.pages == (Page(0, 0, payload),), name
        assert start.state == payload, name
        entries = await two.history(home)
        assert [entry.payload for entry in entries] == [payload, b"-", payload], name


async def test_waiting_and_taken_payloads_come_back_unchanged(
    one: State, two: State, clock: Clock
) -> None:
    """So do those that a follow-up carries over, and those that a kill drops. Contract 31."""
    for n, (name, payload) in enumerate(PAYLOADS.items()):
        home = Conversation("guild/1", f"c{n}")
        lease = (await begin(one, message("m1"), at=home)).lease
        waiting = message("m2", payload=payload)
        await say(two, waiting, at=home, could=FOLLOW_UP)
        assert (await two.view(home)).waiting == (waiting,), name
        start = started(await one.supersede(lease, op=op(), claim=CLAIM, carry=payload))
        assert (start.inbounds, start.carry) == ((waiting,), payload), name
        await say(two, message("m3", payload=payload), at=home)
        taken = await one.take(start.lease, "k")
        assert taken == (message("m3", payload=payload),), name
        again = await taken_over(two, clock, at=home)
        assert (again.carry, await two.take(again.lease, "k")) == (payload, taken), name
        await say(two, message("m4", payload=payload), at=home)
        killed = await one.kill(home, by="eve", op=op())
        assert killed.dropped == (message("m4", payload=payload),), name


async def test_ids_come_back_unchanged(one: State, two: State, clock: Clock) -> None:
    """Numbers above 2^53, leading zeros, letters of both cases, the longest. Contract 31."""
    names = ["9007199254740993", "18446744073709551616", "007", "1e3", "A", "a", "a@1:2/3.4_5-6"]
    names += ["-1", "null", "x" * 128]
    home = Conversation("guild/9007199254740993", "9007199254740995")
    lease = (await begin(one, message("first"), at=home)).lease
    for place, name in enumerate(names, start=1):
        assert await say(two, Inbound(name, name, b""), at=home) == Placed(place), name
    assert [(i.id, i.author) for i in (await one.view(home)).waiting] == [(n, n) for n in names]
    for name in names:
        start = started(await finish(one, lease))
        lease = start.lease
        assert (lease.turn, lease.conversation) == (name, home)
        await one.page(lease, 0, 0, b"")
        await one.posted(lease, 0, 0, name)
        await two.signal(home, name, SignalKind.SUPERSEDE, by=name, op=op())
        lease = (again := await taken_over(one, clock, at=home)).lease
        assert [page.message_id for page in again.pages] == [name]
        turn = (await two.view(home)).turn
        assert turn is not None
        assert (turn.id, turn.lead) == (name, name)


async def test_errors_of_any_text_are_taken(one: State) -> None:
    """An exception's words are the provider's, not ours. Contract 31, 45."""
    for n, error in enumerate(("", "\0", "💥\n" * 1000, "'; DROP TABLE turns; --", "{}")):
        lease = (await begin(one, message(f"m{n}"))).lease
        await one.fail(lease, error, Changes(), retry_in=None, limit=1, op=op(), claim=None)
    assert (await one.view(HERE)).dead_letters == 5


async def test_what_no_store_could_hold_is_no_value(one: State) -> None:
    """Ids with braces, NUL, newline or too long, and payloads over the limit. Contract 31, 75."""
    for name in ("", "a b", "{a}", "a\0b", "a\nb", "naïve", "x" * 129):
        for made in (
            lambda name=name: Conversation("guild/1", name),
            lambda name=name: Conversation(name, "10"),
            lambda name=name: message(name),
            lambda name=name: message("m1", name),
        ):
            with pytest.raises(Unacceptable) as refused:
                made()
            assert "\n" not in str(refused.value)
    with pytest.raises(Unacceptable, match=str(PAYLOAD_LIMIT)):
        message("m1", payload=b"x" * (PAYLOAD_LIMIT + 1))
    assert (await one.view(HERE)).waiting == ()
