"""What people are told besides a reply: marks that come and go once, and one notice at a time."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from bot import notices as module
from bot import texts
from bot.buttons import stop_button
from bot.notices import Notices, readable
from bot.speaking import STATUS_SIGN, Outgoing, Rejected, Unreachable
from state.outcomes import Settled
from state.values import Claim, Could, Inbound, Outcome, Page, Policy
from tests.unit.fake_process import hurry
from tests.unit.fake_store import Store
from tests.unit.fakes import BO, CY, Discord, FakeWire, Fault, message
from tests.waiting import wait_until

CLAIM = Claim(15.0)
ASKED, WAITS = message("first"), message("second", BO)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)
    monkeypatch.setattr(module, "UNMARK_AGAIN", (0.002, 0.004))


@pytest.fixture
def discord() -> Discord:
    """Give a Discord."""
    return Discord()


@pytest.fixture
async def store() -> Store:
    """Give a store in which one message is being answered and another waits."""
    store = Store()
    for one in (ASKED, WAITS):
        could = Could(trigger=True)
        await store.port.admit(
            one.conversation, one.inbound(), could, Policy(), op=one.id, claim=CLAIM
        )
    store.steps.clear()
    return store


@pytest.fixture
async def notices(store: Store, discord: Discord) -> AsyncIterator[Notices]:
    """Give the notices of one process."""
    notices = Notices(FakeWire(discord), store.port, lambda _: True)
    yield notices
    await notices.close()


async def ended(notices: Notices) -> None:
    """Wait until every task has ended."""
    await wait_until(lambda: not notices._tasks, description="nothing is under way")


async def marked(discord: Discord) -> None:
    """Wait until the waiting message is marked."""
    await wait_until(
        lambda: texts.WAITING in discord.reactions(WAITS.id), description="it is marked"
    )


async def withdraw(store: Store) -> None:
    """Let the waiting message wait no more."""
    await store.another().port.withdraw(WAITS.conversation, WAITS.id, op="w")


# ------------------------------------------------------------------------------------ the hourglass


async def test_who_waits_is_marked_once_and_unmarked_once(
    notices: Notices, discord: Discord
) -> None:
    """However often it is looked at in between."""
    notices.waits(WAITS)
    notices.waits(WAITS)
    await marked(discord)
    await asyncio.sleep(0.05)
    notices.served(WAITS, 3.0)
    await ended(notices)
    assert discord.added == discord.removed == {(WAITS.id, texts.WAITING): 1}


async def test_who_is_served_soon_is_not_marked(
    monkeypatch: pytest.MonkeyPatch, notices: Notices, discord: Discord
) -> None:
    """A quick hand-over shows no flicker."""
    monkeypatch.setattr(module, "WAIT_SHOWN_AFTER", 30.0)
    notices.waits(WAITS)
    await asyncio.sleep(0.01)
    notices.served(WAITS, 0.01)
    await ended(notices)
    assert discord.requests == []


async def test_who_waits_no_more_by_the_time_of_the_mark_is_not_marked(
    notices: Notices, store: Store, discord: Discord
) -> None:
    """Another process may have served or dropped it: the store is asked first."""
    await withdraw(store)
    notices.waits(WAITS)
    await ended(notices)
    assert discord.requests == []


async def test_a_mark_never_outlives_the_wait(
    notices: Notices, store: Store, discord: Discord
) -> None:
    """It is looked at again, since another process may take the message up."""
    notices.waits(WAITS)
    await marked(discord)
    await withdraw(store)
    await ended(notices)
    assert discord.reactions(WAITS.id) == set()


async def test_a_message_that_another_process_marked_is_unmarked(
    monkeypatch: pytest.MonkeyPatch, notices: Notices, discord: Discord
) -> None:
    """Whoever serves it removes the mark, if it has waited long enough to have one."""
    monkeypatch.setattr(module, "WAIT_SHOWN_AFTER", 1.0)
    notices.served(WAITS, 0.5)
    notices.served(ASKED, 1.5)
    await ended(notices)
    assert discord.removed == {(ASKED.id, texts.WAITING): 1}


async def test_an_outage_of_the_store_leaves_no_mark_behind(
    notices: Notices, store: Store, discord: Discord
) -> None:
    """Nobody knows whether it waits: the mark stays until somebody does."""
    notices.waits(WAITS)
    await marked(discord)
    store.down = True
    looked = len(store.steps)
    await wait_until(lambda: len(store.steps) > looked + 1, description="looks have failed")
    assert discord.reactions(WAITS.id) == {texts.WAITING}
    store.down = False
    await withdraw(store)
    await ended(notices)
    assert discord.reactions(WAITS.id) == set()


@pytest.mark.parametrize("lost", [True, False])
async def test_a_mark_of_unknown_outcome_is_taken_away_all_the_same(
    notices: Notices, discord: Discord, lost: bool
) -> None:
    """It may be there although Discord did not say so."""
    discord.next("react", Fault(Unreachable("503"), lost=lost))
    notices.waits(WAITS)
    await wait_until(lambda: discord.asked("react"), description="the mark was asked for")
    notices.withdrawn([WAITS.inbound()])
    await ended(notices)
    assert discord.reactions(WAITS.id) == set()
    assert discord.removed == {(WAITS.id, texts.WAITING): 1}


async def test_a_mark_that_cannot_be_taken_away_at_once_goes_later(
    notices: Notices, discord: Discord
) -> None:
    """Discord's bad moment must not leave an hourglass for ever."""
    discord.next("unreact", Unreachable("503"), Unreachable("503"))
    notices.waits(WAITS)
    await marked(discord)
    notices.served(WAITS, 3.0)
    await ended(notices)
    assert discord.reactions(WAITS.id) == set()


