"""A reply that people saw grow is sent anew when it is done, and what grew goes after it."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from bot import assembly, draft, pages, texts
from bot.delivery import Reply
from bot.endings import Ending
from bot.inbound import Deferred, Kind, Trigger
from bot.pages import nonce
from bot.replies import Button, Buttons, Chunk, Embed, File, Status
from bot.responders import Turn
from bot.speaking import Outgoing, Rejected, Unreachable
from bot.testing.webhook import FakeWebhook
from state.values import Page
from tests.unit.fake_process import DOOR_RULES, RULES, Process, Respond, Script, hurry, running
from tests.unit.fake_store import Store
from tests.unit.fake_turn import HeldTurn
from tests.unit.fakes import CHANNEL, Discord, Fault, message, speaking
from tests.waiting import wait_until

ANEW = replace(RULES, final_anew=True)

#: More than there are of them in any of these turns.
NEVER = 1_000

#: Requests that change what a channel shows.
CHANGES = ("create", "edit", "delete")


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)
    monkeypatch.setattr(draft, "MARK_AGAIN", (0.01, 0.01, 0.01))


def grows(discord: Discord, *chunks: Chunk, then: asyncio.Event | None = None) -> Respond:
    """Say *chunks*, all after the first only when that is there, and end after *then*."""

    async def respond(turn: Turn) -> AsyncGenerator[Chunk, None]:
        yield chunks[0]
        await wait_until(lambda: any(discord.visible()), description="the first of it is there")
        for chunk in chunks[1:]:
            yield chunk
        if then is not None:
            await then.wait()

    return respond


def asked(discord: Discord) -> list[tuple[str, str | None]]:
    """What was asked of Discord to show it, in order, as (what, the text or whose message)."""
    names = {message.id: message.texts[0] for message in discord.messages}
    return [
        (one.method, one.text if one.text is not None else names[one.message or ""])
        for one in discord.asked(*CHANGES)
    ]


async def answered(discord: Discord, respond: Respond, rules: object = ANEW) -> Process:
    """Let a process answer one message."""
    async with running(Script(respond), discord=discord, rules=rules) as bot:
        await bot.hears(message(age=1))
        await bot.settles()
    return bot


# ----------------------------------------------------------------------------------------- in order


async def test_the_new_message_is_there_before_the_old_one_goes() -> None:
    """It replies to the question as the old one did; at no time is there nothing."""
    discord = Discord()
    await answered(discord, grows(discord, "a", "b"))
    assert asked(discord) == [("create", "a"), ("edit", "ab"), ("create", "ab"), ("delete", "a")]
    grown, anew = discord.messages
    assert (grown.deleted, anew.deleted) == (True, False)
    assert anew.reply_to == grown.reply_to is not None


async def test_by_default_a_reply_stays_where_it_grew() -> None:
    """One message, edited."""
    discord = Discord()
    await answered(discord, grows(discord, "a", "b"), RULES)
    assert asked(discord) == [("create", "a"), ("edit", "ab")]


async def test_a_reply_that_was_complete_when_it_appeared_is_not_sent_twice() -> None:
    """Whoever was notified of it has read all of it; taking the button away is no change."""
    discord = Discord()
    rules = replace(ANEW, buttons=True)
    await answered(discord, grows(discord, "all", then=None), rules)
    assert [what for what, _ in asked(discord)] in (["create"], ["create", "edit"])
    assert discord.visible() == ["all"]
    assert discord.messages[0].button is None


async def test_a_status_line_was_not_the_reply() -> None:
    """What people were notified of said that something is being looked up."""
    discord = Discord()
    await answered(discord, grows(discord, Status("looking it up"), "all"))
    assert discord.visible() == ["all"]
    assert discord.messages[-1].texts == ["all"]


async def test_all_pages_keep_their_order_and_what_they_carry() -> None:
    """Also a page that was complete at once is sent anew below one that was not."""
    discord = Discord()
    note, card = File("note.txt", b"note"), Embed("card")
    choice = Buttons(Button("Yes", "yes"))
    await answered(discord, grows(discord, "a", "b", note, "c", card, choice))
    seen = [sent for sent in discord.messages if not sent.deleted]
    assert [(sent.text, sent.files, len(sent.embeds), len(sent.buttons)) for sent in seen] == [
        ("ab", (note,), 0, 0),
        ("c", (), 1, 1),
    ]
    assert len(discord.messages) == 4
    last_create = max(i for i, (what, _) in enumerate(asked(discord)) if what == "create")
    first_delete = min(i for i, (what, _) in enumerate(asked(discord)) if what == "delete")
    assert last_create < first_delete


async def test_a_file_that_follows_its_text_is_sent_anew_with_it() -> None:
    """Whoever was notified of the text does not know that there is a file by now."""
    discord = Discord()
    note = File("note.txt", b"note")
    await answered(discord, grows(discord, "a", note))
    assert [sent.files for sent in discord.messages] == [(note,), (note,)]
    assert [sent.deleted for sent in discord.messages] == [True, False]


async def test_a_new_message_that_comes_late_notifies_whom_it_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What appeared at once may have been seen; the end of it, much later, was not."""
    discord = Discord()

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        yield "a"
        await wait_until(discord.visible, description="the first of it is there")
        monkeypatch.setattr(assembly, "SLOW_REPLY", 0.0)
        yield "b"

    await answered(discord, respond)
    assert [sent.ping for sent in discord.messages] == [False, True]


