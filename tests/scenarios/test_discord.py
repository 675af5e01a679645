"""Discord's world: channels that vanish, rights that lack, other bots, commands and buttons."""

import asyncio
from collections.abc import AsyncGenerator, Iterator

import aiohttp
import pytest

from bot import Turn, texts
from sandbox import interactions
from sandbox.log import Entry
from tests.scenarios.scene import ADA, BO, CY, FAILED, STOPPED, Room, Scene
from tests.scenarios.script import LLM, broken

PINGS = "@everyone <@&1> @here <@2>"


def writes(scene: Scene) -> Iterator[Entry]:
    """The requests that put text before people: messages, edits, answers to commands."""
    for entry in scene.sandbox.log.since(0):
        content = entry.body.get("content") if isinstance(entry.body, dict) else None
        data = entry.body.get("data") if isinstance(entry.body, dict) else None
        if content or (isinstance(data, dict) and data.get("content")):
            yield entry


async def test_B107_of_a_channel_that_is_deleted_nothing_is_left(scene: Scene, room: Room) -> None:
    """It was never forgotten: "unknown channel", thousands of times."""

    async def sets_a_timer(turn: Turn) -> AsyncGenerator[str, None]:
        turn.schedule("daily", delay=60, every=3_600)
        yield "set"

    async with scene.bot() as bot:
        await room.uses(ADA, "/follow")
        room.says(ADA, "@remind me", sets_a_timer)
        await room.streams("set")
        await scene.settles(bot)
        room.says(ADA, "@q1", LLM(20))
        await scene.passes(3)
        room.says(BO, "@q2")
        before, here = scene.sandbox.log.number(), room.conversation
        room.world.delete_channel(room.id)
        await scene.settles(bot)
        await scene.passes(120)

        asked = [one for one in scene.sandbox.log.since(before) if f"/{room.id}" in one.path]
        assert len(asked) <= 2
        assert (await bot.client.state.subscriptions()).conversations == ()
        assert (await bot.client.state.schedules(here.owner)).timers == ()
        assert (await bot.client.state.due(0, 10)).conversations == ()
        view = await bot.client.state.view(here)
        assert (view.turn, view.waiting) == (None, ())
    assert scene.play.asked == ["remind me", "q1"]


async def test_B108_nobody_is_pinged_by_what_the_bot_says(scene: Scene, room: Room) -> None:
    """A model that wrote `@everyone` pinged the whole server."""
    long = f"{PINGS} " + "a" * 3_000
    async with scene.bot():
        room.says(ADA, f"@{PINGS}", LLM(3))  # created and edited
        await scene.until(lambda: f"{PINGS}: 1 2 3 end" in room.replies(), "it is said")
        room.says(BO, "@q2", LLM(long))  # in several pages
        await scene.until(lambda: "".join(room.replies()).endswith("aaa"), "it is said")
        await room.uses(ADA, "/kill")
    sent = list(writes(scene))
    assert {entry.method for entry in sent} == {"POST", "PATCH"}
    assert any("/callback" in entry.path for entry in sent)
    for entry in sent:
        body = entry.body.get("data", entry.body)
        assert body["allowed_mentions"]["parse"] == []
        assert not body["allowed_mentions"].get("users")
        assert not body["allowed_mentions"].get("roles")


@pytest.fixture
def x(scene: Scene) -> str:
    """Let another bot be in the guild; its name."""
    scene.sandbox.world.add_person("X", bot=True)
    return "X"


async def test_B109_who_calls_everyone_calls_nobody_in_particular(
    scene: Scene, room: Room, x: str
) -> None:
    """One `@everyone` woke all bots, which went on to wake each other."""
    async with scene.bot():
        for person in (x, ADA):
            room.says(person, "@everyone hi")
            room.says(person, "@here hi")
        room.says(BO, "@q1")
        await room.shows("q1: end")
    assert scene.play.asked == ["q1"]


async def test_B111_another_bot_is_not_answered_even_where_everything_is(
    scene: Scene, room: Room, x: str
) -> None:
    """A channel free of the mention rule was free of the rule about bots too: an endless loop."""
    async with scene.bot(follow_mode="queue"):
        await room.uses(ADA, "/follow")
        begun = room.replies()
        room.says(x, "ok")
        room.says(x, "@ok")
        room.says(BO, "q1")
        await room.shows(*begun, "q1: end")
        room.says(x, "q1: end")
        await scene.passes(10)
    assert scene.play.asked == ["q1"]


