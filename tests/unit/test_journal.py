"""Steps: an effect runs at least once, its result is recorded once and answers every replay."""

import asyncio

import pytest

from bot.errors import TurnTimedOut
from bot.journal import Journal
from state.errors import LeaseLost, StateUnavailable
from state.outcomes import Placed, Started, Turnover
from state.values import Claim, Could, Policy
from tests.unit.fake_process import hurry
from tests.unit.fake_store import Store, Trouble
from tests.unit.fakes import CHANNEL, message

CLAIM = Claim(15.0)


class Run:
    """One run of a turn, as far as its journal goes."""

    def __init__(self, store: Store, started: Started, *, seconds: float = 5.0) -> None:
        self.progressed = 0
        self.effects: list[str] = []
        self.journal = Journal(
            store.port,
            started.lease,
            started.steps,
            seconds=seconds,
            progressed=self._progress,
        )

    def _progress(self) -> None:
        self.progressed += 1

    async def effect(self, key: str) -> str:
        """Note the idempotency key and answer with it."""
        self.effects.append(key)
        return f"run {len(self.effects)}: {key}"


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Store:
    """Give a store that is asked again after milliseconds, for a tenth of a second."""
    hurry(monkeypatch)
    return Store()


async def begin(store: Store) -> Started:
    """Start a turn."""
    asked = message()
    placed = await store.port.admit(
        asked.conversation, asked.inbound(), Could(trigger=True), Policy(), op="first", claim=CLAIM
    )
    assert isinstance(placed, Placed)
    assert placed.turnover.started is not None
    return placed.turnover.started


async def take_up(store: Store, begun: Started) -> Started:
    """Let its lease expire, and take the turn up as another process would."""
    store.clock.now += 16
    answer = await store.port.claim(begun.lease.conversation, op="second", claim=CLAIM)
    assert isinstance(answer, Turnover)
    assert answer.started is not None
    return answer.started


async def test_an_effect_gets_a_key_of_conversation_turn_name_and_use(store: Store) -> None:
    """The key is made of Discord's ids and the n-th use of a name, never of the store's numbers."""
    begun = await begin(store)
    run = Run(store, begun)
    for name in ("look", "look", "pay"):
        await run.journal.step(name, run.effect)
    await run.journal.step("pay", run.effect, "invoice-7")
    uses = ("look/1", "look/2", "pay/1", "pay/invoice-7")
    assert run.effects == [f"{CHANNEL}/{begun.lease.turn}/{use}" for use in uses]


async def test_a_replay_answers_from_the_journal_and_runs_nothing_again(store: Store) -> None:
    """What was recorded before the crash is what the replay gets, whatever the order it asks in."""
    begun = await begin(store)
    first = Run(store, begun)
    results = [await first.journal.step("look", first.effect, key) for key in ("x", "y")]
    second = Run(store, await take_up(store, begun))
    assert await second.journal.step("look", second.effect, "y") == results[1]
    assert await second.journal.step("look", second.effect, "x") == results[0]
    assert second.effects == []


async def test_an_effect_that_was_not_recorded_runs_again_under_the_same_key(store: Store) -> None:
    """A crash between effect and record repeats the effect; the outside can tell by its key."""
    begun = await begin(store)
    first = Run(store, begun)
    store.down = True
    with pytest.raises(StateUnavailable):
        await first.journal.step("pay", first.effect)
    store.down = False
    second = Run(store, await take_up(store, begun))
    await second.journal.step("pay", second.effect)
    assert second.effects == first.effects


async def test_a_lost_answer_of_the_store_runs_no_effect_twice(store: Store) -> None:
    """The record is repeated, not the effect."""
    run = Run(store, await begin(store))
    lost = iter([Trouble.LOST, Trouble.LOST])
    store.plan = lambda _number, name: next(lost, None) if name == "record" else None
    assert await run.journal.step("pay", run.effect) == f"run 1: {run.effects[0]}"
    assert store.steps.count("record") == 3


async def test_parallel_steps_of_one_name_and_key_agree(store: Store) -> None:
    """The first result that is recorded is the result of both."""
    run = Run(store, await begin(store))
    steps = (run.journal.step("look", run.effect, "x") for _ in range(2))
    one, other = await asyncio.gather(*steps)
    assert one == other


async def test_a_result_is_the_same_on_the_first_run_as_on_a_replay(store: Store) -> None:
    """A tuple comes back as a list both times, so that no branch can depend on which run it is."""
    begun = await begin(store)

    async def pair(_key: str) -> object:
        return (1, "ü", None)

    assert await Run(store, begun).journal.step("pair", pair) == [1, "ü", None]
    again = Run(store, await take_up(store, begun))
    assert await again.journal.step("pair", pair) == [1, "ü", None]


async def test_a_result_that_is_not_json_is_refused(store: Store) -> None:
    """The error names the type, and nothing is recorded."""
    run = Run(store, await begin(store))

    async def odd(_key: str) -> object:
        return object()

    with pytest.raises(TypeError, match="object"):
        await run.journal.step("odd", odd)
    assert run.journal.recorded == frozenset()


async def test_a_result_with_half_a_surrogate_pair_is_kept(store: Store) -> None:
    """JSON can carry what UTF-8 cannot; an effect that has happened is not lost for that."""
    begun = await begin(store)

    async def torn(_key: str) -> str:
        return "half \ud83e"

    assert await Run(store, begun).journal.step("torn", torn) == "half \ud83e"
    again = Run(store, await take_up(store, begun))
    assert await again.journal.step("torn", torn) == "half \ud83e"


async def test_a_step_over_its_limit_times_out_and_is_not_recorded(store: Store) -> None:
    """The error names the step and the setting; the effect has been cancelled."""
    run, ended = Run(store, await begin(store), seconds=0.01), asyncio.Event()

    async def slow(_key: str) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    with pytest.raises(TurnTimedOut, match=r"'slow' took longer than limits\.step \(0\.01 s\)"):
        await run.journal.step("slow", slow)
    assert ended.is_set()
    assert run.journal.recorded == frozenset()


async def test_an_effects_own_timeout_is_its_own(store: Store) -> None:
    """A `TimeoutError` of the effect is not taken for the limit of the step."""
    run = Run(store, await begin(store))

    async def times_out(_key: str) -> None:
        raise TimeoutError("the provider's")

    with pytest.raises(TimeoutError, match="the provider's"):
        await run.journal.step("ask", times_out)


async def test_steps_count_as_progress_and_are_remembered_as_asked_for(store: Store) -> None:
    """Recorded or answered from the journal: both show that the turn is alive."""
    begun = await begin(store)
    run = Run(store, begun)
    await run.journal.step("look", run.effect)
    await run.journal.step("look", run.effect, "x")
    assert run.progressed == 2
    assert run.journal.asked == run.journal.recorded == {("look", "1"), ("look", "x")}
    assert run.journal.steps == ("look", "look")
    replay = Run(store, await take_up(store, begun))
    assert replay.journal.asked == set()
    assert replay.journal.recorded == run.journal.recorded
    await replay.journal.step("look", replay.effect)
    assert replay.progressed == 1


async def test_a_step_without_the_lease_is_refused(store: Store) -> None:
    """Whoever was overtaken records nothing any more."""
    begun = await begin(store)
    run = Run(store, begun)
    await take_up(store, begun)
    with pytest.raises(LeaseLost):
        await run.journal.step("look", run.effect)
