"""A reply on its way to Discord: what is sent when, and when nothing more is."""

import asyncio
import time
from collections.abc import AsyncIterator
from itertools import pairwise

import pytest

from bot import delivery, pace
from bot.delivery import Reply
from bot.endings import Ending
from bot.speaking import NotSpeaking, Outgoing, Rejected, Unreachable
from state.errors import Gone, LeaseLost, StateUnavailable
from tests.unit.fake_process import hurry
from tests.unit.fake_store import Trouble
from tests.unit.fake_turn import HeldTurn
from tests.unit.fakes import Fault, speaking
from tests.waiting import wait_until


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)


@pytest.fixture
async def turn() -> HeldTurn:
    """Give a turn that has said nothing yet."""
    return await HeldTurn().begin()


@pytest.fixture
async def reply(turn: HeldTurn) -> AsyncIterator[Reply]:
    """Give the reply of that turn."""
    with speaking(turn.holding):
        reply = turn.reply()
        yield reply
        await reply.freeze(0)


def texts(*wanted: str) -> list[Outgoing]:
    """Make pages of text."""
    return [Outgoing(text) for text in wanted]


async def shows(turn: HeldTurn, *wanted: str) -> None:
    """Wait until a person sees exactly these messages."""
    await wait_until(
        lambda: turn.discord.visible() == list(wanted), description=f"{wanted} are on Discord"
    )


# --------------------------------------------------------------------------------------- one writer


async def test_the_newest_text_wins_and_those_between_are_never_sent(
    turn: HeldTurn, reply: Reply
) -> None:
    """While one request is on its way, everything else comes together in the next one."""
    reply.show(texts("a"))
    await shows(turn, "a")
    hold = asyncio.Event()
    turn.discord.next("edit", Fault(hold=hold))
    reply.show(texts("ab"))
    await wait_until(lambda: turn.discord.asked("edit"), description="an edit is on its way")
    for text in ("abc", "abcd", "abcde"):
        reply.show(texts(text))
        await asyncio.sleep(0)
    hold.set()
    await shows(turn, "abcde")
    assert turn.discord.messages[0].texts == ["a", "ab", "abcde"]


async def test_one_request_is_in_flight_whatever_is_wanted(turn: HeldTurn, reply: Reply) -> None:
    """Pages are created one after the other, in order, and edited one at a time."""
    for length in range(1, 4):
        reply.show(texts(*(f"page {number} of {length}" for number in range(length))))
        await asyncio.sleep(0.01)
    await reply.land(texts("0", "1", "2", "3"))
    assert turn.discord.visible() == ["0", "1", "2", "3"]
    assert turn.discord.busiest == 1


async def test_the_same_text_is_never_sent_twice(turn: HeldTurn, reply: Reply) -> None:
    """Neither by showing it again nor by landing it."""
    reply.show(texts("a"))
    await shows(turn, "a")
    for _ in range(3):
        reply.show(texts("a"))
        await asyncio.sleep(0)
    await reply.land(texts("a"))
    assert len(turn.discord.requests) == 1


async def test_a_page_is_created_before_another_is_edited(turn: HeldTurn, reply: Reply) -> None:
    """New text is worth more than polishing the old."""
    reply.show(texts("a"))
    await shows(turn, "a")
    reply.show(texts("A", "b"))
    await shows(turn, "A", "b")
    assert [request.method for request in turn.discord.requests] == ["create", "create", "edit"]


async def test_edits_keep_their_pause(
    monkeypatch: pytest.MonkeyPatch, turn: HeldTurn, reply: Reply
) -> None:
    """However fast the text grows, a message is edited once in that time."""
    monkeypatch.setattr(pace, "CADENCE", 0.05)
    for length in range(1, 30):
        reply.show(texts("a" * length))
        await asyncio.sleep(0.008)
    times = [request.at for request in turn.discord.asked("create", "edit")]
    assert len(times) > 2
    gaps = [after - before for before, after in pairwise(times)]
    assert min(gaps) >= 0.049


async def test_a_slow_request_stretches_the_pause(turn: HeldTurn, reply: Reply) -> None:
    """What Discord makes us wait for is twice its own time apart."""
    reply.show(texts("a"))
    await shows(turn, "a")
    hold = asyncio.Event()
    turn.discord.next("edit", Fault(hold=hold))
    reply.show(texts("ab"))
    await wait_until(lambda: turn.discord.asked("edit"), description="an edit is on its way")
    reply.show(texts("abc"))
    await asyncio.sleep(0.1)
    hold.set()
    await shows(turn, "abc")
    first, second = turn.discord.asked("edit")
    assert second.at - first.at >= 0.19