async def test_a_mark_that_is_refused_is_given_up(notices: Notices, discord: Discord) -> None:
    """Without the right to react, nothing is tried again."""
    discord.next("react", Rejected(403, 50013))
    notices.waits(WAITS)
    await ended(notices)
    assert len(discord.requests) == 1


async def test_without_reactions_nothing_is_marked(store: Store, discord: Discord) -> None:
    """The setting turns all emoji off; words are still said."""
    notices = Notices(FakeWire(discord), store.port, lambda _: False)
    notices.waits(WAITS)
    notices.served(WAITS, 3.0)
    notices.empty(WAITS)
    notices.stopped(WAITS)
    notices.settled([Settled(Outcome.STOPPED, (ASKED.inbound(),), "1", (PAGE,))])
    notices.settled([Settled(Outcome.EXPIRED, (WAITS.inbound(),))])
    await ended(notices)
    assert discord.added == {}
    assert discord.replies(WAITS) == [texts.here().expired]


PAGE = Page(0, 0, b"half", "9001")

# ----------------------------------------------------------------------------------------- refusals


async def test_a_refusal_is_one_notice_edited_rather_than_repeated(
    monkeypatch: pytest.MonkeyPatch, notices: Notices, discord: Discord
) -> None:
    """The same words again change nothing; others replace them."""
    monkeypatch.setattr(module, "NOTICE_LIFE", 30.0)
    notices.refused(ASKED, "full")
    await wait_until(discord.visible, description="the notice is there")
    notices.refused(WAITS, "full")
    notices.refused(WAITS, "busy")
    await wait_until(lambda: discord.visible() == ["busy"], description="it was edited")
    assert [request.method for request in discord.requests] == ["create", "edit"]


async def test_a_burst_of_refusals_is_one_notice(
    monkeypatch: pytest.MonkeyPatch, notices: Notices, discord: Discord
) -> None:
    """Also those that come while the first is still on its way."""
    monkeypatch.setattr(module, "NOTICE_LIFE", 30.0)
    for _ in range(5):
        notices.refused(message("spam", CY), "full")
    await wait_until(discord.visible, description="the notice is there")
    await wait_until(lambda: len(notices._tasks) == 1, description="all were heard")
    assert len(discord.asked("create")) == 1


async def test_refusals_in_two_conversations_are_two_notices(
    notices: Notices, discord: Discord
) -> None:
    """One channel's notice says nothing to the people of another."""
    notices.refused(message(), "full")
    notices.refused(message(channel="999"), "full")
    await wait_until(lambda: len(discord.asked("create")) == 2, description="both are there")


