"""Shard leases and the identify gate: how processes share one bot's connections."""

import asyncio

import pytest

from state import State
from state.contract.factory import Clock
from state.contract.scene import op
from state.errors import Unacceptable
from state.outcomes import Busy, ShardLease

pytestmark = pytest.mark.asyncio

#: Callers on each handle in a race.
RACERS = 20


async def owned(state: State, name: str = "0-3/16", seconds: float = 30) -> ShardLease:
    """Take a range that is free."""
    answer = await state.claim_shards(name, op=op(), seconds=seconds, by="p1")
    assert isinstance(answer, ShardLease), answer
    return answer


async def test_a_range_of_shards_has_one_owner(one: State, two: State, clock: Clock) -> None:
    """A second one is told for how long; other ranges are free. Contract 83."""
    lease = await owned(one)
    assert lease.name == "0-3/16"
    assert lease.expires == clock.milliseconds() + 30_000
    clock.move(4)
    assert await two.claim_shards("0-3/16", op=op(), seconds=30) == Busy(26)
    for name in ("4-7/16", "0-3/32", "0-3"):
        await owned(two, name)


async def test_of_many_who_claim_a_range_one_owns_it(one: State, two: State) -> None:
    """All others are told for how long. Contract 83."""
    answers = await asyncio.gather(
        *(
            state.claim_shards("0-3/16", op=op(), seconds=30)
            for _ in range(RACERS)
            for state in (one, two)
        )
    )
    assert sum(isinstance(answer, ShardLease) for answer in answers) == 1
    assert answers.count(Busy(30)) == 2 * RACERS - 1


async def test_the_epoch_grows_with_each_owner(one: State, two: State, clock: Clock) -> None:
    """Over release, expiry and return, and never with a renewal. Contract 84."""
    first = await owned(one)
    assert await one.renew_shards(first, 30)
    assert await one.release_shards(first)
    second = await owned(two)
    clock.move(30)
    third = await owned(one)
    assert [second.epoch - first.epoch, third.epoch - second.epoch] == [1, 1]
    assert len({first.token, second.token, third.token}) == 3


async def test_a_range_is_renewed_from_now_on(one: State, two: State, clock: Clock) -> None:
    """As long as it is held. Contract 83, 85."""
    lease = await owned(one)
    clock.move(29)
    assert await one.renew_shards(lease, 30)
    clock.move(29)
    assert await two.claim_shards("0-3/16", op=op(), seconds=30) == Busy(1)


async def test_an_expired_range_is_taken_over(one: State, two: State, clock: Clock) -> None:
    """Its old owner has lost it, taken over or not, and disturbs nobody. Contract 85."""
    lease = await owned(one)
    clock.move(30)
    assert not await one.renew_shards(lease, 30)
    assert not await one.release_shards(lease)
    newer = await owned(two)
    assert not await one.renew_shards(lease, 30)
    assert not await one.release_shards(lease)
    assert await one.claim_shards("0-3/16", op=op(), seconds=30) == Busy(30)
    assert await two.renew_shards(newer, 30)


async def test_a_released_range_is_free(one: State, two: State) -> None:
    """At once; what was released is not renewed. Contract 83, 85."""
    lease = await owned(one)
    assert await one.release_shards(lease)
    assert not await one.renew_shards(lease, 30)
    assert not await two.release_shards(lease)
    await owned(two)


async def test_a_claim_of_shards_sent_twice(one: State, two: State) -> None:
    """The owner is told again of its own lease, which counts once. Contract 73, 84."""
    own = op()
    first, second = [await state.claim_shards("0-3/16", op=own, seconds=30) for state in (one, two)]
    assert isinstance(first, ShardLease)
    assert first == second
    assert await one.release_shards(first)
    assert (await owned(two)).epoch == first.epoch + 1


async def test_a_range_that_no_store_could_name_is_refused(one: State) -> None:
    """As any other name. Contract 75."""
    for name in ("", "a b", "{0-3}"):
        with pytest.raises(Unacceptable):
            await one.claim_shards(name, op=op(), seconds=30)


async def test_shards_survive_their_process(one: State, two: State, clock: Clock) -> None:
    """The range stays owned until its lease ends, and its epoch is remembered. Contract 83, 84."""
    lease = await owned(one)
    await one.close()
    assert await two.claim_shards("0-3/16", op=op(), seconds=30) == Busy(30)
    clock.move(30)
    assert (await owned(two)).epoch == lease.epoch + 1


async def test_the_gate_lets_one_identify_at_a_time(one: State, two: State, clock: Clock) -> None:
    """Per bucket and five seconds, over all processes; others are told how long. Contract 86."""
    assert await one.identify_gate(0) == 0
    assert await two.identify_gate(0) == 5
    assert await two.identify_gate(1) == 0
    clock.move(3)
    assert await two.identify_gate(0) == 2
    clock.move(2)
    assert await two.identify_gate(0) == 0
    assert await one.identify_gate(0, every=10) == 5


async def test_of_many_at_the_gate_one_passes(one: State, two: State) -> None:
    """All others wait the whole time. Contract 86."""
    answers = await asyncio.gather(
        *(state.identify_gate(0) for _ in range(RACERS) for state in (one, two))
    )
    assert sorted(answers) == [0] + [5] * (2 * RACERS - 1)


async def test_the_gate_keeps_to_the_time_it_was_told(one: State, two: State, clock: Clock) -> None:
    """Of whoever passed last. Contract 86."""
    assert await one.identify_gate(7, every=10) == 0
    clock.move(8)
    assert await two.identify_gate(7) == 2
