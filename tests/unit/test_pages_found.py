"""A page whose outcome is not known: found on Discord, or sent, and never both."""

import pytest

from bot import pages as module
from bot.pages import nonce
from bot.posted import Posted
from bot.speaking import Outgoing, Rejected, Unreachable
from state.values import Page
from tests.unit.fake_turn import HeldTurn
from tests.unit.fakes import CHANNEL, Fault, message, snowflake


def unsettled(number: int = 0, issue: int = 0, intent: str = "hello") -> Page:
    """Make a page that was about to be sent when its process died."""
    return Page(number, issue, intent.encode())


@pytest.mark.parametrize("shows_nonces", [True, False])
async def test_a_page_that_a_dead_process_has_sent_is_found(shows_nonces: bool) -> None:
    """By its nonce where Discord tells it, else by what it replies to; nothing is sent."""
    turn = await HeldTurn(unsettled()).begin()
    turn.discord.shows_nonces = shows_nonces
    ours = nonce(turn.asked.id, 0, 0, CHANNEL)
    there = turn.discord.put("hello", reply_to=turn.asked.id, nonce=ours)
    posted = await turn.create(0, Outgoing("hello again"))
    assert posted == Posted(there, 0, "hello", posted.editable, adopted=True)
    assert turn.discord.asked("create") == []
    assert turn.journaled[-1][3] == there


async def test_a_page_that_was_sent_plainly_is_found_by_its_text() -> None:
    """Later pages reply to nothing; the exact intent tells them."""
    turn = await HeldTurn(Page(0, 0, b"one", snowflake()), unsettled(1, intent="two")).begin()
    turn.discord.shows_nonces = False
    there = turn.discord.put("two")
    assert (await turn.create(1, Outgoing("two and more"))).message == there


async def test_a_page_that_is_not_there_is_sent() -> None:
    """The process had died before its request began."""
    turn = await HeldTurn(unsettled()).begin()
    turn.discord.put("something else")
    await turn.create(0)
    assert turn.discord.replies(turn.asked) == ["hello"]


async def test_a_page_is_sent_under_the_issue_that_the_dead_process_had_journaled() -> None:
    """Its nonce is that of the issue, so that Discord knows the repeat for what it is."""
    turn = await HeldTurn(Page(0, 0, b"hello", "17"), unsettled(issue=1)).begin()
    posted = await turn.create(0)
    assert posted.issue == 1
    assert turn.discord.messages[0].nonce == nonce(turn.asked.id, 0, 1, CHANNEL)


@pytest.mark.parametrize("number", [0, 1])
async def test_another_turns_message_of_the_same_text_is_not_taken_for_the_page(
    number: int,
) -> None:
    """Two people ask the same and get the same answer: each gets a message of their own."""
    earlier = message("ping")
    turn = HeldTurn(asked=message("ping"))
    first = turn.discord.put("one")  # our page 0, when page 1 is what is looked for
    left = [Page(0, 0, b"one", first), unsettled(1, intent="pong")] if number else [unsettled()]
    turn.left = tuple(left)
    turn.discord.shows_nonces = False
    await turn.begin()
    turn.discord.put("pong" if number else "hello", reply_to=earlier.id)
    await turn.create(number, Outgoing("pong" if number else "hello"))
    assert len(turn.discord.asked("create")) == 1


async def test_a_message_that_tells_another_nonce_is_not_taken_for_the_page() -> None:
    """Where Discord tells nonces, they decide, whatever a message replies to."""
    turn = await HeldTurn(unsettled()).begin()
    turn.discord.put("hello", reply_to=turn.asked.id, nonce="another's")
    await turn.create(0)
    assert len(turn.discord.asked("create")) == 1


async def test_a_page_of_ours_is_not_taken_for_another_of_the_same_text() -> None:
    """Page 1 was deleted and about to be sent anew; page 2 happens to say the same."""
    turn = HeldTurn()
    one, other = turn.discord.put("one"), turn.discord.put("again")
    left = (Page(0, 0, b"one", one), unsettled(1, issue=1, intent="again"))
    turn.left = (*left, Page(2, 0, b"again", other))
    turn.discord.shows_nonces = False
    await turn.begin()
    await turn.create(1, Outgoing("again"))
    assert len(turn.discord.asked("create")) == 1


async def test_an_older_message_of_the_same_text_is_not_taken_for_a_later_page() -> None:
    """The rest of every long reply begins with the same line; ours is newer than our last page."""
    turn = HeldTurn()
    turn.discord.put("the rest, as a file")  # another turn's, while this one waited
    first = turn.discord.put("one", reply_to=turn.asked.id)
    turn.left = (Page(0, 0, b"one", first), unsettled(1, intent="the rest, as a file"))
    turn.discord.shows_nonces = False
    await turn.begin()
    await turn.create(1, Outgoing("the rest, as a file"))
    assert len(turn.discord.asked("create")) == 1


async def test_an_outcome_beyond_the_nonce_window_is_settled_by_reading(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Discord has forgotten the nonce by then, and would take the repeat for a new message."""
    turn = await HeldTurn().begin()
    turn.discord.knows_nonces = False
    monkeypatch.setattr(module, "NONCE_WINDOW", 0.0)
    turn.discord.next("create", Fault(Unreachable("reset"), lost=True))
    with pytest.raises(Unreachable):
        await turn.create(0)
    await turn.create(0)
    assert turn.discord.visible() == ["hello"]


async def test_where_history_cannot_be_read_the_nonce_has_to_do() -> None:
    """A refusal to read is no reason to keep the page back."""
    turn = await HeldTurn(unsettled()).begin()
    turn.discord.next("recent", Rejected(403, 50001))
    await turn.create(0)
    assert turn.discord.visible() == ["hello"]
