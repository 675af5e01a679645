"""Files, embeds and buttons on their way to Discord: once, or left out with a word of it."""

import pytest

from bot import texts
from bot.pages import NOTED
from bot.replies import Embed, File
from bot.speaking import STATUS_SIGN, Button, Outgoing, Pieces, Rejected, Unreachable
from state.values import Page
from tests.unit.fake_process import hurry
from tests.unit.fake_turn import HeldTurn
from tests.unit.fakes import Fault, speaking
from tests.waiting import wait_until

CARD = Embed(title="card")
NOTE = File("note.txt", b"note")
STOP, YES = Button("Stop", "s"), Button("Yes", "y")
BOTH = Pieces(files=(NOTE,), embeds=(CARD,))


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)


async def test_a_file_is_sent_once_however_often_its_message_is_edited() -> None:
    """An edit names only what it changes; the rest stays as it is."""
    turn = await HeldTurn().begin()
    with speaking(turn.holding):
        reply = turn.reply()
        await reply.land([Outgoing("a", Pieces(files=(NOTE,)))])
        carried, edit = [], turn.wire.edit

        async def watched(channel: str, message: str, content: Outgoing) -> None:
            carried.append(content.pieces)
            await edit(channel, message, content)

        turn.wire.edit = watched  # type: ignore[method-assign]
        await reply.land([Outgoing("a", Pieces(files=(NOTE,), embeds=(CARD,)))])
        await reply.land([Outgoing("b", BOTH, STOP)])
        await reply.land([Outgoing("b")])
    assert carried == [Pieces(embeds=(CARD,)), Pieces(), Pieces(files=(), embeds=())]
    (edited,) = turn.discord.messages
    assert (edited.files, edited.embeds, edited.button) == ((), (), None)


async def test_a_replay_replaces_what_its_forerunner_left_below_a_text() -> None:
    """What that was is not known, so it is written whole; the message shows each piece once."""
    turn = HeldTurn()
    old = Pieces(files=(File("old.txt", b"old"),), embeds=(CARD, CARD), buttons=(YES,))
    there = turn.discord.put("a", reply_to=turn.asked.id, content=Outgoing("a", old))
    turn.left = (Page(0, 0, b"a", there),)
    await turn.begin()
    with speaking(turn.holding):
        await turn.reply().land([Outgoing("a", BOTH)])
    (sent,) = turn.discord.messages
    assert (sent.files, sent.embeds, sent.buttons) == ((NOTE,), (CARD,), ())


async def test_a_message_without_text_is_found_by_what_it_carries() -> None:
    """Its process died after sending it; the sizes of its files and its embeds tell it."""
    page = Outgoing("", Pieces(files=(NOTE,)))
    turn = HeldTurn()
    first = turn.discord.put("one", reply_to=turn.asked.id)
    turn.left = (Page(0, 0, b"one", first), Page(1, 0, page.likeness.encode()))
    turn.discord.put("", content=Outgoing("", Pieces(embeds=(CARD,))))
    there = turn.discord.put("", content=page)
    turn.discord.shows_nonces = False
    await turn.begin()
    assert (await turn.create(1, page)).message == there
    assert turn.discord.asked("create") == []


async def test_a_repeat_after_a_lost_answer_leaves_no_button() -> None:
    """Discord answers it with the first try, which had one; the same text does not tell."""
    turn = await HeldTurn().begin()
    turn.discord.next("create", Fault(Unreachable("reset"), lost=True))
    with pytest.raises(Unreachable):
        await turn.create(0, Outgoing("a", button=STOP))
    with speaking(turn.holding):
        await turn.reply().land([Outgoing("a")])
    (sent,) = turn.discord.messages
    assert (sent.text, sent.button) == ("a", None)


# --------------------------------------------------------------------------------- what is refused


def forbid(turn: HeldTurn, *kinds: str) -> None:
    """Let Discord refuse messages with embeds or files, as it does without the right to them."""

    def refuses(content: Outgoing) -> bool:
        return any(getattr(content.pieces, kind) for kind in kinds)

    create, edit = turn.wire.create, turn.wire.edit

    async def careful_create(channel: str, content: Outgoing, **how: object) -> object:
        if refuses(content):
            turn.discord.next("create", Rejected(403, 50013))
        return await create(channel, content, **how)  # type: ignore[arg-type]

    async def careful_edit(channel: str, message: str, content: Outgoing) -> None:
        if refuses(content):
            turn.discord.next("edit", Rejected(403, 50013))
        await edit(channel, message, content)

    turn.wire.create, turn.wire.edit = careful_create, careful_edit  # type: ignore[method-assign,assignment]


