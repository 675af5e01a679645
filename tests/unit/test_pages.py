"""One page of a reply: its nonce, its journal, and how its unknown outcome is settled."""

import re
import time
from dataclasses import replace

import pytest

from bot import insist
from bot import pages as module
from bot.pages import nonce
from bot.posted import Posted
from bot.speaking import NotSpeaking, Outgoing, Rejected, Unreachable
from state.errors import LeaseLost
from state.values import Page
from tests.unit.fake_store import Trouble
from tests.unit.fake_turn import HELLO, HeldTurn
from tests.unit.fakes import Fault, speaking

# -------------------------------------------------------------------------------------------- nonce


def test_a_nonce_is_the_same_on_every_replay_and_another_for_every_page() -> None:
    """It follows from turn, page, issue and channel, and from nothing else."""
    places = [
        ("1", 0, 0, "2"),
        ("1", 1, 0, "2"),
        ("1", 0, 1, "2"),
        ("1", 0, 0, "3"),
        ("2", 0, 0, "2"),
    ]
    made = [nonce(*place) for place in places]
    assert made == [nonce(*place) for place in places]
    assert len(set(made)) == len(places)


def test_a_nonce_is_as_long_as_discord_takes() -> None:
    """25 characters of base64url, whatever the length of the ids."""
    assert re.fullmatch(r"[A-Za-z0-9_-]{25}", nonce("9" * 20, 10_000, 99, "9" * 20))


# ------------------------------------------------------------------------------------------- create


async def test_a_page_is_journaled_before_it_is_sent_and_its_id_after() -> None:
    """A crash at any moment leaves either an intent to settle or a message to go on with."""
    turn = await HeldTurn().begin()
    seen: list[list[tuple[int, int, bytes, str | None]]] = []
    turn.discord.plan = lambda _number, _method: seen.append(turn.journaled)
    posted = await turn.create(0)
    assert seen == [[(0, 0, b"hello", None)]]
    assert turn.journaled == [(0, 0, b"hello", posted.message)]


async def test_the_first_page_replies_and_the_others_are_plain() -> None:
    """Only page 0 points at the question."""
    turn = await HeldTurn().begin()
    for number in range(3):
        await turn.create(number)
    assert [sent.reply_to for sent in turn.discord.messages] == [turn.asked.id, None, None]


async def test_a_page_whose_outcome_is_unknown_is_repeated_under_the_same_nonce() -> None:
    """Discord answers the repeat with the message that is already there."""
    turn = await HeldTurn().begin()
    turn.discord.next("create", Fault(Unreachable("reset"), lost=True))
    with pytest.raises(Unreachable):
        await turn.create(0)
    posted = await turn.create(0)
    (sent,) = turn.discord.messages
    assert posted.message == sent.id
    assert len(turn.discord.asked("create")) == 2
    assert turn.discord.asked("recent") == []


async def test_a_page_that_was_delivered_and_deleted_is_not_sent_again() -> None:
    """10008 on a create with our nonce: somebody read it and removed it; the reply goes on."""
    turn = await HeldTurn().begin()
    turn.discord.next("create", Fault(Unreachable("reset"), lost=True))
    with pytest.raises(Unreachable):
        await turn.create(0)
    turn.discord.messages[0].deleted = True
    assert (await turn.create(0)).message is None
    assert (await turn.create(1)).message is not None
    assert turn.discord.visible() == ["hello"]


async def test_a_reply_becomes_plain_where_history_cannot_be_read() -> None:
    """160002: the reference needs a right that the message does not."""
    turn = await HeldTurn().begin()
    turn.discord.next("create", Rejected(403, 160002))
    await turn.create(0)
    assert [sent.reply_to for sent in turn.discord.messages] == [None]


async def test_a_plain_page_that_is_refused_is_refused() -> None:
    """160002 once more, without a reference to drop, does not loop."""
    turn = await HeldTurn().begin()
    turn.discord.next("create", Rejected(403, 160002), Rejected(403, 160002))
    with pytest.raises(Rejected):
        await turn.create(0)
    assert len(turn.discord.asked("create")) == 2


@pytest.mark.parametrize("code", [50001, 50013, 10003, 200000])
async def test_any_other_refusal_is_raised_after_one_request(code: int) -> None:
    """A right that is missing does not appear by asking again."""
    turn = await HeldTurn().begin()
    turn.discord.next("create", Rejected(403, code))
    with pytest.raises(Rejected):
        await turn.create(0)
    assert len(turn.discord.requests) == 1


async def test_a_page_is_not_sent_once_the_lease_is_another_holders() -> None:
    """The store is asked first, and refuses; no request to Discord begins."""
    turn = await HeldTurn().begin()
    turn.store.plan = lambda _number, _name: Trouble.LEASE_LOST
    with pytest.raises(LeaseLost):
        await turn.create(0)
    assert turn.discord.requests == []


