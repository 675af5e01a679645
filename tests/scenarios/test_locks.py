"""Locks: who may speak, for how long, and what becomes of those who come meanwhile."""

import asyncio
import time
from collections.abc import AsyncGenerator
from itertools import pairwise

import pytest

from bot import Turn
from state.errors import LeaseLost
from state.memory import Database, MemoryState
from state.outcomes import Held, Placed, Turnover
from state.values import Changes, Claim, Conversation, Could, Inbound, Lease, Outcome, Policy
from tests.scenarios.scene import ADA, BO, CY, SUPERSEDED, Bot, Room, Scene
from tests.scenarios.script import LLM, Tools

#: Seconds that a lock lives without being renewed, by default.
LEASE = 15.0


def noted(bot: Bot, step: str) -> list[float]:
    """Note when *bot* takes that step from now on."""
    times: list[float] = []

    def note(_number: int, name: str) -> None:
        if name == step:
            times.append(time.monotonic())

    bot.store.plan = note
    return times


@pytest.mark.parametrize(
    ("second", "shown"),
    [(BO, ("q1:…end", "q2:…end")), (ADA, (f"q1:…{SUPERSEDED}", "q2:…end"))],
)
async def test_B01_a_lock_is_renewed_for_as_long_as_its_turn_runs(
    scene: Scene, room: Room, second: str, shown: tuple[str, ...]
) -> None:
    """A lock that was never renewed ran out under a long reply; another began beside it."""
    async with scene.bot() as bot:
        renewed = noted(bot, "renew")
        room.says(ADA, "@q1", LLM(75))
        await scene.passes(35)
        room.says(second, "@q2", LLM(75))

        await room.shows(*shown, within=180)

    assert len(renewed) > 75 / LEASE
    assert max(later - earlier for earlier, later in pairwise(renewed)) < LEASE / 3 + 1


@pytest.mark.parametrize("moment", ["before", "after"])
async def test_B02_a_message_between_the_last_look_and_the_release_is_not_stranded(
    scene: Scene, room: Room, moment: str
) -> None:
    """Enqueued while its holder had seen an empty queue and not yet let go, it waited for ever."""
    async with scene.bot() as holder:
        pause = asyncio.Event()

        def pauses_at_the_end(_number: int, name: str) -> None:
            if name == "commit" and moment == "before":
                holder.store.hold = pause
            elif name == "commit":
                holder.store.answering = pause

        holder.store.plan = pauses_at_the_end
        room.says(ADA, "@q1")
        await room.shows("q1: end")
        await scene.until(lambda: "commit" in holder.store.steps, "the last step is asked for")

        async with scene.bot() as other:  # for the holder itself is paused
            room.says(BO, "@q2")
            await scene.until(lambda: "admit" in other.store.steps, "it is admitted")
            await scene.passes(1)
            pause.set()
            holder.store.hold = holder.store.answering = None

            await room.shows("q1: end", "q2: end", within=LEASE)


async def test_B03_a_message_that_met_a_lock_is_answered_once_when_it_is_redelivered(
    scene: Scene, room: Room
) -> None:
    """It was marked as seen before it failed to get the lock, and so was lost for good."""
    async with scene.bot():
        room.says(ADA, "@q1", LLM(20))
        await scene.passes(1)
        second = room.says(BO, "@q2")
        await scene.passes(1)
        room.redelivers(second)

        await room.shows("q1:…end", "q2: end")
        await scene.passes(5)
        room.redelivers(second)
        room.says(CY, "@q3")
        await room.shows("q1:…end", "q2: end", "q3: end")


class OneAtATime:
    """A backend that answers a second request with a conflict while it serves one."""

    def __init__(self) -> None:
        self.busy = False
        self.conflicts = 0

    async def __call__(self, turn: Turn) -> AsyncGenerator[str, None]:
        """Ask it."""
        if self.busy:
            self.conflicts += 1
            raise RuntimeError("409 Conflict")
        self.busy = True
        try:
            async for word in LLM(10)(turn):
                yield word
        finally:
            self.busy = False


async def test_B05_a_backend_that_takes_one_request_at_a_time_is_asked_one_at_a_time(
    scene: Scene, room: Room
) -> None:
    """A second message during a run made the backend refuse, and the bot crash."""
    backend = OneAtATime()
    async with scene.bot():
        room.says(ADA, "@q1", backend)
        await scene.passes(0.2)
        room.says(BO, "@q2", backend)

        await room.shows("q1:…end", "q2:…end")
    assert backend.conflicts == 0