@pytest.mark.parametrize(
    ("forbidden", "left", "notes"),
    [
        (("embeds",), ((NOTE,), ()), ["embeds"]),
        (("embeds", "files"), ((), ()), ["embeds", "files"]),
    ],
)
@pytest.mark.parametrize("edited", [False, True])
async def test_what_may_not_be_sent_is_left_out_with_a_word_of_it(
    forbidden: tuple[str, ...], left: object, notes: list[str], edited: bool
) -> None:
    """The text goes on, and so does the reply: what was refused once is not tried again."""
    turn = await HeldTurn().begin()
    forbid(turn, *forbidden)
    with speaking(turn.holding):
        reply = turn.reply()
        if edited:
            await reply.land([Outgoing("a")])
        await reply.land([Outgoing("a", BOTH), Outgoing("b", BOTH)])
        requests = len(turn.discord.requests)
        await reply.land([Outgoing("a", BOTH), Outgoing("b", BOTH)])
    assert len(turn.discord.requests) == requests == 2 + edited + len(forbidden)
    first, second = turn.discord.messages
    below = "".join("\n" + texts.here().left_out[kind] for kind in notes)
    assert [first.text, second.text] == ["a" + below, "b" + below]
    assert (first.files, first.embeds) == (second.files, second.embeds) == left
    assert reply.shown == "ab"


async def test_a_piece_alone_that_may_not_be_sent_leaves_the_word_of_it() -> None:
    """Else there would be silence where something was meant to be."""
    turn = await HeldTurn().begin()
    forbid(turn, "embeds")
    await turn.create(0, Outgoing("", Pieces(embeds=(CARD,))))
    assert turn.discord.visible() == [texts.here().left_out["embeds"]]


async def test_a_full_message_leaves_a_piece_out_without_a_word() -> None:
    """The word of it would not fit."""
    turn = await HeldTurn().begin()
    forbid(turn, "embeds")
    full = "a" * NOTED
    await turn.create(0, Outgoing(full, Pieces(embeds=(CARD,))))
    assert turn.discord.visible() == [full]


async def test_a_file_that_discord_finds_too_large_is_left_out() -> None:
    """What fits depends on the place, of which we may not know all."""
    turn = await HeldTurn().begin()
    turn.discord.next("create", Rejected(413, 40005))
    await turn.create(0, Outgoing("a", BOTH))
    (sent,) = turn.discord.messages
    assert (sent.text, sent.files, sent.embeds) == (
        f"a\n{texts.here().left_out['files']}",
        (),
        (CARD,),
    )


async def test_without_the_right_to_speak_nothing_is_left_to_leave_out() -> None:
    """The plainest form is refused too, and that is the end."""
    turn = await HeldTurn().begin()
    turn.discord.plan = lambda _number, _method: Fault(Rejected(403, 50013))
    with pytest.raises(Rejected):
        await turn.create(0, Outgoing("a", BOTH))
    assert len(turn.discord.requests) == 3


# ------------------------------------------------------------------------------------------- status


async def test_a_mark_takes_the_place_of_a_status_and_leaves_what_is_carried() -> None:
    """What ended is not "reading" any more; a card stays a card."""
    turn = await HeldTurn().begin()
    reply = turn.reply()
    reply.show([Outgoing("a", Pieces(embeds=(CARD,), buttons=(YES,)), STOP, "reading")])
    await reply.land([Outgoing("a", Pieces(embeds=(CARD,), buttons=(YES,)), STOP, "reading")])
    await reply.settle()
    await reply.mark("…", None)
    (sent,) = turn.discord.messages
    assert (sent.text, sent.embeds, sent.buttons, sent.button) == ("a…", (CARD,), (YES,), None)


@pytest.mark.parametrize("adopted", [False, True])
async def test_a_status_alone_does_not_outlive_its_turn(adopted: bool) -> None:
    """Its message is removed, also when a forerunner has left it."""
    status = Outgoing("", status="reading", button=STOP)
    turn = HeldTurn()
    if adopted:
        there = turn.discord.put(status.content, content=status)
        turn.left = (Page(0, 0, status.likeness.encode(), there),)
    await turn.begin()
    reply = turn.reply()
    if adopted:
        await turn.pages.read(turn.posted)
        reply._posted = turn.posted
    else:
        reply.show([status])
        await wait_until(turn.discord.visible, description="it is shown")
    await reply.freeze(1)
    await reply.settle()
    assert turn.discord.visible() == []
    assert not reply.begun


async def test_a_status_that_a_forerunner_left_is_told_from_its_text() -> None:
    """It is not taken for words, by which a replay would wait to get as far."""
    turn = HeldTurn()
    there = turn.discord.put(f"a\n{STATUS_SIGN}reading a long list of files")
    turn.left = (Page(0, 0, b"a", there),)
    await turn.begin()
    await turn.pages.read(turn.posted)
    (posted,) = turn.posted.values()
    assert (posted.shown, posted.status) == ("a", "reading a long list of files")
