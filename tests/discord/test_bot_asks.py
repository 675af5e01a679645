"""Commands that ask for a turn, with the real client: deferred at once, answered in turn."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from bot import responses, texts
from bot.endings import Ending
from sandbox import Sandbox
from sandbox.faults import Fault
from state import connect
from state.values import Conversation
from tests.discord.asking import Asking
from tests.discord.bots import Room, running
from tests.waiting import wait_until

ECHO = {"responder": "Echo"}


async def test_an_answer_takes_the_place_of_thinking(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One message, for all to see, under the name of whoever used the command."""
    async with running(sandbox, monkeypatch, conversation=ECHO):
        room = Asking(sandbox)
        asked = room.ask("Ada", "a b c")
        view = await room.until(asked, says="a b c")
        assert view["deferred"]
        assert not view["ephemeral"]
        assert [str(own.id) for own in room.own()] == [view["message_id"]]


async def test_a_slow_store_does_not_delay_the_acknowledgement(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B117: "thinking…" within a second, although the store takes as long as it likes."""
    store, answers = connect("memory:"), asyncio.Event()
    await store.open()
    admit = store.admit

    async def slow(*given: Any, **options: Any) -> Any:  # noqa: ANN401 (as the port)
        await answers.wait()
        return await admit(*given, **options)

    async with running(sandbox, monkeypatch, store, conversation=ECHO):
        monkeypatch.setattr(store, "admit", slow)
        room = Asking(sandbox)
        asked = room.ask("Ada", "a b")
        async with asyncio.timeout(1.0):
            await room.until_thinking(asked)
        answers.set()
        await room.until(asked, says="a b")
    await store.close()


async def test_a_slow_acknowledgement_delays_the_reply_and_not_the_turn(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before it, Discord would know of no response to edit."""
    async with running(sandbox, monkeypatch, conversation=ECHO) as bot:
        room = Asking(sandbox)
        sandbox.faults.add(Fault("POST", "/interactions/*", latency=30.0))
        asked = room.ask("Ada", "a b")
        await wait_until(lambda: len(bot.locks), description="the turn has begun")
        assert not room.view(asked)["responded"]
        sandbox.faults.clear()
        await room.until(asked, says="a b")
        assert [request.status for request in room.requests("PATCH", "/@original")] == [200]


@pytest.mark.parametrize(
    ("status", "code"), [(404, 10062), (404, 10015), (401, 50027), (401, 0), (400, 40060)]
)
async def test_a_command_that_cannot_be_deferred_is_answered_in_the_channel(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, status: int, code: int
) -> None:
    """By name, since no response shows who asked."""
    async with running(sandbox, monkeypatch, conversation=ECHO):
        room = Asking(sandbox)
        sandbox.faults.add(Fault("POST", "/interactions/*", status=status, code=code))
        asked = room.ask("Ada", "a b")
        await room.until_replies("a b")
        [answer] = room.replies()
        assert f"<@{room.world.person('Ada').id}>" in answer
        assert not room.view(asked)["responded"]


async def test_when_the_token_dies_the_reply_goes_on_in_the_channel(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The response is a message of ours there, which can be edited as such."""
    async with running(sandbox, monkeypatch):
        room = Asking(sandbox)
        asked = room.ask("Ada", "count to 40")
        await room.until(asked, says="")
        asked.expires_at = "2000-01-01T00:00:00+00:00"
        await room.until(asked, says="40")
        assert len(room.own()) == 1
        edits = [(one.path.split("/")[1], one.status) for one in room.requests("PATCH", "")]
        refused = edits.index(("webhooks", 401))
        assert set(edits[:refused]) == {("webhooks", 200)}
        assert set(edits[refused + 1 :]) == {("channels", 200)}


async def test_a_turn_that_begins_after_the_token_names_who_asked(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waited longer than Discord waits for us; nobody is pinged for it."""
    monkeypatch.setattr(responses, "TOKEN_LIFE", 0.0)
    async with running(sandbox, monkeypatch, conversation=ECHO):
        room = Asking(sandbox)
        asked = room.ask("Bo", "a b")
        await wait_until(lambda: len(room.own()) == 2, description="a message of its own")
        await wait_until(lambda: room.replies()[-1].endswith("a b"), description="all of it")
        named = room.own()[-1]
        assert named.content.startswith(f"-# Asked by <@{room.world.person('Bo').id}>")
        assert named.ping_user_ids == []
        assert room.view(asked)["thinking"]


async def test_in_a_channel_where_it_may_not_speak_all_pages_are_followups(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commands work wherever people may use them."""
    long = " ".join(["word"] * 900)
    async with running(sandbox, monkeypatch, conversation=ECHO):
        room = Asking(sandbox)
        room.world.change_channel(room.id, deny=["send_messages"])
        await wait_until(lambda: not _sends(room), description="the bot may not speak")
        asked = room.ask("Ada", long)
        await wait_until(lambda: len(room.view(asked)["followups"]) == 2, description="three pages")
        await wait_until(
            lambda: " ".join("".join(room.replies()).split()).count("word") == 900,
            description="all of it is there",
        )
        assert room.requests("POST", f"/channels/{room.id}/messages") == []


def _sends(room: Room) -> bool:
    world = room.world.discord
    held = world.compute_permissions(room.world.guild.id, world.bot_user.id, room.id)
    return bool(held & 1 << 11)


@pytest.mark.parametrize("kind", ["dm", "thread"])
async def test_direct_messages_and_threads_are_conversations_of_commands_too(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """The command waits for the message before it, as both name the same conversation."""
    async with running(sandbox, monkeypatch, conversation={"followups": "off"}) as bot:
        room = Asking(sandbox)
        ada = room.world.person("Ada").id
        if kind == "dm":
            room.id = room.world.open_dm(ada).id
        else:
            start = room.say("Ada", "let us talk", addressed=False)
            room.id = room.world.discord.start_thread(room.id, ada, "talk", message_id=start).id
        room.say("Ada", "count to 20")
        await wait_until(lambda: len(bot.locks), description="a turn runs")
        asked = room.ask("Ada", "count to 2")
        await room.until_thinking(asked)
        await room.until(asked, says="1 2")
        thinking_first, reply = room.replies()
        assert (thinking_first, reply.split()[-1]) == ("1 2", "20")


async def test_a_first_command_in_a_direct_message_makes_it_followed(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a first message does, so that what is written while no process runs is answered."""
    async with running(sandbox, monkeypatch, conversation=ECHO) as bot:
        room = Asking(sandbox)
        room.id = room.world.open_dm(room.world.person("Ada").id).id
        await room.until(room.ask("Ada", "a b"), says="a b")
        await wait_until(lambda: str(room.id) in bot.followed, description="it is followed")


async def test_commands_and_messages_are_one_line_and_one_follow_up(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command of its author takes over from a message, and the mark is where it was."""
    async with running(sandbox, monkeypatch):
        room = Asking(sandbox)
        room.say("Ada", "count to 1000 slowly")
        await wait_until(room.own, description="it counts")
        asked = room.ask("Ada", "count to 2")
        await room.until(asked, says="1 2")
        assert room.replies()[0].endswith(texts.here().mark(Ending.SUPERSEDED))


async def test_stop_kill_and_the_button_reach_a_command_s_reply(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each leaves its mark in the response, and the button is gone with it."""
    async with running(sandbox, monkeypatch):
        room = Asking(sandbox)
        ada = room.world.person("Ada").id
        use: dict[Ending, Callable[[Any], object]] = {
            Ending.STOPPED: lambda _: room.sandbox.interactions.use(room.id, ada, "stop", {}),
            Ending.KILLED: lambda _: room.sandbox.interactions.use(room.id, ada, "kill", {}),
        }
        for ending, act in use.items():
            asked = room.ask("Ada", "count to 1000 slowly")
            await room.until(asked, says="")
            act(asked)
            view = await room.until(asked, says=texts.here().mark(ending))
            assert not view["components"]
        asked = room.ask("Ada", "count to 1000 slowly")
        view = await room.until(asked, says="")
        [button] = view["components"][0]["components"]
        sandbox.interactions.press(
            channel_id=room.id,
            user_id=ada,
            message_id=int(view["message_id"]),
            custom_id=button["custom_id"],
            values=[],
        )
        await room.until(asked, says=texts.here().mark(Ending.STOPPED))


async def test_who_may_not_be_answered_is_told_alone(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At once, without a turn; the lists are those of messages."""
    bo = str(sandbox.world.person("Bo").id)
    async with running(sandbox, monkeypatch, conversation=ECHO, access={"blocked": [bo]}):
        room = Asking(sandbox)
        asked = room.ask("Bo", "a b")
        view = await room.until(asked, says=texts.here().not_allowed)
        assert view["ephemeral"]
        allowed = room.ask("Ada", "a b")
        await room.until(allowed, says="a b")


async def test_an_empty_reply_leaves_a_shrug(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the place of "thinking…"; nothing is left to react to."""
    async with running(sandbox, monkeypatch):
        room = Asking(sandbox)
        await room.until(room.ask("Ada", "say nothing"), says=texts.EMPTY)
        assert room.requests("PUT", "/@me") == []


async def test_in_a_guild_that_it_is_no_member_of_it_answers_by_the_token_alone(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There a person has brought it along; the guild is the owner all the same."""
    long = " ".join(["word"] * 900)
    async with running(sandbox, monkeypatch, conversation=ECHO) as bot:
        room = Asking(sandbox)
        asked, event = room.event("Ada", "ask", question=long)
        event["guild_id"] = "999"
        room.world.discord.emit("INTERACTION_CREATE", event)
        await wait_until(lambda: len(room.view(asked)["followups"]) == 2, description="three pages")
        await wait_until(lambda: not len(bot.locks), description="the turn is over")
        said = await bot.state.history(Conversation("guild/999", str(room.id)), limit=2)
        assert len(said) == 2
        channel = f"/channels/{room.id}"
        assert not [one for one in sandbox.log.since(0) if one.path.startswith(channel)]


async def test_a_blocked_role_counts_where_its_guild_is_not_known(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ids of a member's roles come with the command."""
    async with running(sandbox, monkeypatch, conversation=ECHO, access={"blocked": ["888"]}):
        room = Asking(sandbox)
        asked, event = room.event("Ada", "ask", question="a b")
        event["guild_id"] = "999"
        event["member"]["roles"] = ["888"]
        room.world.discord.emit("INTERACTION_CREATE", event)
        await room.until(asked, says=texts.here().not_allowed)