async def test_B112_silence_is_no_message_that_another_bot_could_answer(
    scene: Scene, room: Room, x: str
) -> None:
    """The notice that the model had said nothing was itself answered, and so on."""
    async with scene.bot():
        asked = room.says(ADA, "@q1", LLM(""))
        room.says(x, "@q2", LLM(""))
        await room.marked(asked, texts.EMPTY)
        await scene.passes(10)
    assert room.replies() == []
    assert scene.play.asked == ["q1"]


def thread(scene: Scene, room: Room) -> Room:
    """Open a thread in a room."""
    world = scene.sandbox.world
    return Room(scene, world.open_thread(room.id, world.person(ADA).id, "a thread").id)


async def test_B113_nothing_is_paid_for_in_a_locked_thread(scene: Scene, room: Room) -> None:
    """Each message in it cost a call of the model, and each reply was refused."""
    locked, world = thread(scene, room), scene.sandbox.world
    world.grant(world.guild.id, world.person(ADA).id, ["manage_threads"], role="Threads")
    async with scene.bot():
        locked.says(BO, "@before")
        await locked.shows("before: end")
        world.change_channel(locked.id, locked=True)
        locked.says(ADA, "@q1")
        room.says(ADA, "@q2")
        await room.shows("q2: end")
    assert scene.play.asked == ["before", "q2"]


@pytest.mark.parametrize("archived", [False, True])
async def test_B113_a_thread_that_is_locked_during_a_reply_ends_it(
    scene: Scene, room: Room, *, archived: bool
) -> None:
    """The model was paid for to the end, though nothing more could be sent."""
    locked = thread(scene, room)
    async with scene.bot() as bot:
        locked.says(BO, "@q1", LLM(60))
        await locked.streams()
        locked.says(ADA, "@q2")
        scene.sandbox.world.change_channel(locked.id, locked=True, archived=archived)
        await scene.until(lambda: not bot.busy, "it ends", within=2)
        await scene.passes(30)
        assert scene.play.asked == ["q1"]  # nor is who waited paid for

        scene.sandbox.world.change_channel(locked.id, locked=False, archived=False)
        locked.says(CY, "@q3")
        await scene.until(lambda: locked.replies()[-1] == "q3: end", "it is open again")


async def test_B115_where_no_file_may_be_attached_the_text_arrives_without_it(
    scene: Scene, room: Room
) -> None:
    """One right was missing, and nothing at all was delivered."""
    text = "".join(f"{number:05}\n" for number in range(3_000))

    async def long(turn: Turn) -> AsyncGenerator[str, None]:
        yield text[:12_000]
        await asyncio.sleep(10)
        yield text[12_000:]

    async with scene.bot() as bot:
        room.says(ADA, "@q1", long)
        await scene.until(lambda: len(room.own()) == 6, "six pages are there")
        await scene.passes(5)
        scene.fails("POST /channels/*/messages", status=403, code=50013, times=1)
        await scene.settles(bot)
        room.says(BO, "@q2")
        await scene.until(lambda: room.replies()[-1] == "q2: end", "the next is answered")
    *pages, instead, _ = room.replies()
    assert text.startswith("\n".join(pages))
    assert texts.here().left_out["files"] in instead


async def test_B115_a_channel_that_refuses_the_bot_is_told_to_its_operator_once(
    scene: Scene, room: Room
) -> None:
    """The report of the error went to the same channel, failed too, and nobody ever knew."""
    async with scene.bot() as bot:
        scene.fails("POST /channels/*/messages", status=403, code=50013)
        for person, text in ((ADA, "@q1"), (BO, "@q2"), (ADA, "@q3")):
            room.says(person, text)
            await scene.passes(5)
            await scene.settles(bot)
    told = [line for line in scene.log if line["event"] == "not allowed to speak here"]
    assert [line["log_level"] for line in told] == ["warning"]
    assert scene.play.asked == ["q1"]
    assert len(room.requests("POST", "/messages")) == 1