async def test_in_a_thread_it_is_as_in_a_channel() -> None:
    """What grew there goes, and the thread is opened once."""
    discord = Discord()
    asked = message("what is new?", age=1)

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        yield "a"
        await wait_until(lambda: discord.visible(asked.id), description="the first is there")
        yield "b"

    rules = replace(DOOR_RULES, threads=True)
    async with running(Script(respond), discord=discord, rules=ANEW, door_rules=rules) as bot:
        await bot.hears(asked)
        await bot.settles()
    assert [sent.texts for sent in discord.messages] == [["a", "ab"], ["ab"]]
    assert discord.visible(asked.id) == ["ab"]


async def test_the_response_to_a_command_stays_where_it_is() -> None:
    """It stands below the command that it answers, which a message of the channel would not."""
    discord = Discord()
    async with running(Script(grows(discord, "a", "b")), discord=discord, rules=ANEW) as bot:
        plain = message(age=1)
        FakeWebhook(bot.wire).defer(token := f"token{plain.id}")
        trigger = Trigger(Kind.COMMAND, "ask", {})
        await bot.hears(replace(plain, trigger=trigger, deferred=Deferred(token, speaks=True)))
        await bot.settles()
    assert [sent.text for sent in discord.messages] == ["ab"]


# ------------------------------------------------------------------------------------ other endings


@pytest.mark.parametrize("ending", [Ending.STOPPED, Ending.KILLED, Ending.FAILED])
async def test_a_reply_that_was_cut_short_stays_where_it_grew(ending: Ending) -> None:
    """With its mark; there is no final text to be notified of."""
    discord = Discord()
    respond = grows(discord, "a", "b", then=asyncio.Event())
    async with running(Script(respond), discord=discord, rules=ANEW) as bot:
        await bot.hears(asked := message(age=1))
        await wait_until(lambda: discord.visible() == ["ab"], description="all of it is there")
        bot.locks.cancel(asked.id, ending)
        await bot.settles()
    assert len(discord.messages) == 1
    assert discord.visible() == [f"ab{texts.here().mark(ending)}"]


@pytest.mark.parametrize("ending", [Ending.STOPPED, Ending.KILLED])
@pytest.mark.parametrize("heard", [True, False])
async def test_a_cut_while_it_is_sent_anew_leaves_one_copy(ending: Ending, heard: bool) -> None:
    """The request on its way is waited for as long as there is time, and else found later."""
    discord = Discord()
    hold = asyncio.Event()
    async with running(Script(grows(discord, "a", "b")), discord=discord, rules=ANEW) as bot:
        discord.next("create", Fault(), Fault(hold=hold, lost=True))
        await bot.hears(asked := message(age=1))
        await wait_until(lambda: len(discord.asked("create")) == 2, description="it is sent anew")
        bot.locks.cancel(asked.id, ending)
        if heard:
            hold.set()
        await bot.settles()
        marked = [f"ab{texts.here().mark(ending)}"]
        await wait_until(lambda: discord.visible() == marked, description="one copy, marked")
    assert len(discord.messages) == 2