async def test_a_refusal_is_removed_after_a_while_and_counts_from_the_last(
    monkeypatch: pytest.MonkeyPatch, notices: Notices, discord: Discord
) -> None:
    """It does not pile up, and a new one after that is a new notice."""
    monkeypatch.setattr(module, "NOTICE_LIFE", 0.3)
    notices.refused(ASKED, "full")
    await wait_until(discord.visible, description="the notice is there")
    first = discord.asked("create")[0].at
    await asyncio.sleep(0.1)
    notices.refused(WAITS, "full")
    await ended(notices)
    assert discord.visible() == []
    assert not notices._refusals
    assert discord.asked("delete")[0].at - first >= 0.39
    notices.refused(message(), "full")
    await wait_until(lambda: discord.visible() == ["full"], description="a new notice is there")


async def test_a_refusal_whose_edit_fails_is_removed_all_the_same(
    notices: Notices, discord: Discord
) -> None:
    """A notice that cannot be changed must not stay for ever."""
    notices.refused(ASKED, "full")
    await wait_until(discord.visible, description="the notice is there")
    discord.next("edit", Unreachable("503"))
    notices.refused(WAITS, "busy")
    await ended(notices)
    assert discord.visible() == []


# ----------------------------------------------------------------------------------------- outcomes


@pytest.mark.parametrize(
    ("outcome", "text"),
    [
        (Outcome.EXPIRED, texts.here().expired),
        (Outcome.DROPPED, texts.here().dropped),
        (Outcome.DEAD, texts.here().apology),
        (Outcome.STOPPED, None),
        (Outcome.KILLED, None),
    ],
)
async def test_people_are_told_when_what_they_asked_gets_no_answer(
    notices: Notices, discord: Discord, outcome: Outcome, text: str | None
) -> None:
    """Whoever stopped or killed it knows; the others get a reply that says so."""
    notices.settled([Settled(outcome, (ASKED.inbound(), WAITS.inbound()))])
    await ended(notices)
    for one in (ASKED, WAITS):
        assert discord.replies(one) == ([text] if text else [])


async def test_a_turn_of_several_messages_is_apologised_for_once(
    notices: Notices, discord: Discord
) -> None:
    """It is one reply that did not come."""
    notices.settled([Settled(Outcome.DEAD, (ASKED.inbound(), WAITS.inbound()), ASKED.id)])
    await ended(notices)
    assert discord.visible() == [texts.here().apology]


async def test_two_processes_say_a_notice_once(
    notices: Notices, store: Store, discord: Discord
) -> None:
    """Its nonce follows from message and words."""
    other = Notices(FakeWire(discord), store.port, lambda _: True)
    for each in (notices, other):
        each.settled([Settled(Outcome.EXPIRED, (ASKED.inbound(),))])
        await ended(each)
    assert discord.visible() == [texts.here().expired]


UNSENT = Page(2, 0, b"unsent")


def left_by_a_dead_holder(discord: Discord, *texts_: str) -> tuple[Page, ...]:
    """Put messages there under Stop buttons, and tell of them as pages."""
    button = stop_button(ASKED.id)
    contents = [Outgoing(text, button=button if text == texts_[-1] else None) for text in texts_]
    posted = [discord.put(content.text, content=content) for content in contents]
    pages = [Page(number, 0, b"?", message) for number, message in enumerate(posted)]
    return (*pages, UNSENT)


@pytest.mark.parametrize("outcome", [Outcome.STOPPED, Outcome.KILLED])
@pytest.mark.parametrize(
    "last", ["more", f"more\n{STATUS_SIGN}looking…"], ids=["text", "a status line below text"]
)
async def test_the_half_written_reply_of_a_turn_that_was_ended_unheld_is_marked(
    notices: Notices, discord: Discord, outcome: Outcome, last: str
) -> None:
    """The mark stands behind its last page, and neither button nor status line is left there."""
    pages = left_by_a_dead_holder(discord, "half", last)
    notices.settled([Settled(outcome, (ASKED.inbound(),), ASKED.id, pages)])
    await ended(notices)
    assert discord.visible() == ["half", f"more{texts.here().mark(outcome.value)}"]
    assert discord.messages[1].button is None