@pytest.mark.parametrize(
    ("command", "options", "answer"),
    [
        ("/queue", {}, "Nothing is running or waiting here."),
        ("/ask", {"question": "q1"}, "q1: end"),
    ],
)
async def test_B117_a_command_is_answered_although_the_store_is_slow(
    scene: Scene, room: Room, command: str, options: dict[str, str], answer: str
) -> None:
    """Its first answer came later than three seconds: unknown interaction."""
    async with scene.bot() as bot:
        bot.store.hold = asyncio.Event()
        asyncio.get_running_loop().call_later(4, bot.store.hold.set)
        asked = scene.now
        answered = await room.uses(ADA, command, **options)
        assert answered["deferred"]
        assert answered["content"] == answer
        assert scene.now - asked > 4
        [deferred] = [one for one in scene.sandbox.log.since(0) if "/callback" in one.path]
        assert deferred.body["type"] == 5
        assert deferred.monotonic - asked < 1
        await scene.settles(bot)


async def test_B119_reconnects_send_no_commands(scene: Scene, room: Room) -> None:
    """Each reconnect sent all commands anew, met Discord's limit, and broke off what ran."""
    async with scene.bot() as bot:
        sent = len(_commands_sent(scene))
        room.says(ADA, "@q1", LLM(60))
        for _ in range(20):
            await scene.begins_anew(bot)
        assert len(_commands_sent(scene)) == sent
        await room.shows("q1:…end", within=120)
    async with scene.bot():
        assert len(_commands_sent(scene)) == sent
    assert len(scene.play.runs) == 1


def _commands_sent(scene: Scene) -> list[Entry]:
    return [
        one for one in scene.sandbox.log.since(0) if one.method != "GET" and "/commands" in one.path
    ]


async def test_B120_a_hundred_commands_are_no_obstacle_to_another_set(
    scene: Scene, room: Room
) -> None:
    """One had to be created before another was deleted, and with a hundred that was refused."""
    sandbox = scene.sandbox
    address = f"{sandbox.api}/applications/{sandbox.application_id}/commands"
    old = [{"name": f"old-{number}", "description": "x", "type": 1} for number in range(100)]
    async with aiohttp.ClientSession(headers={"Authorization": f"Bot {sandbox.token}"}) as session:
        answer = await session.put(address, json=old)
        assert answer.status == 200
    async with scene.bot():
        assert (await room.uses(ADA, "/queue"))["content"]
    assert not [one for one in sandbox.interactions.commands() if one["name"].startswith("old")]


async def test_B121_a_button_of_a_reply_that_is_over_says_so(
    scene: Scene, room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It looked alive when nobody listened to it any more: "interaction failed"."""
    # The reader's client still shows what Discord has taken away.
    monkeypatch.setattr(interactions, "_component", lambda *_: {"type": 2})
    async with scene.bot():
        room.says(BO, "@q1", LLM(5))
        await scene.until(lambda: room.buttons, "there is a button")
        [stop] = room.buttons
        await room.shows("q1:…end")
        assert room.buttons == []
        await scene.passes(900)
        assert await room.presses(BO, stop) == texts.here().already_over

        room.says(BO, "@q2", broken)
        await room.shows("q1:…end", f"q2:…{FAILED}")
        await scene.until(lambda: room.buttons, "there is a button")
        [again] = room.buttons
        await scene.passes(900)
        assert await room.presses(BO, again) == texts.here().trying_again
        assert await room.presses(BO, again) == texts.here().already_over


async def test_B124_a_question_may_point_at_what_was_said_before_it(
    scene: Scene, room: Room
) -> None:
    """It got a greeting for an answer: what stood right above it was not seen."""
    seen: list[str] = []

    async def looks_up(turn: Turn) -> AsyncGenerator[str, None]:
        seen.extend(remark.text for remark in await turn.context())
        yield "because"

    async with scene.bot():
        room.says(ADA, "why is X?")
        await scene.passes(6)
        room.says(ADA, "@^^", looks_up)
        await room.shows("because")
    assert seen[-1:] == ["why is X?"]
    assert scene.play.asked == ["^^"]


async def test_B122_a_button_of_a_process_that_is_gone_works(scene: Scene, room: Room) -> None:
    """After a restart nobody knew what the button was for."""
    async with scene.bot(process={"drain": "0s"}):
        room.says(BO, "@q1", LLM(60))
        await scene.until(lambda: room.buttons, "there is a button")
        [stop] = room.buttons
    async with scene.bot() as bot:
        await scene.until(lambda: bot.busy, "the turn is taken up")
        assert await room.presses(BO, stop) == texts.here().stopped_by_button
        await room.shows(f"q1:…{STOPPED}")
        assert room.buttons == []
