"""The settings file is changed while the bot writes a reply."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot import rereading
from bot.client import Interlock
from bot.config import load
from bot.testing import sandboxed
from sandbox import Sandbox
from state import connect
from tests.discord.bots import EXTENSIONS, Room
from tests.discord.commanding import direct, privately
from tests.openai_stub import OpenAIStub
from tests.waiting import wait_until

#: What every file of these tests begins with.
HEAD = f"extensions = {list(EXTENSIONS)}\n"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a settings file that is looked at all the time."""
    monkeypatch.setattr(rereading, "EVERY", 0.02)
    file = tmp_path / "interlock.toml"
    file.write_text(HEAD, encoding="utf-8")
    return file


def save(file: Path, text: str) -> None:
    """Write the settings."""
    file.write_text(text, encoding="utf-8")


@asynccontextmanager
async def following(sandbox: Sandbox, file: Path) -> AsyncIterator[Interlock]:
    """Run the bot by the settings in *file*, which it follows."""
    state = connect("memory:")
    await state.open()
    at = {"token": sandbox.token, "api": sandbox.api, "gateway": sandbox.gateway}
    async with sandboxed.running(load(file, {}, {}), state, **at) as bot:
        yield bot
    await state.close()


async def test_a_running_reply_goes_on_and_the_next_goes_by_the_new_settings(
    sandbox: Sandbox, file: Path
) -> None:
    """Its responder and its rules stay; so do those of a message that waits already."""
    async with following(sandbox, file) as bot:
        room = Room(sandbox)
        room.say("Ada", "count to 6 slowly")
        await wait_until(room.replies, description="the stream")
        room.say("Bo", "count to 2")
        await wait_until(lambda: len(bot.door._remembered) == 2, description="Bo waits")

        save(file, f"{HEAD}[conversation]\nresponder = 'Echo'\nbuttons = false\n")
        await wait_until(lambda: bot.responder_name == "Echo", description="the settings are read")
        room.say("Cy", "count to 9")

        await room.until_replies("1 2 3 4 5 6", "1 2", "count to 9")
        assert len(sandbox.connections.sessions) == 1


async def test_an_invalid_file_leaves_everything_as_it_was(
    sandbox: Sandbox, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The reply goes on, the next message is answered as before, and the log says why."""
    async with following(sandbox, file):
        room = Room(sandbox)
        room.say("Ada", "count to 4 slowly")
        await wait_until(room.replies, description="the stream")
        save(file, f"{HEAD}[conversation]\nmode = 'all'\n")
        said = ""

        def refused() -> bool:
            nonlocal said
            said += capsys.readouterr().out
            return "settings refused" in said

        await wait_until(refused, description="the warning")
        room.say("Bo", "count to 2")
        await room.until_replies("1 2 3 4", "1 2")
    assert "conversation.mode" in said


async def test_a_model_that_is_set_answers_from_the_next_message_on(
    sandbox: Sandbox, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody starts anything anew; and each place is told what is meant for it."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    head = HEAD.replace("]", ", 'cogs.chat']")
    save(file, head)
    async with OpenAIStub().running() as stub, following(sandbox, file) as bot:
        general, quiet = Room(sandbox), Room(sandbox, "quiet")
        general.say("Ada", "count to 2")
        await general.until_replies("1 2")
        save(
            file,
            f"{head}[cogs.chat]\nmodel = 'openai:x'\nbase_url = '{stub.url}'\n"
            "instructions = 'Be brief.'\n"
            f"[channels.{quiet.id}.cogs.chat]\ninstructions = 'Be loud.'\n",
        )
        await wait_until(lambda: bot.responder_name == "Chat", description="the settings are read")
        general.say("Bo", "how is it?")
        await general.until_replies("1 2", stub.usually.text)
        quiet.say("Bo", "how is it?")
        await quiet.until_replies(stub.usually.text)
    assert [request.messages[0] for request in stub.asked] == [
        ("system", "Be brief."),
        ("system", "Be loud."),
    ]


async def test_operators_have_the_settings_read_at_once_and_are_told_what_came_of_it(
    sandbox: Sandbox, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is in force, what waits for a restart, or what is wrong."""
    monkeypatch.setattr(rereading, "EVERY", 60.0)
    operator = f"[access]\noperators = [{sandbox.world.person('Bo').id}]\n"
    head = f"extensions = ['cogs.demo', 'cogs.operator']\n{operator}"
    save(file, head)
    async with following(sandbox, file) as bot:
        desk = direct(sandbox, "Bo")
        assert await privately(desk, "Bo", "reload") == "Nothing changed."
        save(file, f"{head}[conversation]\ninbox = 7\n[state]\nlease = '9s'\n")
        assert await privately(desk, "Bo", "reload") == (
            "In force now: `conversation.inbox`. Waiting for a restart: `state.lease`."
        )
        save(file, f"{head}[conversation]\ninbox = 0\nmode = 'all'\n")
        told = await privately(desk, "Bo", "reload")
        assert told.startswith("Something is wrong with the settings;")
        assert "conversation.inbox: 0 is too small" in told
        assert "conversation.mode" in told
        assert bot.settings.conversation.inbox == 7
