"""The reply to a command: in the place of "thinking…" while its token lives, as messages beyond."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from bot import responses, texts
from bot.door_rules import DoorRules, Mode
from bot.endings import Ending
from bot.inbound import Deferred, Kind, Message, Person, Trigger
from bot.rates import Quota
from bot.responders import Turn
from bot.speaking import Rejected, Unreachable
from bot.testing.webhook import FakeWebhook
from state.values import Overflow
from tests.unit.fake_process import DOOR_RULES, RULES, Process, Script, hurry, running, script
from tests.unit.fake_store import Store, Trouble
from tests.unit.fakes import ADA, BO, CY, Discord, Fault, message
from tests.waiting import wait_until

#: Older than the token of an interaction lives with us, in seconds.
LATE = 850.0


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)


def command(
    bot: Process, text: str, author: Person = ADA, *, age: float = 0.0, speaks: bool = True
) -> Message:
    """Use a command, which shows "thinking…" from then on."""
    plain = message(text, author, age=age)
    token = f"token{plain.id}"
    FakeWebhook(bot.wire).defer(token)
    trigger = Trigger(Kind.COMMAND, "ask", {"question": text})
    return replace(plain, trigger=trigger, deferred=Deferred(token, speaks))


def response(discord: Discord, asked: Message) -> str | None:
    """What the response to a command says; "" is "thinking…", None that it is gone."""
    [sent] = [one for one in discord.messages if one.answers == asked.id]
    return None if sent.deleted else sent.text


async def echo(turn: Turn) -> AsyncGenerator[str, None]:
    """Say what was asked."""
    yield f"to {turn.text}"


async def hang(turn: Turn) -> AsyncGenerator[str, None]:
    """Begin and go on for ever."""
    yield f"to {turn.text}"
    await asyncio.Event().wait()


async def mute(turn: Turn) -> AsyncGenerator[str, None]:
    """Never say anything."""
    await asyncio.Event().wait()
    yield turn.text


async def mute_or_echo(turn: Turn) -> AsyncGenerator[str, None]:
    """Say nothing to Ada's first question, and answer any other."""
    if turn.text == "hush":
        await asyncio.Event().wait()
    yield f"to {turn.text}"


async def until_says(bot: Process, asked: Message, text: str | None) -> None:
    """Wait until the response to *asked* says so."""
    await wait_until(
        lambda: response(bot.discord, asked) == text, description=f"the response is {text!r}"
    )


# ------------------------------------------------------------------------------------------- pages


async def test_the_reply_takes_the_place_of_thinking() -> None:
    """One message, whose id is journaled as that of the first page; no reaction on the question."""
    async with running(Script(echo)) as bot:
        await bot.hears(asked := command(bot, "a"))
        await bot.settles()
        assert bot.discord.visible() == ["to a"]
        assert bot.discord.asked("create", "react", "look") == []
        assert bot.store.ended(asked) == ["answered"]


async def test_further_pages_are_messages_of_the_channel() -> None:
    """Under nonces, and replying to nothing: an interaction is no message."""
    async with running(script("a" * 1_800 + "\n\n" + "b" * 1_800)) as bot:
        await bot.hears(command(bot, "much"))
        await bot.settles()
        first, second = bot.discord.messages
        assert first.text.startswith("a")
        assert second.text.startswith("b")
        assert (second.reply_to, second.ping) == (None, False)
        assert len(bot.discord.asked("create")) == 1


@pytest.mark.parametrize(
    "fault", [Fault(Unreachable("lost"), lost=True), Fault(Unreachable("away"))]
)
async def test_a_response_of_unknown_outcome_is_edited_again(fault: Fault) -> None:
    """It is the same message however often."""
    async with running(Script(echo)) as bot:
        bot.discord.next("respond", fault)
        await bot.hears(command(bot, "a"))
        await bot.settles()
        assert bot.discord.visible() == ["to a"]
        assert len(bot.discord.asked("respond")) > 1
        assert len(bot.discord.messages) == 1