async def test_B06_five_mentions_in_a_row_all_have_a_visible_outcome(
    scene: Scene, room: Room
) -> None:
    """Parallel calls were refused, the error was swallowed, and five people heard nothing."""
    backend = OneAtATime()
    async with scene.bot() as bot:
        said = []
        for number in range(1, 6):
            said.append(room.says(ADA, f"@q{number}", backend))
            await scene.passes(2)

        # Three times in a row she takes over; then her message waits as any other.
        takes_over = [f"…{SUPERSEDED}"] * 3
        await room.shows(*takes_over, "q4:…end", "q5:…end")
        await scene.settles(bot)
    assert backend.conflicts == 0
    assert [int(one) for one, _ in bot.store.endings] == said


async def test_B08_a_message_during_a_run_does_exactly_one_thing(scene: Scene, room: Room) -> None:
    """Any message during a run killed the run and was itself lost."""
    tools = Tools(20)
    async with scene.bot() as bot:
        room.says(ADA, "@q1", tools)
        await scene.passes(5)
        room.says(ADA, "@also do x")

        await room.shows("also do x: end")
        await scene.settles(bot)
    assert tools.done == 1  # the chain was not cut
    assert scene.play.asked == ["q1", "also do x"]


async def test_B09_what_one_conversation_sends_hides_no_reply_of_another(
    scene: Scene, room: Room
) -> None:
    """A flag shared by all conversations let a tool's message in one suppress another's reply."""
    elsewhere = scene.room("random")
    async with scene.bot() as bot:
        channel = bot.client.get_partial_messageable(room.id)

        async def sends(turn: Turn) -> AsyncGenerator[str, None]:
            await asyncio.sleep(2)
            await channel.send("sent by a tool")
            yield f"{turn.text}: end"

        room.says(ADA, "@q1", sends)
        elsewhere.says(BO, "@q2", LLM(4))

        await room.shows("sent by a tool", "q1: end")
        await elsewhere.shows("q2:…end")


async def test_B10_a_long_run_in_one_channel_delays_nobody_in_another(
    scene: Scene, room: Room
) -> None:
    """The listener timed out behind a long run, and events of other channels were dropped."""
    elsewhere = scene.room("random")
    async with scene.bot():
        room.says(ADA, "@q1", LLM(90))
        await scene.passes(40)
        elsewhere.says(BO, "@hi")
        await elsewhere.shows("hi: end", within=2)

        await room.shows("q1:…end", within=120)


async def test_B11_the_history_holds_all_that_was_said_in_order(scene: Scene, room: Room) -> None:
    """History was read, changed and written without a lock, so that the later write won."""
    async with scene.bot() as bot:
        for person in (ADA, BO, CY):
            room.says(person, f"@by {person}")
        await room.shows("by Ada: end", "by Bo: end", "by Cy: end")
        await scene.settles(bot)
        heard: list[str] = []

        async def remembers(turn: Turn) -> AsyncGenerator[str, None]:
            heard.extend(said.text for said in await turn.history())
            yield "remembered"

        room.says(ADA, "@what was said?", remembers)
        await scene.until(lambda: heard, "the history is read")
    said = [line for name in (ADA, BO, CY) for line in (f"by {name}", f"by {name}: end")]
    assert heard == said


HERE = Conversation("guild/1", "1")


async def test_B13_a_holder_that_overran_its_lock_cannot_take_the_next_one_away() -> None:
    """One token for a whole process let an overdue holder delete the lock of the next."""
    now = [1_000.0]
    state = MemoryState(Database(), lambda: now[0])
    await state.open()
    claim, asked = Claim(LEASE, by="the same process"), Inbound("1", "101", b"")
    placed = await state.admit(HERE, asked, Could(trigger=True), Policy(), op="1", claim=claim)
    assert isinstance(placed, Placed)
    first = placed.turnover.started

    now[0] += LEASE + 1
    turnover = await state.claim(HERE, op="2", claim=claim)
    assert isinstance(turnover, Turnover)
    second = turnover.started

    assert first
    assert second
    with pytest.raises(LeaseLost):
        await state.commit(first.lease, Changes(Outcome.ANSWERED), op="3", claim=claim)
    assert isinstance((await state.renew([second.lease], LEASE))[0], Held)
    assert _number(second.lease) > _number(first.lease)


def _number(lease: Lease) -> int:
    return int(lease.token.partition("-")[0])


async def test_B15_a_turn_is_never_too_old_to_be_alive(scene: Scene, room: Room) -> None:
    """A lock older than three minutes counted as stale: a second run began, the queue was wiped."""
    tools = Tools(200)
    async with scene.bot() as bot:
        room.says(ADA, "@q1", tools)
        await scene.passes(10)
        room.says(BO, "@q2")
        await scene.passes(180)
        assert (tools.begun, tools.done) == (1, 0)
        room.says(CY, "@q3")

        await room.shows("q1: worked 1 end", "q2: end", "q3: end")
        await scene.settles(bot)
    assert scene.play.asked == ["q1", "q2", "q3"]