@pytest.mark.parametrize("frozen", [True, False])
async def test_a_cut_before_all_of_it_is_sent_anew_leaves_it_where_it_grew(frozen: bool) -> None:
    """Half of it sent anew would stand below the other half."""
    turn = await HeldTurn().begin()
    hold = asyncio.Event()
    turn.discord.next("create", Fault(), Fault(), Fault(hold=hold))
    with speaking(turn.holding):
        reply: Reply = turn.reply()
        reply.show([Outgoing("a")])
        await wait_until(turn.discord.visible, description="it has begun")
        done = asyncio.create_task(reply.land([Outgoing("ab"), Outgoing("c")], anew=True))
        await wait_until(
            lambda: len(turn.discord.asked("create")) == 3, description="it is sent anew"
        )
        done.cancel()
        marked = [Outgoing("ab"), Outgoing("c!")]
        cut = asyncio.create_task(reply.freeze(5) if frozen else reply.land(marked))
        await asyncio.sleep(0)  # it has begun, and waits for the request on its way
        hold.set()
        await cut
        if frozen:
            await reply.mark("!", None)
            assert not reply.swept
            await reply.sweep()
    assert turn.discord.visible() == ["ab", "c!"]
    assert [sent.deleted for sent in turn.discord.messages] == [False, False, True]


# ------------------------------------------------------------------------------------------ refused


async def test_a_new_message_that_is_refused_leaves_the_reply_where_it_grew() -> None:
    """It is complete there, and the turn has finished."""
    discord = Discord()
    discord.next("create", Fault(), Rejected(403, 50013))
    bot = await answered(discord, grows(discord, "a", "b"))
    assert discord.visible() == ["ab"]
    assert (await bot.store.port.dead_letters("guild/301")).letters == ()


async def test_a_second_page_that_is_refused_takes_the_new_first_one_back() -> None:
    """Else the reply would be torn: its end above its beginning."""
    discord = Discord()
    note = File("note.txt", b"note")
    discord.next("create", Fault(), Fault(), Fault(), Rejected(400, 200000))
    await answered(discord, grows(discord, "a", "b", note, "c"))
    assert discord.visible() == ["ab", "c"]
    assert [sent.deleted for sent in discord.messages] == [False, False, True]


async def test_an_old_message_that_cannot_be_deleted_is_deleted_later() -> None:
    """The reply is there, the turn is over, and what grew goes when Discord is back."""
    discord = Discord()
    discord.next("delete", *[Unreachable("500")] * 3)
    async with running(Script(grows(discord, "a", "b")), discord=discord, rules=ANEW) as bot:
        await bot.hears(message(age=1))
        await bot.settles()
        assert discord.messages[1].text == "ab"
        await wait_until(lambda: discord.messages[0].deleted, description="the old one is gone")
    assert discord.visible() == ["ab"]
    assert len(discord.asked("delete")) == 4


async def test_an_old_message_that_may_not_be_deleted_is_left() -> None:
    """A refusal is for good, and no failure of the turn."""
    discord = Discord()
    discord.next("delete", Rejected(403, 50083))
    bot = await answered(discord, grows(discord, "a", "b"))
    assert discord.visible() == ["ab", "ab"]
    assert len(discord.asked("delete")) == 1
    assert (await bot.store.port.dead_letters("guild/301")).letters == ()


async def test_a_page_that_was_sent_anew_often_stays() -> None:
    """The issues of a page are few; the last is for an edit that is refused."""
    last = pages.MAX_ISSUES - 1
    turn = HeldTurn()
    there = turn.discord.put("a", reply_to=turn.asked.id)
    turn.left = (Page(0, last, b"a", there),)
    await turn.begin()
    with speaking(turn.holding):
        await turn.reply().land([Outgoing("ab")], anew=True)
    assert turn.discord.visible() == ["ab"]
    assert turn.discord.asked("create") == []