async def test_the_next_process_goes_on_in_the_response() -> None:
    """The token came with the inbound, whether the dead one knew what became of its edit or not."""
    for steps in ("page", "posted"):
        store, discord = Store(), Discord()
        async with running(Script(hang), store=store, discord=discord) as bot:
            if steps == "page":
                discord.next("respond", Fault(lost=True, hold=asyncio.Event()))
            await bot.hears(asked := command(bot, "a"))
            await wait_until(
                lambda: steps in store.steps and discord.asked("respond"),  # noqa: B023
                description="the first page is on its way",
            )
            await bot.crash()
        store.clock.now += 16
        async with running(Script(echo), store=store.another(), discord=discord) as bot:
            await bot.wakes.sweep()
            await bot.settles()
        assert response(discord, asked) == "to a"
        assert len(discord.messages) == 1
        assert store.ended(asked) == ["answered"]


# ---------------------------------------------------------------------------- the end of the token


async def test_after_the_token_the_response_is_edited_as_a_message(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is one of ours in the channel; nothing is said twice, and nobody has to be named."""
    more = asyncio.Event()

    async def slow(turn: Turn) -> AsyncGenerator[str, None]:
        yield "a"
        await more.wait()
        yield " b"

    async with running(Script(slow)) as bot:
        await bot.hears(asked := command(bot, "?"))
        await until_says(bot, asked, "a")
        monkeypatch.setattr(responses, "TOKEN_LIFE", 0.0)
        more.set()
        await bot.settles()
        assert response(bot.discord, asked) == "a b"
        assert len(bot.discord.messages) == 1
        assert bot.discord.asked("edit")


async def test_a_turn_that_begins_after_the_token_names_who_asked() -> None:
    """Every text of that page does; the others need not. No page is too long for it."""
    long = "a" * 1_000 + "\n\n" + "b" * 3_000
    async with running(script("short", long)) as bot:
        await bot.hears(asked := command(bot, "?", age=LATE))
        await bot.settles()
        _thinking, first, *others = bot.discord.messages
        assert all(text.startswith(responses.named(asked)) for text in first.texts)
        assert f"<@{ADA.id}>" in first.text
        assert not any(ADA.id in one.text for one in others)
        assert all(len(one.text) <= 2_000 for one in bot.discord.messages)
        said = "".join(one.text for one in (first, *others)).removeprefix(responses.named(asked))
        assert said.replace("\n", "") == f"short{long}".replace("\n", "")


async def test_a_late_reply_that_is_stopped_when_full_has_room_for_name_and_mark() -> None:
    """Discord would refuse the edit, and the mark would be missing."""

    async def full(turn: Turn) -> AsyncGenerator[str, None]:
        yield "a" * 1_999
        await asyncio.Event().wait()

    async with running(Script(full)) as bot:
        await bot.hears(asked := command(bot, "?", age=LATE))
        await wait_until(lambda: len(bot.discord.messages) > 1, description="a page is there")
        await bot.requests.stop(asked.conversation, asked.id, ADA.id, "stop")
        await bot.settles()
        assert bot.discord.visible()[-1].endswith(texts.here().mark(Ending.STOPPED))
        assert all(len(text) <= 2_000 for text in bot.discord.visible())


async def test_the_next_process_knows_the_name_again() -> None:
    """A page that begins with it is edited with it, and found by it when its id was lost."""
    for known in (True, False):
        store, discord = Store(), Discord()
        discord.knows_nonces = discord.shows_nonces = False
        async with running(Script(hang), store=store, discord=discord) as bot:
            if not known:
                discord.next("create", Fault(lost=True, hold=asyncio.Event()))
            await bot.hears(asked := command(bot, "a", age=LATE))
            wanted = "posted" if known else "page"
            await wait_until(
                lambda: wanted in store.steps and discord.asked("create"),  # noqa: B023
                description="the first page is on its way",
            )
            await bot.crash()
        store.clock.now += 16
        async with running(script("to a and more"), store=store.another(), discord=discord) as bot:
            await bot.wakes.sweep()
            await bot.settles()
        name = responses.named(asked)
        assert discord.visible() == ["", f"{name}to a and more"]


@pytest.mark.parametrize(
    ("status", "code"), [(404, 10062), (404, 10015), (401, 50027), (401, 0), (404, 10008)]
)
async def test_a_token_that_is_refused_costs_no_word(status: int, code: int) -> None:
    """What cannot be said by it is said in the channel, once; no "thinking…" stays where it may."""
    async with running(script("a", " b")) as bot:
        bot.discord.next("respond", Rejected(status, code))
        await bot.hears(asked := command(bot, "?"))
        await bot.settles()
        assert bot.discord.visible() == [f"{responses.named(asked)}a b"]
        assert len(bot.discord.asked("respond")) == 1
        assert bot.store.ended(asked) == ["answered"]


async def test_any_other_refusal_is_one_of_the_reply() -> None:
    """AutoMod's does not become a second try elsewhere."""
    async with running(Script(echo)) as bot:
        bot.discord.next("respond", Rejected(400, 200000))
        await bot.hears(asked := command(bot, "?"))
        await bot.settles()
        await wait_until(
            lambda: texts.here().censored in (response(bot.discord, asked) or ""),
            description="it is told",
        )
        assert bot.store.ended(asked) == ["dead-lettered"]


async def test_where_only_the_token_speaks_all_pages_go_by_it() -> None:
    """A person may use us where we are no member: nothing is asked of the channel itself."""
    long = "a" * 1_800 + "\n\n" + "b" * 1_800
    async with running(script(long, " c")) as bot:
        await bot.hears(command(bot, "?", speaks=False))
        await bot.settles()
        assert [text[:1] for text in bot.discord.visible()] == ["a", "b"]
        assert bot.discord.visible()[-1].endswith(" c")
        methods = {request.method for request in bot.discord.requests}
        assert methods <= {"respond", "follow up"}


async def test_when_the_only_token_dies_the_channel_is_not_taken_for_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing more is asked of it, and who waits there is answered by a token of their own."""
    more = asyncio.Event()

    async def slow(turn: Turn) -> AsyncGenerator[str, None]:
        yield f"to {turn.text}"
        if turn.text == "a":
            await more.wait()
            yield " and more"

    async with running(Script(slow)) as bot:
        await bot.hears(asked := command(bot, "a", age=5, speaks=False))
        await until_says(bot, asked, "to a")
        await bot.hears(waits := command(bot, "b", BO, speaks=False))
        bot.discord.next("respond", Rejected(401, 50027))
        more.set()
        await bot.settles()
        assert response(bot.discord, asked) == "to a"
        assert response(bot.discord, waits) == "to b"
        assert bot.discord.asked("create", "edit", "react", "type") == []


async def test_a_given_up_turn_is_tried_again_in_the_same_response() -> None:
    """Its apology gives way to the reply."""
    attempts = []

    async def fails_first(turn: Turn) -> AsyncGenerator[str, None]:
        attempts.append(turn.text)
        if len(attempts) == 1:
            raise RuntimeError("once")
        yield f"to {turn.text}"

    async with running(Script(fails_first)) as bot:
        await bot.hears(asked := command(bot, "a"))
        await bot.settles()
        assert response(bot.discord, asked) == texts.here().apology
        letter = await bot.requests.given_up(asked.conversation, asked.id)
        assert letter is not None
        assert await bot.requests.requeue(asked.conversation, letter.id, "again")
        await bot.wakes.sweep()
        await bot.settles()
        assert response(bot.discord, asked) == "to a"
        assert len(bot.discord.messages) == 1


async def test_without_token_and_channel_no_turn_is_run() -> None:
    """Its cost would be for nothing."""
    ran = []

    async def note(turn: Turn) -> AsyncGenerator[str, None]:
        ran.append(turn.text)
        yield "a"

    async with running(Script(note)) as bot:
        await bot.hears(asked := command(bot, "?", speaks=False, age=LATE))
        await bot.settles()
        assert ran == []
        assert bot.discord.requests == []
        assert bot.store.ended(asked) == ["dead-lettered"]


async def test_a_channel_that_refused_us_lately_may_be_answered_by_token() -> None:
    """A missing right to send does not count for it."""
    async with running(Script(echo)) as bot:
        bot.silence.fall(message().channel)
        await bot.hears(asked := command(bot, "a"))
        await bot.settles()
        assert response(bot.discord, asked) == "to a"


# ------------------------------------------------------------------------------- nothing to answer


@pytest.mark.parametrize(
    ("declines", "reactions", "left"),
    [(False, True, texts.EMPTY), (True, True, None), (False, False, None)],
)
async def test_an_empty_reply_leaves_no_thinking(
    declines: bool, reactions: bool, left: str | None
) -> None:
    """A shrug where messages get one, else nothing."""

    async def silent(turn: Turn) -> AsyncGenerator[str, None]:
        if declines:
            turn.decline()
        yield " "

    async with running(Script(silent), reactions=reactions) as bot:
        await bot.hears(asked := command(bot, "?"))
        await bot.settles()
        assert response(bot.discord, asked) == left
        assert bot.discord.asked("react") == []


async def test_a_failure_is_apologised_for_in_the_response() -> None:
    """There it was waited for."""

    async def fail(turn: Turn) -> AsyncGenerator[str, None]:
        if turn.text:
            raise RuntimeError(turn.text)
        yield ""

    async with running(Script(fail)) as bot:
        await bot.hears(asked := command(bot, "?"))
        await bot.settles()
        assert response(bot.discord, asked) == texts.here().apology


@pytest.mark.parametrize(("reactions", "left"), [(True, texts.STOPPED), (False, None)])
async def test_a_stop_before_the_first_word_is_seen_in_the_response(
    reactions: bool, left: str | None
) -> None:
    """An interaction cannot bear the mark that a message would."""
    async with running(Script(mute), reactions=reactions) as bot:
        await bot.hears(asked := command(bot, "?"))
        await bot.requests.stop(asked.conversation, asked.id, ADA.id, "stop")
        await bot.settles()
        assert response(bot.discord, asked) == left


async def test_a_kill_marks_what_is_shown_and_ends_who_waits() -> None:
    """Of the reply, its text stays; who waited sees that nothing will come."""
    async with running(Script(hang)) as bot:
        await bot.hears(asked := command(bot, "a"))
        await until_says(bot, asked, "to a")
        await bot.hears(waits := command(bot, "b", BO))
        await bot.requests.kill(asked.conversation, CY.id, "kill")
        await bot.settles()
        assert response(bot.discord, asked) == f"to a{texts.here().mark(Ending.KILLED)}"
        await until_says(bot, waits, texts.STOPPED)


# ---------------------------------------------------------------------------- while another is busy


async def test_thinking_is_the_mark_of_a_command_that_waits() -> None:
    """No hourglass can be put on it."""
    go = asyncio.Event()

    async def held(turn: Turn) -> AsyncGenerator[str, None]:
        await go.wait()
        yield f"to {turn.text}"

    async with running(Script(held)) as bot:
        await bot.hears(message("a"))
        await bot.hears(asked := command(bot, "b", BO, age=5))
        await bot.hears(plain := message("c", CY))
        await wait_until(
            lambda: bot.discord.reactions(plain.id), description="the other one is marked"
        )
        assert response(bot.discord, asked) == ""
        go.set()
        await bot.settles()
        assert response(bot.discord, asked) == "to b"
        assert {request.message for request in bot.discord.asked("react", "unreact")} == {plain.id}


@pytest.mark.parametrize(("first", "left"), [("hush", None), ("a", "to a")])
async def test_another_command_of_its_author_supersedes(first: str, left: str | None) -> None:
    """What was said stays, marked; a response that says nothing is gone."""

    async def respond(turn: Turn) -> AsyncGenerator[str, None]:
        if turn.text != "hush":
            yield f"to {turn.text}"
        if turn.text != "b":
            await asyncio.Event().wait()

    async with running(Script(respond)) as bot:
        await bot.hears(old := command(bot, first, age=2))
        if left is not None:
            await until_says(bot, old, left)
        await bot.hears(new := command(bot, "b"))
        await bot.settles()
        assert response(bot.discord, new) == "to b"
        marked = None if left is None else left + texts.here().mark(Ending.SUPERSEDED)
        assert response(bot.discord, old) == marked


async def test_a_message_may_supersede_a_command_and_the_other_way_round() -> None:
    """Both are of one author in one conversation."""
    async with running(Script(mute_or_echo)) as bot:
        await bot.hears(old := command(bot, "hush", age=2))
        await bot.hears(new := message("b"))
        await bot.settles()
        assert bot.discord.replies(new) == ["to b"]
        assert response(bot.discord, old) is None
        await bot.hears(message("hush", BO, age=2))
        await bot.hears(last := command(bot, "c", BO))
        await bot.settles()
        assert response(bot.discord, last) == "to c"


async def test_commands_that_are_gathered_are_answered_in_the_first() -> None:
    """The others' responses have nothing to add."""
    go = asyncio.Event()

    async def held(turn: Turn) -> AsyncGenerator[str, None]:
        await go.wait()
        yield turn.text.replace("\n", " ")

    rules = replace(DOOR_RULES, mode=Mode.COLLECT)
    async with running(Script(held), door_rules=rules) as bot:
        await bot.hears(message("a", CY))
        await bot.hears(first := command(bot, "b", age=2))
        await bot.hears(second := command(bot, "c", BO, age=1))
        go.set()
        await bot.settles()
        assert response(bot.discord, first) == "b c"
        assert response(bot.discord, second) is None


@pytest.mark.parametrize(
    ("rules", "text"),
    [
        (replace(DOOR_RULES, inbox=1), texts.here().inbox_full),
        (replace(DOOR_RULES, mode=Mode.DROP), texts.here().busy),
    ],
)
async def test_a_command_that_is_not_taken_is_told_why_in_its_response(
    rules: DoorRules, text: str
) -> None:
    """For a while, and nobody else's notice."""
    async with running(Script(hang), door_rules=rules) as bot:
        await bot.hears(message("a"))
        if rules.mode is not Mode.DROP:
            await bot.hears(message("b", CY))
        await bot.hears(refused := command(bot, "c", BO))
        await until_says(bot, refused, text)
        await until_says(bot, refused, None)
        assert bot.discord.replies(refused) == []
        assert bot.store.ended(refused) == []


async def test_each_command_over_a_rate_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A message may be passed over in silence; "thinking…" may not stay."""
    async with running(Script(echo)) as bot:
        monkeypatch.setattr(bot.rates, "_quota", lambda: Quota(0, 1000))
        for _ in range(2):
            await bot.hears(asked := command(bot, "a"))
            await until_says(bot, asked, texts.here().person_rate)


async def test_who_has_to_make_room_is_told_in_the_response() -> None:
    """Under drop_oldest."""
    rules = replace(DOOR_RULES, inbox=1, overflow=Overflow.DROP_OLDEST)
    async with running(Script(hang), door_rules=rules) as bot:
        await bot.hears(message("a"))
        await bot.hears(oldest := command(bot, "b", BO))
        await bot.hears(message("c", CY))
        await until_says(bot, oldest, texts.here().dropped)


async def test_who_is_told_after_the_token_is_named_in_the_channel() -> None:
    """The response may be out of reach by then."""
    rules = replace(DOOR_RULES, inbox=1, overflow=Overflow.DROP_OLDEST)
    async with running(Script(hang), door_rules=rules) as bot:
        await bot.hears(message("a"))
        await bot.hears(oldest := command(bot, "b", BO, age=LATE))
        await bot.hears(message("c", CY))
        told = responses.named(oldest) + texts.here().dropped
        await wait_until(lambda: told in bot.discord.visible(), description="they are told")


async def test_a_command_that_the_store_did_not_take_is_told_and_may_be_answered_yet() -> None:
    """No answer does not mean not admitted; the reply then replaces the excuse."""
    async with running(Script(echo)) as bot:
        bot.store.plan = lambda _, name: Trouble.LOST if name == "admit" else None
        await bot.hears(asked := command(bot, "a"))
        await until_says(bot, asked, texts.here().store_away)
        bot.store.clock.now += 16
        await bot.wakes.sweep()
        await bot.settles()
        assert response(bot.discord, asked) == "to a"


async def test_a_command_is_no_part_of_a_paste() -> None:
    """Nobody pastes into two places at once."""
    async with running(Script(mute_or_echo)) as bot:
        await bot.hears(message("a"))
        await bot.settles()
        await bot.hears(asked := command(bot, "b"))
        await bot.settles()
        await bot.hears(message("c", addressed=False), addressed=False)
        await bot.settles()
        assert response(bot.discord, asked) == "to b"
        assert bot.discord.visible() == ["to a", "to b"]


async def test_a_turn_given_up_by_deaths_leaves_what_it_said() -> None:
    """Its apology is a message of its own, since the response is taken."""
    store, discord = Store(), Discord()
    async with running(Script(hang), store=store, discord=discord, rules=RULES) as bot:
        await bot.hears(asked := command(bot, "a"))
        await until_says(bot, asked, "to a")
        await bot.crash()
    for _ in range(8):
        store.clock.now += 16
        store = store.another()
        async with running(Script(hang), store=store, discord=discord, rules=RULES) as bot:
            await bot.wakes.sweep()
            if store.ended(asked):
                apology = responses.named(asked) + texts.here().apology
                await wait_until(lambda: apology in discord.visible(), description="told")  # noqa: B023
                break
            await bot.crash()
    assert (response(discord, asked) or "").startswith("to a")
