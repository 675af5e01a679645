"""/status, /deadletters, /reload and /usage: what the store holds, told to those who may know."""

import pytest

from bot import wakes
from sandbox import Sandbox
from tests.discord.bots import Room, running
from tests.discord.commanding import direct, privately
from tests.waiting import wait_until

EXTENSIONS = ("cogs.demo", "cogs.operator", "cogs.usage")


def operators(sandbox: Sandbox, *people: str) -> dict[str, object]:
    """Make settings in which these people run the bot."""
    ids = [str(sandbox.world.person(person).id) for person in people]
    return {"extensions": EXTENSIONS, "access": {"operators": ids}}


async def test_operators_see_what_runs_anywhere(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whose reply is being written in another channel, and how many wait there."""
    async with running(sandbox, monkeypatch, None, **operators(sandbox, "Bo")):
        desk, other = direct(sandbox, "Bo"), Room(sandbox, "random")
        idle = await privately(desk, "Bo", "status")
        assert idle == "0 being answered, 0 left to be taken up, 0 waiting, 0 dead letters."
        other.say("Ada", "count to 1000 slowly")
        await wait_until(other.replies, description="the stream")
        line, summary = (await privately(desk, "Bo", "status")).splitlines()
        assert line.startswith(f"<#{other.id}>: answering Ada for ")
        assert summary.startswith("1 being answered, 0 left")
        other.say("Ada", "stop", addressed=False)
        await other.until_replies("")


async def test_operators_requeue_and_discard_what_was_given_up(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the id that the list shows; it is then tried again where it was asked."""
    monkeypatch.setattr(wakes, "EVERY", 0.02)
    async with running(sandbox, monkeypatch, None, **operators(sandbox, "Bo")) as bot:
        room, desk = Room(sandbox), direct(sandbox, "Bo")
        assert await privately(desk, "Bo", "deadletters") == "There are no dead letters."
        room.say("Ada", "fail")
        room.say("Cy", "fail")
        await wait_until(lambda: len(room.replies()) == 2, description="the apologies")
        await bot.conversations.idle()
        first, second = (await privately(desk, "Bo", "deadletters")).splitlines()
        assert "Ada: RuntimeError: the demo was asked to fail" in first
        id_ = first.split("`")[1]
        told = await privately(desk, "Bo", "deadletters", requeue=id_)
        assert told == f"It is tried again in <#{room.id}>."

        async def tried() -> bool:
            kept = [letter.id for letter in (await bot.state.dead_letters(None)).letters]
            return len(kept) == 2 and id_ not in kept

        await wait_until(tried, description="it was tried, and given up anew")
        dropped = second.split("`")[1]
        assert await privately(desk, "Bo", "deadletters", discard=dropped) == "Dropped."
        left = await privately(desk, "Bo", "deadletters")
        assert dropped not in left
        assert "Ada" in left
        gone = await privately(desk, "Bo", "deadletters", discard="`nonsense`")
        assert gone == "There is no dead letter `nonsense`."


@pytest.mark.parametrize(
    ("command", "options"),
    [("status", {}), ("reload", {}), ("deadletters", {}), ("deadletters", {"discard": "x"})],
)
async def test_others_are_told_that_it_is_not_for_them(
    sandbox: Sandbox,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    options: dict[str, str],
) -> None:
    """In direct messages, where Discord offers every command to everybody."""
    async with running(sandbox, monkeypatch, None, **operators(sandbox, "Bo")):
        told = await privately(direct(sandbox, "Ada"), "Ada", command, **options)
        assert told == "This is for those who run the bot: `access.operators` lists them."


async def test_usage_counts_the_replies_of_the_day(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of this server alone, beside what may be."""
    limits = {"owner_turns_per_day": 7}
    async with running(sandbox, monkeypatch, None, extensions=EXTENSIONS, limits=limits) as bot:
        room = Room(sandbox)
        assert "In this server, replies today: 0, of at most 7;" in await privately(
            room, "Ada", "usage"
        )
        room.say("Ada", "count to 2")
        await room.until_replies("2")
        await bot.conversations.idle()
        assert "In this server, replies today: 1, of at most 7;" in await privately(
            room, "Bo", "usage"
        )