async def test_a_page_that_somebody_deleted_is_not_brought_back() -> None:
    """It was there, and they did not want it."""
    turn = await HeldTurn().begin()
    with speaking(turn.holding):
        again = asyncio.Event()
        turn.discord.next("create", Fault(Unreachable("reset"), lost=True), Fault(hold=again))
        reply: Reply = turn.reply()
        reply.show([Outgoing("a")])
        await wait_until(lambda: turn.discord.messages, description="it was delivered")
        turn.discord.messages[0].deleted = True
        again.set()
        await reply.land([Outgoing("ab")], anew=True)
    assert turn.discord.visible() == []


# -------------------------------------------------------------------------------------- in a replay


async def crashed(
    discord: Discord, store: Store, respond: Respond, point: int, *, lost: bool
) -> bool:
    """Let a process die at its so-many-th change on Discord, carried out if *lost*; or end."""
    count = 0

    def plan(_number: int, method: str) -> Fault | None:
        nonlocal count
        count += method in CHANGES
        if method in CHANGES and count == point + 1:
            return Fault(Unreachable("lost"), lost=lost, hold=asyncio.Event())
        return None

    discord.plan = plan
    async with running(Script(respond), store=store, discord=discord, rules=ANEW) as bot:
        if not store.database.records:
            await bot.hears(message(age=1))
        await bot.wakes.sweep()
        await wait_until(
            lambda: count > point or not bot.conversations._tasks, description="it is time to die"
        )
        if count > point:
            await bot.crash()
    discord.plan = lambda _number, _method: None
    store.clock.now += 16
    return count > point


def whole(discord: Discord) -> Respond:
    """Say what fills two pages."""
    return grows(discord, "a", "b", File("note.txt", b"note"), "c")


@pytest.mark.parametrize("nonces", [True, False], ids=["nonces", "no-nonces"])
@pytest.mark.parametrize("lost", [True, False], ids=["carried-out", "never-begun"])
async def test_a_crash_at_any_point_leaves_one_copy(lost: bool, nonces: bool) -> None:
    """The journal tells the replay what was sent anew, and what has to go for it."""
    point, died = 0, True
    while died:
        discord, store = Discord(), Store()
        died = await crashed(discord, store, whole(discord), point, lost=lost)
        discord.knows_nonces = discord.shows_nonces = nonces
        await crashed(discord, store.another(), whole(discord), NEVER, lost=lost)
        assert discord.visible() == ["ab", "c"], point
        there = [sent for sent in discord.messages if not sent.deleted]
        assert all(set(sent.texts) == {sent.text} for sent in there), point
        point += 1
    assert point > 5


@pytest.mark.parametrize("lost", [True, False], ids=["carried-out", "never-begun"])
async def test_two_crashes_at_any_points_leave_one_copy(lost: bool) -> None:
    """What the first replay has sent anew, the second one knows from it."""
    first, died = 0, True
    while died:
        second, died_again = 0, True
        while died_again:
            discord, store = Discord(), Store()
            died = await crashed(discord, store, whole(discord), first, lost=lost)
            discord.knows_nonces = discord.shows_nonces = False
            store = store.another()
            died_again = await crashed(discord, store, whole(discord), second, lost=lost)
            await crashed(discord, store.another(), whole(discord), NEVER, lost=lost)
            assert discord.visible() == ["ab", "c"], (first, second)
            second += 1
        first += 1