async def test_a_page_of_a_dead_holder_that_is_but_a_status_line_is_deleted(
    notices: Notices, discord: Discord
) -> None:
    """It told what was being done; the mark goes behind the page before it."""
    pages = left_by_a_dead_holder(discord, "half", f"{STATUS_SIGN}looking…")
    notices.settled([Settled(Outcome.STOPPED, (ASKED.inbound(),), ASKED.id, pages)])
    await ended(notices)
    assert discord.visible() == [f"half{texts.here().mark('stopped')}"]


@pytest.mark.parametrize("reactions", [True, False])
async def test_a_half_written_reply_that_cannot_be_read_back_gets_an_emoji(
    store: Store, discord: Discord, *, reactions: bool
) -> None:
    """Its text is not known then; where there are no reactions it stays as it is."""
    notices = Notices(FakeWire(discord), store.port, lambda _: reactions)
    pages = left_by_a_dead_holder(discord, "half")
    discord.next("recent", Rejected(403, 50013, "Missing Permissions"))
    notices.settled([Settled(Outcome.KILLED, (ASKED.inbound(),), ASKED.id, pages)])
    await ended(notices)
    last = str(pages[0].message_id)
    assert discord.added == ({(last, texts.STOPPED): 1} if reactions else {})


async def test_settled_and_withdrawn_messages_lose_their_mark(
    notices: Notices, discord: Discord
) -> None:
    """They wait no more."""
    for is_settled in (True, False):
        notices.waits(WAITS)
        await marked(discord)
        if is_settled:
            notices.settled([Settled(Outcome.STOPPED, (WAITS.inbound(),))])
        else:
            notices.withdrawn([WAITS.inbound()])
        await ended(notices)
        assert discord.reactions(WAITS.id) == set()


async def test_an_empty_reply_is_shrugged_at_only_where_we_were_addressed(
    notices: Notices, discord: Discord
) -> None:
    """Silence where we only listen needs no comment."""
    heard = message(addressed=False)
    notices.empty(heard)
    notices.empty(ASKED)
    await ended(notices)
    assert discord.added == {(ASKED.id, texts.EMPTY): 1}


async def test_an_inbound_that_cannot_be_read_hides_no_other(notices: Notices) -> None:
    """It is logged and left out."""
    assert readable([Inbound("1", "2", b"?"), ASKED.inbound()]) == [ASKED]


# ------------------------------------------------------------------------------------------ the end


@pytest.mark.parametrize("steps", range(4))
async def test_closing_leaves_no_task_and_the_marks_of_those_who_wait(
    store: Store, discord: Discord, steps: int
) -> None:
    """Whatever each task is at; the next process removes the marks."""
    notices = Notices(FakeWire(discord), store.port, lambda _: True)
    notices.waits(WAITS)
    notices.refused(ASKED, "full")
    notices.settled([Settled(Outcome.EXPIRED, (ASKED.inbound(),))])
    notices.stopped(ASKED)
    if steps == 3:
        await marked(discord)
    for _ in range(steps):
        await asyncio.sleep(0)
    await notices.close()
    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert discord.removed == {}


@pytest.mark.parametrize("answers", [True, False])
async def test_closing_removes_refusals_before_their_time(
    monkeypatch: pytest.MonkeyPatch, store: Store, discord: Discord, answers: bool
) -> None:
    """Nobody would be there to do it later; a Discord that does not answer is not waited for."""
    monkeypatch.setattr(module, "NOTICE_LIFE", 30.0)
    monkeypatch.setattr(module, "CLOSE_WITHIN", 0.05)
    notices = Notices(FakeWire(discord), store.port, lambda _: True)
    notices.refused(ASKED, "full")
    notices.refused(message(channel="999"), "full")
    await wait_until(lambda: len(notices._refusals) == 2, description="both are there")
    if not answers:
        discord.next("delete", *(Fault(hold=asyncio.Event()) for _ in range(2)))
    await notices.close()
    assert [sent.deleted for sent in discord.messages] == [answers, answers]
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_after_closing_nothing_is_begun(store: Store, discord: Discord) -> None:
    """A turn that ends late finds nobody to tell."""
    notices = Notices(FakeWire(discord), store.port, lambda _: True)
    await notices.close()
    notices.refused(ASKED, "full")
    notices.stopped(ASKED)
    await ended(notices)
    assert discord.requests == []