async def test_a_lost_answer_of_the_store_sends_no_page_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Intent and id are repeated in the store, the request is not."""
    monkeypatch.setattr(insist, "PAUSE", 0.001)
    turn = await HeldTurn().begin()
    turn.store.plan = lambda number, _name: Trouble.LOST if number in (0, 2) else None
    await turn.create(0)
    assert turn.store.steps == ["page", "page", "posted", "posted"]
    assert len(turn.discord.asked("create")) == 1


# ------------------------------------------------------------------------------------------- change


async def test_an_edit_brings_a_page_to_its_text() -> None:
    """The page is ours then, and not to be edited again before its pause is over."""
    turn = await HeldTurn(Page(0, 0, b"hello", "17")).begin()
    there = turn.discord.put("hello")
    posted = Posted(there, 0, None, adopted=True)
    assert await turn.pages.edit(posted, Outgoing("hello, you"))
    assert turn.discord.visible() == ["hello, you"]
    assert (posted.shown, posted.adopted) == ("hello, you", False)
    assert posted.editable > time.monotonic()


async def test_an_edit_of_a_deleted_page_says_so_until_it_is_too_often() -> None:
    """A few times it is worth another issue; whoever deletes those too means it."""
    turn = await HeldTurn().begin()
    for issue in range(module.MAX_ISSUES):
        assert not await turn.pages.edit(Posted("17", issue, "hello"), Outgoing("more"))
    with pytest.raises(Rejected):
        await turn.pages.edit(Posted("17", module.MAX_ISSUES, "hello"), Outgoing("more"))


async def test_a_page_that_was_deleted_before_is_left_alone() -> None:
    """There is nothing to edit, delete or add to."""
    turn = await HeldTurn().begin()
    posted = Posted(None, 0, "hello")
    assert await turn.pages.edit(posted, Outgoing("more"))
    await turn.pages.delete(posted)
    assert turn.discord.requests == []


async def test_what_adopted_pages_say_is_read_from_the_channel() -> None:
    """One request for all of them; what cannot be found out stays unknown."""
    turn = HeldTurn()
    one, two = turn.discord.put("one"), turn.discord.put("two")
    turn.discord.messages[1].deleted = True
    turn.left = (Page(0, 0, b"o", one), Page(1, 0, b"t", two))
    await turn.begin()
    await turn.pages.read(turn.posted)
    assert [posted.shown for posted in turn.posted.values()] == ["one", None]
    assert len(turn.discord.asked("recent")) == 1


@pytest.mark.parametrize("error", [Rejected(403, 50001), Unreachable("503")])
async def test_a_channel_that_cannot_be_read_hinders_no_replay(error: Exception) -> None:
    """What the pages say stays unknown, and is overwritten."""
    turn = await HeldTurn(Page(0, 0, b"o", "17")).begin()
    turn.discord.next("recent", error)
    await turn.pages.read(turn.posted)
    assert turn.posted[0].shown is None


async def test_a_new_reply_reads_nothing() -> None:
    """Most turns are nobody's replay."""
    turn = await HeldTurn().begin()
    await turn.pages.read({})
    assert turn.discord.requests == []


@pytest.mark.parametrize(
    ("last", "text", "reacted"),
    [(Posted("there", 0, "hello"), "hello…", None), (Posted("there", 0, None), "hello", "there")],
)
async def test_a_mark_goes_behind_the_text_or_onto_a_page_of_unknown_text(
    last: Posted, text: str, reacted: str | None
) -> None:
    """What is not known is not overwritten."""
    turn = await HeldTurn().begin()
    last = replace(last, message=turn.discord.put("hello"))
    await turn.pages.mark(last, "…", "⏹️")
    assert turn.discord.visible() == [text]
    assert turn.discord.reactions(last.message or "") == ({"⏹️"} if reacted else set())


async def test_a_mark_without_any_page_goes_onto_the_question() -> None:
    """Whoever asked sees that it was ended, also before the first word."""
    turn = await HeldTurn().begin()
    await turn.pages.mark(None, "…", "⏹️")
    assert turn.discord.reactions(turn.asked.id) == {"⏹️"}


async def test_no_request_begins_without_a_live_lease() -> None:
    """The line itself refuses, whatever asks it."""
    turn = await HeldTurn().begin()
    there = Posted(turn.discord.put("hello"), 0, "hello")
    turn.holding.deadline = time.monotonic()
    with speaking(turn.holding):
        for request in (
            turn.pages.edit(there, Outgoing("more")),
            turn.pages.delete(there),
            turn.pages.mark(there, "…", "⏹️"),
            turn.pages.create(1, HELLO, {}),
        ):
            with pytest.raises(NotSpeaking):
                await request
    assert turn.discord.requests == []