async def test_the_first_page_gathers_and_a_finished_reply_does_not(
    monkeypatch: pytest.MonkeyPatch, turn: HeldTurn, reply: Reply
) -> None:
    """A notification shows what is created; but what is complete is not held back."""
    monkeypatch.setattr(delivery, "GATHER", 30.0)
    reply.show(texts("a"))
    for _ in range(5):
        await asyncio.sleep(0)
    assert turn.discord.requests == []
    reply.show(texts("a few words"))
    await asyncio.wait_for(reply.land(texts("a few words more")), 1)
    assert turn.discord.messages[0].texts == ["a few words more"]


# ------------------------------------------------------------------------------------------ landing


async def test_a_reply_has_landed_when_all_of_it_is_there(turn: HeldTurn, reply: Reply) -> None:
    """The last edit does not wait for its pause, and landing returns no sooner than it is done."""
    reply.show(texts("a"))
    await shows(turn, "a")
    await reply.land(texts("all of a", "all of b"))
    assert turn.discord.visible() == ["all of a", "all of b"]
    assert reply.shown == "all of aall of b"


async def test_landing_nothing_removes_what_is_there(turn: HeldTurn, reply: Reply) -> None:
    """The last page goes first, so that what remains is always a beginning."""
    reply.show(texts("a", "b"))
    await shows(turn, "a", "b")
    sent = [message.id for message in turn.discord.messages]
    await reply.land([])
    assert turn.discord.visible() == []
    assert [request.message for request in turn.discord.asked("delete")] == sent[::-1]
    assert not reply.begun


async def test_a_reply_may_land_again(turn: HeldTurn, reply: Reply) -> None:
    """A stop that comes after the last word puts its mark behind it."""
    await reply.land(texts("a"))
    await reply.land(texts("a, stopped"))
    assert turn.discord.visible() == ["a, stopped"]


async def test_a_landing_that_is_cancelled_leaves_the_reply_to_be_frozen(
    turn: HeldTurn, reply: Reply
) -> None:
    """A stop cuts the landing; what was on its way gets its time, and nothing follows."""
    hold = asyncio.Event()
    turn.discord.next("create", Fault(hold=hold))
    landing = asyncio.create_task(reply.land(texts("a", "b")))
    await wait_until(lambda: turn.discord.asked("create"), description="a page is on its way")
    landing.cancel()
    await asyncio.wait({landing})
    freezing = asyncio.create_task(reply.freeze(1))
    await asyncio.sleep(0)
    hold.set()
    await freezing
    assert turn.discord.visible() == ["a"]
    assert reply.shown == "a"


# ----------------------------------------------------------------------------------------- freezing


async def test_a_frozen_reply_sends_nothing_more(turn: HeldTurn, reply: Reply) -> None:
    """Not even what was wanted already."""
    reply.show(texts("a"))
    await shows(turn, "a")
    reply.show(texts("ab", "c"))
    await reply.freeze(1)
    reply.show(texts("abc", "c"))
    await asyncio.sleep(0.03)
    assert turn.discord.visible() == ["a"]


async def test_a_request_that_takes_too_long_is_abandoned(turn: HeldTurn, reply: Reply) -> None:
    """Discord does not decide when the next turn begins."""
    turn.discord.next("create", Fault(hold=asyncio.Event()))
    reply.show(texts("a"))
    await wait_until(lambda: turn.discord.asked("create"), description="a page is on its way")
    begun = time.monotonic()
    await reply.freeze(0.02)
    assert time.monotonic() - begun < 1.0
    assert not reply.begun


# ------------------------------------------------------------------------------------------ trouble


@pytest.mark.parametrize("lost", [True, False])
async def test_an_unknown_outcome_is_repeated_until_it_is_known(
    turn: HeldTurn, reply: Reply, lost: bool
) -> None:
    """The page is there once, whether the first tries were carried out or not."""
    fault = Fault(Unreachable("503"), lost=lost)
    turn.discord.next("create", fault, fault)
    turn.discord.next("edit", fault, fault)
    reply.show(texts("a"))
    await shows(turn, "a")
    await reply.land(texts("ab"))
    assert turn.discord.visible() == ["ab"]


async def test_a_repeat_that_discord_answers_with_the_first_try_shows_the_newest_text(
    turn: HeldTurn, reply: Reply
) -> None:
    """The message that is there has the words of then; they are brought up to date."""
    turn.discord.next("create", Fault(Unreachable("reset"), lost=True))
    reply.show(texts("a"))
    await shows(turn, "a")
    reply.show(texts("ab"))
    await shows(turn, "ab")
    await reply.land(texts("abc"))
    assert turn.discord.visible() == ["abc"]