@pytest.mark.parametrize("lost", [True, False], ids=["carried-out", "never-begun"])
@pytest.mark.parametrize("ending", [Ending.STOPPED, Ending.KILLED])
async def test_a_replay_that_is_cut_short_leaves_one_copy(ending: Ending, lost: bool) -> None:
    """It sends nothing anew, but what a forerunner has sent anew is there once."""
    begun = asyncio.Event()

    async def hangs(turn: Turn) -> AsyncGenerator[str, None]:
        yield "a"
        begun.set()
        await asyncio.Event().wait()

    point = 0
    while True:
        discord, store = Discord(), Store()
        if not await crashed(discord, store, whole(discord), point, lost=lost):
            break
        discord.knows_nonces = discord.shows_nonces = False
        begun.clear()
        replay = store.another()
        async with running(Script(hangs), store=replay, discord=discord, rules=ANEW) as bot:
            await bot.wakes.sweep()
            await begun.wait()
            (run,) = bot.locks.running()
            bot.locks.cancel(run.lease.turn, ending)
            await bot.settles()
        seen, mark = discord.visible(), texts.here().mark(ending)
        assert max(Counter(text[0] for text in seen).values(), default=0) <= 1, (point, seen)
        assert sum(text.endswith(mark) for text in seen) == bool(seen), (point, seen)
        point += 1
    assert point > 5


async def test_a_replay_that_says_something_else_is_sent_anew_once_more() -> None:
    """People were notified of what the dead process has said."""
    discord, store = Discord(), Store()
    assert await crashed(discord, store, grows(discord, "a", "b"), 3, lost=True)
    await crashed(discord, store.another(), grows(discord, "a", "B"), NEVER, lost=True)
    assert [sent.texts for sent in discord.messages] == [["a", "ab"], ["ab", "aB"], ["aB"]]
    assert discord.visible() == ["aB"]


def left(
    turn: HeldTurn, issue: int, text: str, *, there: bool = True, reply_to: str | None = None
) -> Page:
    """Leave an issue of the first page in the journal, and on Discord under its nonce."""
    turn.discord.put(text, nonce=nonce(turn.asked.id, 0, issue, CHANNEL), reply_to=reply_to)
    message = turn.discord.messages[-1].id if there else None
    return Page(0, issue, text.encode(), message)


async def landed(turn: HeldTurn, text: str) -> list[str]:
    """Let the replay say *text*; what is on Discord then."""
    await turn.begin()
    with speaking(turn.holding):
        await turn.reply().land([Outgoing(text)], anew=True)
    return turn.discord.visible()


async def test_what_discord_knows_a_repeat_for_is_brought_up_to_date() -> None:
    """Where nothing can be read back, the dead process' message is found by sending it again."""
    turn = HeldTurn()
    turn.left = (left(turn, 0, "a"), left(turn, 1, "ab", there=False))
    turn.discord.plan = lambda _number, method: (
        Fault(Rejected(403, 50013)) if method == "recent" else None
    )
    assert await landed(turn, "aB") == ["aB"]
    assert turn.discord.messages[1].texts == ["ab", "aB"]


async def test_a_status_that_was_sent_anew_becomes_what_follows_it() -> None:
    """Removed as a mere status, it would pass for a page that somebody has deleted."""
    turn = HeldTurn()
    status = Outgoing("", status="reading").content
    asked = turn.asked.id
    turn.left = (left(turn, 0, status), left(turn, 1, status, there=False, reply_to=asked))
    assert await landed(turn, "ab") == ["ab"]


async def test_an_old_message_is_not_taken_for_the_new_one() -> None:
    """It replies to the same question, and will be deleted."""
    turn = HeldTurn()
    asked = turn.asked.id
    turn.left = (
        left(turn, 0, "a", reply_to=asked),
        left(turn, 1, "ab", reply_to=asked),
        Page(0, 2, b"ab"),
    )
    turn.discord.shows_nonces = False
    assert await landed(turn, "ab") == ["ab"]


@pytest.mark.parametrize("sent", [True, False])
async def test_in_a_thread_the_new_first_page_is_known_by_its_text_and_place(sent: bool) -> None:
    """Nothing replies there to the message above; what says the same further up is another's."""
    turn = HeldTurn()
    turn.discord.put("ab")
    turn.left = (left(turn, 0, "a"), Page(0, 1, b"ab"))
    if sent:
        left(turn, 1, "ab")
    turn.discord.shows_nonces = turn.discord.knows_nonces = False
    assert await landed(turn, "ab") == ["ab", "ab"]
    assert len(turn.discord.messages) == 3
