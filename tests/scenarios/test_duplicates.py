"""Duplicates: one message, one turn, one reply, whoever hears it and however often."""

import pytest

from tests.scenarios.scene import ADA, BO, CY, Room, Scene
from tests.scenarios.script import LLM

CREATE = "POST /channels/*/messages"


@pytest.mark.parametrize("again", ["at once", "after a resume", "in a new session"])
async def test_B57_an_event_that_is_delivered_twice_makes_one_turn(
    scene: Scene, room: Room, again: str
) -> None:
    """What Discord replayed was answered a second time."""
    async with scene.bot() as bot:
        said = room.says(ADA, "@q1", LLM(5))
        if again == "at once":
            room.redelivers(said)
        await room.shows("q1:…end")
        if again == "after a resume":
            resumes = scene.sandbox.connections.resumes
            scene.sandbox.connections.drop()
            await scene.until(
                lambda: scene.sandbox.connections.resumes > resumes, "the session is resumed"
            )
        elif again == "in a new session":
            await scene.begins_anew(bot)
        room.redelivers(said)
        room.says(BO, "@q2")
        await room.shows("q1:…end", "q2: end")
    assert scene.play.asked == ["q1", "q2"]


async def test_B58_one_message_makes_one_turn_and_one_reply(scene: Scene, room: Room) -> None:
    """One message started two runs, which answered two or three times."""
    async with scene.bot():
        room.says(ADA, "@ping")
        await room.shows("ping: end")
        await scene.passes(60)
    assert scene.play.asked == ["ping"]
    assert room.replies() == ["ping: end"]


async def test_B59_reconnects_answer_nothing_anew(scene: Scene, room: Room) -> None:
    """Each reconnect read the same old message and answered it, 24 times in twelve hours."""
    direct = scene.direct(BO)
    async with scene.bot(follow_mode="queue") as bot:
        await room.uses(ADA, "/follow")
        followed = room.replies()
        room.says(ADA, "q1")
        direct.says(BO, "q2")
        await room.shows(*followed, "q1: end")
        await direct.shows("q2: end")
        await scene.settles(bot)
        for _ in range(5):
            await scene.begins_anew(bot)
        room.says(CY, "q3")
        await room.shows(*followed, "q1: end", "q3: end")
        await scene.passes(10)
    assert scene.play.asked == ["q1", "q2", "q3"]


async def test_B62_the_final_text_is_delivered_by_one_path(scene: Scene, room: Room) -> None:
    """It came out of the stream and once more as a final message."""
    async with scene.bot():
        room.says(ADA, "@q1", LLM(5))
        await room.shows("q1: 1 2 3 4 5 end")
        await scene.passes(10)
    assert room.replies() == ["q1: 1 2 3 4 5 end"]
    assert len(room.requests("POST", "/messages")) == 1


async def test_B64_a_deploy_in_the_middle_of_a_reply_finishes_it_and_loses_nobody(
    scene: Scene, room: Room
) -> None:
    """On SIGTERM the reply was lost, and for a while the old and the new process both answered."""
    async with scene.bot() as old:
        first = room.says(ADA, "@q1", LLM(20))
        await scene.passes(3)
        old.client.end()
        await scene.passes(2)
        async with scene.bot():
            await scene.passes(1)
            second = room.says(BO, "@hi", LLM(2))

            await room.shows("q1:…end", "hi:…end")
            await room.marked(first)
            await room.marked(second)
    assert scene.play.asked == ["q1", "hi"]


async def test_B65_two_processes_with_the_same_shards_answer_once(scene: Scene, room: Room) -> None:
    """A forgotten second process with the same token said everything twice."""
    async with scene.bot(), scene.bot():
        for person, text in ((ADA, "@q1"), (BO, "@q2"), (CY, "@q3")):
            room.says(person, text, LLM(3))
        await room.shows("q1:…end", "q2:…end", "q3:…end")
        await scene.passes(5)
    assert scene.play.asked == ["q1", "q2", "q3"]
    assert len(room.requests("POST", "/messages")) == 3


@pytest.mark.parametrize("lost", ["lose_request", "lose_reply"])
async def test_B66_a_create_without_an_answer_is_repeated_under_the_same_nonce(
    scene: Scene, room: Room, lost: str
) -> None:
    """The repeated request made the same message a second time."""
    async with scene.bot():
        scene.fails(CREATE, times=1, **{lost: True})
        room.says(ADA, "@q1", LLM(3))
        await room.shows("q1:…end")
    first, second = room.requests("POST", "/messages")
    assert first.lost
    assert first.body["nonce"] == second.body["nonce"]
    assert first.body["enforce_nonce"] is second.body["enforce_nonce"] is True


@pytest.mark.parametrize("seconds", [60, 200])
@pytest.mark.parametrize("carried_out", [False, True])
async def test_B68_a_reply_that_met_an_outage_is_delivered_once_when_it_is_over(
    scene: Scene, room: Room, seconds: float, *, carried_out: bool
) -> None:
    """
    What had been tried once was marked as sent and never came.

    After 200 s Discord knows no nonce any more: whether the message is there is read from the
    channel.
    """
    async with scene.bot():
        if carried_out:
            scene.fails(CREATE, times=1, lose_reply=True)
            room.says(ADA, "@q1")
            await scene.until(room.own, "it is carried out")
            scene.fails(CREATE, status=503)
        else:
            scene.fails(CREATE, status=503)
            room.says(ADA, "@q1")
        await scene.passes(seconds)
        assert room.replies() == (["q1: end"] if carried_out else [])
        scene.heals()

        await room.shows("q1: end")
        room.says(BO, "@q2")
        await room.shows("q1: end", "q2: end")
    assert scene.play.asked == ["q1", "q2"]