async def test_repeats_back_off(monkeypatch: pytest.MonkeyPatch, turn: HeldTurn) -> None:
    """Each pause is twice the one before, up to the last."""
    monkeypatch.setattr(delivery, "BACKOFF_FIRST", 0.01)
    monkeypatch.setattr(delivery, "BACKOFF_LAST", 0.04)
    turn.discord.next("create", *(Unreachable("503") for _ in range(5)))
    await turn.reply().land(texts("a"))
    times = [request.at for request in turn.discord.asked("create")]
    gaps = [after - before for before, after in pairwise(times)]
    for gap, least in zip(gaps, (0.01, 0.02, 0.04, 0.04, 0.04), strict=True):
        assert gap >= least * 0.99


async def test_repeats_end_with_the_lease(turn: HeldTurn, reply: Reply) -> None:
    """Whoever holds the lease then settles what became of the page."""
    turn.discord.plan = lambda _number, _method: Fault(Unreachable("503"))
    turn.holding.deadline = time.monotonic() + 0.05
    with pytest.raises(NotSpeaking):
        await reply.land(texts("a"))
    assert turn.holding.reason is Ending.LOST
    assert all(request.at < turn.holding.deadline for request in turn.discord.requests)


@pytest.mark.parametrize("code", [10008, 50083, 30046])
async def test_a_page_that_cannot_be_edited_goes_on_in_a_new_message(
    turn: HeldTurn, reply: Reply, code: int
) -> None:
    """Deleted, archived, edited too often: its next issue, under another nonce, journaled alike."""
    reply.show(texts("a"))
    await shows(turn, "a")
    turn.discord.next("edit", Rejected(400, code))
    await reply.land(texts("ab"))
    one, other = turn.discord.messages
    assert other.text == "ab"
    assert one.nonce != other.nonce
    assert turn.journaled == [(0, 0, b"a", one.id), (0, 1, b"ab", other.id)]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (Rejected(403, 50013), Ending.FAILED),
        (ValueError("a bug of ours"), Ending.FAILED),
        (LeaseLost("another holder"), Ending.LOST),
        (StateUnavailable("gone for long"), Ending.LOST),
        (Gone("being forgotten"), Ending.LOST),
        (NotSpeaking(), Ending.LOST),
    ],
)
async def test_what_makes_a_reply_impossible_ends_the_turn(
    turn: HeldTurn, reply: Reply, error: Exception, reason: Ending
) -> None:
    """It is raised to whoever lands the reply, whatever it is: no text is lost in silence."""
    turn.discord.next("create", error)
    reply.show(texts("a"))
    await wait_until(turn.holding.cancelled.done, description="the turn is told to end")
    assert turn.holding.reason is reason
    assert reply.broken is error
    reply.show(texts("ab"))
    with pytest.raises(type(error)):
        await reply.land(texts("ab"))
    assert len(turn.discord.requests) == 1


async def test_a_store_that_is_gone_for_long_leaves_the_turn_to_the_next(
    turn: HeldTurn, reply: Reply
) -> None:
    """That is no failure of the turn, which a dead letter would make of it."""
    turn.store.down = True
    with pytest.raises(StateUnavailable):
        await reply.land(texts("a"))
    assert turn.holding.reason is Ending.LOST
    assert turn.discord.requests == []


@pytest.mark.parametrize("page", [0, 1])
async def test_without_the_lease_no_page_is_created(
    turn: HeldTurn, reply: Reply, page: int
) -> None:
    """Midway through a reply too: the next page is refused by the store, and never sent."""
    wanted = texts("a", "b")[: page + 1]
    if page:
        reply.show(wanted[:1])
        await shows(turn, "a")
    turn.store.plan = lambda _number, _name: Trouble.LEASE_LOST
    with pytest.raises(LeaseLost):
        await reply.land(wanted)
    assert len(turn.discord.asked("create")) == page


async def test_after_the_local_deadline_nothing_is_edited_deleted_or_marked(
    turn: HeldTurn, reply: Reply
) -> None:
    """These do not ask the store first; the line refuses them."""
    await reply.land(texts("a", "b"))
    before = len(turn.discord.requests)
    turn.holding.deadline = time.monotonic()
    with pytest.raises(NotSpeaking):
        await reply.land(texts("a"))
    with pytest.raises(NotSpeaking):
        await reply.mark("…", "⏹️")
    assert len(turn.discord.requests) == before
